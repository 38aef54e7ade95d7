// Notifications that nobody has waited for yet: a script cannot know whether a server is faster than
// its own `wait`.
//
// Threads: [value].
// Limits:  kKinds methods of each server, so that one takes no room from the others; kMethodBytes a
//          method. What is beyond is told to who reads, but not kept.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace patchbay::app {

class UnseenNotifications {
public:
    static constexpr std::size_t kKinds = 1000;
    static constexpr std::size_t kMethodBytes = 512;

    void keep(const std::string& server, const std::string& method);
    // Takes one of that method away; no server named: of any. False: there is none.
    bool take(const std::string& server, const std::string& method);

private:
    std::map<std::string, std::map<std::string, unsigned>> kept_;  // by server and method
};

}  // namespace patchbay::app
