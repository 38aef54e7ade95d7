#include "connection/sandbox_updates.hpp"

#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

#include <string>
#include <utility>

namespace patchbay::connection {

namespace {

constexpr const char* kCapability = "codex/sandbox-state";
constexpr const char* kUpdate = "codex/sandbox-state/update";

// By JSON-RPC "method not found", and how servers that check params first say it.
bool is_unknown(const protocol::RpcError& error) {
    return error.code == -32601 || error.code == -32602;
}

}  // namespace

// The numbers stay as they were written, whatever type holds them.
Result<std::optional<SandboxState>> sandbox_state_in(std::string_view text) {
    if (text.size() > kMostSandboxStateBytes)
        return Error{ErrorCode::Limit, "a sandbox state is at most " +
                                           std::to_string(kMostSandboxStateBytes) +
                                           " bytes of JSON; this one is longer"};
    const auto read = core::parse_json(text, {.unique_keys = true});
    if (!read)
        return Error{ErrorCode::Invalid, "the sandbox state " + read.error().message +
                                             "; expected one JSON object, or null for none"};
    if (read->is_null()) return std::optional<SandboxState>();
    if (!read->is_object())
        return Error{ErrorCode::Invalid,
                     "the sandbox state is no JSON object, such as "
                     "{\"sandboxPolicy\":{\"type\":\"read-only\"},\"sandboxCwd\":\"/work\"}; null "
                     "is for none"};
    SandboxState state{protocol::without_spaces(text), {}};
    auto params = protocol::split_params(state.text);
    if (!params) return Error{ErrorCode::Invalid, "the sandbox state: " + params.error().message};
    state.params = std::move(*params);
    return std::optional<SandboxState>(std::move(state));
}

void SandboxUpdates::begin_session() {
    asking_ = again_ = by_notification_ = false;
    tell();
}

void SandboxUpdates::end_session() {
    asking_ = again_ = false;
    then_ = {};
}

bool SandboxUpdates::is_wanted() const {
    if (!link_.session || !link_.in_use()) return false;
    const auto* experimental = core::object_in(&link_.session->capabilities, "experimental");
    const auto* declared = experimental ? experimental->if_contains(kCapability) : nullptr;
    return declared && !declared->is_null() && *declared != false;
}

void SandboxUpdates::tell() {
    if (!context_.sandbox_state || !is_wanted()) return;
    if (by_notification_) return notify();
    if (std::exchange(asking_, true)) {
        again_ = true;
        return;
    }
    requests_.ask({kUpdate, context_.sandbox_state->params, {}, {}}, kAnswer,
                  lifetime_.guard([this, session = link_.generation](const Result<Reply>& reply) {
                      if (asking_ && session == link_.generation && link_.in_use())
                          on_answer(reply);
                  }));
}

void SandboxUpdates::when_told(std::function<void()> then) {
    if (!asking_) return then();
    then_ = std::move(then);
}

void SandboxUpdates::on_answer(const Result<Reply>& reply) {
    asking_ = false;
    if (!reply)
        core::log::warn(name_.named(reply.error()).message);
    else if (!reply->error.empty())
        on_refused(reply->error);
    if (std::exchange(again_, false)) tell();
    if (!asking_ && then_) std::exchange(then_, {})();
}

// Those who know it as a notification only are told that way, also of this state.
void SandboxUpdates::on_refused(std::string_view raw) {
    const auto error = protocol::parse_rpc_error(raw);
    const bool unknown = error && is_unknown(*error);
    const auto words =
        error ? core::printable(error->message, 200) + " (" + std::to_string(error->code) + ")"
              : error.error().message;
    core::log::warn(name_.before(std::string("it refuses ") + kUpdate + ": " + words +
                                 (unknown ? "; in this session it is notified instead"
                                          : "; it may not know of the sandbox state")));
    if (!unknown) return;
    by_notification_ = again_ = true;
}

void SandboxUpdates::notify() {
    const std::string_view text = context_.sandbox_state->text;
    requests_.delivery().notify(kUpdate, text.substr(1, text.size() - 2));
}

}  // namespace patchbay::connection
