#include "core/base64.hpp"

#include <patchbay/cpp/base64.hpp>

#include <optional>
#include <utility>

namespace patchbay::core {

namespace {

Result<std::string> checked(std::optional<std::string> decoded) {
    if (!decoded) return Error{ErrorCode::Protocol, "the data is not base64"};
    return std::move(*decoded);
}

}  // namespace

std::string base64(std::string_view bytes) {
    return sdk::base64(bytes);
}

Result<std::string> base64_decoded(std::string_view text) {
    return checked(sdk::base64_decoded(text));
}

std::string base64url(std::string_view bytes) {
    return sdk::base64url(bytes);
}

Result<std::string> base64url_decoded(std::string_view text) {
    return checked(sdk::base64url_decoded(text));
}

}  // namespace patchbay::core
