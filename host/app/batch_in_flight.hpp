// The requests of a batch that are in flight, by the id they came with, and their answers.
//
// Borrows the loop and the output. Threads: [loop].
// Errors:  told as answers; what is answered already, by an interruption, is not answered again. What
//          comes for those that are left when it goes is dropped.
#pragma once

#include "app/batch_output.hpp"
#include "app/batch_request.hpp"
#include "core/lifetime.hpp"
#include "router/router.hpp"
#include "service/operation.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

class BatchInFlight {
public:
    struct Request {
        router::CallId call = 0;  // to one server; 0: none
        service::Operation list;  // what still comes for it is dropped with it
        bool endless = false;     // subscriptions/listen: ended by us when the input is over
        bool over = false;        // that has been done
    };

    // `finished`: there is one less; called in a turn of its own.
    BatchInFlight(core::Loop& loop, BatchOutput& output, std::function<void()> finished)
        : loop_(loop), output_(output), finished_(std::move(finished)) {}

    Request& add(const std::string& id) { return requests_[id]; }
    Request* find(const std::string& id);                        // null: not in flight
    void forget(const std::string& id) { requests_.erase(id); }  // without an answer
    std::vector<std::string> ids() const;
    std::size_t size() const { return requests_.size(); }
    std::size_t ending() const;  // those that end by themselves
    bool only_endless() const { return ending() == 0; }

    // Lacking: a tool's own error, or a list that is not whole; the exit code says so.
    enum class Outcome { Fine, Lacking };
    void succeed(const std::string& id, std::string_view raw_result,
                 Outcome outcome = Outcome::Fine);
    void fail(const std::string& id, const Error& error);
    // It cannot be carried out as it stands.
    void refuse(const BatchLine& line, const std::string& why);
    // A server's answer, as it comes.
    connection::ReplyHandler relay(const std::string& id);
    connection::ProgressHandler tell_progress(const std::string& id);
    // Events of the host, each an object: those that were asked for and count as part of the answer, those that
    // come unasked, how many were lost before, and that their numbers began anew: the last is less than was asked behind.
    struct EventHandler {
        std::function<void(std::string_view object)> kept;
        std::function<void(std::string_view object)> event;
        std::function<void(std::uint64_t count)> lost;
        std::function<void(std::uint64_t last)> anew;
    };
    EventHandler tell_event(const std::string& id);
    bool any_lacking() const { return lacking_; }

private:
    void finish(const std::string& id);

    core::Loop& loop_;
    BatchOutput& output_;
    std::function<void()> finished_;
    std::map<std::string, Request> requests_;
    bool lacking_ = false;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
