// The requests that a part of a connection makes of its own accord, answered when the test says so.
#pragma once

#include "connection/own_requests.hpp"
#include "core/buffer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace patchbay::connection {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct ScriptedRequests final : OwnRequests {
    struct Asked {
        RequestId id;
        Request request;
        std::chrono::milliseconds timeout;
        ReplyHandler handler;  // empty: it has ended
    };
    std::vector<Asked> asked;
    std::vector<std::string> cancelled;  // why

    RequestId ask(Request request, std::chrono::milliseconds timeout,
                  ReplyHandler handler) override {
        asked.push_back({asked.size() + 1, std::move(request), timeout, std::move(handler)});
        return asked.back().id;
    }
    void cancel(RequestId id, const std::string& reason) override {
        cancelled.push_back(reason);
        end(id, Error{ErrorCode::Cancelled, reason});
    }

    // Of the last one that was asked, or of that one.
    void answer(const std::string& result) { end(asked.size(), reply(result, {})); }
    void refuse(const std::string& error) { end(asked.size(), reply({}, error)); }
    void fail(ErrorCode code, const std::string& why) { end(asked.size(), Error{code, why}); }
    void end(RequestId id, Result<Reply> outcome) {
        auto handler = std::exchange(asked.at(id - 1).handler, {});
        ASSERT_TRUE(handler) << "ended twice";
        handler(std::move(outcome));
    }

private:
    static Result<Reply> reply(const std::string& result, const std::string& error) {
        Reply made;
        made.message =
            core::Buffer::from(result.empty() ? std::string(error) : std::string(result));
        (result.empty() ? made.error : made.result) = made.message.view();
        return made;
    }
};

}  // namespace patchbay::connection
