// What a client has asked for and not been answered, by its id and by our number, which stays when a
// request of the modern era is asked for again under another id.
//
// Threads: [loop]. Limits: kMost at once; who asks for more is refused.
#pragma once

#include "gateway/outward.hpp"
#include "gateway/request_meta.hpp"
#include "protocol/qualified_name.hpp"
#include "router/router.hpp"
#include "service/operation.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::gateway {

using RequestNumber = std::uint64_t;  // of one session; never 0, never reused

struct ClientRequest {
    std::string id;  // raw JSON; empty: its client has been told to ask again
    std::string method;
    RequestMeta meta;
    Route route = 0;
    std::string capabilities{};           // raw: what servers are told that its client can
    std::string subject{};                // raw params, of what may be asked for again
    std::string lacking{};                // raw capabilities that it needs and its client has not
    std::string tool{};                   // that it calls, by its public name
    bool as_task = false;                 // what it calls is to go on after its answer
    std::string server{};                 // else: that has it; empty: none yet
    router::CallId call = 0;              // 0: none
    service::Operation operation{};       // that it waits for instead
    std::string outcome{};                // raw `"result":...` or `"error":...`; empty: none yet
    std::optional<std::int64_t> error{};  // its code, where it is one
    connection::ClientHeaders client_headers{};
    unsigned visits = 0;  // how often it was ended until pages are visited
    core::Clock::time_point begun{};

    bool modern() const { return meta.era == protocol::Era::Modern; }
    // Whether that server, of `ids`, may be busy with it.
    bool may_be_at(const std::string& server_id, const std::vector<std::string>& ids) const {
        if (tool.empty()) return server == server_id;
        const auto owners = protocol::servers_for(tool, ids);
        return std::find(owners.begin(), owners.end(), server_id) != owners.end();
    }
};

class ClientRequests {
public:
    static constexpr std::size_t kMost = 256;

    RequestNumber add(ClientRequest request) {
        const auto number = ++last_;
        note(number, request);
        requests_.emplace(number, std::move(request));
        return number;
    }
    ClientRequest* find(RequestNumber number) {
        const auto found = requests_.find(number);
        return found == requests_.end() ? nullptr : &found->second;
    }
    const ClientRequest* find(RequestNumber number) const {
        const auto found = requests_.find(number);
        return found == requests_.end() ? nullptr : &found->second;
    }
    // 0: none. Ids of the modern era are a matter of their route, for several clients may share a
    // session.
    RequestNumber number_of(std::string_view id, protocol::Era era, Route route) const {
        if (!is_of_its_route(era, route)) {
            const auto found = numbers_.find(id);
            return found == numbers_.end() ? 0 : found->second;
        }
        const auto [begin, end] = routes_.equal_range(route);
        const auto found = std::find_if(begin, end, [&](const auto& each) {
            const auto& request = requests_.at(each.second);
            return request.modern() && request.id == id;
        });
        return found == end ? 0 : found->second;
    }
    // From now on its client waits for it by that id and route; by none when the id is empty.
    void rename(RequestNumber number, std::string id, Route route) {
        auto& request = requests_.at(number);
        forget(number, request);
        request.id = std::move(id);
        request.route = route;
        note(number, request);
    }
    std::optional<ClientRequest> take(RequestNumber number) {
        auto taken = requests_.extract(number);
        if (!taken) return {};
        forget(number, taken.mapped());
        return std::move(taken.mapped());
    }
    std::vector<RequestNumber> numbers() const {  // from the oldest
        std::vector<RequestNumber> all;
        all.reserve(requests_.size());
        for (const auto& [number, request] : requests_) all.push_back(number);
        std::sort(all.begin(), all.end());
        return all;
    }
    // Those that somebody waits for by that route, which is not 0.
    std::vector<RequestNumber> numbers_by(Route route) const {
        std::vector<RequestNumber> all;
        const auto [begin, end] = routes_.equal_range(route);
        for (auto each = begin; each != end; ++each) all.push_back(each->second);
        std::sort(all.begin(), all.end());
        return all;
    }
    bool any_by(Route route) const { return routes_.contains(route); }
    // To whichever server, for whatever it is: what the client says beside its params.
    router::ServerRequest as_asked(RequestNumber number) const {
        const auto& request = requests_.at(number);
        router::ServerRequest asked;
        asked.params.meta = request.meta.relayed;
        asked.reference = number;
        asked.capabilities = request.capabilities;
        asked.client_headers = request.client_headers;
        asked.log_level = request.meta.log_level();
        return asked;
    }
    std::size_t size() const { return requests_.size(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view id) const {
            return std::hash<std::string_view>()(id);
        }
    };

    static bool is_of_its_route(protocol::Era era, Route route) {
        return era == protocol::Era::Modern && route != 0;
    }
    void note(RequestNumber number, const ClientRequest& request) {
        if (request.id.empty()) return;
        if (!is_of_its_route(request.meta.era, request.route)) numbers_[request.id] = number;
        if (request.route != 0) routes_.emplace(request.route, number);
    }
    void forget(RequestNumber number, const ClientRequest& request) {
        if (request.id.empty()) return;
        if (!is_of_its_route(request.meta.era, request.route)) numbers_.erase(request.id);
        if (request.route == 0) return;
        const auto [begin, end] = routes_.equal_range(request.route);
        routes_.erase(
            std::find_if(begin, end, [&](const auto& each) { return each.second == number; }));
    }

    std::unordered_map<RequestNumber, ClientRequest> requests_;
    std::unordered_map<std::string, RequestNumber, Hash, std::equal_to<>> numbers_;
    std::unordered_multimap<Route, RequestNumber> routes_;
    RequestNumber last_ = 0;
};

}  // namespace patchbay::gateway
