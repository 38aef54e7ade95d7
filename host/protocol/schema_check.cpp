// One validation: walks instance and nodes together, within a budget of steps and depth.
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/schema_compare.hpp"
#include "protocol/schema_node.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::protocol::schema {
namespace json = boost::json;

namespace {

// Where in the instance we are; becomes a JSON pointer only when there is something to say.
struct Path {
    const Path* up = nullptr;
    std::string_view key{};
    std::size_t index = 0;

    std::string text() const {
        if (!up) return {};
        return up->text() + (key.data() ? core::pointer_token(key) : "/" + std::to_string(index));
    }
};

// Which members or items of one value some keyword has judged; what is left is "unevaluated".
using Seen = std::vector<bool>;

std::string quoted(std::string_view text) {
    return "\"" + core::printable(text, 80) + "\"";
}
std::string shown(const json::value& value, std::size_t most = 80) {
    return core::printable(json::serialize(value), most);
}

class Run {
public:
    // The steps that a text of this many bytes costs a pattern.
    static constexpr std::size_t kBytesAStep = 256;
    // So many alternatives of which none fits are told with what they need.
    static constexpr std::size_t kAlternatives = 8;

    explicit Run(std::size_t most_steps) : most_steps_(most_steps) {}

    std::vector<SchemaError> errors;

    bool check(const Node& node, const json::value& value, const Path& path, Seen* seen = nullptr) {
        if (exhausted()) return false;
        ++steps_;
        if (node.always) return *node.always || fail(path, "nothing is allowed here");
        if (depth_ == Schema::kEvaluationDepth) {
            too_deep_ = true;
            return false;
        }
        ++depth_;
        const bool enters = scopes_.empty() || scopes_.back() != node.resource;
        if (enters) scopes_.push_back(node.resource);
        const bool good = check_keywords(node, value, path, seen);
        if (enters) scopes_.pop_back();
        --depth_;
        return good;
    }

    bool exhausted() const { return too_deep_ || steps_ > most_steps_; }

private:
    bool fail(const Path& path, std::string message) {
        if (quiet_ == 0 && errors.size() < Schema::kErrors) {
            errors.push_back({path.text(), std::move(message)});
        }
        return false;
    }

    // The same as check(), keeping no errors.
    bool fits(const Node& node, const json::value& value, const Path& path, Seen* seen = nullptr) {
        ++quiet_;
        const bool good = check(node, value, path, seen);
        --quiet_;
        return good;
    }

    bool check_keywords(const Node& node, const json::value& value, const Path& path, Seen* seen) {
        // Bookkeeping only where somebody asks what is left.
        Seen own;
        const bool asks = node.unevaluated_items || node.unevaluated_properties;
        if ((asks || seen) && value.is_structured()) {
            own.resize(value.is_array() ? value.get_array().size() : value.get_object().size());
        }
        Seen* const mine = own.empty() ? nullptr : &own;
        const std::size_t before = steps_;

        bool good = assertions(node, value, path);
        if (good || quiet_ == 0) {
            if (value.is_number()) good &= numbers(node, value, path);
            if (const auto* text = value.if_string()) good &= strings(node, view_of(*text), path);
            if (const auto* array = value.if_array()) good &= arrays(node, *array, path, mine);
            if (const auto* object = value.if_object())
                good &= objects(node, value, *object, path, mine);
        }
        if (good || quiet_ == 0) good &= combinations(node, value, path, mine);
        if (good && mine && asks) good &= unevaluated(node, value, path, own);
        if (good && mine && seen) merge(*seen, own);
        if (mine) steps_ = std::max(steps_, before + own.size() / kBytesAStep);
        return good && !exhausted();
    }

