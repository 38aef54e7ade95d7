// The person who is asked to sign in, as this room needs one: told things, asked a line, given a
// browser. The command line implements it.
//
// Threads: [loop]. Answers come later, never from inside a call, once, unless withdrawn.
#pragma once

#include "core/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace patchbay::auth {

class Person {
public:
    enum class Presence {
        Nobody,     // fail, and say what to run
        AskFirst,   // somebody who is doing something else
        Ready,      // somebody who waits for the browser
        NoBrowser,  // somebody who is shown the address and brings back the redirect
    };
    // False: that is no answer, and another line is asked for. What was typed ahead may hold it.
    using Line = std::function<bool(std::optional<std::string> line)>;

    virtual ~Person() = default;
    virtual Presence presence() const = 0;
    virtual void tell(const std::string& text) = 0;
    // One line of text; nothing: declined, or there is no way to ask. Never 0.
    virtual std::uint64_t ask(const std::string& heading, const std::string& prompt, Line line) = 0;
    virtual void withdraw(std::uint64_t id) = 0;
    virtual Result<void> open_browser(const std::string& url) = 0;
};

}  // namespace patchbay::auth
