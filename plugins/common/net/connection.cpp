#include "net/connection.hpp"

#include <utility>

namespace patchbay::net {
namespace {

constexpr std::size_t kSmallBody = 16u << 10;  // copied behind its head: one send

}  // namespace

Connection::Connection(Dialed dialed, const Url& url)
    : stream_(std::move(dialed)), url_(url), authority_(url.authority()) {}

// ---- the request

void Connection::ask(const Url& url, const Outgoing& request, const HeaderList& secrets) {
    const auto& proxy = stream_.proxy();
    request_ = proxy ? request.head(url.text(), authority_, secrets, proxy->authorization)
                     : request.head(url.target, authority_, secrets, {});
    const bool small = request.body.size() <= kSmallBody;
    if (small) request_ += request.body;
    first_ = request_;
    second_ = small ? std::string_view() : request.body;
    sent_ = hasty_ = false;
    parser_ = {};
    decoder_.reset();
    flush();
}

void Connection::flush() {
    sending_ = unsent() > 0;
    while (unsent() > 0) {
        auto& next = first_.empty() ? second_ : first_;
        const auto put = stream_.write(next);
        if (!put) return end();
        if (*put == 0) return;
        sent_ = true;
        next.remove_prefix(*put);
    }
}

// ---- the answer

std::optional<std::string_view> Connection::receive(char (&buffer)[kPiece]) {
    try {
        const auto got = stream_.receive(buffer);
        hasty_ = hasty_ || (got && sending_);
        return got;
    } catch (const Trouble& trouble) {
        broken(trouble.text);
    }
}

void Connection::broken(const std::string& why) const {
    if (decoder_) throw Trouble(PATCHBAY_E_CLOSED, "the answer broke off: " + why);
    Trouble trouble(PATCHBAY_E_CLOSED, why, sent_);
    trouble.untouched = !parser_.begun();
    throw trouble;
}

std::optional<Head> Connection::take_head(std::string_view& piece) {
    if (piece.empty()) {
        parser_.finish();
        broken("the server closed the connection without an answer");
    }
    if (!parser_.feed(piece)) return std::nullopt;
    auto head = parser_.take();
    decoder_.emplace(head);
    const bool more = decoder_->over() && !piece.empty();
    keeps_ = head.keeps() && decoder_->delimited() && !hasty_ && !more;
    return head;
}

// ---- what comes after it

bool Connection::reusable() const {
    return answered() && keeps_ && unsent() == 0 && decoder_->surplus() == 0;
}

bool Connection::fresh() {
    char buffer[kPiece];
    try {
        return !receive(buffer);
    } catch (const Trouble&) {
        return false;
    }
}

void Connection::end() {
    first_ = second_ = {};
    stream_.end();
}

}  // namespace patchbay::net
