// What the host offers, as things to co_await: each starts a call and comes back on the strand.
//
// Owns:    nothing of the host's; a Lock and a Redirect give back what they stand for.
// Threads: [strand], but mask, log and the clock: [any].
// Errors:  Trouble. After cancel() every wait ends with E_CANCELLED, except that a put is
//          never cut.
#pragma once

#include "strand.hpp"
#include "task.hpp"
#include "trouble.hpp"
#include "web_url.hpp"

#include <patchbay/services.h>

#include <optional>
#include <utility>
#include <vector>

namespace patchbay::oauth {

enum class Judged {
    kBesideServer,  // a server named it: the host looks where it leads
    kAsConfigured,  // a person wrote it
};

struct Request {
    std::string method = "GET", url, body;
    std::vector<std::pair<std::string, std::string>> headers;
    Judged judged = Judged::kBesideServer;
    std::uint32_t timeout_ms = 10'000;
};
struct Reply {
    std::uint32_t status = 0;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;

    std::string header(std::string_view name) const;  // empty: not there
};

class Services;

class Lock {
public:
    Lock(Services& services, patchbay_op op) : services_(&services), op_(op) {}
    Lock(Lock&& other) noexcept : services_(other.services_), op_(std::exchange(other.op_, 0)) {}
    Lock& operator=(Lock&&) = delete;
    ~Lock();

private:
    Services* services_;
    patchbay_op op_;
};

class Redirect {
public:
    Redirect(Services& services, patchbay_op op, std::string address)
        : uri(std::move(address)), services_(&services), op_(op) {}
    Redirect(Redirect&& other) noexcept
        : uri(std::move(other.uri)), services_(other.services_), op_(std::exchange(other.op_, 0)) {}
    Redirect& operator=(Redirect&&) = delete;
    ~Redirect();
    patchbay_op spend() { return std::exchange(op_, 0); }  // authorize ends it
    patchbay_op op() const { return op_; }

    std::string uri;

private:
    Services* services_;
    patchbay_op op_;
};

class Services {
public:
    // `ca_file`, `proxy`: of every fetch.
    Services(const patchbay_auth_params& params, std::shared_ptr<Strand> strand,
             std::string ca_file, std::string proxy);

    // The server that everything is done for from now on.
    void serve(const WebUrl& server) { beside_ = server.canonical(); }

    Task<Reply> fetch(Request request);
    // Port 0: any. E_IO: that port is taken.
    Redirect reserve(std::uint32_t port);
    Task<std::string> authorize(Redirect& redirect, std::string url);  // the redirect's query
    Task<std::string> get();
    Task<> put(std::string record);
    Task<Lock> lock();

    void mask(std::string_view secret) const;
    void warn(std::string_view text) const;
    std::int64_t unix_seconds() const;
    std::uint64_t unix_ms() const;
    const std::string& server() const { return server_; }

    // Ends what is awaited now, and refuses new waits until begin().
    void cancel();
    void begin() { cancelled_ = false; }

private:
    friend class Lock;
    friend class Redirect;
    template <class Outcome>
    friend class Call;

    const patchbay_host* host_;
    const patchbay_host_http* http_;
    const patchbay_host_consent* consent_;
    const patchbay_host_secrets* secrets_;
    const patchbay_host_clock* clock_;
    std::shared_ptr<Strand> strand_;
    std::string server_, beside_, ca_file_, proxy_;
    std::function<void()> stop_;  // what is awaited
    bool cancelled_ = false;
};

}  // namespace patchbay::oauth
