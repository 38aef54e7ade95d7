// What somebody approved of one server: the digest of each tool, prompt and resource template and of the instructions as
// they were then, and their text, so that it can be shown what has changed since.
//
//   {"version":1,"server":"x","whole":["tools"],"pins":[{"part":"tools","name":"echo","digest":"<SHA-256>",
//                                                        "basis":"used","at":1785000000,"as":"mcp__x__echo"}]}
//   {"description":"Echoes","inputSchema":{...},"name":"echo"}
//
// The first line is all that is read to judge by; each line behind it is the text of one pin, in their order, and
// empty where that was too long to keep.
//
// Threads: [value].
// Errors:  Protocol: the text is no such record; Unsupported: it is one of a newer patchbay.
// Limits:  kMostBytes of a record, kMostPins in it, kMostTextBytes of all texts together: beyond that the
//          digest is kept alone.
#pragma once

#include "catalogue/listing.hpp"
#include "core/result.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::pins {

// What of a server is pinned.
enum class Part { Tools, Prompts, Templates, Instructions };
inline constexpr Part kParts[] = {Part::Tools, Part::Prompts, Part::Templates, Part::Instructions};
const char* name_of(Part part);                     // "tools", "resourceTemplates"
const char* word_of(Part part);                     // one of them: "tool", "resource template"
std::optional<catalogue::List> list_of(Part part);  // none: it is no list

// Why a digest is in the record. Seen: it was there when something else of its server was approved or used.
enum class Basis { Seen, Used, Approved };

struct Pin {
    std::string digest;  // of the canonical form
    Basis basis = Basis::Seen;
    std::int64_t at = 0;        // when, in seconds of the calendar
    std::string known_as = {};  // of a tool: its public name
    std::string text = {};      // the canonical form; empty: not kept, or not read
    bool operator==(const Pin&) const = default;
};

using Name = std::pair<Part, std::string>;  // as the server calls it; of instructions empty

struct Record {
    static constexpr std::size_t kMostBytes = 24u << 20, kMostTextBytes = 12u << 20,
                                 kMostPins = 40'000;
    std::string server;    // id
    std::set<Part> whole;  // of which all that there was is here: what is not, is new
    std::map<Name, Pin> pins;

    const Pin* find(const Name& name) const;
    bool operator==(const Record&) const = default;
};

// Of which parts something may be judged otherwise by one of them than by the other; null: there is none.
std::set<Part> judged_otherwise(const Record* before, const Record* after);

// Whether the texts are wanted too: to judge by they are not.
enum class Texts { LeftOut, Read };
std::string to_text(const Record& record);
Result<Record> from_text(std::string_view text, Texts texts);

}  // namespace patchbay::pins
