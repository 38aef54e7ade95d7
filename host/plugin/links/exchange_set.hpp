// The exchanges of one channel that have not ended: open addressing over their numbers, because
// every message comes by here twice and a node-based set would allocate each time.
//
// Threads: [loop].
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchbay::plugin {

class ExchangeSet {
public:
    std::size_t size() const { return size_; }

    bool contains(std::uint64_t exchange) const {
        return slots_[find(exchange)] == exchange && exchange != 0;
    }

    // False: it is there already. `exchange` is not 0.
    bool insert(std::uint64_t exchange) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        auto& slot = slots_[find(exchange)];
        if (slot == exchange) return false;
        slot = exchange;
        ++size_;
        return true;
    }

    // False: it is not there.
    bool erase(std::uint64_t exchange) {
        if (exchange == 0) return false;
        auto hole = find(exchange);
        if (slots_[hole] != exchange) return false;
        // Move up what was pushed past its home by the one that leaves.
        const auto mask = slots_.size() - 1;
        for (auto next = (hole + 1) & mask; slots_[next] != 0; next = (next + 1) & mask) {
            const auto from_home = (next - home(slots_[next])) & mask;
            if (from_home < ((next - hole) & mask)) continue;
            slots_[hole] = slots_[next];
            hole = next;
        }
        slots_[hole] = 0;
        --size_;
        return true;
    }

private:
    // Numbers come in sequence: side by side they would be one long run, and an exchange that ends
    // moves up the rest of its run.
    std::size_t home(std::uint64_t exchange) const {
        return static_cast<std::size_t>((exchange * 0x9e3779b97f4a7c15u) >> shift_);
    }
    // Its slot, or the empty one where it would go.
    std::size_t find(std::uint64_t exchange) const {
        auto at = home(exchange);
        while (slots_[at] != 0 && slots_[at] != exchange) at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    void grow() {
        std::vector<std::uint64_t> old(slots_.size() * 2);
        old.swap(slots_);
        --shift_;
        for (const auto exchange : old)
            if (exchange != 0) slots_[find(exchange)] = exchange;
    }

    std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(16);
    unsigned shift_ = 60;  // 64 less the bits of an index of slots_
    std::size_t size_ = 0;
};

}  // namespace patchbay::plugin
