#include "router/receipt.hpp"

#include "core/digest.hpp"
#include "core/text.hpp"
#include "protocol/canonical_json.hpp"

#include <utility>

namespace patchbay::router {

std::string Receipt::digest_of(std::string_view arguments) {
    return core::sha256_hex(protocol::canonical_json(arguments.empty() ? "{}" : arguments));
}

Receipt::Receipt(std::string what, std::string definition, std::string arguments,
                 core::Clock::time_point given)
    : what_(std::move(what)),
      definition_(std::move(definition)),
      arguments_(std::move(arguments)),
      until_(given + kLifetime) {}

std::optional<Error> Receipt::refuses(std::string_view definition,
                                      core::Clock::time_point now) const {
    if (now >= until_)
        return Error{ErrorCode::Denied, what_ + " was approved more than " +
                                            core::duration(kLifetime) +
                                            " ago and had not been sent; ask again"};
    if (definition != definition_)
        return Error{ErrorCode::Denied,
                     what_ + " is described otherwise than when it was approved; ask again"};
    return {};
}

std::optional<Error> Receipt::redeem(std::string_view definition, std::string_view arguments,
                                     core::Clock::time_point now) {
    if (redeemed_)
        return Error{ErrorCode::Denied,
                     what_ + " was approved for one call, which has been sent; ask again"};
    if (auto why = refuses(definition, now)) return why;
    if (digest_of(arguments) != arguments_)
        return Error{ErrorCode::Denied, what_ + " was approved with other arguments; ask again"};
    redeemed_ = true;
    return {};
}

std::optional<Error> Receipt::cover_again(std::string_view definition,
                                          core::Clock::time_point now) const {
    return refuses(definition, now);
}

}  // namespace patchbay::router
