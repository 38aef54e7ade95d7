#include "router/record.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

namespace patchbay::router {

namespace {

constexpr std::size_t kNameBytes = 128;  // of what somebody asked for, in the log

std::string milliseconds(std::chrono::nanoseconds time) {
    const auto tenths = time.count() / 100'000;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

}  // namespace

bool Recorder::wanted() const {
    return observer_ || core::log::enabled(core::log::Level::Debug);
}

std::unique_ptr<Record> Recorder::begin(const connection::Caller& caller, std::string_view method,
                                        std::string_view name, std::string_view server) const {
    if (!wanted()) return {};
    auto record = std::make_unique<Record>();
    if (core::log::enabled(core::log::Level::Debug))
        record->who = core::to_string(caller.principal());
    record->method = method;
    record->name = name;
    record->server = server;
    record->begun = loop_.now();
    return record;
}

void Recorder::end(const Record& record, const Result<connection::Reply>& outcome) const {
    if (!outcome) return tell(record, name_of(outcome.error().code), 0, 0);
    const auto bytes = outcome->result.size() + outcome->error.size();
    if (outcome->error.empty())
        return tell(record, outcome->is_error ? "is_error" : "ok", bytes, 0);
    const bool logged = core::log::enabled(core::log::Level::Debug);
    const auto error = logged ? protocol::parse_rpc_error(outcome->error)
                              : Result<protocol::RpcError>(protocol::RpcError());
    tell(record, "server_error", bytes, error ? error->code : 0);
}

void Recorder::drop(const Record& record) const {
    tell(record, name_of(ErrorCode::Cancelled), 0, 0);
}

void Recorder::tell(const Record& record, std::string_view outcome, std::size_t bytes,
                    std::int64_t code) const {
    const auto duration = loop_.now() - record.begun;
    if (observer_)
        observer_->on_request_ended({record.method, record.server, record.tool, outcome, duration,
                                     record.bytes_to_server, bytes});
    if (!core::log::enabled(core::log::Level::Debug)) return;
    std::string line = record.who + ": " + core::printable(record.method, kNameBytes);
    if (!record.name.empty()) line += " " + core::printable(record.name, kNameBytes);
    if (!record.server.empty()) line += " at server \"" + record.server + "\"";
    line.append(": ").append(outcome);
    if (code != 0) line += " " + std::to_string(code);
    core::log::debug(line + " after " + milliseconds(duration) + ", " +
                     std::to_string(record.bytes_to_server) + " bytes out, " +
                     std::to_string(bytes) + " in");
}

}  // namespace patchbay::router
