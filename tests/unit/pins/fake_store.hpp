// Records of what was approved, for tests.
#pragma once

#include "pins/store.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::pins {

// In memory, as several processes share them.
class FakeStore final : public Store {
public:
    Result<std::optional<Record>> read(const Key& key, Texts) override {
        ++reads;
        seen_[name_of(key)] = version_[name_of(key)];
        if (trouble) return *trouble;
        const auto found = records.find(name_of(key));
        if (found == records.end()) return std::optional<Record>();
        return std::optional(found->second);
    }
    bool is_other(const Key& key) const override {
        const auto seen = seen_.find(name_of(key)), now = version_.find(name_of(key));
        return (seen == seen_.end() ? 0 : seen->second) !=
               (now == version_.end() ? 0 : now->second);
    }
    void change(const Key& key, Change change, std::function<void(Result<Record>)> then) override {
        auto write = [this, key, change = std::move(change), then = std::move(then)] {
            if (full) return then(*full);
            auto now = change(records[name_of(key)]);
            if (now) put(key, *now);
            then(std::move(now));
        };
        if (!is_slow) return write();
        writes.push_back(std::move(write));
    }
    // As another process does.
    void put(const Key& key, Record record) {
        records[name_of(key)] = std::move(record);
        ++version_[name_of(key)];
    }
    static std::string name_of(const Key& key) {
        return key.server + "/" + key.project + "/" + key.definition;
    }

    std::map<std::string, Record> records;
    std::optional<Error> trouble, full;
    bool is_slow = false;  // writes when it is told to
    std::vector<std::function<void()>> writes;
    int reads = 0;

private:
    std::map<std::string, int> version_, seen_;
};

}  // namespace patchbay::pins
