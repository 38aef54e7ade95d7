// Finds out whose an answer was. A connection that has carried a request before may bring what its
// server said unasked, behind the answer to that one: a refusal or a redirect that comes there would
// have a message carried out once more. HTTP answers in order: of a harmless request behind it on the
// same connection the next answer is, if that was the message's own; otherwise the message's is.
//
// Threads: inside a turn. Errors: told to its end(), as of any Task.
// Follows: RFC 9112 section 9.3.2; MCP basic/utilities/ping.
#pragma once

#include "net/engine.hpp"
#include "net/refusal.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::net {

// That it was refused with this is not known yet: it may not be acted on.
bool is_doubtful(const Task& message, const std::optional<Refusal>& refusal);

// What is told when that cannot be found out.
std::string in_doubt(const Refusal& refusal, const Trouble* trouble);

class Probe : public Task {
public:
    // The JSON-RPC message is the answer to a probe.
    static bool is_answered_by(std::string_view message);

    explicit Probe(const Task& message);

    // A second refusal: one for each.
    Take head(const Head& head) override;
    bool follows() const override { return false; }
    std::uint64_t unproven() const override { return number_; }
    void end(const Trouble* trouble) final;

protected:
    virtual void inquired(const Trouble* trouble) = 0;

    // The answer was the probe's, and the one before it the message's.
    bool own_ = false;

private:
    const std::uint64_t number_;  // of no message
};

}  // namespace patchbay::net
