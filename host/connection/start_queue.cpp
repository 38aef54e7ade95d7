#include "connection/start_queue.hpp"

#include <algorithm>
#include <deque>

namespace patchbay::connection {

struct StartQueue::Line {
    core::Loop& loop;
    std::size_t most;
    std::size_t running = 0;
    std::deque<Place*> waiting = {};

    void admit() {
        while (running < most && !waiting.empty()) {
            auto& next = *waiting.front();
            waiting.pop_front();
            ++running;
            next.taken_ = true;
            // Later: whoever gave the place back is still in the middle of its own end.
            loop.defer([turn = std::move(next.turn_), alive = next.alive_] {
                if (*alive) turn();
            });
        }
    }
};

StartQueue::StartQueue(core::Loop& loop, std::size_t most)
    : line_(std::make_shared<Line>(Line{loop, most})) {}

std::unique_ptr<StartQueue::Place> StartQueue::enter(std::function<void()> turn) {
    std::unique_ptr<Place> place(new Place(line_, std::move(turn)));
    if (line_->running < line_->most) {
        ++line_->running;
        place->taken_ = true;
    } else {
        line_->waiting.push_back(place.get());
    }
    return place;
}

StartQueue::Place::Place(std::shared_ptr<Line> line, std::function<void()> turn)
    : line_(std::move(line)), turn_(std::move(turn)) {}

StartQueue::Place::~Place() {
    *alive_ = false;
    auto& waiting = line_->waiting;
    waiting.erase(std::remove(waiting.begin(), waiting.end(), this), waiting.end());
    if (!taken_) return;
    --line_->running;
    line_->admit();
}

}  // namespace patchbay::connection
