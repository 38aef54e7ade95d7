#include "app/client_record.hpp"

#include "config/edit/edit.hpp"
#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::int64_t kRecordVersion = 1;
constexpr std::size_t kRecordBytes = 64u << 10, kRecordKeyDigits = 16;
// Whoever could write a record would have an undo put their text into a file of this user.
constexpr auto kOthers = core::Others::MayNothing;
// A command changes a file in milliseconds; who waits so long waits for one that hangs.
constexpr std::chrono::seconds kRecordTurn{10};
constexpr const char* kTurnFile = "connect.lock";

}  // namespace

ClientRecord::ClientRecord(const std::string& state_directory, std::string client, std::string file,
                           std::string entry)
    : directory_(directory_in(state_directory)),
      client_(std::move(client)),
      file_(std::move(file)),
      entry_(std::move(entry)),
      name_(client_ + "-" + core::sha256_hex(file_ + "\n" + entry_).substr(0, kRecordKeyDigits)),
      backup_(directory_ + "/" + name_ + ".before") {}

// One lock for all files: a command may change several, and two that take them in another order would wait for ever.
Result<core::Descriptor> ClientRecord::take_turn(const std::string& directory) {
    const auto folder = core::open_private_directory(directory, kOthers, core::Make::Yes);
    if (!folder) return folder.error();
    return core::take_turn(*folder, directory, kTurnFile, kRecordTurn);
}

// Shared, and for a moment: who wants it meanwhile tries again.
bool ClientRecord::is_turn_taken(const std::string& state_directory) {
    const core::Descriptor file(::open((directory_in(state_directory) + "/" + kTurnFile).c_str(),
                                       O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    return file.get() >= 0 && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<std::optional<ClientChange>> ClientRecord::read() const {
    using Read = std::optional<ClientChange>;
    const auto text = core::read_private(directory_, name_ + ".json", kOthers, kRecordBytes);
    if (!text) return text.error();
    const auto record = *text ? core::parse_json_object(**text) : Error{ErrorCode::NotFound, {}};
    if (!record || core::integer_in(&*record, "version") != kRecordVersion) return Read();
    auto before =
        core::read_private(directory_, name_ + ".before", kOthers, config::edit::kBounds.bytes);
    if (!before) return before.error();
    ClientChange change;
    change.before = before->value_or("");
    // A text that a later record was to come with, before somebody ended us.
    if (core::text_in(&*record, "before") != core::sha256_hex(change.before)) return Read();
    const auto* made = record->if_contains("made");
    change.made = made && made->is_bool() && made->get_bool();
    change.folders = core::texts_in(*record, "folders");
    change.after = core::text_in(&*record, "after").value_or("");
    if (const auto* value = core::object_in(&*record, "value")) change.value = *value;
    change.by = core::text_in(&*record, "by").value_or("");
    change.at = core::text_in(&*record, "at").value_or("");
    change.run = core::text_in(&*record, "run").value_or("");
    return Read(std::move(change));
}

// The record has the digest of the text that belongs to it: of two writes that are cut off in between, read() takes
// neither for a whole.
Result<void> ClientRecord::write(const ClientChange& change) const {
    const json::object record{
        {"version", kRecordVersion},
        {"client", client_},
        {"file", file_},
        {"entry", entry_},
        {"before", core::sha256_hex(change.before)},
        {"after", change.after},
        {"value", change.value},
        {"made", change.made},
        {"folders", json::array(change.folders.begin(), change.folders.end())},
        {"by", change.by},
        {"at", change.at},
        {"run", change.run}};
    if (auto kept = core::replace_file(backup_, change.before, core::Durable::Text); !kept)
        return kept;
    return core::replace_file(directory_ + "/" + name_ + ".json", json::serialize(record) + "\n",
                              core::Durable::Yes);
}

// By the time of its file, which is there also in records of older versions that do not say when.
std::string ClientRecord::last_of(const std::vector<std::string>& files,
                                  const std::string& state_directory, const std::string& client) {
    namespace fs = std::filesystem;
    std::string last;
    fs::file_time_type latest;
    for (const auto& file : files) {
        const ClientRecord record(state_directory, client, file, {});
        std::error_code failed;
        const auto written =
            fs::last_write_time(record.directory_ + "/" + record.name_ + ".json", failed);
        if (failed || (!last.empty() && written <= latest)) continue;
        last = file;
        latest = written;
    }
    return last;
}

// The record first: without it the text says nothing of what is to be taken back.
void ClientRecord::forget() const {
    ::unlink((directory_ + "/" + name_ + ".json").c_str());
    ::unlink(backup_.c_str());
}

}  // namespace patchbay::app
