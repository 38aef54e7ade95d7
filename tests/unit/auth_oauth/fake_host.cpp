#include "fake_host.hpp"

#include <boost/json.hpp>

namespace patchbay::oauth::test {
namespace {

FakeHost& of(const patchbay_host* host) {
    return *static_cast<FakeHost*>(const_cast<patchbay_host*>(host));
}
std::string text(patchbay_str value) {
    return std::string(sdk::view(value));
}
patchbay_error failed(patchbay_status code) {
    patchbay_error error{};
    sdk::fill(error, code, "made to fail");
    return error;
}

Asked asked_of(const patchbay_http_request& request) {
    Asked asked;
    asked.method = text(request.method);
    asked.url = text(request.url);
    asked.body = text(request.body);
    asked.beside = text(request.beside);
    asked.ca_file = text(request.ca_file);
    asked.proxy = text(request.proxy);
    asked.timeout_ms = request.timeout_ms;
    asked.max_response = request.max_response;
    for (std::size_t i = 0; i < request.header_count; ++i) {
        const auto& [name, value, flags, reserved] = request.headers[i];
        asked.headers[text(name)] = text(value);
        if (flags & PATCHBAY_KV_SECRET) asked.secret_headers.insert(text(name));
    }
    return asked;
}

using FetchDone = void (*)(void*, patchbay_status, const patchbay_http_response*,
                           const patchbay_error*) noexcept;

void answer(const Answer& given, void* ctx, FetchDone done) {
    if (given.failure != PATCHBAY_OK) {
        const auto error = failed(given.failure);
        return done(ctx, given.failure, nullptr, &error);
    }
    std::vector<patchbay_kv> headers;
    for (const auto& [name, value] : given.headers)
        headers.push_back({sdk::str(name), sdk::str(value), 0, 0});
    patchbay_http_response response{};
    response.struct_size = sizeof response;
    response.status = given.status;
    response.headers = headers.data();
    response.header_count = headers.size();
    response.body = sdk::str(given.body);
    done(ctx, PATCHBAY_OK, &response, nullptr);
}

const patchbay_host_reactor kReactor = [] {
    patchbay_host_reactor table{};
    table.struct_size = sizeof table;
    table.post = [](const patchbay_host* host, void* ctx, void (*fn)(void*) noexcept) noexcept {
        of(host).posted.emplace_back([ctx, fn] { fn(ctx); });
        return patchbay_status{PATCHBAY_OK};
    };
    return table;
}();

const patchbay_host_http kHttp = [] {
    patchbay_host_http table{};
    table.struct_size = sizeof table;
    table.fetch = [](const patchbay_host* host, const patchbay_http_request* request, void* ctx,
                     FetchDone done, patchbay_op* out) noexcept {
        auto& world = of(host);
        world.asked.push_back(asked_of(*request));
        const auto asked = world.asked.back();
        const auto end = [&world, asked, ctx, done](bool cancelled) {
            Answer given{404, "not here", {}, PATCHBAY_OK};
            const auto page = world.pages.find(asked.url);
            if (cancelled)
                given.failure = PATCHBAY_E_CANCELLED;
            else if (page != world.pages.end())
                given = page->second(asked);
            answer(given, ctx, done);
        };
        return world.start(end, *out);
    };
    table.cancel = [](const patchbay_host* host, patchbay_op op) noexcept { of(host).end(op); };
    return table;
}();

constexpr patchbay_op kReserved = 1'000'000;

const patchbay_host_consent kConsent = [] {
    patchbay_host_consent table{};
    table.struct_size = sizeof table;
    table.reserve = [](const patchbay_host* host, patchbay_str, std::uint32_t port, char* uri,
                       patchbay_op* out, patchbay_error* error) noexcept {
        auto& world = of(host);
        const auto refused = !world.person_there                     ? PATCHBAY_E_UNSUPPORTED
                             : port != 0 && port == world.taken_port ? PATCHBAY_E_IO
                                                                     : PATCHBAY_OK;
        if (refused != PATCHBAY_OK) return *error = failed(refused), patchbay_status{refused};
        const auto made =
            "http://127.0.0.1:" + std::to_string(port ? port : world.free_port) + "/callback";
        std::snprintf(uri, PATCHBAY_REDIRECT_BYTES, "%s", made.c_str());
        *out = kReserved;
        return patchbay_status{PATCHBAY_OK};
    };
    table.authorize = [](const patchbay_host* host, patchbay_op, patchbay_str url, void* ctx,
                         void (*done)(void*, patchbay_status, patchbay_str,
                                      const patchbay_error*) noexcept) noexcept {
        auto& world = of(host);
        world.browsed.push_back(text(url));
        const auto end = [&world, ctx, done](bool cancelled) {
            const auto status = cancelled ? PATCHBAY_E_CANCELLED : world.person_says;
            const auto error = failed(status);
            const auto& shown = world.browsed.back();
            const auto query = form_decode(std::string_view(shown).substr(shown.find('?') + 1));
            const auto answered = status == PATCHBAY_OK ? world.person(query) : std::string();
            done(ctx, status, sdk::str(answered), status == PATCHBAY_OK ? nullptr : &error);
        };
        return world.start(end, world.consent);
    };
    table.cancel = [](const patchbay_host* host, patchbay_op op) noexcept {
        EXPECT_EQ(op, kReserved);
        of(host).end(of(host).consent);
    };
    return table;
}();

using Done = void (*)(void*, patchbay_status, const patchbay_error*) noexcept;

const patchbay_host_secrets kSecrets = [] {
    patchbay_host_secrets table{};
    table.struct_size = sizeof table;
    table.get = [](const patchbay_host* host, patchbay_str server, void* ctx,
                   void (*done)(void*, patchbay_status, patchbay_str,
                                const patchbay_error*) noexcept) noexcept {
        auto& world = of(host);
        const auto end = [&world, name = text(server), ctx, done](bool) {
            const auto error = failed(world.get_fails);
            const auto record = world.store[name];
            const bool fine = world.get_fails == PATCHBAY_OK;
            done(ctx, world.get_fails, sdk::str(record), fine ? nullptr : &error);
        };
        patchbay_op op = 0;
        return world.start(end, op);
    };
    table.put = [](const patchbay_host* host, patchbay_str server, patchbay_str record, void* ctx,
                   Done done) noexcept {
        auto& world = of(host);
        const auto end = [&world, name = text(server), value = text(record), ctx, done](bool) {
            const auto error = failed(world.put_fails);
            if (world.put_fails == PATCHBAY_OK) world.store[name] = value;
            done(ctx, world.put_fails, world.put_fails == PATCHBAY_OK ? nullptr : &error);
        };
        patchbay_op op = 0;
        return world.start(end, op);
    };
    table.lock = [](const patchbay_host* host, patchbay_str, std::uint32_t timeout_ms, void* ctx,
                    Done done, patchbay_op* out) noexcept {
        auto& world = of(host);
        world.lock_timeout_ms = timeout_ms;
        const auto end = [&world, ctx, done](bool cancelled) {
            const auto status = cancelled ? PATCHBAY_E_CANCELLED : world.lock_fails;
            const auto error = failed(status);
            if (status == PATCHBAY_OK && world.while_locking) world.while_locking();
            if (status == PATCHBAY_OK) ++world.locks;
            done(ctx, status, status == PATCHBAY_OK ? nullptr : &error);
        };
        return world.start(end, *out);
    };
    table.unlock = [](const patchbay_host* host, patchbay_op op) noexcept {
        auto& world = of(host);
        if (!world.end(op)) --world.locks;
    };
    table.mask = [](const patchbay_host* host, patchbay_str value) noexcept {
        of(host).masked += text(value) + "\n";
    };
    return table;
}();

const patchbay_host_clock kClock = [] {
    patchbay_host_clock table{};
    table.struct_size = sizeof table;
    table.unix_ms = [](const patchbay_host* host) noexcept { return of(host).now_ms; };
    return table;
}();

}  // namespace

FakeHost::FakeHost() : patchbay_host{} {
    struct_size = sizeof(patchbay_host);
    get_extension = [](const patchbay_host*, const char* id) noexcept -> const void* {
        const std::string_view wanted(id);
        if (wanted == PATCHBAY_HOST_REACTOR) return &kReactor;
        if (wanted == PATCHBAY_HOST_HTTP) return &kHttp;
        if (wanted == PATCHBAY_HOST_CONSENT) return &kConsent;
        if (wanted == PATCHBAY_HOST_SECRETS) return &kSecrets;
        return wanted == PATCHBAY_HOST_CLOCK ? &kClock : nullptr;
    };
    log = [](const patchbay_host* host, std::int32_t level, patchbay_str words,
             const patchbay_kv* fields, std::size_t count) noexcept {
        of(host).logged += text(words) + "\n";
        of(host).log_level = level;
        for (std::size_t i = 0; i < count; ++i)
            if (text(fields[i].name) == "server") of(host).log_server = text(fields[i].value);
    };
    person = [](const Form& query) {
        return form_encode({{"code", "the-code"}, {"state", only(query, "state").value_or("")}});
    };
}

patchbay_status FakeHost::start(std::function<void(bool)> end, patchbay_op& op) {
    if (++calls == refuse) return PATCHBAY_E_CLOSED;
    op = next_++;
    open_[op] = std::move(end);
    if (calls == stall) return stalled_ = op, PATCHBAY_OK;
    posted.emplace_back([this, started = op] {
        const auto found = open_.find(started);
        if (found == open_.end()) return;
        const auto finish = std::move(found->second);
        open_.erase(found);
        finish(false);
    });
    return PATCHBAY_OK;
}

bool FakeHost::end(patchbay_op op) {
    const auto found = open_.find(op);
    if (found == open_.end()) return false;
    const auto finish = std::move(found->second);
    open_.erase(found);
    if (op == stalled_) stalled_ = 0;
    finish(true);
    return true;
}

void FakeHost::release() {
    const auto found = open_.find(std::exchange(stalled_, 0));
    if (found == open_.end()) return;
    const auto finish = std::move(found->second);
    open_.erase(found);
    finish(false);
}

void FakeHost::run() {
    while (!posted.empty()) {
        const auto next = std::move(posted.front());
        posted.pop_front();
        next();
    }
}

int FakeHost::count(const std::string& method, const std::string& url) const {
    int found = 0;
    for (const auto& each : asked) found += each.method == method && each.url == url;
    return found;
}

const Asked& FakeHost::last(const std::string& url) const {
    static const Asked none;
    for (auto each = asked.rbegin(); each != asked.rend(); ++each)
        if (each->url == url) return *each;
    return none;
}

Method::Method(FakeHost& host, const std::string& config, const std::string& server)
    : host_(host), table_(sdk::auth_table<OAuthAuthenticator>("oauth", "{}", true)) {
    sink_.struct_size = sizeof sink_;
    sink_.acquired = [](patchbay_auth_link* link, std::uint64_t, patchbay_status status,
                        const patchbay_grant* grant, const patchbay_error* error) noexcept {
        auto& told = reinterpret_cast<Method*>(link)->outcome;
        ++told.ends;
        told.status = status;
        if (error) told.error = error->message, told.flags = error->flags;
        if (!grant) return;
        told.expires_unix_ms = grant->expires_unix_ms;
        for (std::size_t i = 0; i < grant->credential_count; ++i) {
            const auto& each = grant->credentials[i];
            if (each.flags & PATCHBAY_KV_SIGN) told.signs = true;
            if (text(each.name) == "Authorization") told.authorization = text(each.value);
        }
    };
    sink_.closed = [](patchbay_auth_link* link) noexcept {
        ++reinterpret_cast<Method*>(link)->closed;
    };
    patchbay_auth_params params{};
    params.struct_size = sizeof params;
    params.host = &host;
    params.sink = &sink_;
    params.link = reinterpret_cast<patchbay_auth_link*>(this);
    params.server = sdk::str(server);
    params.config = sdk::str(config);
    patchbay_error error{};
    if (table_.create(&params, &made_, &error) != PATCHBAY_OK)
        throw std::runtime_error(error.message);
}

Method::~Method() {
    if (closed == 0) close();
    host_.release();
    host_.run();
    EXPECT_EQ(closed, 1);
    EXPECT_EQ(host_.locks, 0);
    table_.destroy(made_);
}

void Method::start(std::uint32_t interactive, const patchbay_problem* challenge,
                   const std::string& scope) {
    outcome = {};
    patchbay_auth_request request{};
    request.struct_size = sizeof request;
    request.interactive = interactive;
    request.operation = ++operation_;
    request.url = sdk::str(url);
    request.challenge = challenge;
    request.scope = sdk::str(scope);
    patchbay_error error{};
    EXPECT_EQ(table_.acquire(made_, &request, &error), PATCHBAY_OK) << error.message;
}

void Method::begin(std::uint32_t interactive) {
    start(interactive, nullptr, "");
}

Method::Outcome Method::acquire(std::uint32_t interactive, const std::string& www_authenticate,
                                std::uint32_t http_status, const std::string& scope,
                                const std::string& dpop_nonce) {
    const patchbay_kv headers[] = {{sdk::str("WWW-Authenticate"), sdk::str(www_authenticate), 0, 0},
                                   {sdk::str("DPoP-Nonce"), sdk::str(dpop_nonce), 0, 0}};
    patchbay_problem problem{};
    problem.struct_size = sizeof problem;
    problem.http_status = http_status;
    problem.headers = headers;
    problem.header_count = dpop_nonce.empty() ? 1 : 2;
    start(interactive, www_authenticate.empty() ? nullptr : &problem, scope);
    host_.run();
    return outcome;
}

std::string Method::sign(const std::string& method, const std::string& target) {
    std::string out;
    patchbay_error error{};
    const auto status = table_.sign(
        made_, sdk::str(method), sdk::str(target), &out,
        [](void* ctx, patchbay_str name, patchbay_str value) noexcept {
            EXPECT_EQ(text(name), "DPoP");
            *static_cast<std::string*>(ctx) = text(value);
        },
        &error);
    return status == PATCHBAY_OK ? out : "status " + std::to_string(status);
}

void serve_usual(FakeHost& host) {
    host.pages["https://mcp.example/mcp"] = [](const Asked&) {
        return Answer{401, "{}", {{"WWW-Authenticate", "Bearer realm=\"x\""}}, PATCHBAY_OK};
    };
    host.pages["https://mcp.example/.well-known/oauth-protected-resource/mcp"] = [](const Asked&) {
        return Answer{200,
                      R"({"resource":"https://mcp.example/mcp",
                          "authorization_servers":["https://as.example"]})",
                      {},
                      PATCHBAY_OK};
    };
    host.pages["https://as.example/.well-known/oauth-authorization-server"] = [](const Asked&) {
        return Answer{200, usual_metadata(), {}, PATCHBAY_OK};
    };
    host.pages["https://as.example/register"] = [](const Asked&) {
        return Answer{201, R"({"client_id":"made-client"})", {}, PATCHBAY_OK};
    };
    host.pages["https://as.example/token"] = [](const Asked&) {
        return Answer{200,
                      token("access-1", R"("refresh_token":"refresh-1","expires_in":3600)"),
                      {},
                      PATCHBAY_OK};
    };
    host.pages["https://as.example/revoke"] = [](const Asked&) {
        return Answer{200, "", {}, PATCHBAY_OK};
    };
}

