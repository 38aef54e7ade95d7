#include "app/catalogue_folder.hpp"

#include "catalogue/listing_text.hpp"
#include "core/digest.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kListSuffix = ".json";
constexpr const char* kTurnOfLists = "catalogue.lock";  // beside the folder
constexpr std::chrono::milliseconds kTurnOfListsWait{200};
constexpr std::chrono::seconds kBetweenLooks{60};
constexpr std::chrono::seconds kHeardAgain{60};  // a list that is said again within it is not noted

timespec timespec_of(catalogue::Time listed) {
    const auto since = listed.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    return {seconds.count(), std::chrono::nanoseconds(since - seconds).count()};
}

// Only who looks sees when a server was heard last: what cannot be noted is no trouble.
void set_time(int folder, const std::string& name, catalogue::Time listed) {
    const timespec times[2] = {timespec_of(listed), timespec_of(listed)};
    static_cast<void>(::utimensat(folder, name.c_str(), times, AT_SYMLINK_NOFOLLOW));
}

catalogue::Time time_of(const struct stat& about) {
    return catalogue::Time(std::chrono::duration_cast<catalogue::Time::duration>(
        std::chrono::seconds(about.st_mtim.tv_sec) +
        std::chrono::nanoseconds(about.st_mtim.tv_nsec)));
}

// Whether another host has heard the server since, whose list that is by now. A clock that was turned back makes nothing
// newer than now, but for what may be written between the look at the clock and this one at the disk.
bool is_newer(int folder, const std::string& name, catalogue::Time listed, catalogue::Time now) {
    struct stat about {};
    if (::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return false;
    const auto there = time_of(about);
    return there > listed && there <= now + kBetweenLooks;
}

// Ours, or a draft of ours; what somebody else has put there is not ours to remove.
bool is_ours(const fs::directory_entry& file) {
    const auto name = file.path().filename().string();
    std::error_code gone;
    return name.size() > core::kSha256Digits &&
           name.find_first_not_of("0123456789abcdef") == core::kSha256Digits &&
           name.substr(core::kSha256Digits).starts_with(kListSuffix) &&
           file.symlink_status(gone).type() == fs::file_type::regular;
}

// Another host may do the same at the same time: what is gone already is no trouble.
void remove_oldest(const std::string& path, std::size_t most) {
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code trouble;
    for (const auto& each : fs::directory_iterator(path, trouble)) {
        if (!is_ours(each)) continue;
        const auto written = each.last_write_time(trouble);
        if (!trouble) files.emplace_back(written, each.path());
    }
    if (files.size() <= most) return;
    std::sort(files.begin(), files.end());
    files.resize(files.size() - most);
    for (const auto& [written, file] : files) fs::remove(file, trouble);
}

}  // namespace

CatalogueFolder::CatalogueFolder(core::Loop& loop, catalogue::Catalogue& catalogue,
                                 std::string path, const core::Limits& limits,
                                 core::log::Level failures, Account account)
    : catalogue_(catalogue),
      path_(std::move(path)),
      limits_(limits),
      failures_(failures),
      account_(std::move(account)),
      time_(loop.time()),
      pause_(loop),
      worker_(loop, 1) {
    catalogue_.watch(*this);
    catalogue_.read_from(this);
}

CatalogueFolder::~CatalogueFolder() {
    catalogue_.unwatch(*this);
    catalogue_.read_from(nullptr);
    save();
}

const std::optional<std::string>& CatalogueFolder::account_of(const std::string& server,
                                                              const std::string& definition) {
    const auto [place, unknown] = accounts_.try_emplace({server, definition});
    auto& account = place->second;
    if (!unknown) return account;
    account = account_ ? account_(server) : std::string();
    if (account && !account->empty()) account->insert(0, "\n");
    return account;
}

std::string CatalogueFolder::file_of(const std::string& server, const std::string& definition) {
    const auto& account = account_of(server, definition);
    return account ? core::sha256_hex(server + "\n" + definition + *account) + kListSuffix : "";
}

