// A coroutine that one other coroutine waits for, and one that nobody waits for.
//
//   Task<Tokens> refreshed(...);    const auto tokens = co_await refreshed(...);
//
// Owns:    a Task its frame; it starts when it is awaited. A Detached owns itself.
// Threads: those of whoever resumes it: here the strand.
// Errors:  what the coroutine throws comes out of co_await.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace patchbay::oauth {

template <class T>
class Task;

namespace detail {

struct PromiseBase {
    std::coroutine_handle<> waiting;
    std::exception_ptr failure;

    struct Final {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) noexcept {
            return done.promise().waiting;
        }
        void await_resume() const noexcept {}
    };
    std::suspend_always initial_suspend() const noexcept { return {}; }
    Final final_suspend() const noexcept { return {}; }
    void unhandled_exception() { failure = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
    std::optional<T> value;
    Task<T> get_return_object();
    void return_value(T result) { value.emplace(std::move(result)); }
    T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
    Task<void> get_return_object();
    void return_void() const noexcept {}
    void take() const noexcept {}
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
public:
    using promise_type = detail::Promise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    explicit Task(Handle handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&&) = delete;
    ~Task() {
        if (handle_) handle_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    Handle await_suspend(std::coroutine_handle<> waiting) noexcept {
        handle_.promise().waiting = waiting;
        return handle_;
    }
    T await_resume() {
        if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
        return handle_.promise().take();
    }

private:
    Handle handle_;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() {
    return Task<T>(Task<T>::Handle::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() {
    return Task<void>(Task<void>::Handle::from_promise(*this));
}

// Must not throw, so its body ends in a catch of all: nobody else is there for it.
struct Detached {
    struct promise_type {
        Detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
    };
};

}  // namespace patchbay::oauth
