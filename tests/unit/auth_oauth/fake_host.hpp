// A host for the oauth plugin that is all in memory: its HTTP answers are scripted by URL, its
// person answers the browser at once, and nothing happens until a test lets it. One thread.
#pragma once

#include "encoding.hpp"
#include "json.hpp"
#include "oauth_authenticator.hpp"

#include <patchbay/cpp/auth.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace patchbay::oauth::test {

struct Asked {
    std::string method, url, body, beside, ca_file, proxy;
    std::map<std::string, std::string> headers;
    std::set<std::string> secret_headers;  // by name
    std::uint32_t timeout_ms = 0;
    std::uint64_t max_response = 0;

    std::string field(const std::string& name) const {
        return only(form_decode(body), name).value_or("(none)");
    }
    std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? "(none)" : found->second;
    }
};

struct Answer {
    std::uint32_t status = 200;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    patchbay_status failure = PATCHBAY_OK;  // no answer at all
};

class FakeHost : public patchbay_host {
public:
    FakeHost();

    // ---- the world ----
    std::map<std::string, std::function<Answer(const Asked&)>> pages;  // others: 404
    std::vector<Asked> asked;
    std::function<std::string(const Form& query)> person;  // the redirect's query
    patchbay_status person_says = PATCHBAY_OK;
    std::uint32_t free_port = 43210;  // what a redirect gets that wants no port of its own
    std::vector<std::string> browsed;
    std::uint32_t taken_port = 0;
    bool person_there = true;
    std::map<std::string, std::string> store;
    patchbay_status get_fails = PATCHBAY_OK, put_fails = PATCHBAY_OK, lock_fails = PATCHBAY_OK;
    std::function<void()> while_locking;  // what another process does meanwhile
    std::uint64_t now_ms = 1'800'000'000'000;
    std::string logged, masked;
    std::int32_t log_level = -1;  // of the last line
    std::string log_server;
    int locks = 0;
    std::uint32_t lock_timeout_ms = 0;
    // The n-th asynchronous call from now never ends by itself, only by cancel. 0: none.
    int stall = 0;
    bool stalled() const { return stalled_ != 0; }
    int refuse = 0;  // the n-th asynchronous call is not even begun. 0: none.
    int calls = 0;

    void run();  // until nothing is left to do
    int count(const std::string& method, const std::string& url) const;
    const Asked& last(const std::string& url) const;

    // ---- what the tables call ----
    patchbay_status start(std::function<void(bool cancelled)> end, patchbay_op& op);
    bool end(patchbay_op op);  // false: it has ended
    void release();            // lets what stalls go on
    patchbay_op consent = 0;
    std::deque<std::function<void()>> posted;

private:
    std::map<patchbay_op, std::function<void(bool)>> open_;
    patchbay_op next_ = 1, stalled_ = 0;
};

// One authenticator, driven as the host would.
class Method {
public:
    Method(FakeHost& host, const std::string& config = "{}", const std::string& server = "docs");
    ~Method();

    struct Outcome {
        int ends = 0;
        patchbay_status status = 1;
        std::string error, authorization;
        std::uint32_t flags = 0;
        bool signs = false;
        std::uint64_t expires_unix_ms = 0;
    };
    // Runs to the end, unless a call stalls.
    Outcome acquire(std::uint32_t interactive, const std::string& www_authenticate = "",
                    std::uint32_t http_status = 401, const std::string& scope = "",
                    const std::string& dpop_nonce = "");
    void begin(std::uint32_t interactive);  // without running
    void cancel() { table_.cancel(made_, operation_); }
    void forget() { table_.forget(made_); }
    void close() { table_.close(made_); }
    std::string sign(const std::string& method, const std::string& url);

    Outcome outcome;
    int closed = 0;
    std::string url = "https://mcp.example/mcp";

private:
    void start(std::uint32_t interactive, const patchbay_problem* challenge,
               const std::string& scope);

    FakeHost& host_;
    const patchbay_auth table_;
    patchbay_auth_sink sink_{};
    patchbay_authenticator* made_ = nullptr;
    std::uint64_t operation_ = 0;
};

// A server at mcp.example whose authorization server is as.example, all as the specification has
// it.
void serve_usual(FakeHost& host);
std::string usual_metadata(const std::string& more = "");
std::string token(const std::string& access, const std::string& more = "");
std::string record(const std::string& more);  // a login of `serve_usual`, with members replaced
Document stored(const FakeHost& host);

}  // namespace patchbay::oauth::test
