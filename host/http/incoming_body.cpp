#include "http/incoming_body.hpp"

namespace patchbay::http {

bool IncomingBody::count() {
    const auto now = reader_.body_bytes();
    of_all_ += now - std::exchange(counted_, now);
    return of_all_ <= limits_.all_body_bytes || now <= limits_.own_bytes;
}

void IncomingBody::hand_over() {
    auto body = reader_.take_body();
    count();
    due_ = false;
    // Whoever takes it may answer at once, and be at the next request before this returns.
    std::exchange(taker_, nullptr)(std::move(body));
}

bool IncomingBody::forgo() {
    if (!due_) return true;
    const bool whole = reader_.next() == RequestReader::Step::Whole;
    drop();
    return whole;
}

void IncomingBody::drop() {
    due_ = false;
    taker_ = nullptr;
    reader_.drop();
    count();
}

}  // namespace patchbay::http
