#include "app/status_text.hpp"

#include "core/error_words.hpp"
#include "core/json.hpp"
#include "core/log.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using connection::State;
using connection::Status;

namespace {

// Words go both ways by one list each, so that a word that is sent is one that is read.
constexpr State kStates[] = {
    State::Disabled, State::Idle,         State::Connecting, State::AuthRequired, State::Ready,
    State::Error,    State::Reconnecting, State::Stopped,    State::Failed,       State::Untrusted};
const Error kNoStatus{ErrorCode::Invalid, "it is no status of a server"};
const Error kNoTool{ErrorCode::Invalid, "it is no tool"};

// Missing and unreadable alike: an older host does not say it, and 0 is what a status begins with.
template <class Number>
Number number_in(const json::object& object, const char* key) {
    return static_cast<Number>(core::integer_in(&object, key).value_or(0));
}

std::vector<std::int64_t> numbers_in(const json::object& object, const char* key) {
    std::vector<std::int64_t> numbers;
    if (const auto* list = core::array_in(&object, key))
        for (const auto& each : *list)
            if (each.is_int64()) numbers.push_back(each.get_int64());
    return numbers;
}

json::object facts_text(const std::map<std::string, std::string>& facts) {
    json::object text;
    for (const auto& [name, value] : facts) text[name] = value;
    return text;
}

std::map<std::string, std::string> facts_in(const json::object& object) {
    std::map<std::string, std::string> facts;
    if (const auto* told = core::object_in(&object, "facts"))
        for (const auto& each : *told) facts[each.key()] = core::text_of(each.value()).value_or("");
    return facts;
}

std::optional<State> state_in(const json::object& object) {
    for (const auto state : kStates)
        if (core::string_in(object, "state") == connection::name_of(state)) return state;
    return {};
}

json::object place_text(const config::Place& place) {
    return {{"scope", config::name_of(place.scope)},
            {"file", place.file},
            {"line", place.line},
            {"column", place.column}};
}

config::Place place_in(const json::object& object) {
    config::Place place;
    const auto* told = core::object_in(&object, "place");
    if (!told) return place;
    place.scope = config::scope_named(core::string_in(*told, "scope")).value_or(place.scope);
    place.file = core::string_in(*told, "file");
    place.line = number_in<unsigned>(*told, "line");
    place.column = number_in<unsigned>(*told, "column");
    return place;
}

// In seconds, to the end of the year 9999: nobody is shown more, and a clock holds less than an integer.
constexpr std::int64_t kLatest = 253'402'300'799;

std::int64_t seconds_of(std::chrono::system_clock::time_point when) {
    return std::chrono::system_clock::to_time_t(when);
}

std::chrono::system_clock::time_point time_in(const json::object& object, const char* key) {
    const auto seconds = core::integer_in(&object, key).value_or(0);
    return std::chrono::system_clock::from_time_t(std::clamp<std::int64_t>(seconds, 0, kLatest));
}

std::optional<std::chrono::system_clock::time_point> known_time_in(const json::object& object,
                                                                   const char* key) {
    const auto when = core::integer_in(&object, key);
    if (!when || *when < 0 || *when > kLatest) return {};
    return std::chrono::system_clock::from_time_t(*when);
}

std::chrono::milliseconds milliseconds_in(const json::object& object, const char* key) {
    return std::chrono::milliseconds(number_in<std::int64_t>(object, key));
}

// Of an exit: what is beyond cannot be, and would be shown as something it is not.
std::optional<int> small_number_in(const json::object& object, const char* key) {
    const auto number = core::integer_in(&object, key);
    if (!number || *number < 0 || *number > 255) return {};
    return static_cast<int>(*number);
}

connection::Exit exit_in(const json::object& object) {
    return {small_number_in(object, "code"), small_number_in(object, "signal"),
            core::string_in(object, "limit"),
            known_time_in(object, "at").value_or(std::chrono::system_clock::time_point())};
}

std::optional<service::ServerError> server_error(const json::value& text) {
    const auto* told = text.if_object();
    if (!told) return {};
    const auto code = error_code_from(core::string_in(*told, "kind"));
    if (!code) return {};
    return service::ServerError{core::string_in(*told, "server"),
                                {*code, core::string_in(*told, "message")}};
}

json::object drift_text(const catalogue::Drift& drift) {
    json::array changed;
    for (const auto& each : drift.changed)
        changed.push_back({{"name", each.name}, {"members", core::array_of(each.members)}});
    return {{"server", drift.server},
            {"list", catalogue::name_of(drift.list)},
            {"before", seconds_of(drift.before)},
            {"now", seconds_of(drift.now)},
            {"of_earlier_host", drift.of_earlier_host},
            {"instructions", drift.instructions},
            {"added", core::array_of(drift.added)},
            {"removed", core::array_of(drift.removed)},
            {"changed", std::move(changed)},
            {"more_added", drift.more_added},
            {"more_removed", drift.more_removed},
            {"more_changed", drift.more_changed}};
}

catalogue::Drift drift_in(const json::object& told) {
    catalogue::Drift drift;
    drift.server = core::string_in(told, "server");
    for (const auto each : catalogue::kLists)
        if (core::string_in(told, "list") == catalogue::name_of(each)) drift.list = each;
    drift.before = time_in(told, "before");
    drift.now = time_in(told, "now");
    drift.of_earlier_host = core::flag_in(&told, "of_earlier_host") == true;
    drift.instructions = core::flag_in(&told, "instructions") == true;
    drift.added = core::texts_in(told, "added");
    drift.removed = core::texts_in(told, "removed");
    if (const auto* changed = core::array_in(&told, "changed"))
        for (const auto& each : *changed)
            if (const auto* one = each.if_object())
                drift.changed.push_back(
                    {core::string_in(*one, "name"), core::texts_in(*one, "members")});
    drift.more_added = number_in<std::size_t>(told, "more_added");
    drift.more_removed = number_in<std::size_t>(told, "more_removed");
    drift.more_changed = number_in<std::size_t>(told, "more_changed");
    return drift;
}

}  // namespace

