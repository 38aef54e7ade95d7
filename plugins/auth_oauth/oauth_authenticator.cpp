#include "oauth_authenticator.hpp"

#include "edge.hpp"

#include <optional>

namespace patchbay::oauth {

// Everything in it but the prover and the clock belongs to the strand.
struct OAuthAuthenticator::Work : std::enable_shared_from_this<Work> {
    Work(const patchbay_auth_params& params, Settings settings)
        : host(params.host),
          sink(params),
          strand(std::make_shared<Strand>(params.host)),
          services(params, strand, settings.ca_file, settings.proxy),
          flow(services, prover, std::move(settings)) {}

    struct Job {
        std::optional<Wish> wish;  // nothing: forget
        bool cancelled = false;
    };

    void add(Job job);
    void cancel(std::uint64_t operation);
    void close();
    static Detached run(std::shared_ptr<Work> work);
    [[gnu::cold]] void broken(const Job& job) noexcept;
    Task<> acquire(const Wish& wish);
    Task<> forget();

    const patchbay_host* const host;
    sdk::AuthSink sink;
    std::shared_ptr<Strand> strand;
    Services services;
    Prover prover;
    Flow flow;
    std::deque<Job> jobs;  // the first is under way while running
    bool running = false, closing = false;
};

void OAuthAuthenticator::Work::add(Job job) {
    jobs.push_back(std::move(job));
    if (!running) run(shared_from_this());
}

void OAuthAuthenticator::Work::cancel(std::uint64_t operation) {
    for (auto& job : jobs) {
        if (!job.wish || job.wish->operation != operation) continue;
        job.cancelled = true;
        if (&job == &jobs.front()) services.cancel();
    }
}

void OAuthAuthenticator::Work::close() {
    closing = true;
    // A sign-out goes on: somebody relies on the login being gone.
    for (auto& job : jobs) job.cancelled = job.wish.has_value();
    if (running && jobs.front().cancelled) services.cancel();
    if (!running) run(shared_from_this());
}

Detached OAuthAuthenticator::Work::run(std::shared_ptr<Work> work) {
    work->running = true;
    while (!work->jobs.empty()) {
        const auto& job = work->jobs.front();  // a deque keeps it in place while others are added
        try {
            work->services.begin();
            if (job.cancelled)
                work->sink.refused(job.wish->operation, PATCHBAY_E_CANCELLED, "cancelled");
            else if (job.wish)
                co_await work->acquire(*job.wish);
            else
                co_await work->forget();
        } catch (...) {
            work->broken(job);
        }
        work->jobs.pop_front();
    }
    work->running = false;
    if (work->closing) work->sink.closed();
}

// Inside a catch: what acquire() and forget() did not expect.
void OAuthAuthenticator::Work::broken(const Job& job) noexcept {
    const auto why = transport::note_escape(host, job.wish ? "a sign-in" : "a sign-out");
    if (job.wish) sink.refused(job.wish->operation, PATCHBAY_E_INTERNAL, why);
}

Task<> OAuthAuthenticator::Work::acquire(const Wish& wish) {
    try {
        const auto granted = co_await flow.acquire(wish);
        sink.acquired(wish.operation, granted.credentials, granted.expires_unix_ms);
    } catch (const Trouble& trouble) {
        sink.refused(wish.operation, trouble.code(), trouble.what(), trouble.flags());
    } catch (const sdk::Failure& failure) {
        sink.refused(wish.operation, failure.code(), failure.what());
    }
}

Task<> OAuthAuthenticator::Work::forget() {
    try {
        co_await flow.forget();
    } catch (const std::exception& failure) {
        services.warn(std::string("the login is not erased: ") + failure.what());
    }
}

OAuthAuthenticator::OAuthAuthenticator(std::shared_ptr<Work> work) : work_(std::move(work)) {}

std::unique_ptr<OAuthAuthenticator> OAuthAuthenticator::create(const patchbay_auth_params& params) {
    auto settings = Settings::parse(sdk::view(params.config));
    return std::unique_ptr<OAuthAuthenticator>(
        new OAuthAuthenticator(std::make_shared<Work>(params, std::move(settings))));
}

void OAuthAuthenticator::acquire(const patchbay_auth_request& request) {
    Wish wish;
    wish.operation = request.operation;
    wish.interactive = request.interactive;
    wish.url = sdk::view(request.url);
    wish.scope = sdk::view(request.scope);
    if (request.challenge) wish.demand = Demand::of(*request.challenge);
    work_->strand->post([work = work_, wish = std::move(wish)] { work->add({wish, false}); });
}

void OAuthAuthenticator::cancel(std::uint64_t operation) {
    work_->strand->post([work = work_, operation] { work->cancel(operation); });
}

void OAuthAuthenticator::forget() {
    work_->strand->post([work = work_] { work->add({std::nullopt, false}); });
}

void OAuthAuthenticator::close() {
    work_->strand->post([work = work_] { work->close(); });
}

std::vector<sdk::Credential> OAuthAuthenticator::sign(std::string_view method,
                                                      std::string_view url) {
    // Not by the strand: requests are signed on whatever thread sends them.
    auto proof = work_->prover.proof(method, url, work_->services.unix_seconds());
    if (proof.empty())
        throw sdk::Failure(PATCHBAY_E_AUTH, "the token in use is not bound to a key");
    return {{"DPoP", std::move(proof), PATCHBAY_KV_SECRET}};
}

}  // namespace patchbay::oauth
