#include "app/call_log.hpp"

#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// "2026-07-28T09:00:00". Events and lines of a server's log have no finer time in common, so order within
// a second is not known.
constexpr std::size_t kSecond = 19;

std::string_view text_in(const json::object& object, const char* key) {
    return core::text_in(&object, key).value_or("");
}

std::string_view second_of(const json::object& entry) {
    return text_in(entry, "at").substr(0, kSecond);
}

bool is_end(const json::object& entry) {
    return text_in(entry, "event") == "mcp_tool_call_end";
}

// Of that call; none: of no call.
std::optional<std::int64_t> call_in(const json::object& event) {
    return core::integer_in(&event, "call");
}

// `2026-07-28T09:00:00Z stderr what it wrote`
json::object entry_of(const std::string& line, const std::string& server) {
    const auto time = line.find(' ');
    const auto stream = line.find(' ', time + 1);
    const auto end = std::min(stream, line.size());
    return {{"event", "log"},
            {"at", line.substr(0, time)},
            {"server", server},
            {"stream", line.substr(time + 1, end - time - 1)},
            {"text", line.substr(std::min(end + 1, line.size()))}};
}

// Calls that begin before ours has ended, and end after it has begun.
std::size_t calls_beside(const std::vector<json::object>& events, std::int64_t ours,
                         const std::string& server) {
    std::set<std::int64_t> there, beside;
    bool begun = false;
    for (const auto& event : events) {
        const auto call = call_in(event);
        if (!call || (*call != ours && text_in(event, "server") != server)) continue;
        if (*call == ours) begun = true;
        if (*call == ours && is_end(event)) break;
        if (*call == ours) continue;
        if (is_end(event))
            there.erase(*call);
        else
            there.insert(*call);
        if (begun) beside.insert(*call);
    }
    beside.insert(there.begin(), there.end());
    return beside.size();
}

}  // namespace

std::optional<CallLog> log_of_call(const std::vector<json::object>& events, std::uint64_t call) {
    const auto number = static_cast<std::int64_t>(call);
    const auto is_ours = [&](const auto& event) { return call_in(event) == number; };
    const auto first = std::find_if(events.begin(), events.end(), is_ours);
    if (first == events.end()) return {};
    const auto last = std::find_if(events.rbegin(), events.rend(), is_ours).base();
    CallLog log;
    // First whose call it is, which not each of its events says: what its server did meanwhile belongs to it.
    for (auto event = first; event != last; ++event) {
        if (!is_ours(*event)) continue;
        if (const auto server = text_in(*event, "server"); !server.empty()) log.server = server;
        log.ended = log.ended || is_end(*event);
    }
    // One that is on its way has no last event, and goes on to the end of what is kept.
    const auto end = log.ended ? last : events.end();
    for (auto event = first; event != end; ++event) {
        const bool of_its_server =
            !log.server.empty() && text_in(*event, "server") == log.server && !call_in(*event);
        if (is_ours(*event) || of_its_server) log.entries.push_back(*event);
    }
    log.beside = log.server.empty() ? 0 : calls_beside(events, number, log.server);
    return log;
}

void add_lines(CallLog& log, const std::vector<std::string>& lines) {
    auto line = lines.begin();
    const auto before = [&](std::string_view second) {
        return line != lines.end() && std::string_view(*line).substr(0, kSecond) < second;
    };
    const auto begun = std::string(second_of(log.entries.front()));
    while (before(begun)) ++line;
    std::vector<json::object> all;
    for (auto& entry : log.entries) {
        const auto second = std::string(second_of(entry));
        const auto till =
            is_end(entry) ? second + "~" : second;  // whatever it wrote in that second
        for (; before(till); ++line) all.push_back(entry_of(*line, log.server));
        all.push_back(std::move(entry));
    }
    if (!log.ended)
        for (; line != lines.end(); ++line) all.push_back(entry_of(*line, log.server));
    log.entries = std::move(all);
}

std::string text_of_entry(const json::object& entry) {
    if (text_in(entry, "event") == "log")
        return core::printable(text_in(entry, "at"), 40) + " " +
               core::printable(text_in(entry, "stream"), 10) + " " +
               std::string(text_in(entry, "text"));
    std::string text = core::printable(text_in(entry, "at"), 40) + " " +
                       core::printable(text_in(entry, "event"), 100);
    for (const auto& member : entry) {
        const auto key = member.key();
        // Said already: in front, or by whoever asked for this call.
        if (key == "event" || key == "at" || key == "number" || key == "server" || key == "call")
            continue;
        const auto* word = member.value().if_string();
        const bool plain = word && word->find(' ') == json::string::npos;
        text += " " + std::string(key) + "=" +
                (plain ? std::string(*word) : json::serialize(member.value()));
    }
    return text;
}

}  // namespace patchbay::app
