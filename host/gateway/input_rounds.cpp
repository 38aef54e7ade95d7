#include "gateway/input_rounds.hpp"

#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::gateway {

connection::Question InputRounds::ask(RequestNumber request, const std::string& method,
                                      std::string_view params, connection::Caller::Answer answer,
                                      std::string key) {
    auto& open = open_[request];
    const auto is_taken = [&] {
        return std::any_of(open.begin(), open.end(),
                           [&](const auto& each) { return each.key == key; });
    };
    while (key.empty() || is_taken()) key = "input-" + std::to_string(++last_key_);
    std::string asked;
    protocol::append_member(asked, "method", protocol::quoted(method));
    protocol::append_member(asked, "params", params.empty() ? "{}" : params);
    open.push_back({key, "{" + asked + "}", std::move(answer)});
    auto withdrawn =
        lifetime_.guard([this, request, key = std::move(key)] { withdraw(request, key); });
    return {this, [withdrawn = std::move(withdrawn)](void*) mutable { withdrawn(); }};
}

void InputRounds::withdraw(RequestNumber request, const std::string& key) {
    const auto found = open_.find(request);
    if (found == open_.end()) return;
    std::erase_if(found->second, [&](const Open& each) { return each.key == key; });
    if (found->second.empty()) open_.erase(found);
}

std::string InputRounds::begin(RequestNumber request, const std::string& what) {
    std::string asked;
    for (const auto& each : open_.at(request))
        protocol::append_member(asked, each.key, each.request);
    const auto state = seals_.make(what, loop_.time().date());
    auto limit = std::make_unique<core::Timer>(loop_);
    limit->start(kLifetime, [this, state] {
        const auto round = rounds_.extract(state);
        states_.erase(round.mapped().request);
        expired_(round.mapped().request);
    });
    end_round(request);
    states_[request] = state;
    rounds_.emplace(state, Round{request, std::move(limit)});
    return R"({"resultType":"input_required","inputRequests":{)" + asked + R"(},"requestState":)" +
           protocol::quoted(state) + "}";
}

Result<RequestNumber> InputRounds::resume(const std::string& state, const std::string& what) {
    if (auto why = seals_.refuses(state, what, loop_.time().date())) return std::move(*why);
    const auto round = rounds_.extract(state);
    if (!round)
        return Error{
            ErrorCode::Invalid,
            "unknown requestState: it was used, or the request that it belongs to has ended; "
            "ask again without it"};
    states_.erase(round.mapped().request);
    return round.mapped().request;
}

void InputRounds::deliver(RequestNumber request, std::string_view responses) {
    const auto found = open_.find(request);
    if (found == open_.end()) return;
    // Whoever hears an answer may ask the next thing, or end the request.
    std::vector<std::pair<connection::Caller::Answer, std::string>> given;
    protocol::each_member(responses, [&](std::string_view key, std::string_view response) {
        if (!response.starts_with('{')) return true;
        std::erase_if(found->second, [&](Open& each) {
            if (each.key != key) return false;
            given.emplace_back(std::move(each.answer), response);
            return true;
        });
        return true;
    });
    if (found->second.empty()) open_.erase(found);
    const auto watch = lifetime_.watch();
    for (auto& [answer, object] : given) {
        if (watch.expired()) return;
        answer(connection::Given(std::move(object)));
    }
}

void InputRounds::end(RequestNumber request) {
    open_.erase(request);
    end_round(request);
}

void InputRounds::end_round(RequestNumber request) {
    if (const auto state = states_.extract(request)) rounds_.erase(state.mapped());
}

}  // namespace patchbay::gateway
