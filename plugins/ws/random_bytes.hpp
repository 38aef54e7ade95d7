// Bytes that nobody can foresee, as masks and keys must be (RFC 6455 sections 4.1 and 10.3): the
// kernel's, fetched for many masks at once. Private to the ws plugin.
//
// Threads: one at a time. Errors: std::system_error, where the kernel has none.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/random.h>
#include <system_error>

namespace patchbay::ws {

class RandomBytes {
public:
    template <std::size_t Size>
    std::array<char, Size> take() {
        static_assert(Size <= kFetched);
        if (kFetched - used_ < Size) fetch();
        std::array<char, Size> bytes;
        std::memcpy(bytes.data(), fetched_.data() + used_, Size);
        used_ += Size;
        return bytes;
    }

private:
    static constexpr std::size_t kFetched = 256;  // of so many the kernel never gives a part

    void fetch() {
        if (::getrandom(fetched_.data(), kFetched, 0) != static_cast<ssize_t>(kFetched))
            throw std::system_error(errno, std::generic_category(), "getrandom");
        used_ = 0;
    }

    std::array<char, kFetched> fetched_{};
    std::size_t used_ = kFetched;
};

}  // namespace patchbay::ws
