#include "config/git_index.hpp"

#include "core/descriptor.hpp"
#include "core/private_file.hpp"

#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>

namespace patchbay::config {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestLink = 4096;  // of a `.git` that is a file

// What is left to read, in the byte order of networks.
class Bytes {
public:
    explicit Bytes(std::string_view rest) : rest_(rest) {}

    std::optional<std::string_view> take(std::size_t size) {
        if (rest_.size() < size) return {};
        const auto taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::optional<std::uint32_t> number(std::size_t size) {
        const auto taken = take(size);
        if (!taken) return {};
        std::uint32_t value = 0;
        for (const char byte : *taken) value = value << 8 | static_cast<unsigned char>(byte);
        return value;
    }
    std::optional<std::string_view> text() {  // and its NUL
        const auto end = rest_.find('\0');
        if (end == rest_.npos) return {};
        const auto taken = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return taken;
    }
    // Seven bits a byte, as versions 4 has how much of the path before is not in this one.
    std::optional<std::size_t> offset() {
        std::size_t value = 0;
        for (bool first = true; !rest_.empty(); first = false) {
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value = ((first ? value : value + 1) << 7) + (byte & 0x7f);
            if (!(byte & 0x80)) return value;
            if (value > kMostIndexBytes) return {};
        }
        return {};
    }
    std::size_t left() const { return rest_.size(); }

private:
    std::string_view rest_;
};

constexpr std::size_t kStat = 40;  // times, device, owner and the like, before the hash

bool has_of(std::string_view index, std::string_view path, std::size_t hash) {
    Bytes bytes(index);
    if (bytes.take(4).value_or("") != "DIRC") return false;
    const auto version = bytes.number(4), count = bytes.number(4);
    if (!version || !count || *version < 2 || *version > 4) return false;
    std::string name;
    for (std::uint32_t i = 0; i < *count; ++i) {
        const auto begin = bytes.left();
        if (!bytes.take(kStat + hash)) return false;
        const auto flags = bytes.number(2);
        if (!flags || (*version >= 3 && (*flags & 0x4000) && !bytes.take(2))) return false;
        const auto stripped = *version == 4 ? bytes.offset() : name.size();
        if (!stripped || *stripped > name.size()) return false;
        const auto text = bytes.text();
        if (!text) return false;
        name.resize(name.size() - *stripped);
        name.append(*text);
        if (name == path) return true;
        // Each begins at a multiple of eight; one NUL is read already.
        const auto size = begin - bytes.left();
        if (*version < 4 && size % 8 != 0 && !bytes.take(8 - size % 8)) return false;
    }
    return false;
}

std::string text_of(const std::string& path, std::size_t most) {
    const core::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat about {};
    if (file.get() < 0 || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
    auto text = core::read_whole(file, path, most);
    return text ? std::move(*text) : std::string();
}

// Of a worktree or a submodule `.git` is a file that says where it is.
fs::path git_folder(const fs::path& at) {
    std::error_code failed;
    const auto git = at / ".git";
    if (fs::is_directory(git, failed)) return git;
    auto said = text_of(git, kLongestLink);
    constexpr std::string_view kBegin = "gitdir: ";
    if (!said.starts_with(kBegin)) return {};
    said.erase(0, kBegin.size());
    while (!said.empty() && (said.back() == '\n' || said.back() == '\r')) said.pop_back();
    return at / said;
}

}  // namespace

bool index_has(std::string_view index, std::string_view path) {
    return !path.empty() && (has_of(index, path, 20) || has_of(index, path, 32));
}

bool git_tracks(const std::string& file) {
    std::error_code failed;
    const auto whole = fs::weakly_canonical(fs::absolute(file, failed), failed);
    for (auto at = whole.parent_path(); !failed && at != at.root_path(); at = at.parent_path())
        if (const auto git = git_folder(at); !git.empty())
            return index_has(text_of(git / "index", kMostIndexBytes),
                             whole.lexically_relative(at).string());
    return false;
}

}  // namespace patchbay::config
