#include "app/entry_secrets.hpp"

#include "config/secret_names.hpp"
#include "config/secret_values.hpp"
#include "core/json.hpp"
#include "core/secret_name.hpp"

#include <string_view>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostOfAName = 56;  // leaves room for a number

class Taker {
public:
    using IsFree = std::function<bool(const std::string& name, const std::string& value)>;
    Taker(const std::string& id, const IsFree& is_free) : id_(id), is_free_(is_free) {}

    void from_table(json::value& table) {
        auto* members = table.if_object();
        if (!members) return;
        for (auto& member : *members) {
            const auto text = core::text_of(member.value());
            if (!text || !is_clear(*text)) continue;
            if (config::is_secret(member.key(), *text))
                member.value() = put_away(member.key(), std::string(*text));
            else
                from_text(member.key(), member.value());
        }
    }

    void from_text(std::string_view key, json::value& value) {
        const auto text = core::text_of(value);
        if (text && is_clear(*text))
            value = without(key, std::string(*text), config::secret_parts(*text));
    }

    void from_list(std::string_view key, json::value& value) {
        auto* list = value.if_array();
        if (!list) return;
        // Together: the word after `--token` is a secret because of the one before.
        const auto parts = config::secret_parts(*list);
        for (std::size_t i = 0; i < list->size(); ++i)
            if (const auto text = core::text_of((*list)[i]); text && is_clear(*text))
                (*list)[i] = without(key, std::string(*text), parts[i]);
    }

    std::vector<TakenSecret> taken() && { return std::move(taken_); }

private:
    static bool is_clear(std::string_view text) { return text.find("${") == text.npos; }

    json::string without(std::string_view key, const std::string& text,
                         const std::vector<config::Part>& parts) {
        std::string out;
        std::size_t at = 0;
        for (const auto& part : parts) {
            out.append(text, at, part.begin - at);
            out.append(put_away(key, text.substr(part.begin, part.end - part.begin)));
            at = part.end;
        }
        return json::string(out.append(text, at));
    }

    json::string put_away(std::string_view key, std::string value) {
        auto name = id_ + "." + std::string(key);
        for (auto& letter : name)
            if (!core::may_name_a_secret(std::string("a") + letter)) letter = '-';
        if (!core::may_name_a_secret(name.substr(0, 1))) name.front() = '_';
        if (name.size() > kMostOfAName) name.resize(kMostOfAName);
        const auto is_ours = [&](const std::string& wanted) {
            for (const auto& each : taken_)
                if (each.name == wanted) return each.value == value;
            return is_free_(wanted, value);
        };
        auto chosen = name;
        for (int number = 2; !is_ours(chosen); ++number)
            chosen = name + "-" + std::to_string(number);
        taken_.push_back({chosen, std::move(value)});
        return json::string("${secret:" + chosen + "}");
    }

    const std::string& id_;
    const IsFree& is_free_;
    std::vector<TakenSecret> taken_;
};

}  // namespace

std::vector<TakenSecret> take_secrets(
    json::object& entry, const std::string& id,
    const std::function<bool(const std::string& name, const std::string& value)>& is_free) {
    Taker taker(id, is_free);
    for (auto& member : entry) {
        const std::string_view key = member.key();
        if (key == "env" || key == "headers" || key == "oauth") taker.from_table(member.value());
        if (key == "args") taker.from_list(key, member.value());
        if (key == "command" || key == "url") taker.from_text(key, member.value());
    }
    return std::move(taker).taken();
}

}  // namespace patchbay::app
