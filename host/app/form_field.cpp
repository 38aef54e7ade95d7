#include "app/form_field.hpp"

#include "app/visible_json.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kListBytes = 2'000;  // of titles shown

const json::object* field_of(const json::object& form, const std::string& name) {
    return core::object_in(core::object_in(&form, "properties"), name);
}

bool has_type(const json::object& field, std::string_view type) {
    const auto* given = field.if_contains("type");
    if (!given) return false;
    const json::value wanted(type);
    const auto* several = given->if_array();
    return several ? std::find(several->begin(), several->end(), wanted) != several->end()
                   : *given == wanted;
}

// JSON as a person writes it: 1.5, not 1.5E0.
std::string plain_json(const json::value& value) {
    if (const auto* number = value.if_double()) {
        char text[32];
        const auto end = std::to_chars(text, text + sizeof text, *number).ptr;
        return {text, end};
    }
    const auto* list = value.if_array();
    if (!list) return json::serialize(value);
    std::string text = "[";
    for (const auto& each : *list) text += (text.size() > 1 ? "," : "") + plain_json(each);
    return text + "]";
}

const json::object& items_of(const json::object& field) {
    const auto* items = core::object_in(&field, "items");
    return items ? *items : field;
}

struct Choices {
    json::array values;
    std::string titles;  // a line each
};

// The schema of a list's choices stands in `items`; titles come with `oneOf`, or there with `anyOf`.
Choices choices_of(const json::object& field) {
    const auto& schema = items_of(field);
    Choices choices;
    if (const auto* plain = core::array_in(&schema, "enum")) choices.values = *plain;
    for (const char* key : {"oneOf", "anyOf"}) {
        const auto* titled = core::array_in(&schema, key);
        for (const auto& each : titled ? *titled : json::array()) {
            const auto* choice = each.if_object();
            const auto* value = choice ? choice->if_contains("const") : nullptr;
            if (!value) continue;
            choices.values.push_back(*value);
            const auto title = printable_in(*choice, "title");
            if (!title.empty()) choices.titles += "\n    " + plain_json(*value) + ": " + title;
        }
    }
    return choices;
}

// "2 to 5 of them"; empty: no limit.
std::string limits_of(const json::object& field, const char* least, const char* most,
                      const char* unit) {
    const auto number = [&](const char* key) {
        const auto* value = field.if_contains(key);
        return value && value->is_number() ? plain_json(*value) : std::string();
    };
    const auto from = number(least), to = number(most);
    if (from.empty() && to.empty()) return {};
    if (from.empty()) return "at most " + to + unit;
    if (to.empty()) return "at least " + from + unit;
    return from + " to " + to + unit;
}

// What is shown of a format, and how a value of it looks.
struct FieldFormat {
    const char* name;
    const char* word;
    const char* example;
    bool (*fits)(std::string_view);
};

// To catch a slip while it can be mended: whether there is such an address the server finds out.
bool is_email(std::string_view text) {
    const auto at = text.find('@');
    return at != 0 && at != std::string_view::npos && at + 1 < text.size() &&
           text.find('@', at + 1) == std::string_view::npos &&
           text.find_first_of(" \t") == std::string_view::npos;
}

bool is_uri(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size()) return false;
    const auto scheme = core::lower(text.substr(0, colon));
    return scheme.front() >= 'a' && scheme.front() <= 'z' &&
           scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") ==
               std::string::npos &&
           text.find_first_of(" \t<>\"") == std::string_view::npos;
}

// The digits of `pattern`, where each '0' stands for one; -1: another text.
bool has_shape(std::string_view text, std::string_view pattern) {
    return text.size() == pattern.size() &&
           std::equal(text.begin(), text.end(), pattern.begin(), [](char c, char wanted) {
               return wanted == '0' ? c >= '0' && c <= '9' : c == wanted;
           });
}

