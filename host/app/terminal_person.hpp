// The person at the terminal, as room `auth` asks for one: a line to read, a line to write, and the
// browser of the desktop.
//
// Threads: [loop]. A browser that was opened outlives us.
#pragma once

#include "app/ask_terminal.hpp"
#include "auth/person.hpp"

#include <memory>

namespace patchbay::app {

class TerminalPerson final : public auth::Person {
public:
    TerminalPerson(std::shared_ptr<TerminalAsker> asker, Presence presence)
        : asker_(std::move(asker)), presence_(presence) {}

    Presence presence() const override { return presence_; }
    void tell(const std::string& text) override;
    std::uint64_t ask(const std::string& heading, const std::string& prompt, Line line) override;
    void withdraw(std::uint64_t id) override;
    // $BROWSER (a program with arguments, %s for the address), else xdg-open; never a shell.
    Result<void> open_browser(const std::string& url) override;

private:
    const std::shared_ptr<TerminalAsker> asker_;
    const Presence presence_;
};

}  // namespace patchbay::app
