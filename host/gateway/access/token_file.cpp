#include "gateway/access/token_file.hpp"

#include "core/private_file.hpp"
#include "core/replace_file.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <utility>

namespace patchbay::gateway {

namespace {

constexpr const char* kName = "gateway-tokens.json";
constexpr const char* kWriters = "gateway-tokens.lock";
// Hashes alone, but also who may see what: nobody else's business.
constexpr auto kOthers = core::Others::MayNothing;
constexpr const char* kNotThere = "no file";

// A file that is replaced has another number or another time; one that is written into another time.
std::string edition_of(const struct stat& info) {
    const auto time = [](const timespec& at) {
        return std::to_string(at.tv_sec) + "." + std::to_string(at.tv_nsec);
    };
    return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) + ":" +
           std::to_string(info.st_size) + ":" + time(info.st_mtim) + ":" + time(info.st_ctim);
}

}  // namespace

std::string TokenFile::path() const {
    return directory_ + "/" + kName;
}

Result<std::optional<TokenFile::Read>> TokenFile::read_unless(const Edition& known) const {
    using Found = std::optional<Read>;
    const Found nobody = known == kNotThere ? Found() : Found(Read{{}, kNotThere});
    if (directory_.empty()) return nobody;
    const auto folder = core::open_private_directory(directory_, kOthers, core::Make::No);
    if (!folder) return folder.error();
    if (folder->get() < 0) return nobody;
    const auto file = core::open_private_file(*folder, directory_, kName, kOthers);
    if (!file) return file.error();
    if (file->get() < 0) return nobody;
    struct stat info {};
    if (::fstat(file->get(), &info) != 0)
        return Error{ErrorCode::Io, "cannot look at " + path() + ": " + std::strerror(errno)};
    auto edition = edition_of(info);
    if (edition == known) return Found();
    const auto text = core::read_whole(*file, path(), kFileBytes);
    if (!text) return text.error();
    auto tokens = Tokens::parse(*text);
    if (!tokens)
        return Error{tokens.error().code, path() + " " + tokens.error().message +
                                              ": no token counts; move it away and give out new "
                                              "ones"};
    return Found(Read{std::move(*tokens), std::move(edition)});
}

Result<Tokens> TokenFile::read() const {
    auto found = read_unless({});
    if (!found) return found.error();
    return std::move((*found)->tokens);
}

template <class Change>
Result<void> TokenFile::change(const Change& change) const {
    if (directory_.empty())
        return Error{ErrorCode::Unsupported, "there is no state directory to keep tokens in"};
    const auto folder = core::open_private_directory(directory_, kOthers, core::Make::Yes);
    if (!folder) return folder.error();
    // A file of its own: the record is replaced as a whole, and a lock on it would go with it.
    const auto turn = core::take_turn(*folder, directory_, kWriters, kLockWait);
    if (!turn) return turn.error();
    // Within our turn: what others have given out since must not be written over.
    auto now = read();
    if (!now) return now.error();
    if (auto changed = change(*now); !changed) return changed;
    const auto text = now->text();
    if (text.size() > kFileBytes)
        return Error{ErrorCode::Limit, path() + " would be over " +
                                           std::to_string(kFileBytes >> 20) +
                                           " MiB; `patchbay token rm` those that are not needed"};
    return core::replace_file(path(), text, core::Durable::Yes);
}

Result<void> TokenFile::add(const Token& token) const {
    return change([&](Tokens& tokens) { return tokens.add(token); });
}

Result<void> TokenFile::remove(const std::string& name) const {
    return change([&](Tokens& tokens) { return tokens.remove(name); });
}

}  // namespace patchbay::gateway
