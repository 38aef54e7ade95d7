// What the tests of signing in share: a usual server, and what the browser was sent to.
#pragma once

#include "fake_host.hpp"

#include <gmock/gmock.h>

namespace patchbay::oauth::test {

constexpr auto kQuiet = PATCHBAY_AUTH_QUIET;
constexpr auto kMayAsk = PATCHBAY_AUTH_MAY_ASK;
constexpr auto kSignIn = PATCHBAY_AUTH_SIGN_IN;
constexpr auto kToken = "https://as.example/token";
constexpr auto kRegister = "https://as.example/register";
constexpr auto kMetadata = "https://as.example/.well-known/oauth-authorization-server";
constexpr auto kResource = "https://mcp.example/.well-known/oauth-protected-resource/mcp";

struct SignIn : ::testing::Test {
    FakeHost host;
    SignIn() { serve_usual(host); }

    Form shown() const {
        const auto& url = host.browsed.back();
        return form_decode(std::string_view(url).substr(url.find('?') + 1));
    }
    std::string shown(const std::string& name) const {
        return only(shown(), name).value_or("(none)");
    }
    void metadata(const std::string& more) {
        host.pages[kMetadata] = [more](const Asked&) {
            return Answer{200, usual_metadata(more), {}, PATCHBAY_OK};
        };
    }
    // The token endpoint refuses whoever says that, and grants everybody else `granted`.
    void refuse_where(const char* field, const char* value, unsigned status, const char* error,
                      const char* granted) {
        host.pages[kToken] = [=](const Asked& asked) {
            if (asked.field(field) == value)
                return Answer{
                    status, R"({"error":")" + std::string(error) + "\"}", {}, PATCHBAY_OK};
            return Answer{200, token(granted), {}, PATCHBAY_OK};
        };
    }
    void person_answers(Form answer) {
        host.person = [answer](const Form& query) {
            auto all = answer;
            all.emplace_back("state", *only(query, "state"));
            return form_encode(all);
        };
    }
};

}  // namespace patchbay::oauth::test
