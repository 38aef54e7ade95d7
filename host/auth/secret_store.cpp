#include "auth/secret_store.hpp"

#include "core/json.hpp"
#include "core/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/file.h>
#include <unistd.h>

namespace patchbay::auth {
namespace json = boost::json;

namespace {

constexpr const char* kPlugin = "plugin";  // members of a record that are ours
constexpr std::chrono::milliseconds kLongestPause{16};
// Members of a record that go to the keyring and are masked. By name, since every method keeps
// records of its own; one word too many hides a harmless value, one too few shows a secret.
constexpr std::string_view kSecretWords[] = {"secret", "private", "assertion", "_key"};

bool is_secret(std::string_view name) {
    if (name.ends_with("token")) return true;
    return std::any_of(
        std::begin(kSecretWords), std::end(kSecretWords),
        [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

const json::object* record_of(const json::object& file, const std::string& server) {
    const auto* record = file.at(StoreFile::kSignIns.table).get_object().if_contains(server);
    return record ? record->if_object() : nullptr;
}

}  // namespace

SecretStore::SecretStore(core::Loop& loop, std::string directory, std::unique_ptr<Keyring> keyring)
    : loop_(loop), file_(std::move(directory)), keyring_(std::move(keyring)), worker_(loop, 1) {}

SecretStore::~SecretStore() {
    while (!locks_.empty()) unlock(locks_.begin()->first);
}

void SecretStore::get(const std::string& plugin, const std::string& server, Got got) {
    worker_.run(
        [this, plugin, server](const std::stop_token&) { return read_record(plugin, server); },
        std::move(got));
}

Result<std::string> SecretStore::read_record(const std::string& plugin,
                                             const std::string& server) const {
    const auto contents = file_.read();
    if (!contents) return contents.error();
    if (!contents->warning.empty()) core::log::warn(contents->warning);
    const auto* found = record_of(contents->file, server);
    // What another method has kept there is not handed out: this one would send it somewhere else.
    if (!found || core::text_in(found, kPlugin).value_or("") != plugin) return std::string();
    auto record = *found;
    const bool elsewhere = StoreFile::in_keyring(record);
    record.erase(kPlugin);
    record.erase(StoreFile::kKeyring);
    if (elsewhere) {
        if (!keyring_)
            return Error{ErrorCode::Unavailable,
                         "the login for server \"" + server +
                             "\" is in the Secret Service; set [secrets] store = "
                             "\"secret-service\", or sign in again"};
        const auto answer = keyring_->read(server);
        if (!answer) return answer.error();
        auto whole = with_secrets(std::move(record), *answer);
        if (!whole) return std::string();
        record = std::move(*whole);
    }
    for (const auto& member : record)
        if (is_secret(member.key()) && member.value().is_string())
            secrets_.add(member.value().get_string());
    return json::serialize(record);
}

void SecretStore::put(const std::string& plugin, const std::string& server,
                      const std::string& record, Done done) {
    worker_.run(
        [this, plugin, server, record](const std::stop_token&) {
            if (record.empty()) return forget(server);
            auto parsed = core::parse_json_object(record);
            if (!parsed) return Result<void>(within("the record to keep", parsed.error()));
            return write_record(plugin, server, std::move(*parsed));
        },
        [this, server, lasts = !record.empty(), done = std::move(done)](Result<void> outcome) {
            if (outcome && lasts)
                put_.insert(server);
            else
                put_.erase(server);
            done(std::move(outcome));
        });
}

Result<void> SecretStore::write_record(const std::string& plugin, const std::string& server,
                                       json::object record) const {
    json::object secrets;
    for (const auto& member : record) {
        if (!is_secret(member.key())) continue;
        if (member.value().is_string()) secrets_.add(member.value().get_string());
        secrets[member.key()] = member.value();
    }
    if (keyring_) {
        // First the keyring, then the file that says so: whoever is killed between the two leaves
        // the old record. A keyring that is locked or missing costs nobody the sign-in.
        if (const auto kept =
                keyring_->write(server, json::serialize(secrets), "sign-in to " + server);
            kept) {
            for (const auto& secret : secrets) record.erase(secret.key());
            record[StoreFile::kKeyring] = true;
        } else {
            core::log::warn("the Secret Service does not keep the login for server \"" + server +
                            "\": " + kept.error().message + "; it is kept in " + file_.path());
        }
    }
    record[kPlugin] = plugin;
    return file_.replace(server, record);
}

// Nothing but the record leads to what the keyring holds: it stays until that is gone.
Result<void> SecretStore::forget(const std::string& server) const {
    const auto erased = keyring_ ? keyring_->erase(server) : Result<void>();
    if (!erased) {
        const auto contents = file_.read();
        if (!contents) return contents.error();
        const auto* record = record_of(contents->file, server);
        if (record && StoreFile::in_keyring(*record))
            return Error{ErrorCode::Unavailable,
                         "the login for server \"" + server +
                             "\" stays, since the Secret Service keeps its tokens: " +
                             erased.error().message +
                             "; try again, or leave them there: patchbay --set "
                             "secrets.store=file mcp logout " +
                             server};
    }
    return file_.replace(server, {});
}

void SecretStore::erase(const std::string& server, Done done) {
    put({}, server, {}, std::move(done));
}

Result<json::object> SecretStore::stored() const {
    auto contents = file_.read();
    if (!contents) return contents.error();
    return contents->file.at(StoreFile::kSignIns.table).get_object();
}

std::uint64_t SecretStore::lock(const std::string& server, std::chrono::milliseconds limit,
                                Done done) {
    const auto id = ++last_lock_;
    auto& lock = locks_[id];
    lock.server = server;
    lock.deadline = loop_.now() + limit;
    lock.done = std::move(done);
    lock.timer = loop_.after(std::chrono::nanoseconds(0), [this, id] { try_lock(id); });
    return id;
}

// Asked again and again, more seldom each time: a wait inside the kernel could not be given up.
void SecretStore::try_lock(std::uint64_t id) {
    auto& lock = locks_.at(id);
    lock.timer = 0;
    const auto end = [&](const Result<void>& outcome) {
        const auto done = std::exchange(lock.done, {});
        if (!outcome) unlock(id);
        done(outcome);
    };
    if (lock.fd < 0) {
        const auto fd = file_.lock_file(lock.server);
        if (!fd) return end(fd.error());
        lock.fd = *fd;
    }
    if (::flock(lock.fd, LOCK_EX | LOCK_NB) == 0) return end({});
    if (errno != EWOULDBLOCK && errno != EINTR)
        return end(Error{ErrorCode::Io, std::string("cannot lock the login of server \"") +
                                            lock.server + "\": " + std::strerror(errno)});
    if (loop_.now() >= lock.deadline)
        return end(Error{ErrorCode::Timeout, "another process is busy with the login of server \"" +
                                                 lock.server + "\"; try again"});
    lock.timer = loop_.after(lock.pause, [this, id] { try_lock(id); });
    lock.pause = std::min(lock.pause * 2, kLongestPause);
}

void SecretStore::unlock(std::uint64_t id) {
    const auto found = locks_.find(id);
    if (found == locks_.end()) return;
    if (found->second.timer) loop_.cancel(found->second.timer);
    if (found->second.fd >= 0) ::close(found->second.fd);
    locks_.erase(found);
}

}  // namespace patchbay::auth
