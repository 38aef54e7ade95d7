#include "net/answer_body.hpp"

#include "net/body_decoder.hpp"
#include "net/task.hpp"
#include "net/turns.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace patchbay::net {
namespace {

constexpr std::size_t kDrained = 64u << 10;     // of a body nobody wants, to keep its connection
constexpr std::size_t kSlice = 16u << 10;       // of a stream, unpacked ahead of who takes it
constexpr std::size_t kBytesAStep = 64u << 10;  // of one exchange, then others have theirs

}  // namespace

AnswerBody::Read AnswerBody::read(BodyDecoder& decoder, std::string_view piece) {
    begun_ = true;
    if (piece.empty()) decoder.finish();
    switch (take_) {
        case Take::Stream:
            return read_stream(decoder, piece);
        case Take::Whole:
            return read_whole(decoder, piece);
        case Take::Nothing:
            break;
    }
    return drain(decoder, piece);
}

AnswerBody::Read AnswerBody::read_rest(BodyDecoder& decoder) {
    const auto rest = std::exchange(rest_, {});
    return streams() ? read_stream(decoder, rest) : read(decoder, rest);
}

AnswerBody::Read AnswerBody::read_whole(BodyDecoder& decoder, std::string_view piece) {
    const auto most = task_.body_limit();
    const bool may_be_cut = task_.body_may_be_cut();
    const auto step = text_.size() + kBytesAStep;
    if (!piece.empty())
        unpack(decoder, piece, may_be_cut ? SIZE_MAX : most,
               may_be_cut ? std::min(most, step) : step);
    if (may_be_cut && text_.size() >= most) {
        text_.resize(most);
        cut_ = true;
        return Read::Over;
    }
    if (!piece.empty()) return go_on_later(piece);
    torn_ = !may_be_cut && decoder.over() && decoder.torn();
    return decoder.over() ? Read::Over : Read::Waits;
}

AnswerBody::Read AnswerBody::drain(BodyDecoder& decoder, std::string_view piece) {
    while (!piece.empty() && drained_ <= kDrained) {
        unpack(decoder, piece, SIZE_MAX, kSlice);
        drained_ += std::exchange(text_, {}).size();
    }
    return drained_ > kDrained || decoder.over() ? Read::Over : Read::Waits;
}

// Hands on what is there in slices, as far as the host wants more; what is left waits here.
AnswerBody::Read AnswerBody::read_stream(BodyDecoder& decoder, std::string_view piece) {
    for (std::size_t step = 0;; step += text_.size()) {
        if (!text_.empty()) {
            std::string_view slice(text_);
            if (!task_.data(slice)) return Read::Over;
            text_.erase(0, turns_.paused() ? text_.size() - slice.size() : std::string::npos);
        }
        if (turns_.paused() && !text_.empty()) return rest_ = piece, Read::Waits;
        if (piece.empty()) return decoder.over() ? Read::Over : Read::Waits;
        if (step >= kBytesAStep || turns_.spent()) return go_on_later(piece);
        unpack(decoder, piece, SIZE_MAX, kSlice);
    }
}

// What a few bytes unpack to may be more than one turn is for.
AnswerBody::Read AnswerBody::go_on_later(std::string_view rest) {
    rest_ = rest;
    return Read::GoesOn;
}

void AnswerBody::unpack(BodyDecoder& decoder, std::string_view& piece, std::size_t most,
                        std::size_t enough) {
    const auto before = text_.size();
    piece.remove_prefix(decoder.feed(piece, text_, most, enough));
    turns_.spend(text_.size() - before);
}

bool AnswerBody::break_off() {
    cut_ = whole() && task_.body_may_be_cut();
    return cut_;
}

// Only the next event of a stream may take for ever, and the first byte of what is taken whole.
bool AnswerBody::must_end() const {
    if (whole()) return begun_ || task_.body_may_be_cut();
    return !streams();
}

}  // namespace patchbay::net
