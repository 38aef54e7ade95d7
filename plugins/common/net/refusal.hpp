// An HTTP answer that is no success, and how the host is told of it.
//
// Threads: [value]; the tell functions inside a turn.
#pragma once

#include "net/head_parser.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <chrono>
#include <string>

namespace patchbay::net {

struct Refusal {
    patchbay_status code = PATCHBAY_OK;
    Head head;
    std::string body, url;  // of the answer
    std::uint32_t flags = 0;
    bool cut = false;  // the body is not all that was sent

    std::string text() const;
};
// For so long the server wants to be left alone; 0: it does not say.
std::chrono::milliseconds retry_after(const Head& head);
// The server may answer otherwise a little later.
bool may_pass(int status);
// What `status` means to the host; E_OK for a success.
patchbay_status code_of_status(int status);
void tell_done(const sdk::Sink& sink, std::uint64_t exchange, const Refusal& refusal);
void tell_challenge(const sdk::Sink& sink, const Refusal& refusal);
void tell_closed(const sdk::Sink& sink, const Refusal& refusal);

// A message's bytes as a body that frees itself.
patchbay_buf buffer_of(std::string&& message);

}  // namespace patchbay::net
