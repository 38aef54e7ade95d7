#include "pins/record.hpp"

#include "core/digest.hpp"
#include "core/json.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::pins {
namespace json = boost::json;

namespace {

constexpr int kVersion = 1;
constexpr std::size_t kHeadDepth = 8;

constexpr std::pair<Basis, const char*> kBases[] = {
    {Basis::Seen, "seen"}, {Basis::Used, "used"}, {Basis::Approved, "approved"}};

const Error kDamaged{ErrorCode::Protocol, "is damaged"};

std::optional<Part> part_named(std::string_view name) {
    for (const auto part : kParts)
        if (name == name_of(part)) return part;
    return {};
}

std::optional<Basis> basis_named(std::string_view name) {
    for (const auto& [basis, word] : kBases)
        if (name == word) return basis;
    return {};
}

const char* name_of(Basis basis) {
    for (const auto& [each, word] : kBases)
        if (each == basis) return word;
    return "";
}

std::string to_json(const Name& name, const Pin& pin) {
    std::string members;
    const auto say = [&](std::string_view key, std::string_view text) {
        protocol::append_member(members, key, protocol::quoted(text));
    };
    say("part", name_of(name.first));
    say("name", name.second);
    say("digest", pin.digest);
    say("basis", name_of(pin.basis));
    protocol::append_member(members, "at", std::to_string(pin.at));
    if (!pin.known_as.empty()) say("as", pin.known_as);
    return "{" + members + "}";
}

bool is_digest(std::string_view text) {
    return text.size() == core::kSha256Digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Half a pin would let through what it is there to hold: one that is odd damages the record.
std::optional<std::pair<Name, Pin>> pin_in(const json::value& value) {
    const auto* told = value.if_object();
    const auto part = part_named(core::text_in(told, "part").value_or(""));
    const auto name = core::text_in(told, "name");
    const auto basis = basis_named(core::text_in(told, "basis").value_or(""));
    Pin pin;
    pin.digest = core::text_in(told, "digest").value_or("");
    if (!part || !name || !basis || !is_digest(pin.digest)) return {};
    pin.basis = *basis;
    pin.at = core::integer_in(told, "at").value_or(0);
    pin.known_as = core::text_in(told, "as").value_or("");
    return std::pair(Name(*part, *name), std::move(pin));
}

// The first line holds what is judged by, the others the texts: who only judges reads no more than that one.
std::string_view take_line(std::string_view& text) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

}  // namespace

const char* name_of(Part part) {
    const auto list = list_of(part);
    return list ? catalogue::name_of(*list) : "instructions";
}

const char* word_of(Part part) {
    switch (part) {
        case Part::Tools:
            return "tool";
        case Part::Prompts:
            return "prompt";
        case Part::Templates:
            return "resource template";
        case Part::Instructions:
            break;
    }
    return "instructions";
}

std::optional<catalogue::List> list_of(Part part) {
    switch (part) {
        case Part::Tools:
            return catalogue::List::Tools;
        case Part::Prompts:
            return catalogue::List::Prompts;
        case Part::Templates:
            return catalogue::List::Templates;
        case Part::Instructions:
            break;
    }
    return {};
}

const Pin* Record::find(const Name& name) const {
    const auto found = pins.find(name);
    return found == pins.end() ? nullptr : &found->second;
}

// Why something is in it, and since when, is no difference: what is there is what was there.
std::set<Part> judged_otherwise(const Record* before, const Record* after) {
    static const Record nothing;
    const auto& was = before ? *before : nothing;
    const auto& is = after ? *after : nothing;
    std::set<Part> parts;
    for (const auto part : kParts)
        if (was.whole.contains(part) != is.whole.contains(part)) parts.insert(part);
    const auto compare = [&](const Record& one, const Record& other) {
        for (const auto& [name, pin] : one.pins) {
            if (parts.contains(name.first)) continue;
            const auto* same = other.find(name);
            if (!same || same->digest != pin.digest || same->known_as != pin.known_as)
                parts.insert(name.first);
        }
    };
    compare(was, is);
    compare(is, was);
    return parts;
}

std::string to_text(const Record& record) {
    std::string whole, pins, texts;
    for (const auto part : record.whole)
        whole.append(whole.empty() ? "" : ",").append(protocol::quoted(name_of(part)));
    for (const auto& [name, pin] : record.pins) {
        pins.append(pins.empty() ? "" : ",").append(to_json(name, pin));
        if (texts.size() + pin.text.size() <= Record::kMostTextBytes) texts.append(pin.text);
        texts += '\n';
    }
    return "{\"version\":" + std::to_string(kVersion) +
           ",\"server\":" + protocol::quoted(record.server) + ",\"whole\":[" + whole +
           "],\"pins\":[" + pins + "]}\n" + texts;
}

Result<Record> from_text(std::string_view text, Texts texts) {
    const auto head = core::parse_json_object(
        take_line(text), {.depth = kHeadDepth, .values = core::kAnyNumberOfValues});
    const auto version = core::integer_in(head ? &*head : nullptr, "version");
    if (!version) return kDamaged;
    if (*version != kVersion)
        return Error{ErrorCode::Unsupported, "is of another patchbay (version " +
                                                 std::to_string(*version) + ", this one writes " +
                                                 std::to_string(kVersion) + ")"};
    const auto* whole = core::array_in(&*head, "whole");
    const auto* pins = core::array_in(&*head, "pins");
    if (!whole || !pins || pins->size() > Record::kMostPins) return kDamaged;
    Record record;
    record.server = core::text_in(&*head, "server").value_or("");
    for (const auto& each : *whole) {
        const auto part = part_named(core::text_of(each).value_or(""));
        if (!part) return kDamaged;
        record.whole.insert(*part);
    }
    for (const auto& each : *pins) {
        auto read = pin_in(each);
        if (!read) return kDamaged;
        if (texts == Texts::Read) read->second.text = take_line(text);
        if (!record.pins.insert(std::move(*read)).second) return kDamaged;
    }
    return record;
}

}  // namespace patchbay::pins
