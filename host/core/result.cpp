#include "core/result.hpp"

#include "core/error_words.hpp"

namespace patchbay {

const char* name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::Internal:
            return "internal";
        case ErrorCode::Invalid:
            return "invalid";
        case ErrorCode::NotFound:
            return "not_found";
        case ErrorCode::Unsupported:
            return "unsupported";
        case ErrorCode::Unavailable:
            return "unavailable";
        case ErrorCode::Timeout:
            return "timeout";
        case ErrorCode::Cancelled:
            return "cancelled";
        case ErrorCode::Denied:
            return "denied";
        case ErrorCode::AuthRequired:
            return "auth_required";
        case ErrorCode::Limit:
            return "limit";
        case ErrorCode::Protocol:
            return "protocol";
        case ErrorCode::Io:
            return "io";
        case ErrorCode::SessionLost:
            return "session_lost";
    }
    return "internal";
}

std::optional<ErrorCode> error_code_from(std::string_view name) {
    for (int code = 0; code <= static_cast<int>(ErrorCode::SessionLost); ++code)
        if (name == name_of(static_cast<ErrorCode>(code))) return static_cast<ErrorCode>(code);
    return {};
}

}  // namespace patchbay