// Each field as it is, so that the command makes the same text or JSON of it as of its own. Nothing here
// is for people.
json::object status_text(const Status& status) {
    json::object text{{"id", status.id},
                      {"transport", status.transport},
                      {"fallback_from", status.fallback_from},
                      {"place", place_text(status.place)},
                      {"enabled", status.enabled},
                      {"state", connection::name_of(status.state)},
                      {"last_error", status.last_error},
                      {"protocol", status.protocol},
                      {"server_name", status.server_name},
                      {"server_version", status.server_version},
                      {"instructions", status.instructions},
                      {"capabilities", core::array_of(status.capabilities)},
                      {"tools_error", status.tools_error},
                      {"restarts", status.restarts},
                      {"pending", status.pending},
                      {"facts", facts_text(status.facts)},
                      {"stray_lines", status.stray_lines},
                      {"malformed", status.malformed},
                      {"late_answers", status.late_answers},
                      {"notes", core::array_of(status.notes)}};
    if (const auto& starting = status.starting)
        text["starting"] = {{"taken", starting->taken.count()},
                            {"limit", starting->limit.count()},
                            {"last_said", starting->last_said},
                            {"queued", starting->queued}};
    if (const auto& exit = status.last_exit) {
        auto& told = text["last_exit"].emplace_object();
        if (exit->code) told["code"] = *exit->code;
        if (exit->signal) told["signal"] = *exit->signal;
        told["limit"] = exit->limit;
        told["at"] = seconds_of(exit->at);
    }
    const auto& cost = status.cost;
    text["cost"] = {{"calls", cost.calls},
                    {"sent", cost.sent_bytes},
                    {"received", cost.received_bytes},
                    {"cpu", cost.cpu.count()},
                    {"memory", cost.peak_memory_bytes},
                    {"running", json::array(cost.running.begin(), cost.running.end())}};
    if (status.last_connected) text["last_connected"] = seconds_of(*status.last_connected);
    if (status.tools) text["tools"] = *status.tools;
    auto& drifts = text["drifts"].emplace_array();
    for (const auto& drift : status.drifts) drifts.push_back(drift_text(drift));
    auto& departures = text["departures"].emplace_array();
    for (const auto& each : status.departures)
        departures.push_back({{"list", each.list},
                              {"name", each.name},
                              {"state", each.state},
                              {"why", each.why},
                              {"blocked", each.blocked}});
    text["more_departures"] = status.more_departures;
    auto& connections = text["connections"].emplace_array();
    for (const auto& one : status.connections)
        connections.push_back({{"use", one.use},
                               {"state", connection::name_of(one.state)},
                               {"last_error", one.last_error},
                               {"facts", facts_text(one.facts)}});
    return text;
}