int number_in(std::string_view digits) {
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

bool is_date(std::string_view text) {
    using namespace std::chrono;
    return has_shape(text, "0000-00-00") &&
           year_month_day{year{number_in(text.substr(0, 4))},
                          month{static_cast<unsigned>(number_in(text.substr(5, 2)))},
                          day{static_cast<unsigned>(number_in(text.substr(8, 2)))}}
               .ok();
}

// RFC 3339: a date, a time of day, perhaps a fraction, and the offset.
bool is_date_time(std::string_view text) {
    constexpr std::size_t kToSeconds = 19;
    if (text.size() <= kToSeconds || !is_date(text.substr(0, 10)) ||
        std::string_view("Tt ").find(text[10]) == std::string_view::npos)
        return false;
    const auto time = text.substr(11, 8);
    if (!has_shape(time, "00:00:00") || number_in(time.substr(0, 2)) > 23 ||
        number_in(time.substr(3, 2)) > 59 || number_in(time.substr(6, 2)) > 60)
        return false;
    auto rest = text.substr(kToSeconds);
    if (rest.starts_with('.')) {
        const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
        if (end == 1) return false;
        rest.remove_prefix(end);
    }
    return rest == "Z" || rest == "z" || has_shape(rest, "+00:00") || has_shape(rest, "-00:00");
}

constexpr FieldFormat kFormats[] = {
    {"email", "e-mail", "name@example.org", is_email},
    {"uri", "URI", "https://example.org/", is_uri},
    {"date", "date", "2026-01-31", is_date},
    {"date-time", "date and time", "2026-01-31T12:00:00Z", is_date_time},
};

const FieldFormat* format_of(const json::object& field) {
    const auto name = core::text_in(&field, "format").value_or("");
    const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                     [&](const FieldFormat& each) { return name == each.name; });
    return found == std::end(kFormats) ? nullptr : found;
}

std::string list_example(const json::object& field, const json::array& choices) {
    const auto most = core::integer_in(&field, "maxItems").value_or(2);
    std::vector<std::string> some;
    for (const auto& each : choices)
        if (each.is_string() &&
            static_cast<std::int64_t>(some.size()) < std::min<std::int64_t>(most, 2))
            some.push_back(core::printable(std::string_view(each.get_string()), 40));
    if (!some.empty()) return core::join(some, ",");
    const auto& items = items_of(field);
    const char* two = has_type(items, "integer") || has_type(items, "number") ? "1,2" : "a,b";
    return std::string(two).substr(0, most == 1 ? 1 : 3);
}

void add(std::vector<std::string>& words, std::string word) {
    if (!word.empty()) words.push_back(std::move(word));
}

void add_limits(std::vector<std::string>& words, const json::object& field) {
    if (has_type(field, "array")) {
        add(words, limits_of(field, "minItems", "maxItems", " of them"));
    } else if (has_type(field, "integer") || has_type(field, "number")) {
        add(words, limits_of(field, "minimum", "maximum", ""));
        add(words,
            limits_of(field, "exclusiveMinimum", "exclusiveMaximum", " and not that itself"));
    } else {
        add(words, limits_of(field, "minLength", "maxLength", " characters"));
        if (const auto pattern = printable_in(field, "pattern"); !pattern.empty())
            words.push_back("pattern " + pattern);
    }
}

// "integer, at least 1, required". Of plain text nothing is said: that is what anybody expects.
std::string kind_of(const json::object& field, const json::array& choices, bool required) {
    std::vector<std::string> words;
    if (has_type(field, "array")) {
        words.push_back("a list, e.g. " + list_example(field, choices));
    } else if (has_type(field, "integer") || has_type(field, "number")) {
        words.emplace_back(has_type(field, "integer") ? "integer" : "number");
    } else if (const auto* format = format_of(field)) {
        words.push_back(std::string(format->word) + ", e.g. " + format->example);
    }
    add_limits(words, field);
    if (required) words.push_back("required");
    return core::join(words, ", ");
}

