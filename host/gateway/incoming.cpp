#include "gateway/incoming.hpp"

#include "core/json.hpp"
#include "gateway/answers.hpp"

#include <utility>

namespace patchbay::gateway {

namespace {

// Programs that write an absent id as null do so in notifications too, which need none. Whoever asks for something
// would wait for an answer for ever.
bool asks_without_id(const protocol::Envelope& envelope, std::string_view message) {
    if (envelope.kind != protocol::MessageKind::Notification ||
        envelope.method.starts_with("notifications/"))
        return false;
    bool has_id = false;
    protocol::each_member(message, [&](std::string_view key, std::string_view) {
        has_id = has_id || key == "id";
        return !has_id;
    });
    return has_id;
}

}  // namespace

Result<Incoming> read_incoming(std::string_view message, std::size_t depth) {
    auto read = protocol::parse_with_params(message, depth);
    if (!read) return read.error();
    if (asks_without_id(read->envelope, message))
        return Error{ErrorCode::Protocol,
                     "the id of a request is a text or a whole number, not null"};
    Incoming incoming{std::move(read->envelope)};
    if (incoming.envelope.method.empty()) return incoming;
    if (read->params)
        incoming.params = std::move(*read->params);
    else
        incoming.unreadable = read->params.error();
    incoming.meta = read_meta(incoming.params.meta);
    return incoming;
}

bool is_id(std::string_view raw) {
    const auto digits = raw.substr(raw.starts_with('-'));
    return raw.starts_with('"') ||
           (!digits.empty() && digits.find_first_not_of("0123456789") == digits.npos);
}

Fault fault_of(std::string_view message, std::size_t depth) {
    if (!core::parse_json(message, {.depth = depth})) return {kParseError, {}};
    Fault fault{kInvalidRequest, {}};
    std::size_t ids = 0;
    bool answers = false;
    protocol::each_member(message, [&](std::string_view key, std::string_view value) {
        if (key == "id" && ++ids == 1 && is_id(value)) fault.raw_id = value;
        answers = answers || key == "result" || key == "error";
        return true;
    });
    // The id of an answer is one of ours: whoever gets it back takes it for its own.
    if (ids != 1 || answers) fault.raw_id.clear();
    return fault;
}

}  // namespace patchbay::gateway