Result<Status> parse_status(const json::value& text) {
    const auto* told = text.if_object();
    const auto state = told ? state_in(*told) : std::optional<State>();
    // All else has a meaning when it is missing. A state that is not known here would be shown as one that it is not.
    if (!state) return kNoStatus;
    Status status;
    status.id = core::string_in(*told, "id");
    status.transport = core::string_in(*told, "transport");
    status.fallback_from = core::string_in(*told, "fallback_from");
    status.place = place_in(*told);
    status.enabled = core::flag_in(told, "enabled") == true;
    status.state = *state;
    status.last_error = core::string_in(*told, "last_error");
    status.protocol = core::string_in(*told, "protocol");
    status.server_name = core::string_in(*told, "server_name");
    status.server_version = core::string_in(*told, "server_version");
    status.instructions = core::string_in(*told, "instructions");
    status.capabilities = core::texts_in(*told, "capabilities");
    status.tools_error = core::string_in(*told, "tools_error");
    status.restarts = number_in<unsigned>(*told, "restarts");
    status.pending = number_in<std::size_t>(*told, "pending");
    status.facts = facts_in(*told);
    status.stray_lines = number_in<std::uint64_t>(*told, "stray_lines");
    status.malformed = number_in<std::uint64_t>(*told, "malformed");
    status.late_answers = number_in<std::uint64_t>(*told, "late_answers");
    status.notes = core::texts_in(*told, "notes");
    status.last_connected = known_time_in(*told, "last_connected");
    if (const auto* starting = core::object_in(told, "starting"))
        status.starting = {milliseconds_in(*starting, "taken"), milliseconds_in(*starting, "limit"),
                           core::string_in(*starting, "last_said"),
                           core::flag_in(starting, "queued") == true};
    if (const auto* exit = core::object_in(told, "last_exit")) status.last_exit = exit_in(*exit);
    if (const auto* cost = core::object_in(told, "cost"))
        status.cost = {
            number_in<std::uint64_t>(*cost, "calls"),    number_in<std::uint64_t>(*cost, "sent"),
            number_in<std::uint64_t>(*cost, "received"), milliseconds_in(*cost, "cpu"),
            number_in<std::uint64_t>(*cost, "memory"),   numbers_in(*cost, "running")};
    if (const auto tools = core::integer_in(told, "tools"))
        status.tools = static_cast<std::size_t>(*tools);
    if (const auto* drifts = core::array_in(told, "drifts"))
        for (const auto& each : *drifts)
            if (const auto* one = each.if_object()) status.drifts.push_back(drift_in(*one));
    if (const auto* departures = core::array_in(told, "departures"))
        for (const auto& each : *departures)
            if (const auto* one = each.if_object())
                status.departures.push_back(
                    {core::string_in(*one, "list"), core::string_in(*one, "name"),
                     core::string_in(*one, "state"), core::string_in(*one, "why"),
                     core::flag_in(one, "blocked") == true});
    status.more_departures = number_in<std::size_t>(*told, "more_departures");
    if (const auto* connections = core::array_in(told, "connections"))
        for (const auto& each : *connections) {
            const auto* one = each.if_object();
            const auto its = one ? state_in(*one) : std::optional<State>();
            if (!its) return kNoStatus;
            status.connections.push_back({core::string_in(*one, "use"), *its,
                                          core::string_in(*one, "last_error"), facts_in(*one)});
        }
    return status;
}

json::object tool_text(const router::ListedTool& tool) {
    return {{"public_name", tool.public_name},
            {"server", tool.server},
            {"level", config::name_of(tool.level)},
            {"name", tool.tool->name},
            {"known", tool.tool->known},
            {"others", tool.tool->others},
            {"schema_fault", tool.tool->schema_fault},
            {"pin", tool.mismatch ? policy::name_of(*tool.mismatch) : ""},
            {"blocked", tool.blocked}};
}

Result<router::ListedTool> parse_tool(const json::value& text, ToolDefinitions& definitions) {
    const auto* told = text.if_object();
    if (!told) return kNoTool;
    const auto level = config::level_from(core::string_in(*told, "level"));
    protocol::Tool tool{core::string_in(*told, "name"), core::string_in(*told, "known"),
                        core::string_in(*told, "others"), core::string_in(*told, "schema_fault")};
    // They are spliced into what is printed, so what is no JSON would spoil the whole line.
    for (const auto* members : {&tool.known, &tool.others})
        if (!core::parse_json_object("{" + *members + "}", {})) return kNoTool;
    if (!level || tool.name.empty()) return kNoTool;
    definitions.push_back(std::move(tool));
    return router::ListedTool{core::string_in(*told, "public_name"),
                              core::string_in(*told, "server"),
                              &definitions.back(),
                              *level,
                              policy::mismatch_named(core::string_in(*told, "pin")),
                              core::flag_in(told, "blocked") == true};
}

