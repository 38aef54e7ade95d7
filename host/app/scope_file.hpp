// The file of one scope in which a server stands or is to stand, and that server's entry: found, put in,
// taken out, and the last change of a file taken back. Everything that the editing verbs do but talking.
//
// Which file: the one of the scope that defines the id, else the first that is there, else a new
// `config.toml`, `.patchbay/config.toml` or `.patchbay.local.toml`. Which table: the one that has the
// id, else the one that is there, else that of the file's kind.
//
// Owns:    what was read, and the turn of those who change files until it ends.
// Threads: the calling one; blocks for the disk.
// Errors:  those of ClientFile and config::edit, with the file and where in it. NotFound: the scope has
//          no place here, or nothing is there to take back. Whatever fails, the file stays as it was.
#pragma once

#include "app/client_entry.hpp"
#include "app/client_file.hpp"
#include "app/client_record.hpp"
#include "config/edit/edit.hpp"
#include "config/load.hpp"

#include <boost/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace patchbay::app {

struct ScopeChange {
    std::string file;  // as it was named
    std::string before, after;
    bool made = false;  // the file was not there
    bool removed = false;
    std::string backup;  // where the text before is; empty: nothing was written
    // What else the caller wants back with the text before.
    boost::json::object note = {};
    std::string by = {},
                at = {};  // the command that made the change, and when; empty: nobody noted it
    // Of one that is undone: files here that the same run of the command changed, and that nobody has put back.
    std::vector<std::string> also = {};

    std::string named() const;  // "`patchbay mcp add docs` of 2026-11-26T15:20:36Z"
};

// Of a command, among all of this user that change files: until it ends the host that runs waits for the whole of what
// it does.
using Turn = std::shared_ptr<const core::Descriptor>;
Result<Turn> take_turn(const std::string& state_directory);

class ScopeFile {
public:
    // `file`: this one, whatever the scope has; empty: chosen. It is the turn of the caller's until the
    // object ends: two commands that add a server each add two. `turn`: the caller has it already.
    static Result<ScopeFile> choose(config::Scope scope, const std::string& id,
                                    const std::string& file, const config::Environment& environment,
                                    const std::string& state_directory, Turn turn = {});

    const std::string& path() const { return path_; }  // as it is named
    const boost::json::value* entry() const { return config::edit::find(root_, key_); }
    const config::edit::Path& key() const {
        return key_;
    }  // of the entry, from the top of the file
    // Whether the table is one that other programs write: `mcpServers`, where `type` is the word.
    bool of_other_programs() const;

    // Whether it has servers in a list, where none has a key.
    bool has_list() const;

    Result<std::string> with(const boost::json::object& entry) const;
    // With one member of the entry, which is made when there is none.
    Result<std::string> with(const std::string& member, const boost::json::value& value) const;
    // The same of what stands further below the entry.
    Result<std::string> with(const config::edit::Path& below,
                             const boost::json::value& value) const;
    Result<std::string> without() const;
    Result<std::string> without(const config::edit::Path& below) const;

    // `by`: the command, as it is typed behind `patchbay`. `earlier`: the change by the same one that this one continues:
    // undo() takes both back.
    Result<ScopeChange> write(std::string after, const std::string& by,
                              boost::json::object note = {},
                              const ScopeChange* earlier = nullptr) const;

    // The text before the last change of `file`; empty: of the file of a scope here that was changed last. The caller has
    // the turn.
    // Invalid: somebody has written it since; the message names where that text is.
    static Result<ScopeChange> undo(const std::string& file, const config::Environment& environment,
                                    const std::string& state_directory, Trial trial);

private:
    ScopeFile(std::string path, ClientFile file, ClientRecord record)
        : path_(std::move(path)), file_(std::move(file)), record_(std::move(record)) {}
    static Result<ScopeFile> open(const std::string& path, const config::Environment& environment,
                                  const std::string& state_directory, Turn turn);
    void find_table(const std::string& id);
    Result<std::string> placed(Result<std::string> text) const;

    std::string path_;
    ClientFile file_;
    ClientRecord record_;
    Turn turn_;
    std::shared_ptr<config::ParsedTexts> parsed_;
    config::Format format_ = config::Format::Toml;
    boost::json::object root_;
    config::edit::Path key_;  // of the entry
    ClientFile::Readers readers_ = ClientFile::Readers::AsUsual;
};

// The root of the checkout that we are in, else where we are.
std::string project_folder(const config::Environment& environment);
// Denied: `file` is a link that leads out of `folder`: one in a checkout came with it, and may lead to any
// file of the user.
Result<void> check_inside(const std::string& file, const std::string& folder);

}  // namespace patchbay::app
