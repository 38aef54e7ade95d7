#include "gateway/http/cross_origin.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::gateway {

namespace {

constexpr const char* kExposed = "MCP-Session-Id, WWW-Authenticate, Retry-After";
constexpr const char* kMethods = "POST, GET, DELETE";
constexpr const char* kSeconds = "7200";  // more is too much for most browsers

// An answer that the page of that origin may read.
class Readable final : public http::Exchange {
public:
    Readable(std::shared_ptr<http::Exchange> exchange, std::string origin)
        : exchange_(std::move(exchange)), origin_(std::move(origin)) {}

    void read_body(std::function<void(std::string)> then) override {
        exchange_->read_body(std::move(then));
    }
    void answer(unsigned status, const http::Headers& headers, std::string body) override {
        exchange_->answer(status, with_ours(headers), std::move(body));
    }
    void begin(const http::Headers& headers) override { exchange_->begin(with_ours(headers)); }
    void write(std::string_view bytes) override { exchange_->write(bytes); }
    void end() override { exchange_->end(); }
    std::size_t waiting() const override { return exchange_->waiting(); }
    void when_gone(std::function<void()> gone) override { exchange_->when_gone(std::move(gone)); }

private:
    http::Headers with_ours(http::Headers headers) const {
        headers.emplace_back("Access-Control-Allow-Origin", origin_);
        headers.emplace_back("Access-Control-Expose-Headers", kExposed);
        headers.emplace_back("Vary", "Origin");
        return headers;
    }

    const std::shared_ptr<http::Exchange> exchange_;
    const std::string origin_;
};

bool is_preflight(const http::Request& request) {
    return request.method == "OPTIONS" && request.header("access-control-request-method");
}

// Whatever the page asks for, as arguments of tools have headers too (Mcp-Param-NAME); said again as
// it came, if it is a list of names.
std::string headers_asked_for(const http::Request& request) {
    constexpr std::string_view kOfNames =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!#$%&'*+^`|~, ";
    const auto* names = request.header("access-control-request-headers");
    if (!names || names->find_first_not_of(kOfNames) != std::string::npos) return {};
    return *names;
}

}  // namespace

void CrossOrigin::on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) {
    const auto* origin = request.header("origin");
    if (!origin || door_.refuses(request))
        return others_.on_request(std::move(exchange), std::move(request));
    auto readable = std::make_shared<Readable>(std::move(exchange), *origin);
    if (!is_preflight(request)) return others_.on_request(std::move(readable), std::move(request));
    http::Headers headers{{"Access-Control-Allow-Methods", kMethods},
                          {"Access-Control-Max-Age", kSeconds}};
    if (auto names = headers_asked_for(request); !names.empty())
        headers.emplace_back("Access-Control-Allow-Headers", std::move(names));
    readable->answer(204, headers, {});
}

}  // namespace patchbay::gateway
