#include "audit/trail_files.hpp"

#include "core/json.hpp"
#include "core/private_file.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <sys/types.h>
#include <unistd.h>

namespace patchbay::audit {
namespace json = boost::json;

namespace {

constexpr std::string_view kPrefix = "audit-", kSuffix = ".jsonl", kHeadMac = ",\"mac\":\"";
constexpr int kNumberDigits = 12;
constexpr std::size_t kChunk = 64u << 10;

std::uint64_t count_in(const json::object& object, const char* key) {
    const auto value = core::integer_in(&object, key);
    return value && *value > 0 ? static_cast<std::uint64_t>(*value) : 0;
}

// Cuts what is read into lines; of a long one the rest is passed over.
class LineCutter {
public:
    LineCutter(const std::string& path, const std::function<bool(const Line&)>& look)
        : path_(path), look_(look) {}

    // False: nobody wants more.
    bool feed(std::string_view chunk) {
        while (!chunk.empty()) {
            const auto end = chunk.find('\n');
            keep(chunk.substr(0, end));
            if (end == std::string_view::npos) return true;
            if (!tell(true)) return false;
            chunk.remove_prefix(end + 1);
        }
        return true;
    }
    bool finish() { return line_.empty() || tell(false); }

private:
    void keep(std::string_view part) {
        const auto room = kMostLine - line_.size();
        too_long_ = too_long_ || part.size() > room;
        line_.append(part.substr(0, room));
    }
    bool tell(bool ended) {
        const bool on = look_({path_, ++number_, line_, ended, too_long_});
        line_.clear();
        too_long_ = false;
        return on;
    }

    const std::string& path_;
    const std::function<bool(const Line&)>& look_;
    std::string line_;
    std::uint64_t number_ = 0;
    bool too_long_ = false;
};

}  // namespace

std::string text_of(const Head& head, const Chain& signer) {
    std::string text =
        "{\"file\":" + std::to_string(head.file) + ",\"bytes\":" + std::to_string(head.bytes) +
        ",\"n\":" + std::to_string(head.number) + ",\"since\":" + std::to_string(head.since) +
        ",\"last\":\"" + head.last + "\"";
    const auto mac = signer.mac_of(text);
    text.append(kHeadMac).append(mac).append("\"}");
    text.resize(kHeadBytes - 1, ' ');
    return text + "\n";
}

std::optional<Head> head_in(std::string_view text, const Chain& signer) {
    const auto read = core::parse_json_object(text);
    if (!read) return {};
    const auto mac = core::text_in(&*read, "mac"), last = core::text_in(&*read, "last");
    const auto at = text.rfind(kHeadMac);
    if (!mac || !last || at == std::string_view::npos || signer.mac_of(text.substr(0, at)) != *mac)
        return {};
    return Head{count_in(*read, "file"), count_in(*read, "bytes"), count_in(*read, "n"),
                core::integer_in(&*read, "since").value_or(0), std::string(*last)};
}

std::string file_name(std::uint64_t first) {
    auto digits = std::to_string(first);
    if (digits.size() < kNumberDigits) digits.insert(0, kNumberDigits - digits.size(), '0');
    return std::string(kPrefix) + digits + std::string(kSuffix);
}

std::vector<std::uint64_t> files_in(const core::Descriptor& folder) {
    std::vector<std::uint64_t> numbers;
    const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(copy < 0 ? nullptr : ::fdopendir(copy),
                                                      ::closedir);
    if (!listing) return numbers;
    while (const auto* entry = ::readdir(listing.get())) {
        const std::string_view name = entry->d_name;
        if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
        const auto digits =
            name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
        std::uint64_t number = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (number > 0 && file_name(number) == name) numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

Result<void> each_line(const core::Descriptor& file, const std::string& path, std::uint64_t offset,
                       std::uint64_t end, const std::function<bool(const Line&)>& look) {
    LineCutter cutter(path, look);
    std::array<char, kChunk> chunk;
    while (offset < end) {
        const auto want =
            static_cast<std::size_t>(std::min<std::uint64_t>(end - offset, chunk.size()));
        const auto got = ::pread(file.get(), chunk.data(), want, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return Error{ErrorCode::Io, "cannot read " + path + ": " + std::strerror(errno)};
        if (got == 0) break;
        offset += static_cast<std::uint64_t>(got);
        if (!cutter.feed({chunk.data(), static_cast<std::size_t>(got)})) return {};
    }
    cutter.finish();
    return {};
}

Result<void> each_line(const std::string& folder, const std::function<bool(const Line&)>& look) {
    const auto directory = core::open_private_directory(folder, kOthers, core::Make::No);
    if (!directory) return directory.error();
    if (directory->get() < 0) return {};
    bool on = true;
    for (const auto number : files_in(*directory)) {
        const auto name = file_name(number), path = folder + "/" + name;
        const auto file = core::open_private_file(*directory, folder, name, kOthers);
        if (!file) return file.error();
        if (file->get() < 0) continue;  // put away meanwhile
        const auto read = each_line(*file, path, 0, std::numeric_limits<std::int64_t>::max(),
                                    [&](const Line& line) { return on = look(line); });
        if (!read || !on) return read;
    }
    return {};
}

}  // namespace patchbay::audit