Result<json::value> yes_or_no(std::string_view line) {
    const auto word = core::lower(line);
    if (word == "y" || word == "yes" || word == "true") return json::value(true);
    if (word == "n" || word == "no" || word == "false") return json::value(false);
    return Error{ErrorCode::Invalid,
                 "\"" + core::printable(line, 80) + "\" is neither y (yes) nor n (no)"};
}

// JSON, or with commas between the values: each as its type wants it.
Result<json::value> list_value(const json::object& field, const std::string& name,
                               const std::string& line) {
    if (core::trimmed(line).starts_with('[')) {
        auto value = core::parse_json(line);
        if (value && value->is_array()) return value;
    }
    // Each as if it were a property of that type: one judge of what a typed word means.
    const json::object one{{"properties", {{name, items_of(field)}}}};
    json::array values;
    for (std::size_t at = 0; at <= line.size();) {
        const auto end = std::min(line.find(',', at), line.size());
        const std::string piece(core::trimmed(std::string_view(line).substr(at, end - at)));
        at = end + 1;
        if (piece.empty()) continue;
        auto value = protocol::coerce_argument(one, name, piece);
        if (!value) return value.error();
        values.push_back(std::move(*value));
    }
    return values;
}

Result<json::value> value_of(const json::object& form, const std::string& name,
                             const std::string& line) {
    const auto* field = field_of(form, name);
    if (field && has_type(*field, "boolean")) return yes_or_no(core::trimmed(line));
    if (field && has_type(*field, "array")) return list_value(*field, name, line);
    return protocol::coerce_argument(form, name, line);
}

}  // namespace

bool is_required(const json::object& form, const std::string& name) {
    const auto* names = core::array_in(&form, "required");
    return names && std::find(names->begin(), names->end(), json::value(name)) != names->end();
}

std::string shown_limits(const json::object& property) {
    std::vector<std::string> words;
    add_limits(words, property);
    return core::join(words, ", ");
}

std::string shown_field(const json::object& form, const std::string& name) {
    std::string text = "  " + core::printable(name, 64);
    const auto* field = field_of(form, name);
    if (!field) return text + (is_required(form, name) ? " (required):" : ":");
    const auto choices = choices_of(*field);
    std::vector<std::string> said;
    for (const char* key : {"title", "description"}) add(said, printable_in(*field, key));
    const auto* given = field->if_contains("default");  // which an empty line takes
    add(said, kind_of(*field, choices.values, !given && is_required(form, name)));
    if (!said.empty()) text += " (" + core::join(said, "; ") + ")";
    if (!choices.values.empty())
        text += (has_type(*field, "array") ? " out of " : " ") +
                core::printable(plain_json(choices.values), 200) +
                core::printable(choices.titles, kListBytes, true);
    if (has_type(*field, "boolean"))
        return text + (!given || !given->is_bool() ? " [y/n]:"
                       : given->get_bool()         ? " [Y/n]:"
                                                   : " [y/N]:");
    if (given) text += " [" + core::printable(plain_json(*given), 100) + "]";
    return text + ":";
}

Result<json::value> field_value(const json::object& form, const std::string& name,
                                const std::string& line) {
    const auto value = value_of(form, name, line);
    if (!value) return value;
    const auto* field = field_of(form, name);
    const auto* format = field ? format_of(*field) : nullptr;
    if (format && value->is_string() && !format->fits(std::string_view(value->get_string())))
        return Error{ErrorCode::Invalid, "\"" + core::printable(line, 80) + "\" is no " +
                                             format->word + ", which looks like " +
                                             format->example};
    if (!field) return value;
    // While the person is there to type another one; the server could only refuse the whole form.
    const auto troubles =
        protocol::check_arguments({{"properties", {{name, *field}}}}, json::object{{name, *value}});
    if (troubles.empty()) return value;
    return Error{ErrorCode::Invalid, troubles.front()};
}

}  // namespace patchbay::app
