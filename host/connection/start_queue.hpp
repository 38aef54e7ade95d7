// Places for servers that are starting: so many at once, so that fifty servers do not all fork or
// dial together. The others wait, in the order in which they came, those of one definition also for each
// other as its Starts say.
//
// Owns:    nothing of those who wait. A Place may outlive its queue, but not the loop.
// Threads: [loop]. Errors: none.
// Limits:  `most`: core::Limits local_starts and remote_starts.
#pragma once

#include "core/loop.hpp"

#include <functional>
#include <memory>

namespace patchbay::connection {

struct Starts;

class StartQueue {
    struct Line;

public:
    class Place {
    public:
        ~Place();  // gives the place back, or leaves the queue
        Place(const Place&) = delete;
        bool taken() const { return taken_; }

    private:
        friend class StartQueue;
        friend struct Line;
        Place(std::shared_ptr<Line> line, std::shared_ptr<Starts> of, std::function<void()> turn);

        std::shared_ptr<Line> line_;
        std::shared_ptr<Starts> of_;
        std::function<void()> turn_;
        bool taken_ = false;
        std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    };

    StartQueue(core::Loop& loop, std::size_t most);

    // The place is taken() at once when one is free. Otherwise `turn` is called from the loop when
    // it is taken, and never when the Place is gone by then. `of`: the definition; null: one of its own.
    std::unique_ptr<Place> enter(std::function<void()> turn, std::shared_ptr<Starts> of = {});

private:
    std::shared_ptr<Line> line_;
};

}  // namespace patchbay::connection
