#include "router/record.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

#include <utility>

namespace patchbay::router {

namespace {

constexpr std::string_view kCall = "tools/call";
constexpr std::size_t kNameBytes = 128;  // of what somebody asked for, in the log

std::string milliseconds(std::chrono::nanoseconds time) {
    const auto tenths = time.count() / 100'000;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

// Of a step towards an approval, as core::AskedRequest has it.
const char* word_of(std::string_view step) {
    constexpr std::pair<std::string_view, const char*> kWords[] = {
        {"given", "approved"}, {"refused", "refused"}, {"nobody_there", "nobody_there"}};
    for (const auto& [each, word] : kWords)
        if (each == step) return word;
    return "asked";
}

}  // namespace

bool Recorder::wanted() const {
    return observer_ || core::log::enabled(core::log::Level::Debug);
}

std::unique_ptr<Record> Recorder::begin(std::uint64_t number, const connection::Caller& caller,
                                        std::string_view method, std::string_view name,
                                        std::string_view server) const {
    if (!wanted()) return {};
    // Copies: the caller, or what it said, may be gone before the outcome is told.
    auto record = std::make_unique<Record>();
    record->number = number;
    record->caller = caller.principal();
    record->method = method;
    record->name = name;
    record->server = server;
    record->begun = loop_.now();
    return record;
}

void Recorder::announce(Record& record, std::string_view server, std::string_view tool) const {
    // Once: it may be known early whose it is, and is told at the end of one that went nowhere.
    if (!observer_ || record.method != kCall || std::exchange(record.announced, true)) return;
    observer_->on_call_begun({record.number, record.caller, record.name, server, tool});
}

void Recorder::judged(Record& record, const policy::Verdict& verdict,
                      std::string_view arguments) const {
    if (!observer_) return;
    // What a person has said stays what let it through.
    if (verdict.decision != policy::Decision::Ask)
        record.decision = verdict.decision == policy::Decision::Deny ? "deny" : "allow";
    record.level = config::name_of(verdict.level);
    record.rule.clear();
    record.place.clear();
    if (const auto* rule = verdict.rule) {
        record.rule = policy::name_of(rule->kind);
        if (!rule->text.empty()) record.rule.append(" \"").append(rule->text).append("\"");
        if (rule->place) record.place = config::to_string(*rule->place);
    }
    record.arguments_bytes = arguments.size();
    if (observer_->wants_arguments()) record.arguments = arguments;
}

Result<void> Recorder::sent(Record& record) const {
    if (!observer_) return {};
    const auto now = loop_.now();
    auto may = observer_->on_request_sent({asked(record), now - record.begun});
    if (may) record.sent = now;
    return may;
}

core::AskedRequest Recorder::asked(const Record& record) {
    return {record.method,          record.server,   record.tool,    record.name,
            record.about,           record.number,   &record.caller, record.decision,
            record.level,           record.rule,     record.place,   record.digest,
            record.arguments_bytes, record.arguments};
}

void Recorder::approval(Record& record, std::string_view server, std::string_view name,
                        std::string_view step) const {
    record.decision = word_of(step);
    if (observer_) observer_->on_approval({record.number, server, record.method, name, step});
}

void Recorder::end(Record& record, const Result<connection::Reply>& outcome) const {
    // Denied before any rule was named: where that is certain nobody asks for the tool.
    if (!outcome && outcome.error().code == ErrorCode::Denied && !*record.decision)
        record.decision = "deny";
    if (!outcome)
        return tell(record, {name_of(outcome.error().code), 0, 0, outcome.error().message});
    const auto bytes = outcome->result.size() + outcome->error.size();
    if (outcome->error.empty()) return tell(record, {outcome->is_error ? "is_error" : "ok", bytes});
    const auto error = protocol::parse_rpc_error(outcome->error);
    tell(record, {"server_error", bytes, error ? error->code : 0,
                  error ? std::string_view(error->message) : "an error that cannot be read"});
}

void Recorder::drop(Record& record) const {
    tell(record, {name_of(ErrorCode::Cancelled), 0, 0, "whoever asked has gone"});
}

void Recorder::tell(Record& record, const Outcome& outcome) const {
    const auto duration = loop_.now() - record.begun;
    announce(record, record.server, record.tool);  // one that ended before it was known whose it is
    if (observer_)
        observer_->on_request_ended(
            {asked(record), outcome.word, duration, record.bytes_to_server, outcome.bytes,
             outcome.trouble,
             record.sent ? std::optional(*record.sent - record.begun) : std::nullopt});
    if (!core::log::enabled(core::log::Level::Debug)) return;
    std::string line =
        core::to_string(record.caller) + ": " + core::printable(record.method, kNameBytes);
    if (!record.name.empty()) line += " " + core::printable(record.name, kNameBytes);
    if (!record.server.empty()) line += " at server \"" + record.server + "\"";
    line.append(": ").append(outcome.word);
    if (outcome.code != 0) line += " " + std::to_string(outcome.code);
    core::log::debug(line + " after " + milliseconds(duration) + ", " +
                     std::to_string(record.bytes_to_server) + " bytes out, " +
                     std::to_string(outcome.bytes) + " in");
}

}  // namespace patchbay::router
