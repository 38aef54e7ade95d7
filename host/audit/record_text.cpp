#include "audit/record_text.hpp"

#include "config/secret_values.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <functional>
#include <utility>

namespace patchbay::audit {
namespace json = boost::json;

namespace {

constexpr std::size_t kUsualBytes = 512;

// Nearly all texts are: they are copied as they are.
bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    });
}

std::int64_t microseconds(std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

// Masked before it is cut: of half a secret nobody can tell that it is one. As JSON that a terminal obeys nothing of.
void put_arguments(RecordText& record, std::string_view given) {
    // Those of a call are an object, of any other request its members.
    const auto arguments =
        given.starts_with('{') ? std::string(given) : "{" + std::string(given) + "}";
    // Of two equal keys a server may take the other one: then they stand as they were written.
    const auto read = core::parse_json_object(arguments, {.unique_keys = true});
    // What is no object to us is masked as a text, in which an escape may hide the name of a secret, and whether a word is
    // the value of an option nobody can tell. A digest would tell a short secret to whoever tries them all.
    if (!read &&
        (arguments.find('\\') != arguments.npos || arguments.find("\"-") != arguments.npos))
        return record.put_own("arguments", "(odd JSON, not kept)");
    const auto shown = core::printable_json(
        read ? json::serialize(config::without_secrets("", *read))
             : json::serialize(json::string(config::without_secrets(arguments))));
    if (shown.size() <= kMostArguments) return record.put_raw("arguments", shown);
    record.put_raw("arguments",
                   json::serialize(json::string(core::printable(shown, kMostArguments))));
}

// Of a URI without what may let somebody in (RFC 3986: user, query, fragment, and parameters of its path), and with all
// that says what it is of.
std::string shown_uri(std::string_view uri) {
    auto end = std::min(uri.find_first_of("?#"), uri.size());
    const auto parameter = uri.find(';');
    if (parameter < end && uri.substr(parameter, end - parameter).find('=') != uri.npos)
        end = parameter;
    std::string text(uri.substr(0, end));
    if (const auto slashes = text.find("//"); slashes != text.npos) {
        const auto from = slashes + 2;
        const auto host_end = std::min(text.find_first_of("/\\", from), text.size());
        auto at = text.rfind('@', host_end);
        // A password that has a slash in it, which nobody may write so, ends the host for all but who has written it.
        const auto colon = text.find(':', from);
        if ((at == text.npos || at < from) && colon < host_end &&
            text.find_first_not_of("0123456789", colon + 1) < host_end)
            at = text.rfind('@');
        if (at != text.npos && at > from) text.replace(from, at - from, "***");
    }
    if (end < uri.size()) text.append(1, uri[end]).append("...");
    return text;
}

void put_caller(RecordText& record, const core::Principal& caller) {
    record.open("caller");
    record.put_own("kind", name_of(caller.kind));
    record.put("id", caller.id);
    record.put("name", caller.name);
    record.close();
}

std::string common_members(const core::AskedRequest& asked) {
    RecordText record(kUsualBytes);
    if (asked.caller) put_caller(record, *asked.caller);
    record.put("method", asked.method);
    record.put_own("server", asked.server);
    record.put("tool", asked.tool);
    record.put("name", asked.name);
    if (!asked.about.empty())
        record.put("about",
                   config::without_secrets(asked.method == "prompts/get" ? std::string(asked.about)
                                                                         : shown_uri(asked.about)));
    record.put_own("digest", asked.digest);
    record.put_own("decision", asked.decision);
    record.put_own("level", asked.level);
    record.put_own("rule", asked.rule);
    record.put_own("place", asked.place);
    return std::move(record).take();
}

}  // namespace

void RecordText::begin(std::string_view key) {
    if (!text_.empty() && text_.back() != '{') text_ += ',';
    text_ += '"';
    text_.append(key).append("\":", 2);
}

void RecordText::put(std::string_view key, std::string_view foreign) {
    if (foreign.empty()) return;
    begin(key);
    const auto masked = core::log::masked(foreign);
    if (masked.size() <= kMostText && is_plain(masked))
        text_.append("\"").append(masked).append("\"");
    else
        text_ += json::serialize(json::string(core::printable(masked, kMostText)));
}

