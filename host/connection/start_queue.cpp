#include "connection/start_queue.hpp"

#include "connection/starts.hpp"

#include <algorithm>
#include <deque>

namespace patchbay::connection {

struct StartQueue::Line {
    core::Loop& loop;
    std::size_t most;
    std::size_t running = 0;
    std::deque<Place*> waiting = {};

    bool take(Place& place) {
        auto& of = *place.of_;
        if (running >= most || (!of.well && of.under_way > 0)) return false;
        ++running;
        ++of.under_way;
        return place.taken_ = true;
    }
    void admit() {
        std::erase_if(waiting, [this](Place* next) {
            if (!take(*next)) return false;
            // Later: whoever gave the place back is still in the middle of its own end.
            loop.defer([turn = std::move(next->turn_), alive = next->alive_] {
                if (*alive) turn();
            });
            return true;
        });
    }
};

StartQueue::StartQueue(core::Loop& loop, std::size_t most)
    : line_(std::make_shared<Line>(Line{loop, most})) {}

std::unique_ptr<StartQueue::Place> StartQueue::enter(std::function<void()> turn,
                                                     std::shared_ptr<Starts> of) {
    if (!of) of = std::make_shared<Starts>();
    std::unique_ptr<Place> place(new Place(line_, std::move(of), std::move(turn)));
    if (!line_->take(*place)) line_->waiting.push_back(place.get());
    return place;
}

StartQueue::Place::Place(std::shared_ptr<Line> line, std::shared_ptr<Starts> of,
                         std::function<void()> turn)
    : line_(std::move(line)), of_(std::move(of)), turn_(std::move(turn)) {}

StartQueue::Place::~Place() {
    *alive_ = false;
    auto& waiting = line_->waiting;
    waiting.erase(std::remove(waiting.begin(), waiting.end(), this), waiting.end());
    if (!taken_) return;
    --line_->running;
    --of_->under_way;
    line_->admit();
}

}  // namespace patchbay::connection
