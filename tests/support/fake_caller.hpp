// A caller that notes what reaches it, and answers as the test says.
#pragma once

#include "connection/caller.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::test {

class FakeCaller final : public connection::Caller {
public:
    explicit FakeCaller(connection::Callers& among, core::Trust trust = core::Trust::Approves,
                        std::string id = {})
        : Caller(among, {core::Principal::Kind::Embedder, std::move(id), {}, trust}) {}

    using Caller::prefer;

    struct Heard {
        std::string server, method, params;
    };
    std::vector<Heard> heard;
    std::vector<std::string> methods() const {
        std::vector<std::string> methods;
        for (const auto& each : heard) methods.push_back(each.method);
        return methods;
    }

    struct Asked {
        std::string method;
        boost::json::object params;
        Answer answer;
    };
    std::vector<Asked> asked;  // and not answered: where `respond` is empty
    std::function<connection::Question(const std::string& server, const std::string& method,
                                       const boost::json::object& params, Answer answer)>
        respond;
    std::function<void()> on_heard, on_asked;

    std::vector<std::pair<connection::Approvable, Decide>> approvals;
    bool approves = false;  // somebody is there, whom the test plays
    connection::Question approval_kept;

    void notify(const std::string& server, const std::string& method, std::string_view params,
                connection::Reference) override {
        heard.push_back({server, method, std::string(params)});
        if (on_heard) on_heard();
    }
    connection::Question answer(const std::string& server, const std::string& method,
                                const boost::json::object& params, Answer answer,
                                const connection::About&) override {
        if (respond) return respond(server, method, params, std::move(answer));
        asked.push_back({method, params, std::move(answer)});
        if (on_asked) on_asked();
        return {};
    }
    connection::Question approve(const connection::Approvable& wanted, Decide decide) override {
        if (!approves) return Caller::approve(wanted, std::move(decide));
        approvals.emplace_back(wanted, std::move(decide));
        return approval_kept;
    }
};

}  // namespace patchbay::test