std::string CatalogueFolder::file_of(const std::string& server, const catalogue::Origin& origin,
                                     catalogue::List list) {
    const auto& account = account_of(server, origin.definition);
    if (!account) return {};
    return core::sha256_hex(server + "\n" + origin.definition + *account + "\n" +
                            catalogue::name_of(list) + "\n" + origin.folder) +
           kListSuffix;
}

// Opened and judged once for all that are read in a row.
core::Descriptor CatalogueFolder::open_folder() {
    auto folder = core::open_private_directory(path_, core::Others::MayNothing, core::Make::No);
    if (folder) return std::move(*folder);
    if (!std::exchange(folder_told_, true)) core::log::warn(folder.error().message);
    return {};
}

void CatalogueFolder::recall(const std::vector<registry::ServerSpec>& specs) {
    std::vector<std::pair<const registry::ServerSpec*, std::string>> unknown;
    for (const auto& spec : specs) {
        auto name = file_of(spec.id(), spec.definition_key);
        if (!name.empty() && looked_for_.insert(name).second)
            unknown.emplace_back(&spec, std::move(name));
    }
    if (unknown.empty()) return;
    const auto folder = open_folder();
    if (folder.get() < 0) return;
    for (const auto& [spec, name] : unknown) recall(folder, *spec, name);
}

void CatalogueFolder::recall(const core::Descriptor& folder, const registry::ServerSpec& spec,
                             const std::string& name) {
    const auto found = read(folder, name, spec.id());
    if (!found) return;
    auto listing = catalogue::from_text(found->text, spec.definition_key, limits_);
    if (!listing) return tell_useless(spec.id(), within(path_ + "/" + name, listing.error()));
    auto shared = std::make_shared<const catalogue::Listing>(std::move(*listing));
    written_[{spec.id(), catalogue::List::Tools}] = {shared, found->listed};
    catalogue_.recall(spec.id(), std::move(shared), found->listed);
}

std::optional<catalogue::Kept> CatalogueFolder::take(const std::string& server,
                                                     const catalogue::Origin& origin,
                                                     catalogue::List list) {
    const auto name = file_of(server, origin, list);
    if (name.empty() || !looked_for_.insert(name).second) return {};
    const auto folder = open_folder();
    if (folder.get() < 0) return {};
    const auto found = read(folder, name, server);
    if (!found) return {};
    auto items = catalogue::items_from_text(found->text, list, origin, limits_);
    if (!items)
        return tell_useless(server, within(path_ + "/" + name, items.error())), std::nullopt;
    auto shared = std::make_shared<const catalogue::Items>(std::move(*items));
    written_[{server, list}] = {shared, found->listed};
    return catalogue::Kept{std::move(shared), {found->listed, true}};
}

void CatalogueFolder::tell_useless(const std::string& server, const Error& error) const {
    core::log::warn("what server \"" + server +
                    "\" listed before cannot be used, it is asked anew: " + error.message);
}

// The time of the file is the one at which its server was heard last (touch).
std::optional<CatalogueFolder::Found> CatalogueFolder::read(const core::Descriptor& folder,
                                                            const std::string& name,
                                                            const std::string& server) {
    const auto file = core::open_private_file(folder, path_, name, core::Others::MayNothing);
    if (!file) return tell_useless(server, file.error()), std::nullopt;
    struct stat about {};
    if (file->get() < 0 || ::fstat(file->get(), &about) != 0) return {};
    const auto room = kRecallBytes - recalled_bytes_;
    if (static_cast<std::size_t>(about.st_size) > room) return {};  // known once it is asked
    auto text = core::read_whole(*file, path_ + "/" + name, std::min(kMostBytes, room));
    if (!text) return tell_useless(server, text.error()), std::nullopt;
    recalled_bytes_ += text->size();
    // A clock that was turned back, or a file that was touched, lets nothing seem newer than now.
    return Found{std::move(*text), std::min(time_of(about), time_.date())};
}

void CatalogueFolder::on_published() {
    is_due_ = true;
    save_in_turn();
}

