#include "catalogue/listing_text.hpp"

#include "core/json.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/tool.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace patchbay::catalogue {

namespace {

constexpr std::size_t kMostOthers = 8;
constexpr std::string_view kBeforeTools = ",\"tools\":[";

// How many bytes of a tool's text its parts take, in this order.
using Sizes = std::array<std::size_t, 3>;  // name, known, others
constexpr std::string_view kBeforeName = "{\"name\":";

Sizes append_tool(std::string& out, const protocol::Tool& tool) {
    const auto name = protocol::quoted(tool.name);
    out.append(kBeforeName).append(name);
    for (const auto* members : {&tool.known, &tool.others})
        if (!members->empty()) out.append(",").append(*members);
    out += '}';
    return {name.size(), tool.known.size(), tool.others.size()};
}

// What a list of tools begins with: where each part of each tool stands in the text behind it, so that whoever finds the
// text as it was written need not parse it. `{"index":"HASH NUMBER...",`; the hash is of all that follows it.
constexpr std::string_view kIndexed = "{\"index\":\"", kBehindIndex = "\",";

// What a list was judged by when it was heard: by others it has to be judged anew.
std::array<std::size_t, 4> judged_by(const core::Limits& limits) {
    return {limits.schema_bytes, limits.schema_depth, limits.json_depth, limits.tools_per_server};
}

// Tells what was damaged, not what was forged: what a standard library hashes otherwise than the one before is parsed.
std::size_t hash_of(std::string_view text) {
    return std::hash<std::string_view>()(text);
}

// The numbers of an index, one after the other.
class Numbers {
public:
    explicit Numbers(std::string_view text) : text_(text) {}
    std::optional<std::size_t> next() {
        std::size_t number = 0;
        const auto* end = text_.data() + text_.size();
        const auto [past, error] = std::from_chars(text_.data(), end, number);
        if (error != std::errc()) return {};
        text_.remove_prefix(static_cast<std::size_t>(past - text_.data()));
        if (text_.starts_with(' ')) text_.remove_prefix(1);
        return number;
    }
    std::string_view rest() const { return text_; }

private:
    std::string_view text_;
};

// Takes what a text is expected to begin with. False: it does not.
bool pass(std::string_view& text, std::string_view expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
}

std::optional<std::string_view> take(std::string_view& text, std::optional<std::size_t> size) {
    if (!size || *size > text.size()) return {};
    const auto taken = text.substr(0, *size);
    text.remove_prefix(*size);
    return taken;
}

// Nothing: the text does not stand there as the index says.
std::optional<protocol::Tool> take_tool(std::string_view& text, Numbers& index) {
    if (!pass(text, kBeforeName)) return {};
    const auto name = take(text, index.next());
    auto named = name ? protocol::text_of_raw(*name) : std::nullopt;
    if (!named) return {};
    protocol::Tool tool;
    tool.name = std::move(*named);
    for (auto* members : {&tool.known, &tool.others}) {
        const auto size = index.next();
        if (!size || (*size > 0 && !pass(text, ","))) return {};
        const auto taken = take(text, size);
        if (!taken) return {};
        members->assign(*taken);
    }
    if (!pass(text, "}")) return {};
    return tool;
}

std::string text_of(std::string_view raw) {
    return protocol::text_of_raw(raw).value_or("");
}

// `,"others":["prompts"]`, or nothing.
std::string others_of(const Listing& listing) {
    if (!listing.others) return {};
    std::string named;
    for (const auto& each : *listing.others)
        named.append(named.empty() ? "" : ",").append(protocol::quoted(each));
    return ",\"others\":[" + named + "]";
}

// `,"declared":"DIGEST"`, or nothing.
std::string declared_of(const std::string& declared) {
    return declared.empty() ? "" : ",\"declared\":" + protocol::quoted(declared);
}

std::set<std::string> texts_in(std::string_view raw) {
    std::set<std::string> texts;
    for (auto rest = protocol::items_in(raw); !rest.empty() && texts.size() < kMostOthers;)
        texts.insert(protocol::text_of_raw(protocol::take_item(rest)).value_or(""));
    return texts;
}

bool by_name(const protocol::Tool& a, const protocol::Tool& b) {
    return a.name < b.name;
}

using Faults = std::map<std::string, std::string>;  // of the schemas of tools

// `members`: all but the tools themselves.
Listing read_head(std::string_view members, Faults& faults) {
    Listing listing;
    protocol::each_of(members, [&](std::string_view key, std::string_view value) {
        if (key == "definition") listing.definition = text_of(value);
        if (key == "instructions") listing.instructions = text_of(value);
        if (key == "declared") listing.declared = text_of(value);
        if (key == "others" && value.starts_with('[')) listing.others = texts_in(value);
        if (key == "faults")
            for (const auto& [tool, fault] : protocol::members_in(value))
                faults[tool] = text_of(fault);
        return true;
    });
    return listing;
}

// Nothing: it has no index, or one that is not of this text or of other limits.
std::optional<Listing> read_indexed(std::string_view text, const core::Limits& limits,
                                    Faults& faults) {
    if (!pass(text, kIndexed)) return {};
    Numbers start(text);
    const auto hash = start.next();
    if (!hash || *hash != hash_of(start.rest())) return {};
    Numbers index(start.rest());
    for (const auto limit : judged_by(limits))
        if (index.next() != limit) return {};
    text = start.rest().substr(std::min(start.rest().find(kBehindIndex), start.rest().size()));
    const auto before = take(text, index.next()), head = take(text, index.next());
    const auto tools = index.next();
    if (!before || !head || !tools || !pass(text, kBeforeTools)) return {};
    auto listing = read_head(*head, faults);
    listing.tools.reserve(std::min(*tools, text.size() / kBeforeName.size()));
    while (listing.tools.size() < *tools) {
        if (!listing.tools.empty() && !pass(text, ",")) return {};
        auto tool = take_tool(text, index);
        if (!tool) return {};
        listing.tools.push_back(std::move(*tool));
    }
    return text.starts_with(']') ? std::optional(std::move(listing)) : std::nullopt;
}

// By all that is asked of what a server lists.
std::optional<Listing> read_parsed(std::string_view text, const core::Limits& limits,
                                   Faults& faults) {
    const auto envelope = protocol::parse_envelope(text, limits.json_depth);
    if (!envelope || envelope->kind != protocol::MessageKind::Result) return {};
    const auto result = envelope->result;
    if (!result.starts_with('{')) return {};
    auto listing = read_head(result.substr(1, result.size() - 2), faults);
    auto page = protocol::parse_tool_page(result, limits);
    if (!page) return {};
    listing.tools = std::move(page->tools);
    return listing;
}

}  // namespace

