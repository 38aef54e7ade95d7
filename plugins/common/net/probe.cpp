#include "net/probe.hpp"

#include "ascii.hpp"
#include "net/rpc_body.hpp"

#include <algorithm>
#include <iterator>

namespace patchbay::net {
namespace {

// The host counts its requests: this is none of them. Revisions that have no ping refuse it.
constexpr std::string_view kId = "\"patchbayprobe\"";
constexpr std::string_view kPing = R"({"jsonrpc":"2.0","id":"patchbayprobe","method":"ping"})";
constexpr std::string_view kHeaders[] = {"Content-Type", "Accept", "MCP-Session-Id",
                                         "MCP-Protocol-Version"};

}  // namespace

// What may be sent twice does no harm, and of a server's own trouble nobody takes it that the message
// was not carried out. A server that closes the connection behind it reads no message that comes then.
bool is_doubtful(const Task& message, const std::optional<Refusal>& refusal) {
    return refusal && refusal->head.status < 500 && refusal->head.keeps() && message.reused() &&
           !message.repeatable;
}

std::string in_doubt(const Refusal& refusal, const Trouble* trouble) {
    return refusal.text() + "; whether that answers this request could not be found out" +
           (trouble ? ": " + trouble->text : std::string());
}

bool Probe::is_answered_by(std::string_view message) {
    return rpc_in(message).id == kId;
}

Probe::Probe(const Task& message) : Task(message.url), number_(~message.unproven()) {
    request.method = "POST";
    request.body = kPing;
    request.has_body = true;
    const auto is_ours = [](std::string_view name) {
        return std::any_of(std::begin(kHeaders), std::end(kHeaders),
                           [&](std::string_view each) { return ascii::same(each, name); });
    };
    for (const auto& [name, value] : message.request.headers)
        if (is_ours(name)) request.headers.set(name, value);
    secrets = message.secrets;
}

Task::Take Probe::head(const Head& head) {
    own_ = code_of_status(head.status) != PATCHBAY_OK;
    return Take::Nothing;
}

// Behind an answer that was the message's, the probe's is still to come.
void Probe::end(const Trouble* trouble) {
    if (own_) vouch();
    inquired(trouble);
}

}  // namespace patchbay::net
