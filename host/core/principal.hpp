// Who asks.
//
// Threads: [value].
#pragma once

#include <string>

namespace patchbay::core {

// What it means that somebody asks for what needs approval.
enum class Trust {
    Approves,       // who asks has approved by asking what nobody wrote a level for (decision 50)
    NeedsApproval,  // a rule allows it, or somebody is asked first
    NeedsRule,      // a rule allows it: nobody is asked, and no answer of before counts
};

struct Principal {
    enum class Kind { Person, Batch, Embedder, Client };
    Kind kind = Kind::Person;
    std::string id{};    // tells it from others of its kind; empty: there is but one
    std::string name{};  // as people know it
    Trust trust = Trust::NeedsApproval;
};

const char* name_of(Principal::Kind kind);
// `embedder "7" (the office)`
std::string to_string(const Principal& principal);

}  // namespace patchbay::core
