// How something that a server lists stands to what somebody approved of it, as a question to the policy has it: what
// that means for it the rules say.
//
// Threads: [value].
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace patchbay::policy {

// What it means that it is not as it was approved: `pins` of its server.
enum class Pinning { Block, Warn, Off };
const char* name_of(Pinning pinning);  // "block"

struct PinMismatch {
    enum class Kind {
        Changed,
        New,      // it was not there then
        Renamed,  // it is called otherwise here, as another one has its name
        Unknown,  // what was approved cannot be read, or what is cannot be kept
    };
    Kind kind = Kind::Changed;
    bool approved = false;     // itself: somebody has approved or used it
    std::string why;           // behind its name: "is not what it was when ..."
    std::string subject = {};  // `prompt "x" of server "y"`; of a tool empty: its public name
};
const char* name_of(PinMismatch::Kind kind);  // "changed"
std::optional<PinMismatch::Kind> mismatch_named(std::string_view name);

}  // namespace patchbay::policy
