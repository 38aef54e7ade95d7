#include "plugin/services/http_get.hpp"

#include "plugin/services/http_service.hpp"

#include <memory>
#include <utility>

namespace patchbay::plugin {

namespace {

struct Waiting {
    core::Loop& loop;
    Got then;

    void tell(Result<std::string> got) {
        loop.post(
            [then = std::move(then), got = std::move(got)]() mutable { then(std::move(got)); });
    }
};

Result<std::string> told(patchbay_status status, const patchbay_http_response* response,
                         const patchbay_error* error) {
    if (status < 0 || !response) return Error{ErrorCode::Unavailable, text_of(error, status)};
    if (response->status != 200)
        return Error{ErrorCode::Unavailable, "answers " + std::to_string(response->status)};
    return std::string(view(response->body));
}

// On any thread, once.
void on_got(void* ctx, patchbay_status status, const patchbay_http_response* response,
            const patchbay_error* error) {
    const std::unique_ptr<Waiting> waiting(static_cast<Waiting*>(ctx));
    waiting->tell(told(status, response, error));
}

}  // namespace

void http_get(HttpService& service, core::Loop& loop, const HttpGet& wanted, Got then) {
    auto waiting = std::make_unique<Waiting>(Waiting{loop, std::move(then)});
    patchbay_http_request request{};
    request.struct_size = sizeof request;
    request.timeout_ms = static_cast<std::uint32_t>(wanted.timeout.count());
    request.method = str("GET");
    request.url = str(wanted.url);
    request.max_response = wanted.most_bytes;
    request.beside = str(wanted.beside);
    patchbay_op op = 0;
    const auto status = service.fetch(&request, waiting.get(), on_got, &op);
    if (status < 0)
        waiting->tell(Error{ErrorCode::Unavailable, name_of_status(status)});
    else
        static_cast<void>(waiting.release());  // on_got's
}

}  // namespace patchbay::plugin
