// What a client has asked for and not been answered, by its id and by our number, which stays when a
// request of the modern era is asked for again under another id.
//
// Threads: [loop]. Limits: kMost at once; who asks for more is refused.
#pragma once

#include "gateway/request_meta.hpp"
#include "router/router.hpp"
#include "service/operation.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::gateway {

using RequestNumber = std::uint64_t;  // of one session; never 0, never reused

struct ClientRequest {
    std::string id;  // raw JSON; empty: its client has been told to ask again
    std::string method;
    RequestMeta meta;
    std::string subject{};           // raw params, of what may be asked for again
    std::string tool{};              // that it calls, by its public name
    std::string server{};            // else: that has it; empty: none yet
    router::CallId call = 0;         // 0: none
    service::Operation operation{};  // that it waits for instead
    std::string outcome{};           // raw `"result":...` or `"error":...`; empty: none yet

    bool modern() const { return meta.era == protocol::Era::Modern; }
};

class ClientRequests {
public:
    static constexpr std::size_t kMost = 256;

    RequestNumber add(ClientRequest request) {
        const auto number = ++last_;
        if (!request.id.empty()) numbers_[request.id] = number;
        requests_.emplace(number, std::move(request));
        return number;
    }
    ClientRequest* find(RequestNumber number) {
        const auto found = requests_.find(number);
        return found == requests_.end() ? nullptr : &found->second;
    }
    RequestNumber number_of(std::string_view id) const {  // 0: none
        const auto found = numbers_.find(id);
        return found == numbers_.end() ? 0 : found->second;
    }
    // From now on its client waits for it by that id; by none when that is empty.
    void rename(RequestNumber number, std::string id) {
        auto& request = requests_.at(number);
        numbers_.erase(request.id);
        request.id = std::move(id);
        if (!request.id.empty()) numbers_[request.id] = number;
    }
    std::optional<ClientRequest> take(RequestNumber number) {
        const auto found = requests_.find(number);
        if (found == requests_.end()) return {};
        auto request = std::move(found->second);
        requests_.erase(found);
        numbers_.erase(request.id);
        return request;
    }
    std::vector<RequestNumber> numbers() const {  // from the oldest
        std::vector<RequestNumber> all;
        for (const auto& [number, request] : requests_) all.push_back(number);
        return all;
    }
    std::size_t size() const { return requests_.size(); }

private:
    std::map<RequestNumber, ClientRequest> requests_;
    std::map<std::string, RequestNumber, std::less<>> numbers_;
    RequestNumber last_ = 0;
};

}  // namespace patchbay::gateway
