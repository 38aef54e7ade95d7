#include "config/edit/edit.hpp"

#include "config/edit/json_edit.hpp"
#include "config/edit/toml_edit.hpp"
#include "config/edit/yaml_edit.hpp"
#include "config/parsed_texts.hpp"
#include "core/text.hpp"

namespace patchbay::config::edit {
namespace json = boost::json;

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string at(Mark mark) {
    return mark.line == 0 ? std::string()
                          : std::to_string(mark.line) + ":" + std::to_string(mark.column) + ": ";
}

Result<Node> parsed(std::string_view text, Format format, ParsedTexts* texts) {
    auto read = texts ? texts->parse(text, format, kBounds) : parse(text, format, kBounds);
    if (read.problem)
        return Error{ErrorCode::Invalid, at(read.problem->mark) + read.problem->message};
    return std::move(read.root);
}

// Every table on the way to the last key, as far as there are any.
Result<void> check_way(const Node& root, const Path& path) {
    const auto* node = &root;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        node = node->find(path[i]);
        if (!node || node->is(Node::Kind::Null)) return {};
        if (!node->is(Node::Kind::Map))
            return Error{ErrorCode::Invalid, at(node->mark) + "\"" + core::printable(path[i], 80) +
                                                 "\" holds " + name_of(node->kind) +
                                                 "; expected a table"};
    }
    return {};
}

// Null and no table at all are as good as an empty one, on the way to the key: no format but JSON has a
// way to say all three.
void make_way(json::object& root, const Path& path) {
    auto* table = &root;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        auto& next = (*table)[path[i]];
        if (!next.is_object()) next.emplace_object();
        table = &next.get_object();
    }
}

json::object& parent_of(json::object& root, const Path& path) {
    make_way(root, path);
    auto* table = &root;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) table = &(*table)[path[i]].get_object();
    return *table;
}

bool means(std::string_view text, Format format, const Path& path, const json::object& wanted,
           ParsedTexts* texts) {
    const auto root = parsed(text, format, texts);
    if (!root) return false;
    auto got = to_object(*root);
    if (check_way(*root, path)) make_way(got, path);
    return got == wanted;
}

Changes changes_for(std::string_view text, Format format, const Node& root, const Path& path,
                    const json::value* value) {
    switch (format) {
        case Format::Json:
            return value ? json_set(text, root, path, *value) : json_remove(text, root, path);
        case Format::Toml:
            return value ? toml_set(text, root, path, *value) : toml_remove(text, root, path);
        case Format::Yaml:
            return value ? yaml_set(text, root, path, *value) : yaml_remove(text, root, path);
    }
    return {};
}

Error no_way(const Path& path) {
    return {
        ErrorCode::Unsupported,
        "\"" + core::join(path, ".") + "\" cannot be changed there without touching anything else"};
}

// `value` null: it is removed.
Result<std::string> changed(std::string_view text, Format format, const Path& path,
                            const json::value* value, ParsedTexts* texts) {
    const auto root = parsed(text, format, texts);
    if (!root) return root.error();
    if (auto way = check_way(*root, path); !way) return way.error();
    if (value && format == Format::Toml && !toml_can_say(*value))
        return Error{ErrorCode::Invalid, "\"" + core::join(path, ".") +
                                             "\" holds null, and TOML has no word for that; leave "
                                             "the key out"};
    auto wanted = to_object(*root);
    auto& parent = parent_of(wanted, path);
    const bool was_there = parent.contains(path.back());
    if (value)
        parent[path.back()] = *value;
    else if (parent.erase(path.back()) == 0)
        return Error{ErrorCode::NotFound, "there is no \"" + core::join(path, ".") + "\""};
    const bool marked = text.starts_with(kByteOrderMark);
    const auto body = text.substr(marked ? kByteOrderMark.size() : 0);
    for (auto& change : changes_for(body, format, *root, path, value)) {
        const auto out = apply(body, std::move(change));
        if (!out) continue;
        // As it would be written, with its mark: whoever reads it again finds it parsed.
        auto whole = (marked ? std::string(kByteOrderMark) : std::string()) + *out;
        if (means(whole, format, path, wanted, texts)) return whole;
    }
    // A table that becomes a plain value may have to stand elsewhere.
    const auto without = value && was_there ? changed(text, format, path, nullptr, texts)
                                            : Result<std::string>(no_way(path));
    return without ? changed(*without, format, path, value, texts)
                   : Result<std::string>(no_way(path));
}

}  // namespace

Result<json::object> read(std::string_view text, Format format, ParsedTexts* texts) {
    const auto root = parsed(text, format, texts);
    if (!root) return root.error();
    return to_object(*root);
}

const json::value* find(const json::object& root, const Path& path) {
    const auto* table = &root;
    const json::value* found = nullptr;
    for (const auto& key : path) {
        found = table ? table->if_contains(key) : nullptr;
        if (!found) return nullptr;
        table = found->if_object();
    }
    return found;
}

Result<std::string> set(std::string_view text, Format format, const Path& path,
                        const json::value& value, ParsedTexts* texts) {
    return changed(text, format, path, &value, texts);
}

Result<std::string> remove(std::string_view text, Format format, const Path& path,
                           ParsedTexts* texts) {
    return changed(text, format, path, nullptr, texts);
}

json::value nested(const Path& path, std::size_t from, const json::value& value) {
    auto out = value;
    for (auto i = path.size(); i > from; --i) out = json::object{{path[i - 1], std::move(out)}};
    return out;
}

}  // namespace patchbay::config::edit
