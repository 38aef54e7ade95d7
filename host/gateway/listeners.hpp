// The streams of subscriptions/listen that a client of the modern era has open.
//
// Threads: [loop].
// Source:  MCP 2026-07-28 basic/patterns/subscriptions, cancellation.
#pragma once

#include "gateway/client_requests.hpp"

#include <boost/json.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::gateway {

struct Listener {
    std::string id;  // raw, of its request: by that the client knows the stream
    bool tools = false, prompts = false, resources = false;
    std::set<std::string> uris{};
    std::set<std::string> tasks{};                  // as the client names them
    std::map<std::string, std::string> left_out{};  // of those that it named: why
    bool acknowledged = false;

    // Whether it wants to hear of that, as its filter says.
    bool wants(std::string_view method, const std::string& uri) const;
    // A notification of this stream; `members`: raw, of its params.
    std::string message(std::string_view method, std::string_view members) const;
    // The first one: what it is for, and in its `_meta` what it is not for, by URI or task, and why.
    std::string acknowledgment() const;
    // What it is answered once it has ended, raw; and the word that ends it, where no connection does.
    std::string last_result() const;
    std::string cancellation(std::string_view reason) const;
    boost::json::object filter() const;

private:
    std::string meta() const;  // raw members, of each message of it
};

class Listeners {
public:
    // Each has its server looked for.
    static constexpr std::size_t kMostUris = 1'000;  // of one stream
    static constexpr std::size_t kMostTasks = 256;

    // Invalid where the params name no filter, or too many resources or tasks.
    static Result<Listener> read(const std::string& id, const boost::json::object& params);

    Listener& add(RequestNumber request, Listener listener) {
        return streams_[request] = std::move(listener);
    }
    Listener* find(RequestNumber request) {
        const auto found = streams_.find(request);
        return found == streams_.end() ? nullptr : &found->second;
    }
    // Ends it. The URIs that nobody listens for any more.
    std::vector<std::string> remove(RequestNumber request);
    const std::map<RequestNumber, Listener>& all() const { return streams_; }

private:
    std::map<RequestNumber, Listener> streams_;
};

}  // namespace patchbay::gateway
