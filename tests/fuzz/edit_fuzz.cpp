// Foreign files through the editors: what they write reads back as the old text with that one key
// changed, and keeps all of its other bytes; none may crash, throw or run away.
//
// The first line says which key, dots between its names, and what is put there as JSON; the file is below it.
#include "config/edit/edit.hpp"
#include "core/json.hpp"
#include "fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace patchbay;
namespace edit = patchbay::config::edit;
namespace json = boost::json;

edit::Path path_of(std::string_view words) {
    edit::Path path;
    while (path.size() < 8) {
        const auto dot = words.find('.');
        path.emplace_back(words.substr(0, dot));
        if (dot == std::string_view::npos) break;
        words.remove_prefix(dot + 1);
    }
    return path;
}

// Whether `longer` is `shorter` with more put in.
bool is_kept_in(std::string_view shorter, std::string_view longer) {
    for (const char letter : longer)
        if (!shorter.empty() && shorter.front() == letter) shorter.remove_prefix(1);
    return shorter.empty();
}

bool is_new_in_a_table(const json::object& root, edit::Path path) {
    if (edit::find(root, path)) return false;
    path.pop_back();
    const auto* parent = path.empty() ? nullptr : edit::find(root, path);
    return path.empty() || (parent && parent->is_object());
}

void try_edits(std::string_view text, config::Format format, const edit::Path& path,
               const json::value& value) {
    const auto before = edit::read(text, format);
    if (const auto after = edit::set(text, format, path, value)) {
        FUZZ_REQUIRE(!is_new_in_a_table(*before, path) || is_kept_in(text, *after));
        const auto root = edit::read(*after, format);
        FUZZ_REQUIRE(root);
        const auto* found = edit::find(*root, path);
        FUZZ_REQUIRE(found && *found == value);
    }
    if (const auto after = edit::remove(text, format, path)) {
        const auto root = edit::read(*after, format);
        FUZZ_REQUIRE(root);
        FUZZ_REQUIRE(!edit::find(*root, path));
        FUZZ_REQUIRE(is_kept_in(*after, text));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view whole(reinterpret_cast<const char*>(data), size);
    const auto line = whole.substr(0, whole.find('\n'));
    const auto text = whole.substr(std::min(line.size() + 1, whole.size()));
    const auto space = line.find(' ');
    const auto path = path_of(line.substr(0, space));
    json::value value = json::object{{"command", "patchbay"}, {"args", json::array{"serve"}}};
    if (space != std::string_view::npos)
        if (auto read = core::parse_json_object(line.substr(space + 1))) value = std::move(*read);
    for (const auto format : {config::Format::Json, config::Format::Toml, config::Format::Yaml})
        try_edits(text, format, path, value);
    return 0;
}