namespace {

json::array errors_text(const std::vector<service::ServerError>& errors) {
    json::array told;
    for (const auto& each : errors)
        told.push_back({{"server", each.server},
                        {"kind", name_of(each.error.code)},
                        {"message", core::log::masked(each.error.message)}});
    return told;
}

std::vector<service::ServerError> errors_in(const json::array& list) {
    std::vector<service::ServerError> errors;
    for (const auto& each : list)
        if (auto error = server_error(each)) errors.push_back(std::move(*error));
    return errors;
}

json::array heard_text(const std::vector<service::Heard>& heard) {
    json::array texts;
    for (const auto& each : heard)
        texts.push_back({{"server", each.server},
                         {"listed", seconds_of(each.standing.listed)},
                         {"recalled", each.standing.recalled}});
    return texts;
}

std::vector<service::Heard> heard_in(const json::object& told) {
    std::vector<service::Heard> heard;
    if (const auto* texts = core::array_in(&told, "heard"))
        for (const auto& each : *texts)
            if (const auto* one = each.if_object())
                heard.push_back(
                    {core::string_in(*one, "server"),
                     {time_in(*one, "listed"), core::flag_in(one, "recalled") == true}});
    return heard;
}

}  // namespace

json::object tools_text(const service::ToolList& list) {
    json::array tools;
    for (const auto& tool : list.tools) tools.push_back(tool_text(tool));
    return {{"tools", std::move(tools)},
            {"heard", heard_text(list.heard)},
            {"errors", errors_text(list.errors)},
            {"answered", list.answered}};
}

Result<service::ToolList> parse_tools(const json::value& text, ToolDefinitions& definitions) {
    const auto* told = text.if_object();
    const auto* tools = core::array_in(told, "tools");
    const auto* errors = core::array_in(told, "errors");
    if (!tools || !errors) return kNoTool;
    service::ToolList list;
    for (const auto& each : *tools) {
        auto tool = parse_tool(each, definitions);
        if (!tool) return tool.error();
        list.tools.push_back(std::move(*tool));
    }
    list.errors = errors_in(*errors);
    list.heard = heard_in(*told);
    list.answered = core::flag_in(told, "answered") == true;
    return list;
}

namespace {

using Which = service::ThingListing::Servers;
constexpr std::pair<Which, const char*> kWhich[] = {{Which::Connect, "connect"},
                                                    {Which::Refreshed, "refreshed"},
                                                    {Which::Known, "known"},
                                                    {Which::AsTheyAre, "as_they_are"}};

}  // namespace

// As a command asks for the things of servers. A word of a newer one, which is not known here, is answered as the first,
// which leaves out no server.
const char* word_of(Which which) {
    for (const auto& [each, word] : kWhich)
        if (each == which) return word;
    return kWhich[0].second;
}

Which which_in(std::string_view said) {
    for (const auto& [which, word] : kWhich)
        if (word == said) return which;
    return Which::Connect;
}

json::object things_text(const service::ThingList& list) {
    json::array things;
    for (const auto& thing : list.things)
        things.push_back({{"server", thing.server}, {"text", thing.text}});
    return {{"things", std::move(things)},
            {"heard", heard_text(list.heard)},
            {"errors", errors_text(list.errors)},
            {"denied", errors_text(list.denied)},
            {"answered", list.answered}};
}

Result<service::ThingList> parse_things(const json::value& text) {
    const Error none{ErrorCode::Protocol, "the host's answer is no list of things"};
    const auto* told = text.if_object();
    const auto* things = core::array_in(told, "things");
    const auto* errors = core::array_in(told, "errors");
    const auto* denied = core::array_in(told, "denied");
    if (!things || !errors || !denied) return none;
    service::ThingList list;
    for (const auto& each : *things) {
        const auto* thing = each.if_object();
        auto definition = core::parse_json_object(core::text_in(thing, "text").value_or(""), {});
        if (!thing || !definition) return none;
        list.things.push_back({core::string_in(*thing, "server"), std::move(*definition),
                               core::string_in(*thing, "text")});
    }
    list.errors = errors_in(*errors);
    list.denied = errors_in(*denied);
    list.heard = heard_in(*told);
    list.answered = number_in<std::size_t>(*told, "answered");
    return list;
}

}  // namespace patchbay::app