// In the form of an answer to tools/list, so that it is read by who reads those. What stands in the
// place of a schema that could not be used is one that can: the fault is said beside it.
std::string to_text(const Listing& listing, const core::Limits& limits) {
    std::string tools, faults, index;
    const auto note = [&index](std::size_t number) {
        index.append(" ").append(std::to_string(number));
    };
    for (const auto& tool : listing.tools) {
        if (!tools.empty()) tools += ',';
        for (const auto size : append_tool(tools, tool)) note(size);
        if (!tool.schema_fault.empty())
            protocol::append_member(faults, tool.name, protocol::quoted(tool.schema_fault));
    }
    const auto head = "\"definition\":" + protocol::quoted(listing.definition) +
                      ",\"instructions\":" + protocol::quoted(listing.instructions) +
                      others_of(listing) + declared_of(listing.declared) + ",\"faults\":{" +
                      faults + "}";
    const auto parts = std::exchange(index, {});
    auto text = std::string(kBehindIndex) +
                protocol::response("0", "{" + head + std::string(kBeforeTools) + tools + "]}")
                    .substr(1);  // the index stands behind its bracket
    for (const auto limit : judged_by(limits)) note(limit);
    for (const auto number : {text.find(head), head.size(), listing.tools.size()}) note(number);
    text.insert(0, index.append(parts).substr(1));
    return std::string(kIndexed) + std::to_string(hash_of(text)) + " " + text;
}

Result<Listing> from_text(std::string_view text, const std::string& definition,
                          const core::Limits& limits) {
    Faults faults;
    auto listing = read_indexed(text, limits, faults);
    if (!listing) listing = read_parsed(text, limits, faults = {});
    if (!listing || listing->definition != definition ||
        !std::is_sorted(listing->tools.begin(), listing->tools.end(), by_name))
        return Error{ErrorCode::Invalid, "this is no list of tools"};
    for (auto& tool : listing->tools)
        if (const auto found = faults.find(tool.name); found != faults.end())
            tool.schema_fault = found->second;
    return std::move(*listing);
}

// In the form of an answer to the method that lists them.
std::string to_text(List list, const Items& items) {
    std::string all;
    for (const auto& text : items.texts) all.append(all.empty() ? "" : ",").append(text);
    return protocol::response("0", "{\"definition\":" + protocol::quoted(items.origin.definition) +
                                       ",\"folder\":" + protocol::quoted(items.origin.folder) +
                                       declared_of(items.declared) + ",\"" + name_of(list) +
                                       "\":[" + all + "]}");
}

Result<Items> items_from_text(std::string_view text, List list, const Origin& origin,
                              const core::Limits& limits) {
    const Error none{ErrorCode::Invalid, std::string("this is no list of ") + name_of(list)};
    const auto envelope = protocol::parse_envelope(text, limits.json_depth);
    if (!envelope || envelope->kind != protocol::MessageKind::Result) return none;
    if (core::json_cost(envelope->result) > limits.list_bytes) return none;
    std::string_view array;
    Items items;
    for (const auto& [key, value] : protocol::members_in(envelope->result)) {
        if (key == "definition") items.origin.definition = text_of(value);
        if (key == "folder") items.origin.folder = text_of(value);
        if (key == "declared") items.declared = text_of(value);
        if (key == name_of(list)) array = value;
    }
    if (items.origin != origin || !array.starts_with('[')) return none;
    for (auto rest = protocol::items_in(array); !rest.empty();) {
        items.texts.emplace_back(protocol::take_item(rest));
        const bool usable =
            items.texts.back().starts_with('{') && items.texts.size() <= limits.items_per_list;
        if (!usable) return none;
    }
    return items;
}

}  // namespace patchbay::catalogue
