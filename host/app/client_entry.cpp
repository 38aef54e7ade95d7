#include "app/client_entry.hpp"

#include "core/digest.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <optional>
#include <unistd.h>

namespace patchbay::app {
namespace edit = config::edit;
namespace json = boost::json;

struct ClientEntry::Now {
    ClientFile file;
    json::object root;
    edit::Path path;                     // of the entry
    std::optional<ClientChange> change;  // of ours, that made it so
    bool is_ours = false;                // the entry that is there

    const json::value* entry() const { return edit::find(root, path); }
    // Whether nobody has written it since we have.
    bool as_we_left_it() const {
        return change && file.there() && change->after == core::sha256_hex(file.text());
    }
};

namespace {

// Clients add members of their own to an entry: whether it is on, what need not be asked.
bool is_based_on(const json::value& entry, const json::object& written) {
    const auto* table = entry.if_object();
    return table && !written.empty() &&
           std::all_of(written.begin(), written.end(), [&](const auto& member) {
               const auto* found = table->if_contains(member.key());
               return found && *found == member.value();
           });
}

// Who writes nothing makes no folder for the lock either.
Result<core::Descriptor> turn_of(const ClientRecord& record, Trial trial) {
    if (trial == Trial::Yes) return core::Descriptor();
    return record.take_turn();
}

}  // namespace

ClientRecord ClientEntry::record_of(const ClientFile& file) const {
    return {state_directory_, place_.client->id, file.path(), place_.name};
}

std::vector<std::string> ClientEntry::names_in(const json::object& root) const {
    std::vector<std::string> names;
    const auto* table = edit::find(root, table_of(*place_.client, root));
    if (const auto* entries = table ? table->if_object() : nullptr)
        for (const auto& entry : *entries)
            if (runs_patchbay(entry.value(), self_)) names.emplace_back(entry.key());
    return names;
}

Result<ClientEntry::Now> ClientEntry::look(const ClientRecord& record) const {
    auto file = ClientFile::read(place_.file);
    if (!file) return file.error();
    auto root = edit::read(file->text(), place_.client->format);
    if (!root) return in_file(file->path(), root.error());
    auto change = record.read();
    if (!change) return change.error();
    Now now{std::move(*file), std::move(*root), {}, std::move(*change), false};
    now.path = table_of(*place_.client, now.root);
    now.path.push_back(place_.name);
    // One with a URL names no program.
    const auto* entry = now.entry();
    now.is_ours = entry && (runs_patchbay(*entry, self_) ||
                            (now.change && is_based_on(*entry, now.change->value)));
    return now;
}

Result<std::vector<std::string>> ClientEntry::present() const {
    const auto file = ClientFile::read(place_.file);
    if (!file) return file.error();
    if (!file->there()) return Error{ErrorCode::NotFound, place_.file + " is not there"};
    const auto root = edit::read(file->text(), place_.client->format);
    if (!root) return in_file(file->path(), root.error());
    return names_in(*root);
}

Result<EntryChange> ClientEntry::connect(const json::object& entry, Foreign foreign,
                                         Trial trial) const {
    const auto seen = ClientFile::read(place_.file);
    if (!seen) return seen.error();
    const auto record = record_of(*seen);
    const auto turn = turn_of(record, trial);
    if (!turn) return turn.error();
    const auto now = look(record);  // within our turn
    if (!now) return now.error();
    EntryChange done;
    done.file = now->file.path();
    done.before = done.after = now->file.text();
    done.others = names_in(now->root);
    std::erase(done.others, place_.name);
    const auto* there = now->entry();
    if (there && *there == entry) return done;
    if (there && !now->is_ours && foreign == Foreign::Keep)
        return Error{ErrorCode::Invalid,
                     done.file + " has an entry \"" + place_.name +
                         "\" that is not of `patchbay connect`; --replace puts ours in its place, "
                         "--name NAME gives ours another name"};
    auto after = edit::set(done.before, place_.client->format, now->path, entry);
    if (!after)
        return in_file(
            now->file.path(),
            {after.error().code,
             after.error().message + (after.error().code == ErrorCode::Unsupported
                                          ? "; --print shows the entry, to be written by hand"
                                          : "")});
    done.state = EntryChange::State::Connected;
    done.after = std::move(*after);
    done.made = !now->file.there();
    if (trial == Trial::Yes) return done;
    if (auto written = write(*now, record, entry, done); !written) return written.error();
    return done;
}

Result<void> ClientEntry::write(const Now& now, const ClientRecord& record,
                                const json::object& entry, EntryChange& done) const {
    ClientChange change{done.before, done.made, {}, core::sha256_hex(done.after), entry};
    if (now.change && now.entry() && now.is_ours) {
        // What was before us is what there is to go back to, byte for byte if all of it is ours.
        change = *now.change;
        change.after = now.as_we_left_it() ? core::sha256_hex(done.after) : std::string();
        change.value = entry;
    }
    if (auto kept = record.write(change); !kept) return kept;
    std::vector<std::string> made;
    if (auto written = now.file.replace(done.after, place_.readers, made); !written) {
        remove_folders(made);
        return written;
    }
    done.backup = record.backup();
    if (made.empty()) return {};
    change.folders = std::move(made);
    return record.write(change);
}

// Where others have written too: the entry that was there before ours, or none, and no table that only
// we needed.
Result<std::string> ClientEntry::text_without(const Now& now) const {
    const auto format = place_.client->format;
    const auto before = now.change && !now.change->made ? edit::read(now.change->before, format)
                                                        : Result<json::object>(json::object());
    const auto* earlier = before ? edit::find(*before, now.path) : nullptr;
    // The same: somebody ended us before we could take it out.
    if (earlier && *earlier != *now.entry())
        return edit::set(now.file.text(), format, now.path, *earlier);
    auto text = edit::remove(now.file.text(), format, now.path);
    for (auto path = now.path; text && now.change && path.size() > 1;) {
        path.pop_back();
        const auto root = edit::read(*text, format);
        const auto* table = root ? edit::find(*root, path) : nullptr;
        const bool ours = before && !edit::find(*before, path);
        const bool empty =
            table && (table->is_null() || (table->is_object() && table->get_object().empty()));
        if (!ours || !empty) break;
        auto less = edit::remove(*text, format, path);
        if (!less) break;
        text = std::move(less);
    }
    return text;
}

Result<EntryChange> ClientEntry::disconnect(Trial trial) const {
    const auto seen = ClientFile::read(place_.file);
    if (!seen) return seen.error();
    const auto record = record_of(*seen);
    const auto turn = turn_of(record, seen->there() ? trial : Trial::Yes);
    if (!turn) return turn.error();
    const auto now = look(record);  // within our turn
    if (!now) return now.error();
    EntryChange done;
    done.file = now->file.path();
    done.before = now->file.text();
    if (!now->entry())
        return Error{ErrorCode::NotFound,
                     now->file.there() ? done.file + " has no entry \"" + place_.name + "\""
                                       : done.file + " is not there; nothing is connected by it"};
    if (!now->is_ours)
        return Error{ErrorCode::Invalid, "the entry \"" + place_.name + "\" of " + done.file +
                                             " does not start `patchbay serve`; it stays"};
    done.state = EntryChange::State::Disconnected;
    done.removed = now->as_we_left_it() && now->change->made;
    if (now->as_we_left_it()) {
        done.after = now->change->before;
    } else {
        auto text = text_without(*now);
        if (!text) return in_file(now->file.path(), text.error());
        done.after = std::move(*text);
    }
    if (trial == Trial::Yes) return done;
    if (auto back = take_back(*now, record, done); !back) return back.error();
    return done;
}

Result<void> ClientEntry::take_back(const Now& now, const ClientRecord& record,
                                    const EntryChange& done) const {
    if (done.removed) {
        if (auto gone = now.file.remove(); !gone) return gone;
        remove_folders(now.change->folders);
        record.forget();
        return {};
    }
    // Until this is written the record has the only text of an entry that ours took the place of.
    std::vector<std::string> made;
    if (auto written = now.file.replace(done.after, place_.readers, made); !written) return written;
    record.forget();
    return {};
}

}  // namespace patchbay::app
