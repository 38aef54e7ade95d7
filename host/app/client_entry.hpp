// The entry of Patchbay in one file of one client: put in, kept up, taken out. Everything that `patchbay
// connect` does but talking.
//
// Owns:    nothing but names; each call reads the file anew.
// Threads: the calling one; blocks for the disk.
// Errors:  those of ClientFile and config::edit, with the file; Invalid where an entry of that name is
//          somebody else's; NotFound where there is none to take out. Whatever fails, the file stays as it was.
#pragma once

#include "app/client_file.hpp"
#include "app/client_record.hpp"
#include "app/known_clients.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::app {

struct EntryPlace {
    const KnownClient* client;
    std::string file;  // as the client opens it
    std::string name;  // of the entry
    ClientFile::Readers readers = ClientFile::Readers::User;
};

// What was done, or would be.
struct EntryChange {
    enum class State { Connected, Unchanged, Disconnected } state = State::Unchanged;
    std::string file;  // that was written, behind a link
    std::string before, after;
    bool made = false, removed = false;  // the file
    std::string backup;                  // where the text before is; empty: nothing was written
    std::vector<std::string> others;     // further entries there that start Patchbay
};

enum class Trial { No, Yes };  // Yes: nothing is written
enum class Foreign { Keep, Replace };

class ClientEntry {
public:
    // `self`: the path of the program that is running.
    ClientEntry(EntryPlace place, std::string state_directory, std::string self)
        : place_(std::move(place)),
          state_directory_(std::move(state_directory)),
          self_(std::move(self)) {}

    Result<EntryChange> connect(const boost::json::object& entry, Foreign foreign,
                                Trial trial) const;
    Result<EntryChange> disconnect(Trial trial) const;

    // Names of the entries that start Patchbay; NotFound: there is no file.
    Result<std::vector<std::string>> present() const;

private:
    struct Now;  // what is there
    Result<Now> look(const ClientRecord& record) const;
    ClientRecord record_of(const ClientFile& file) const;
    std::vector<std::string> names_in(const boost::json::object& root) const;
    Result<std::string> text_without(const Now& now) const;
    Result<void> write(const Now& now, const ClientRecord& record, const boost::json::object& entry,
                       EntryChange& done) const;
    Result<void> take_back(const Now& now, const ClientRecord& record,
                           const EntryChange& done) const;

    EntryPlace place_;
    std::string state_directory_, self_;
};

}  // namespace patchbay::app
