#include "audit/trail.hpp"

#include "audit/record_text.hpp"
#include "core/digest.hpp"
#include "core/kept_key.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace patchbay::audit {

namespace {

std::string member(std::string_view key, std::uint64_t number) {
    return "\"" + std::string(key) + "\":" + std::to_string(number);
}

Error failed(const char* doing, const std::string& path) {
    return {ErrorCode::Io,
            "cannot " + std::string(doing) + " " + path + ": " + std::strerror(errno)};
}

bool is_gone(const core::Descriptor& descriptor) {
    struct stat info {};
    return descriptor.get() < 0 || ::fstat(descriptor.get(), &info) != 0 || info.st_nlink == 0;
}

}  // namespace

Trail::Trail(std::string state_directory, const config::AuditSettings& settings,
             const core::TimeSource& time)
    : state_directory_(std::move(state_directory)),
      folder_(state_directory_ + "/" + kFolder),
      settings_(settings),
      time_(time) {}

std::string Trail::words(std::string_view kind, std::string members) const {
    return head_of_record(time_.date(), kind) + "," + std::move(members) + "\n";
}

Result<void> Trail::append(std::string_view records, std::chrono::milliseconds wait) {
    if (auto ready = take_key(wait); !ready) return ready;
    if (auto open = open_folder(); !open) return open;
    const auto turn = core::take_turn(directory_, folder_, kHeadName, wait);
    if (!turn) return turn.error();
    auto standing = look(*turn);
    if (!standing) return standing.error();
    // What tells of a torn line stands right behind it.
    if (!standing->open_end && is_full(standing->head, records.size())) {
        if (auto begun = begin_file(*turn, *standing); !begun) return begun;
    }
    return write(*turn, std::move(*standing), records);
}

Result<void> Trail::take_key(std::chrono::milliseconds wait) {
    if (key_) return {};
    auto key = core::kept_key(state_directory_, kKeyName, wait);
    if (!key) return key.error();
    key_ = std::move(*key);
    return {};
}

Result<void> Trail::open_folder() {
    if (!is_gone(directory_)) return {};
    auto directory = core::open_private_directory(folder_, kOthers, core::Make::Yes);
    if (!directory) return directory.error();
    directory_ = std::move(*directory);
    file_.close();
    return {};
}

Result<bool> Trail::open_file(std::uint64_t first, int more_flags) {
    if (file_number_ == first && !is_gone(file_)) return true;
    const auto name = file_name(first);
    core::Descriptor file(::openat(directory_.get(), name.c_str(),
                                   O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | more_flags, 0600));
    if (file.get() < 0 && errno == ENOENT) return false;
    struct stat info {};
    if (file.get() < 0 || ::fstat(file.get(), &info) != 0) return failed("open", path_of(first));
    if (!S_ISREG(info.st_mode))
        return Error{ErrorCode::Denied, path_of(first) + " is no regular file; move it away"};
    file_ = std::move(file);
    file_number_ = first;
    return true;
}

Result<std::uint64_t> Trail::size_of_file() const {
    struct stat info {};
    if (::fstat(file_.get(), &info) != 0) return failed("look at", path_of(file_number_));
    return static_cast<std::uint64_t>(info.st_size);
}

// Where all went well the head says all; what is not as it says is told in a record.
Result<Trail::Standing> Trail::look(const core::Descriptor& turn) {
    std::array<char, kHeadBytes> text;
    const auto got = ::pread(turn.get(), text.data(), text.size(), 0);
    if (got < 0) return failed("read", folder_ + "/" + kHeadName);
    const auto told = head_in({text.data(), static_cast<std::size_t>(got)}, Chain(*key_));
    Standing standing{told ? *told : head_by_files(), told.has_value()};
    auto& head = standing.head;
    if (head.file == 0) return standing;
    // A file of which nothing was written yet is one that was about to be begun.
    const auto there = open_file(head.file, head.bytes == 0 ? O_CREAT : 0);
    if (!there) return there.error();
    const auto size = *there ? size_of_file() : Result<std::uint64_t>(0);
    if (!size) return size.error();
    if (*size < head.bytes) {
        // The next records are a file of their own, so that what is left stays as it is.
        standing.words += words("cut", member("through", head.number));
        head.file = 0;
    } else if (*size > head.bytes) {
        if (auto read = catch_up(standing, *size); !read) return read.error();
    }
    if (!told) standing.words += words("cut", "\"reason\":\"the head was missing\"");
    return standing;
}

