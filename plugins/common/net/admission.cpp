#include "net/admission.hpp"

namespace patchbay::net {

void Admission::arrive(std::size_t bytes) {
    ++waiting_;
    waiting_bytes_ += bytes;
}

void Admission::depart(std::size_t bytes) {
    --waiting_;
    waiting_bytes_ -= bytes;
}

bool Admission::crowded() {
    crowded_ = crowded_ || waiting_ > kQueued || waiting_bytes_ > kQueuedBytes;
    return crowded_;
}

bool Admission::has_room_again() {
    if (!crowded_ || waiting_ > kQueued / 2 || waiting_bytes_ > kQueuedBytes / 2) return false;
    crowded_ = false;
    return true;
}

}  // namespace patchbay::net