// The first at once: who looks right behind it finds what this host has heard.
void CatalogueFolder::save_in_turn() {
    if (pause_.running() || !std::exchange(is_due_, false)) return;
    save();
    pause_.start(kPause, [this] { save_in_turn(); });
}

// One that broke off is not what the server has.
void CatalogueFolder::save() {
    for (const auto& [server, listing] : catalogue_.listings()) {
        const auto* standing = catalogue_.standing(server);
        if (!listing->whole || !standing || standing->recalled) continue;
        save({server, catalogue::List::Tools}, listing, standing->listed,
             file_of(server, listing->definition),
             [this, &all = *listing] { return catalogue::to_text(all, limits_); });
    }
    for (const auto& [which, kept] : catalogue_.all_items()) {
        if (kept.standing.recalled) continue;
        save(which, kept.items, kept.standing.listed,
             file_of(which.first, kept.items->origin, which.second),
             [list = which.second, &all = *kept.items] { return catalogue::to_text(list, all); });
    }
    change_files();
}

void CatalogueFolder::save(const Which& which, std::shared_ptr<const void> what,
                           catalogue::Time listed, const std::string& name,
                           const std::function<std::string()>& text) {
    if (name.empty()) return;
    auto& written = written_[which];
    const bool same = written.what == what;
    if (same && listed - written.listed < kHeardAgain) return;
    const auto before = std::exchange(written, {std::move(what), listed}).listed;
    if (same)
        touch(name, before, listed);
    else
        write(name, text(), listed);
}

void CatalogueFolder::write(const std::string& name, std::string text, catalogue::Time listed) {
    // What it listed before is not what it has.
    const bool is_kept = text.size() <= kMostBytes;
    writes_ = writes_ || is_kept;
    changes_.push_back([path = path_ + "/" + name, name, is_kept, text = std::move(text), listed,
                        now = time_.date()](int folder) -> Result<void> {
        if (is_newer(folder, name, listed, now)) return {};
        if (is_kept) return core::replace_file(path, text, core::Durable::No, timespec_of(listed));
        ::unlinkat(folder, name.c_str(), 0);
        return {};
    });
}

void CatalogueFolder::touch(const std::string& name, catalogue::Time before,
                            catalogue::Time listed) {
    changes_.push_back([name, before, listed](int folder) -> Result<void> {
        struct stat about {};
        if (::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return {};
        // What another host has put there since was not heard again.
        if (about.st_mtim.tv_sec == std::chrono::system_clock::to_time_t(before))
            set_time(folder, name, listed);
        return {};
    });
}

// All at once: the folder is opened, judged and looked through once, and other hosts look at what is newer and write
// before or after that, not in between. It is a cache: whoever holds the turn for long is not waited for.
void CatalogueFolder::change_files() {
    if (changes_.empty()) return;
    // What is not believed is not written to either: a link there would lead us, who remove what is too much, into a
    // folder of something else. Where nothing is to be written the folder need not be there.
    worker_.run(
        [path = path_, changes = std::exchange(changes_, {}),
         writes = std::exchange(writes_, false)](const std::stop_token&) -> Result<void> {
            const auto folder = core::open_private_directory(
                path, core::Others::MayNothing, writes ? core::Make::Yes : core::Make::No);
            if (!folder) return writes ? Result<void>(folder.error()) : Result<void>();
            if (folder->get() < 0) return {};
            const core::Descriptor above(
                ::openat(folder->get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
            const auto turn = core::take_turn(above, path + "/..", kTurnOfLists, kTurnOfListsWait);
            Result<void> outcome;
            for (const auto& change : changes)
                if (auto changed = change(folder->get()); !changed) outcome = std::move(changed);
            if (writes) remove_oldest(path, kMostFiles);
            return outcome;
        },
        [this](const Result<void>& written) {
            if (!written && !std::exchange(told_, true))
                core::log::write(failures_, "what servers list is not kept for the next start: " +
                                                written.error().message);
        });
}

}  // namespace patchbay::app