// Begins before the newest file: what it holds is believed as far as it is ours.
Head Trail::head_by_files() const {
    const auto files = files_in(directory_);
    Head head;
    if (files.empty()) return head;
    head.file = files.back();
    head.number = files.back() - 1;
    head.since = std::chrono::floor<std::chrono::seconds>(time_.date().time_since_epoch()).count();
    return head;
}

// Records of a process that was killed before it could say so in the head.
Result<void> Trail::catch_up(Standing& standing, std::uint64_t size) {
    auto& head = standing.head;
    Chain chain(*key_, head.number, head.last);
    std::string torn;
    std::uint64_t strange = 0;
    auto read = each_line(file_, path_of(head.file), head.bytes, size, [&](const Line& line) {
        const auto link = link_of(line.text);
        // What it follows is known by itself alone.
        const bool first = line.number == 1 && !standing.known && link && chain.is_ours(*link);
        if (first)
            chain.resume(*link);
        else if (const bool taken = chain.take(line.text).empty(); !taken && line.ended)
            strange += line.text.size() + 1;
        else if (!taken)
            torn = line.text;
        standing.open_end = !line.ended;
        return true;
    });
    if (!read) return read;
    head.number = chain.number();
    head.last = chain.last();
    head.bytes = size;
    if (!torn.empty())
        standing.words += words("mended", member("bytes", torn.size()) + ",\"sha256\":\"" +
                                              core::sha256_hex(torn) + "\"");
    // Whole lines stay for verify() to name.
    if (strange > 0) standing.words += words("strange", member("bytes", strange));
    return {};
}

bool Trail::is_full(const Head& head, std::size_t more) const {
    if (head.file == 0) return true;
    const auto age = time_.date().time_since_epoch() - std::chrono::seconds(head.since);
    return head.bytes + more > settings_.file_bytes || age >= settings_.file_age;
}

// The head first: whoever is killed in between leaves a head whose file is empty, and never one that is behind by a file.
Result<void> Trail::begin_file(const core::Descriptor& turn, Standing& standing) {
    auto& head = standing.head;
    head.file = head.number + 1;
    head.bytes = 0;
    head.since = std::chrono::floor<std::chrono::seconds>(time_.date().time_since_epoch()).count();
    write_head(turn, head);
    const auto made = open_file(head.file, O_CREAT);
    if (!made) return made.error();
    const auto size = size_of_file();
    if (!size) return size.error();
    if (*size > 0)
        if (auto read = catch_up(standing, *size); !read) return read;
    note_surplus(standing);
    return {};
}

void Trail::write_head(const core::Descriptor& turn, const Head& head) const {
    const auto line = text_of(head, Chain(*key_));
    static_cast<void>(!::pwrite(turn.get(), line.data(), line.size(), 0));
}

// The record first: whoever is killed in between leaves files that it says are gone, and nobody misses one unsaid.
void Trail::note_surplus(Standing& standing) const {
    auto& surplus = standing.surplus = files_in(directory_);
    const auto kept = std::min<std::size_t>(surplus.size(), settings_.files);
    if (surplus.size() == kept) return surplus.clear();
    const auto first_kept = surplus[surplus.size() - kept];
    surplus.resize(surplus.size() - kept);
    standing.words += words("removed", member("through", first_kept - 1));
}

Result<void> Trail::write(const core::Descriptor& turn, Standing standing,
                          std::string_view records) {
    auto& head = standing.head;
    Chain chain(*key_, head.number, head.last);
    std::string text;
    text.reserve(records.size() * 2);
    if (standing.open_end) text += '\n';
    for (auto left : {std::string_view(standing.words), records}) {
        while (!left.empty()) {
            const auto end = left.find('\n');
            chain.append(left.substr(0, end), text);
            left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
        }
    }
    if (!core::write_whole(file_.get(), text)) {
        const auto error = failed("write", path_of(head.file));
        // What there was room for is no record.
        static_cast<void>(!::ftruncate(file_.get(), static_cast<off_t>(head.bytes)));
        return error;
    }
    for (const auto first : standing.surplus)
        static_cast<void>(!::unlinkat(directory_.get(), file_name(first).c_str(), 0));
    head.bytes += text.size();
    head.number = chain.number();
    head.last = chain.last();
    // Where that fails the next one finds the records behind the head.
    write_head(turn, head);
    return {};
}

}  // namespace patchbay::audit
