// What `patchbay connect` has changed, and what the editing verbs have as the client "patchbay", so that
// it can be taken back: below `backups` in the state directory, for each entry of each file a record and
// the text of the file before. The editing verbs name no entry: one record for each file.
//
//   KEY.json     {"version":1,"client":"zed","file":"/...","entry":"patchbay","before":"<digest>","after":"<digest>",
//                 "value":{...},"made":false,"folders":[],"by":"mcp add docs","at":"2026-11-26T15:20:36Z"}
//   KEY.before   that text, byte for byte: it may hold other servers' secrets
//
// Owns:    nothing but names. Threads: the calling one; blocks for the disk.
// Errors:  as core/private_file.hpp has them; a record that makes no sense is as good as none.
#pragma once

#include "core/descriptor.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace patchbay::app {

struct ClientChange {
    std::string before;                // the text of the file; empty and `made`: there was none
    bool made = false;                 // the file
    std::vector<std::string> folders;  // that were made for it, the outermost first
    std::string after;          // digest of the text that was written; empty: not known any more
    boost::json::object value;  // the entry that was written
    std::string by = {},
                at = {};   // the command that has written it, and when; empty: nobody noted it
    std::string run = {};  // tells that run of the command from others; empty likewise
};

class ClientRecord {
public:
    static constexpr const char* kOurs = "patchbay";  // among the clients: our own files of scopes

    ClientRecord(const std::string& state_directory, std::string client, std::string file,
                 std::string entry);

    // The turn of those who change files of clients, of all Patchbays of this user.
    Result<core::Descriptor> take_turn() const { return take_turn(directory_); }
    static Result<core::Descriptor> take_turn(const std::string& directory);
    static std::string directory_in(const std::string& state_directory) {
        return state_directory + "/backups";
    }
    // Whether somebody has it: a command is in the middle of a change, of which a part may be written.
    static bool is_turn_taken(const std::string& state_directory);
    // Nothing: nothing was changed, or nothing is known of it.
    Result<std::optional<ClientChange>> read() const;
    // On disk when it returns; the text before the record, so that no record is without its text.
    Result<void> write(const ClientChange& change) const;
    // Of these files, as they lie behind links, the one with the newest record of this client; empty: none has one.
    static std::string last_of(const std::vector<std::string>& files,
                               const std::string& state_directory, const std::string& client);
    void forget() const;  // it is taken back: the text goes too, for it may hold secrets

    const std::string& backup() const { return backup_; }

private:
    std::string directory_, client_, file_, entry_, name_, backup_;
};

}  // namespace patchbay::app