namespace {

std::string merged(const char* base, const std::string& more) {
    auto object = boost::json::parse(base).as_object();
    const auto changes = boost::json::parse("{" + more + "}");
    for (const auto& [name, value] : changes.as_object()) object[name] = value;
    return boost::json::serialize(object);
}

}  // namespace

std::string usual_metadata(const std::string& more) {
    return merged(R"({"issuer":"https://as.example",
        "authorization_endpoint":"https://as.example/authorize",
        "token_endpoint":"https://as.example/token",
        "registration_endpoint":"https://as.example/register",
        "revocation_endpoint":"https://as.example/revoke",
        "code_challenge_methods_supported":["S256"],
        "token_endpoint_auth_methods_supported":["none"]})",
                  more);
}

std::string token(const std::string& access, const std::string& more) {
    return merged(R"({"token_type":"Bearer"})",
                  "\"access_token\":\"" + access + "\"" + (more.empty() ? "" : "," + more));
}

std::string record(const std::string& more) {
    return merged(
        R"({"access_token":"old-access","refresh_token":"old-refresh","token_type":"Bearer",
        "scope":"read","client_id":"old-client","issuer":"https://as.example",
        "resource":"https://mcp.example/mcp","server_url":"https://mcp.example/mcp",
        "token_endpoint":"https://as.example/token","token_endpoint_auth_method":"none",
        "revocation_endpoint":"https://as.example/revoke",
        "redirect_uri":"http://127.0.0.1:5555/callback",
        "obtained_at":1799999000,"expires_at":1800003600})",
        more);
}

Document stored(const FakeHost& host) {
    const auto found = host.store.find("docs");
    return Document::parse(
        found == host.store.end() || found->second.empty() ? "{}" : found->second, "store");
}

}  // namespace patchbay::oauth::test
