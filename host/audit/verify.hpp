// Whether an audit trail is as it was written: every record of it, in its order, none missing.
//
// Threads: [any]; blocks for the disk. Reads files line by line.
// Errors:  Io, Denied with the path: it could not be read. What is wrong with it is a Fault.
// Limits:  kMostFaults are told, the others counted; trail_files.hpp kMostLine.
#pragma once

#include "audit/trail_files.hpp"
#include "core/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace patchbay::audit {

struct Fault {
    std::string file;        // its path
    std::uint64_t line = 0;  // from 1; 0: of the whole
    std::string what;        // a predicate: "was changed, ..."
};
std::string to_string(const Fault& fault);  // `FILE:LINE: what`

struct Verdict {
    static constexpr std::size_t kMostFaults = 20;

    std::uint64_t records = 0, first = 0, last = 0;
    std::size_t files = 0;
    std::vector<Fault> faults;
    std::size_t more_faults = 0;
    // What is no fault, but was not always so: lines that a killed process left torn, records that were put away.
    std::vector<Fault> notes;
    bool sound() const { return faults.empty(); }
};

Result<Verdict> verify(const std::string& state_directory);

}  // namespace patchbay::audit
