#include "net/turns.hpp"

#include "net/guarded.hpp"
#include "net/task.hpp"

#include <utility>

namespace patchbay::net {

void Turns::queue(const std::shared_ptr<Task>& task) {
    if (std::exchange(task->in_line_, true)) return;
    in_line_.push_back(task);
    call_back(on_called);
}

void Turns::hold(const std::shared_ptr<Task>& task) {
    if (!std::exchange(task->in_line_, true)) held_.push_back(task);
}

std::vector<std::shared_ptr<Task>> Turns::resume() {
    if (!std::exchange(paused_, false)) return {};
    for (const auto& task : held_) task->in_line_ = false;
    return std::exchange(held_, {});
}

void Turns::spend(std::size_t bytes) {
    unpacked_ += bytes;
    if (spent()) call_back(on_called);  // which counts anew
}

void Turns::stop() {
    paused_ = false;
    held_.clear();
    in_line_.clear();
}

// On the reactor's thread, where connections end; refused only by a host that is closing itself.
void Turns::call_back(transport::ChannelCore::Posted fn) {
    if (!called_) called_ = core_.post(this, fn);
}

// Still in the round that has had its bytes: what is posted by posted work is the next round's.
void Turns::on_called(void* ctx) noexcept {
    Turns& turns = *static_cast<Turns*>(ctx);
    turns.core_.enter("the turns of exchanges", [&turns] {
        turns.core_.arrived();
        turns.called_ = false;
        turns.call_back(on_resumed);
    });
}

void Turns::on_resumed(void* ctx) noexcept {
    Turns& turns = *static_cast<Turns*>(ctx);
    const transport::ChannelCore::Turn turn(turns.core_);
    turns.core_.arrived();
    turns.unpacked_ = 0;
    guarded(turns.core_, [&] {
        while (!turns.in_line_.empty() && !turns.spent()) {
            const auto task = std::move(turns.in_line_.front());
            turns.in_line_.pop_front();
            task->in_line_ = false;
            turns.owner_.take_turn(task);
        }
    });
    turns.called_ = false;
    if (!turns.in_line_.empty() || turns.spent()) turns.call_back(on_resumed);
}

}  // namespace patchbay::net
