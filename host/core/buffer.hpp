// Owned bytes that carry their own release function, the host's face of patchbay_buf: what a
// plugin hands over travels to the caller without a copy.
//
// Owns:    the bytes, until the destructor. Move only.
// Threads: [value]; the release function may be called on any thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::core {

class Buffer {
public:
    using Release = void (*)(void* owner);

    Buffer() = default;
    Buffer(const char* data, std::size_t size, Release release, void* owner)
        : data_(data), size_(size), release_(release), owner_(owner) {}
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        Buffer(std::move(other)).swap(*this);
        return *this;
    }
    ~Buffer() {
        if (release_) release_(owner_);
    }

    // Takes the string; small ones are not copied either, the string object is the owner.
    static Buffer from(std::string text) {
        auto* owner = new std::string(std::move(text));
        return {owner->data(), owner->size(),
                [](void* held) { delete static_cast<std::string*>(held); }, owner};
    }

    std::string_view view() const { return {data_, size_}; }
    std::size_t size() const { return size_; }
    // Gives the release duty away; the bytes stay valid until `release` is called by the taker.
    std::pair<Release, void*> give_up() {
        return {std::exchange(release_, nullptr), std::exchange(owner_, nullptr)};
    }

private:
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(release_, other.release_);
        std::swap(owner_, other.owner_);
    }

    const char* data_ = nullptr;
    std::size_t size_ = 0;
    Release release_ = nullptr;
    void* owner_ = nullptr;
};

}  // namespace patchbay::core