    static void merge(Seen& into, const Seen& from) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            if (from[i]) into[i] = true;
        }
    }

    bool assertions(const Node& node, const json::value& value, const Path& path) {
        bool good = true;
        if (node.types && !(types_of(value) & node.types)) {
            good = fail(
                path, "expected " + words_for(node.types) + ", got " + words_for(types_of(value)));
        }
        if (node.constant && !same(*node.constant, value, steps_)) {
            good = fail(path, "expected " + shown(*node.constant));
        }
        if (node.choices &&
            std::none_of(node.choices->begin(), node.choices->end(),
                         [&](const auto& each) { return same(each, value, steps_); })) {
            good = fail(path, "expected one of " + shown(*node.choices, 200));
        }
        return good;
    }

    bool numbers(const Node& node, const json::value& value, const Path& path) {
        const long double number = number_of(value);
        bool good = true;
        const auto require = [&](const json::value* limit, auto holds, const char* words) {
            if (limit && !holds(number_of(*limit))) good = fail(path, words + shown(*limit));
        };
        require(
            node.minimum, [&](long double limit) { return number >= limit; }, "must be at least ");
        require(
            node.maximum, [&](long double limit) { return number <= limit; }, "must be at most ");
        require(
            node.exclusive_minimum, [&](long double limit) { return number > limit; },
            "must be more than ");
        require(
            node.exclusive_maximum, [&](long double limit) { return number < limit; },
            "must be less than ");
        if (node.multiple_of && !is_multiple(value, *node.multiple_of)) {
            good = fail(path, "must be a multiple of " + shown(*node.multiple_of));
        }
        return good;
    }

    bool within(const Count& bounds, std::size_t actual, const char* what, const Path& path) {
        if (actual < bounds.least) {
            return fail(path, "must have at least " + std::to_string(bounds.least) + " " + what);
        }
        if (actual > bounds.most) {
            return fail(path, "must have at most " + std::to_string(bounds.most) + " " + what);
        }
        return true;
    }

    bool matches(const Pattern& pattern, std::string_view text) {
        steps_ += 1 + text.size() / kBytesAStep;
        return !exhausted() && pattern.matches(text);
    }

    bool strings(const Node& node, std::string_view text, const Path& path) {
        bool good = true;
        const auto is_start = [](char c) { return (c & 0xC0) != 0x80; };
        const auto characters = std::count_if(text.begin(), text.end(), is_start);
        good &= within(node.length, static_cast<std::size_t>(characters), "characters", path);
        if (node.pattern && !matches(*node.pattern, text)) {
            good = fail(path, "must match " + core::printable(node.pattern->text(), 80));
        }
        return good;
    }

    bool arrays(const Node& node, const json::array& array, const Path& path, Seen* seen) {
        bool good = within(node.size, array.size(), "items", path);
        for (std::size_t i = 0; i < array.size() && !exhausted(); ++i) {
            const Node* schema = i < node.prefix.size() ? node.prefix[i] : node.items;
            if (!schema) break;
            good &= check(*schema, array[i], {&path, {}, i});
            if (seen) (*seen)[i] = true;
        }
        if (node.contains) {
            std::size_t found = 0;
            for (std::size_t i = 0; i < array.size() && !exhausted(); ++i) {
                if (!fits(*node.contains, array[i], {&path, {}, i})) continue;
                ++found;
                if (seen) (*seen)[i] = true;
            }
            good &= within(node.contained, found, "items that \"contains\" describes", path);
        }
        if (node.unique) good &= unique(array, path);
        return good;
    }

    bool unique(const json::array& array, const Path& path) {
        std::unordered_multimap<std::size_t, std::size_t> known;  // hash -> index
        for (std::size_t i = 0; i < array.size() && !exhausted(); ++i) {
            const auto hash = hash_of(array[i], steps_);
            const auto [first, last] = known.equal_range(hash);
            for (auto each = first; each != last && !exhausted(); ++each) {
                if (!same(array[each->second], array[i], steps_)) continue;
                return fail(path, "items " + std::to_string(each->second) + " and " +
                                      std::to_string(i) + " are the same");
            }
            known.emplace(hash, i);
        }
        return true;
    }

    bool objects(const Node& node, const json::value& value, const json::object& object,
                 const Path& path, Seen* seen) {
        bool good = within(node.properties_count, object.size(), "properties", path);
        good &= require(node.required, object, path, "");
        std::size_t i = 0;
        for (const auto& member : object) {
            if (exhausted()) break;
            good &= member_of(node, view_of(member.key()), member.value(), path, seen, i++);
        }
        for (const auto& [name, names] : node.dependent_required) {
            if (!object.contains({name.data(), name.size()})) continue;
            good &= require(names, object, path, ", which " + quoted(name) + " needs");
        }
        for (const auto& [name, schema] : node.dependent_schemas) {
            if (object.contains({name.data(), name.size()}))
                good &= check(*schema, value, path, seen);
        }
        return good;
    }

    bool member_of(const Node& node, std::string_view key, const json::value& value,
                   const Path& path, Seen* seen, std::size_t index) {
        const Path below{&path, key};
        bool good = true, known = false;
        if (node.names &&
            !fits(*node.names, json::value(json::string_view(key.data(), key.size())), below)) {
            good = fail(below, "is no allowed name of a property");
        }
        if (const auto found = node.properties.find(key); found != node.properties.end()) {
            known = true;
            good &= check(*found->second, value, below);
        }
        for (const auto& [pattern, schema] : node.pattern_properties) {
            if (!matches(*pattern, key)) continue;
            known = true;
            good &= check(*schema, value, below);
        }
        if (!known && node.additional) {
            known = true;
            good &= check_unknown(node, *node.additional, key, value, below);
        }
        if (known && seen) (*seen)[index] = true;
        return good;
    }

    bool check_unknown(const Node& node, const Node& schema, std::string_view key,
                       const json::value& value, const Path& path) {
        if (!schema.always || *schema.always) return check(schema, value, path);
        std::vector<std::string> names;
        if (quiet_ == 0) {
            for (const auto& each : node.properties) names.emplace_back(each.first);
        }
        return fail(path, "is not a known property" + core::did_you_mean(key, names));
    }

    bool require(const std::vector<std::string_view>& names, const json::object& object,
                 const Path& path, const std::string& because) {
        bool good = true;
        for (const auto name : names) {
            ++steps_;
            if (object.contains({name.data(), name.size()})) continue;
            good = fail(path, "lacks " + quoted(name) + because);
        }
        return good;
    }

    bool combinations(const Node& node, const json::value& value, const Path& path, Seen* seen) {
        bool good = true;
        if (node.reference) good &= check(*node.reference, value, path, seen);
        if (node.dynamic_reference)
            good &= check(outermost(*node.dynamic_reference), value, path, seen);
        for (const auto* each : node.all) good &= check(*each, value, path, seen);
        if (!node.any.empty()) good &= any_of(node.any, value, path, seen);
        if (!node.one.empty()) good &= one_of(node.one, value, path, seen);
        if (node.negated && fits(*node.negated, value, path)) {
            good = fail(path, "is what it must not be (not)");
        }
        if (node.condition) {
            const auto* branch =
                fits(*node.condition, value, path, seen) ? node.consequence : node.alternative;
            if (branch) good &= check(*branch, value, path, seen);
        }
        return good;
    }

    // The outermost document on our way here that has the same dynamic anchor wins.
    const Node& outermost(const Node& target) {
        for (const auto* scope : scopes_) {
            ++steps_;
            const auto found = scope->dynamic_anchors.find(*target.dynamic_anchor);
            if (found != scope->dynamic_anchors.end()) return *found->second;
        }
        return target;
    }

    bool any_of(const std::vector<const Node*>& nodes, const json::value& value, const Path& path,
                Seen* seen) {
        bool good = false;
        for (const auto* each : nodes) {
            if (fits(*each, value, path, seen)) good = true;
            if (good && !seen) break;
        }
        return good || explain(nodes, value, path, "anyOf");
    }

    bool one_of(const std::vector<const Node*>& nodes, const json::value& value, const Path& path,
                Seen* seen) {
        std::size_t fitting = 0;
        for (const auto* each : nodes) fitting += fits(*each, value, path, seen) ? 1 : 0;
        if (fitting == 1) return true;
        if (fitting == 0) return explain(nodes, value, path, "oneOf");
        return fail(path, "fits " + std::to_string(fitting) + " of " +
                              std::to_string(nodes.size()) +
                              " alternatives, not exactly one (oneOf)");
    }

    // None of the alternatives fits. Often the types alone tell why, or the types and the members
    // that tell alternatives apart (a const or an enum) single out the one meant.
    bool explain(const std::vector<const Node*>& nodes, const json::value& value, const Path& path,
                 const char* keyword) {
        if (quiet_ > 0) return false;
        unsigned types = 0;
        bool all_typed = true;
        std::vector<const Node*> possible, meant;
        for (const auto* each : nodes) {
            types |= each->types;
            all_typed &= each->types != 0;
            if (each->types && !(each->types & types_of(value))) continue;
            possible.push_back(each);
            if (!contradiction(*each, value)) meant.push_back(each);
        }
        if (possible.empty() && all_typed) {
            return fail(path,
                        "expected " + words_for(types) + ", got " + words_for(types_of(value)));
        }
        if (meant.empty()) meant = possible;
        const std::size_t told = errors.size();
        if (meant.size() == 1 && !check(*meant.front(), value, path) && errors.size() > told)
            return false;
        return fail(path, "fits none of " + std::to_string(nodes.size()) + " alternatives (" +
                              keyword + ")" + needs_of(meant.empty() ? nodes : meant, value, path));
    }

    using Property = std::pair<const std::string_view, const Node*>;

    // The property of `node` that must be one value, or one of a few, and is another; null: none.
    const Property* contradiction(const Node& node, const json::value& value) {
        const auto* object = value.if_object();
        if (!object) return nullptr;
        for (const auto& property : node.properties) {
            const auto& [key, schema] = property;
            const auto* member = object->if_contains({key.data(), key.size()});
            if (member && (schema->constant || schema->choices) && !fits(*schema, *member, {}))
                return &property;
        }
        return nullptr;
    }

    // What each of `nodes` misses first: what tells it from the others before all else.
    std::string needs_of(const std::vector<const Node*>& nodes, const json::value& value,
                         const Path& path) {
        std::string needs;
        std::size_t told = 0;
        const auto above = path.text().size();
        auto kept = std::exchange(errors, {});
        for (const auto* each : nodes) {
            errors.clear();
            if (const auto* property = contradiction(*each, value)) {
                const auto& [key, schema] = *property;
                check(*schema, value.get_object().at({key.data(), key.size()}), {&path, key});
            } else {
                check(*each, value, path);
            }
            if (errors.empty() || told == kAlternatives) continue;
            const auto below = errors.front().pointer.substr(above);
            needs += (told++ == 0 ? ": " : ", or ") + (below.empty() ? "" : below + " ") +
                     errors.front().message;
        }
        errors = std::move(kept);
        return needs;
    }

    bool unevaluated(const Node& node, const json::value& value, const Path& path, Seen& seen) {
        bool good = true;
        if (const auto* array = value.if_array(); array && node.unevaluated_items) {
            for (std::size_t i = 0; i < array->size(); ++i) {
                if (seen[i]) continue;
                good &= check(*node.unevaluated_items, (*array)[i], {&path, {}, i});
                seen[i] = true;
            }
        }
        if (const auto* object = value.if_object(); object && node.unevaluated_properties) {
            std::size_t i = 0;
            for (const auto& member : *object) {
                const std::size_t index = i++;
                if (seen[index]) continue;
                const auto key = view_of(member.key());
                good &= check_unknown(node, *node.unevaluated_properties, key, member.value(),
                                      {&path, key});
                seen[index] = true;
            }
        }
        return good;
    }

    const std::size_t most_steps_;
    std::size_t steps_ = 0;
    int depth_ = 0;
    int quiet_ = 0;
    bool too_deep_ = false;
    std::vector<const Resource*> scopes_;
};

}  // namespace

std::optional<std::vector<SchemaError>> validate(const Form& form, const json::value& instance,
                                                 std::size_t most_steps) {
    Run run(most_steps);
    run.check(*form.root, instance, {});
    if (run.exhausted()) return {};
    return std::move(run.errors);
}

}  // namespace patchbay::protocol::schema
