#include "audit/entry.hpp"

#include "core/json.hpp"
#include "core/principal.hpp"
#include "core/text.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

namespace patchbay::audit {
namespace json = boost::json;

namespace {

std::string text_of(core::Calendar::time_point time) {
    const std::time_t seconds = core::Calendar::to_time_t(time);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> text;
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    return text.data();
}

std::optional<std::chrono::seconds> unit_named(char unit) {
    using namespace std::chrono_literals;
    switch (unit) {
        case 's':
            return 1s;
        case 'm':
            return 60s;
        case 'h':
            return 3'600s;
        case 'd':
            return 86'400s;
        default:
            return {};
    }
}

// "2026-07-28T09:00" is a beginning of what records write, with digits where that has some.
bool is_time(std::string_view text) {
    constexpr std::string_view kForm = "0000-00-00T00:00:00";
    if (text.size() != 10 && text.size() != 16 && text.size() != kForm.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return false;
    }
    const auto number = [&](std::size_t at, std::size_t digits) {
        int value = 0;
        std::from_chars(text.data() + at, text.data() + at + digits, value);
        return value;
    };
    const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                           std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                           std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    return date.ok() && (text.size() < 16 || (number(11, 2) < 24 && number(14, 2) < 60)) &&
           (text.size() < kForm.size() || number(17, 2) < 60);
}

// What begins so a spreadsheet takes for a formula, and a server or a client chose it.
std::string csv_cell(std::string text) {
    if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos)
        text.insert(0, 1, '\'');
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + "\"";
}

}  // namespace

// By number and kind all that is shown is told apart; the rest a later version may write otherwise.
std::optional<Entry> Entry::parse(std::string_view line) {
    auto members = core::parse_json_object(line);
    if (!members || !core::integer_in(&*members, "n") || !core::text_in(&*members, "kind"))
        return {};
    return Entry(std::move(*members));
}

std::string_view Entry::text(std::string_view key) const {
    return core::text_in(&members_, key).value_or("");
}

std::optional<std::int64_t> Entry::number(std::string_view key) const {
    return core::integer_in(&members_, key);
}

std::string Entry::caller() const {
    const auto* who = core::object_in(&members_, "caller");
    const auto told = [who](std::string_view key) {
        return std::string(core::text_in(who, key).value_or(""));
    };
    std::string text = told("kind");
    if (const auto id = told("id"); !id.empty()) text += " \"" + id + "\"";
    if (const auto name = told("name"); !name.empty()) text += " (" + name + ")";
    return text;
}

std::string Entry::cell(std::string_view key) const {
    if (key == "caller") return caller();
    const auto* value = members_.if_contains(json::string_view(key.data(), key.size()));
    if (!value) return {};
    if (const auto text = core::text_of(*value)) return std::string(*text);
    return json::serialize(*value);
}

// Times of one form: their order is that of their letters.
bool Wanted::holds(const Entry& entry) const {
    if (!since.empty() && entry.text("at") < since) return false;
    if (!server.empty() && entry.text("server") != server) return false;
    if (!tool.empty() && entry.text("tool") != tool && entry.text("name") != tool) return false;
    if (!about.empty() && entry.text("about").find(about) == std::string_view::npos) return false;
    if (!decision.empty() && entry.text("decision") != decision) return false;
    if (principal.empty()) return true;
    const auto* who = core::object_in(&entry.members(), "caller");
    for (const std::string_view key : {"kind", "id", "name"})
        if (core::text_in(who, key) == std::string_view(principal)) return true;
    return false;
}

// As core::AskedRequest has it.
const std::vector<std::string>& decisions() {
    static const std::vector<std::string> all = {"allow",    "deny",    "asked",
                                                 "approved", "refused", "nobody_there"};
    return all;
}

Result<std::string> time_text(std::string_view written, core::Calendar::time_point now) {
    auto text = core::trimmed(written);
    if (text.ends_with('Z')) text.remove_suffix(1);
    if (is_time(text)) return std::string(text);
    std::int32_t count = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
    const bool whole = failed == std::errc() && count >= 0 && end + 1 == text.data() + text.size();
    if (const auto unit = whole ? unit_named(*end) : std::nullopt)
        return text_of(now - *unit * count);
    return Error{ErrorCode::Invalid, "\"" + core::printable(written, 40) +
                                         "\" is no time; expected 2026-07-28, 2026-07-28T09:00 "
                                         "(UTC), or how long ago: 30m, 2h, 7d"};
}

// New ones stand beside what they belong to: whoever reads a table goes by its header.
const std::vector<std::string_view>& columns() {
    static const std::vector<std::string_view> all = {"n",
                                                      "at",
                                                      "kind",
                                                      "id",
                                                      "caller",
                                                      "method",
                                                      "server",
                                                      "tool",
                                                      "name",
                                                      "about",
                                                      "digest",
                                                      "decision",
                                                      "level",
                                                      "rule",
                                                      "place",
                                                      "outcome",
                                                      "reason",
                                                      "arguments_bytes",
                                                      "result_bytes",
                                                      "wait_us",
                                                      "run_us",
                                                      "arguments"};
    return all;
}

std::string csv_header() {
    std::string line;
    for (const auto column : columns()) line.append(line.empty() ? "" : ",").append(column);
    return line;
}

std::string csv_row(const Entry& entry) {
    std::string line;
    for (const auto column : columns()) {
        if (column != columns().front()) line += ',';
        line += csv_cell(entry.cell(column));
    }
    return line;
}

}  // namespace patchbay::audit
