// Why an exchange with a server failed, as it is thrown and told.
//
// Threads: [value].
#pragma once

#include <patchbay/plugin.h>

#include <exception>
#include <string>
#include <utility>

namespace patchbay::net {

struct Trouble : std::exception {
    Trouble(patchbay_status its_code, std::string its_text, bool was_sent = true)
        : code(its_code), text(std::move(its_text)), sent(was_sent) {}
    const char* what() const noexcept override { return text.c_str(); }

    patchbay_status code;
    std::string text;
    bool sent;               // false: the server has certainly seen nothing of the request
    bool refused = false;    // nobody listens there; perhaps soon
    bool untouched = false;  // a kept-alive connection broke before a byte of the answer
};

}  // namespace patchbay::net
