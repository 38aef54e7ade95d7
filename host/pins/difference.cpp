#include "pins/difference.hpp"

#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::pins {
namespace json = boost::json;

namespace {

// Collects the places in which two values differ, the outermost that has no common form.
class Fields {
public:
    explicit Fields(Difference& into) : into_(into) {}

    void compare(const json::value& before, const json::value& now, const std::string& at) {
        if (before == now) return;
        const auto* old = before.if_object();
        const auto* fresh = now.if_object();
        if (old && fresh) return members(*old, *fresh, at);
        const auto* olds = before.if_array();
        const auto* news = now.if_array();
        if (olds && news && olds->size() == news->size()) {
            for (std::size_t i = 0; i < olds->size(); ++i)
                compare((*olds)[i], (*news)[i], at + "/" + std::to_string(i));
            return;
        }
        add(at, json::serialize(before), json::serialize(now));
    }
    // `0` and `-0`, or 1 and 1.0, are one value and two texts.
    void add_unless_any(const std::string& before, const std::string& now) {
        if (into_.fields.empty() && into_.more_fields == 0) add({}, before, now);
    }
    void add(const std::string& at, std::string before, std::string now) {
        if (into_.fields.size() < kMostFields)
            into_.fields.push_back({at, std::move(before), std::move(now)});
        else
            ++into_.more_fields;
    }

private:
    void members(const json::object& old, const json::object& fresh, const std::string& at) {
        for (const auto& [key, value] : old) {
            const auto below = at + core::pointer_token(key);
            if (const auto* there = fresh.if_contains(key))
                compare(value, *there, below);
            else
                add(below, json::serialize(value), {});
        }
        for (const auto& [key, value] : fresh)
            if (!old.contains(key)) add(at + core::pointer_token(key), {}, json::serialize(value));
    }

    Difference& into_;
};

class Comparison {
public:
    Difference of(const Name& name, Difference::Kind kind, const Pin* before, const Item* now) {
        Difference difference{name.first, name.second, kind};
        if (before) {
            difference.basis = before->basis;
            difference.at = before->at;
            difference.text_lost = !is_whole(*before);
        }
        Fields fields(difference);
        if (kind == Difference::Kind::Renamed)
            fields.add("known as", json::serialize(json::value(before->known_as)),
                       json::serialize(json::value(now->known_as)));
        else if (before && now)
            compare(*before, *now, fields, difference.text_lost);
        else if (now)
            fields.add({}, {}, now->text);
        else if (!difference.text_lost)
            fields.add({}, before->text, {});
        return difference;
    }

private:
    // Of what somebody wrote over in the file is shown nothing as if it had been approved.
    static bool is_whole(const Pin& pin) {
        return !pin.text.empty() && digest_of(pin.text) == pin.digest;
    }

    void compare(const Pin& before, const Item& now, Fields& fields, bool lost) {
        if (lost) return fields.add({}, {}, now.text);
        compared_ += before.text.size() + now.text.size();
        const auto old = compared_ <= kMostComparedBytes ? core::parse_json(before.text)
                                                         : Result<json::value>(kTooMuch);
        const auto fresh = old ? core::parse_json(now.text) : old;
        if (old && fresh) fields.compare(*old, *fresh, {});
        fields.add_unless_any(before.text, now.text);
    }

    inline static const Error kTooMuch{ErrorCode::Limit, "too much to compare"};
    std::size_t compared_ = 0;
};

}  // namespace

const char* name_of(Difference::Kind kind) {
    switch (kind) {
        case Difference::Kind::New:
            return "new";
        case Difference::Kind::Removed:
            return "removed";
        case Difference::Kind::Renamed:
            return "renamed";
        case Difference::Kind::Changed:
            break;
    }
    return "changed";
}

std::optional<Difference::Kind> departs(const Record& record, const Name& name,
                                        std::string_view digest, std::string_view known_as) {
    using Kind = Difference::Kind;
    const auto* pin = record.find(name);
    if (!pin) return record.whole.contains(name.first) ? std::optional(Kind::New) : std::nullopt;
    if (pin->digest != digest) return Kind::Changed;
    if (pin->known_as != known_as) return Kind::Renamed;
    return {};
}

std::vector<Difference> differences(const Record& record, const Listed& now) {
    std::vector<Difference> all;
    Comparison comparison;
    for (const auto& [name, item] : now.items)
        if (const auto kind = departs(record, name, item.digest, item.known_as))
            all.push_back(comparison.of(name, *kind, record.find(name), &item));
    for (const auto& [name, pin] : record.pins)
        if (now.whole.contains(name.first) && !now.items.contains(name))
            all.push_back(comparison.of(name, Difference::Kind::Removed, &pin, nullptr));
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::pair(a.part, a.name) < std::pair(b.part, b.name);
    });
    return all;
}

}  // namespace patchbay::pins
