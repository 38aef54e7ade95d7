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

}  // namespace

bool Recorder::wanted() const {
    return observer_ || core::log::enabled(core::log::Level::Debug);
}

std::unique_ptr<Record> Recorder::begin(std::uint64_t number, const connection::Caller& caller,
                                        std::string_view method, std::string_view name,
                                        std::string_view server) const {
    if (!wanted()) return {};
    auto record = std::make_unique<Record>();
    record->number = number;
    record->who = core::to_string(caller.principal());
    record->method = method;
    record->name = name;
    record->server = server;
    record->begun = loop_.now();
    return record;
}

void Recorder::announce(Record& record, std::string_view server, std::string_view tool) const {
    if (!observer_ || record.method != kCall || std::exchange(record.announced, true)) return;
    observer_->on_call_begun({record.number, record.who, record.name, server, tool});
}

void Recorder::approval(const Record& record, std::string_view server, std::string_view name,
                        std::string_view step) const {
    if (observer_) observer_->on_approval({record.number, server, record.method, name, step});
}

void Recorder::end(Record& record, const Result<connection::Reply>& outcome) const {
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
        observer_->on_request_ended({record.method, record.server, record.tool, outcome.word,
                                     duration, record.bytes_to_server, outcome.bytes, record.number,
                                     record.name, outcome.trouble});
    if (!core::log::enabled(core::log::Level::Debug)) return;
    std::string line = record.who + ": " + core::printable(record.method, kNameBytes);
    if (!record.name.empty()) line += " " + core::printable(record.name, kNameBytes);
    if (!record.server.empty()) line += " at server \"" + record.server + "\"";
    line.append(": ").append(outcome.word);
    if (outcome.code != 0) line += " " + std::to_string(outcome.code);
    core::log::debug(line + " after " + milliseconds(duration) + ", " +
                     std::to_string(record.bytes_to_server) + " bytes out, " +
                     std::to_string(outcome.bytes) + " in");
}

}  // namespace patchbay::router
