// What a server lists otherwise than it was approved, field by field, for people and programs.
//
// Threads: [value]. Errors: none.
// Limits:  kMostFields of one item, the others are counted; of texts over kMostComparedBytes it is told that they
//          differ, and not where.
#pragma once

#include "pins/listed.hpp"
#include "pins/record.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::pins {

inline constexpr std::size_t kMostFields = 200;
inline constexpr std::size_t kMostComparedBytes = 4u << 20;  // of all items together

// One place in an item, and what stands there. Raw JSON; empty: nothing does.
struct Field {
    std::string at;  // a JSON pointer; empty: the item itself
    std::string before, now;
};

struct Difference {
    enum class Kind { Changed, New, Removed, Renamed };
    Part part = Part::Tools;
    std::string name;  // the server's own
    Kind kind = Kind::Changed;
    std::optional<Basis> basis = {};  // of what was there; none: nothing was
    std::int64_t at = 0;              // when that was taken down, in seconds of the calendar
    std::vector<Field> fields = {};
    std::size_t more_fields = 0;
    bool text_lost = false;  // what it said before was too long to keep, or cannot be read
};
const char* name_of(Difference::Kind kind);  // "changed"

// How an item stands to its pin, and nothing more; none: as it was, or nobody has seen it.
std::optional<Difference::Kind> departs(const Record& record, const Name& name,
                                        std::string_view digest, std::string_view known_as);

// `record` with its texts. Sorted by part and name. What is in no list that is known is not gone.
std::vector<Difference> differences(const Record& record, const Listed& now);

}  // namespace patchbay::pins