void RecordText::put_own(std::string_view key, std::string_view word) {
    if (word.empty()) return;
    begin(key);
    if (is_plain(word))
        text_.append("\"").append(word).append("\"");
    else
        text_ += json::serialize(json::string(core::printable(word, kMostText)));
}

void RecordText::put(std::string_view key, std::int64_t number) {
    begin(key);
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    text_.append(digits.begin(), end);
}

void RecordText::open(std::string_view key) {
    begin(key);
    text_ += '{';
}

void RecordText::close() {
    text_ += '}';
}

void RecordText::put_all(std::string_view members) {
    if (members.empty()) return;
    if (!text_.empty()) text_ += ',';
    text_ += members;
}

void RecordText::put_raw(std::string_view key, std::string_view value) {
    begin(key);
    text_ += value;
}

// By hand, for a call pays for it: strftime takes longer than all the rest of a record.
std::string head_of_record(core::Calendar::time_point at, std::string_view kind) {
    using namespace std::chrono;
    const auto day = floor<days>(at);
    const year_month_day date(day);
    const auto since = floor<milliseconds>(at - day).count();
    constexpr std::string_view kForm = "\"at\":\"0000-00-00T00:00:00.000Z\",\"kind\":\"";
    std::string text;
    text.reserve(kForm.size() + kind.size() + 1);
    text = kForm;
    const auto put = [&text](std::size_t end, std::int64_t number, int digits) {
        for (; digits > 0; --digits, number /= 10)
            text[--end] = static_cast<char>('0' + number % 10);
    };
    constexpr std::size_t kBegin = 6;  // of the year
    put(kBegin + 4, static_cast<int>(date.year()), 4);
    put(kBegin + 7, static_cast<unsigned>(date.month()), 2);
    put(kBegin + 10, static_cast<unsigned>(date.day()), 2);
    put(kBegin + 13, since / 3'600'000, 2);
    put(kBegin + 16, since / 60'000 % 60, 2);
    put(kBegin + 19, since / 1'000 % 60, 2);
    put(kBegin + 23, since % 1'000, 3);
    text += kind;
    return text += '"';
}

std::string_view CommonMembers::of(const core::AskedRequest& asked) {
    static const core::Principal kNobody;
    const auto& caller = asked.caller ? *asked.caller : kNobody;
    key_.assign(1, asked.caller ? static_cast<char>('0' + static_cast<int>(caller.kind)) : '-');
    for (const std::string_view part :
         {std::string_view(caller.id), std::string_view(caller.name), asked.method, asked.server,
          asked.tool, asked.name, asked.about, asked.digest, asked.decision, asked.level,
          asked.rule, asked.place}) {
        const auto bytes = static_cast<std::uint32_t>(part.size());
        key_.append(reinterpret_cast<const char*>(&bytes), sizeof bytes).append(part);
    }
    if (const auto known = core::known_secrets(); known != std::exchange(known_secrets_, known))
        kinds_ = {};
    if (key_.size() > kMostKey) {
        std::string().swap(key_);
        return odd_ = common_members(asked);
    }
    auto& kind = kinds_[std::hash<std::string_view>()(asked.name) % kKinds];
    if (kind.key != key_) kind = {key_, common_members(asked)};
    return kind.text;
}

std::string members_of_request(std::string_view id, std::string_view common,
                               const core::AskedRequest& asked) {
    RecordText record(common.size() + kUsualBytes / 4);
    record.put_own("id", id);
    record.put_all(common);
    record.put("arguments_bytes", static_cast<std::int64_t>(asked.arguments_bytes));
    if (!asked.arguments.empty()) put_arguments(record, asked.arguments);
    return std::move(record).take();
}

std::string members_of_outcome(const core::EndedRequest& ended) {
    RecordText record(kUsualBytes / 4);
    record.put_own("outcome", ended.outcome);
    const auto waited = ended.waited.value_or(ended.duration);
    record.put("wait_us", microseconds(waited));
    if (ended.waited) record.put("run_us", microseconds(ended.duration - waited));
    record.put("result_bytes", static_cast<std::int64_t>(ended.bytes_from_server));
    // What a server says in its error is an answer, and that is not told.
    if (ended.outcome != "server_error") record.put("reason", ended.trouble);
    return std::move(record).take();
}

}  // namespace patchbay::audit
