// Where records of what was approved are kept. The app implements it; tests have one in memory.
//
// Threads: [loop]; a Change runs on any.
// Errors:  of a record that cannot be read, or written: whose file it is, why, and what to do.
#pragma once

#include "pins/record.hpp"

#include <functional>
#include <optional>
#include <string>

namespace patchbay::pins {

// Whose record: a server of a checkout's is that one whatever the checkout makes of it, any other is another one where
// its definition is.
struct Key {
    std::string server;
    std::string project;     // the folder; empty: of no checkout
    std::string definition;  // where it is of none
    bool operator==(const Key&) const = default;
};

class Store {
public:
    // Nothing: there is none yet. May read a file.
    virtual Result<std::optional<Record>> read(const Key& key, Texts texts) = 0;
    // Whether it may be another one than read() gave last; looks at the file and reads nothing of it.
    virtual bool is_other(const Key& key) const = 0;
    using Change = std::function<Result<Record>(Record)>;
    // Changes the record as it is by then, after whatever others have written; `then` once, never from inside the
    // call, with what is kept now, without texts.
    virtual void change(const Key& key, Change change,
                        std::function<void(Result<Record>)> then) = 0;

protected:
    ~Store() = default;
};

}  // namespace patchbay::pins
