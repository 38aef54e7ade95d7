// What a person types of a server is theirs, also in a file of the checkout: its approval, and the one that an
// undo gives back.
//
// What is approved is looked at itself, whoever has written the file meanwhile and whatever else in it means the
// same server: it has to be what was typed, or what was approved before it was turned on or off.
//
// Threads: the calling one; blocks for the disk. Errors: of the trust file.
#pragma once

#include "app/host.hpp"
#include "app/scope_file.hpp"
#include "config/approval.hpp"

#include <functional>
#include <optional>
#include <string>

namespace patchbay::app {

using IsTyped = std::function<bool(const config::Proposal& proposal)>;

// An entry by the key of `file` as the reader of that file has it; nothing: it reads as none.
std::optional<config::ServerEntry> entry_as_read(const ScopeFile& file,
                                                 const boost::json::value& entry,
                                                 const config::Source& source);

// It stands in `file`, and the whole of it is `entry`. Borrows `file`.
IsTyped is_whole(const ScopeFile& file, const boost::json::object& entry);
// `before` (null: there was no entry) has become `after` (null: there is none) and was approved by that digest. Borrows `file`.
IsTyped is_switched(const ScopeFile& file, const boost::json::value& before,
                    const boost::json::value& after, const std::string& approved);

Result<void> approve(Host& host, const std::string& id, const IsTyped& typed);

// Empty: it is not approved, or needs not be.
std::string approved_digest(Host& host, const std::string& id);
// In the note of a change: names of secrets that it has stored.
inline constexpr const char* kStoredBy = "stored";

// For the note of a change in a file of `scope`: the approval of what was there, or that there was none.
boost::json::object approval_of(Host& host, const std::string& id, config::Scope scope);
// What the lists of both notes hold, in one.
boost::json::object joined_notes(const boost::json::object& first,
                                 const boost::json::object& second);
// As they were when the note was taken: what was approved by the change itself is so no more. Whoever has revoked
// one meanwhile means that. `folder`: of the project that we are in.
Result<void> approve_again(Host& host, const boost::json::object& note, const std::string& folder);

}  // namespace patchbay::app
