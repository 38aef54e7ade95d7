#include "pins/approval.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace patchbay::pins {

namespace {

Result<Record> within_limits(Record record) {
    if (record.pins.size() > Record::kMostPins)
        return Error{ErrorCode::Limit, "server \"" + record.server + "\" lists more than " +
                                           std::to_string(Record::kMostPins) +
                                           " things, more than can be approved"};
    return record;
}

Pin pin_of(const Item& item, Basis basis, std::int64_t at) {
    return {item.digest, basis, at, item.known_as, item.text};
}

}  // namespace

Result<Record> with_items(Record record, const Listed& listed, const std::vector<Name>& names,
                          Basis basis, std::int64_t at) {
    // What was seen of a list says what is new in it: of one that is noted already it stays as it was.
    for (const auto part : listed.whole) {
        if (!record.whole.insert(part).second) continue;
        for (const auto& [each, item] : listed.items)
            if (each.first == part) record.pins.try_emplace(each, pin_of(item, Basis::Seen, at));
    }
    for (const auto& name : names) {
        const auto item = listed.items.find(name);
        if (item == listed.items.end()) continue;
        auto now = pin_of(item->second, basis, at);
        auto& pin = record.pins.try_emplace(name, now).first->second;
        if (basis == Basis::Used && pin.basis != Basis::Seen) continue;
        const bool same = pin.digest == now.digest && pin.known_as == now.known_as;
        if (same && pin.basis == basis) continue;
        pin = std::move(now);
    }
    return within_limits(std::move(record));
}

Result<Record> with_all(Record record, const Listed& listed, std::int64_t at) {
    std::erase_if(record.pins,
                  [&](const auto& each) { return listed.whole.contains(each.first.first); });
    record.whole.insert(listed.whole.begin(), listed.whole.end());
    for (const auto& [name, item] : listed.items)
        record.pins.insert_or_assign(name, pin_of(item, Basis::Approved, at));
    return within_limits(std::move(record));
}

}  // namespace patchbay::pins
