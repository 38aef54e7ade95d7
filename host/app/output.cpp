#include "app/output.hpp"

#include "core/base64.hpp"
#include "core/json.hpp"
#include "core/replace_file.hpp"
#include "core/secrets.hpp"
#include "core/standard_error.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// Above any message: printable() is to clean here, not to cut.
constexpr std::size_t kShownBytes = 64u << 20;

// A terminal that knows escapes: TERM says so.
bool moves_its_cursor() {
    const char* kind = std::getenv("TERM");
    return !kind || std::strcmp(kind, "dumb") != 0;
}

bool colours() {
    return stdout_is_terminal() && !std::getenv("NO_COLOR") && moves_its_cursor();
}

const char* escape_of(std::string_view colour) {
    if (colour == "green") return "\x1b[32m";
    if (colour == "yellow") return "\x1b[33m";
    if (colour == "red") return "\x1b[31m";
    if (colour == "gray") return "\x1b[90m";
    return "";
}

// Code points, not bytes; letters of double width only cost a table its straight edge.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string extension_of(std::string_view mime_type) {
    constexpr std::pair<std::string_view, const char*> kKnown[] = {
        {"image/png", "png"},         {"image/jpeg", "jpg"},    {"image/gif", "gif"},
        {"image/webp", "webp"},       {"image/svg+xml", "svg"}, {"audio/wav", "wav"},
        {"audio/mpeg", "mp3"},        {"audio/ogg", "ogg"},     {"application/pdf", "pdf"},
        {"application/json", "json"}, {"text/plain", "txt"}};
    for (const auto& [type, extension] : kKnown) {
        if (type == mime_type) return extension;
    }
    return "bin";
}

std::string_view text_member(const json::object& object, std::string_view key) {
    return core::text_in(&object, key).value_or("");
}

// False: not saved.
bool save_block(const json::object& block, std::string_view encoded, const std::string& stem,
                const std::string& directory) {
    const auto bytes = core::base64_decoded(encoded);
    const auto saved = bytes
                           ? save_new_file(directory, stem, text_member(block, "mimeType"), *bytes)
                           : Result<std::string>(bytes.error());
    if (saved)
        say(stem + " saved to " + *saved + " (" + std::to_string(bytes->size()) + " bytes)");
    else
        say("error: cannot save " + stem + ": " + saved.error().message);
    return saved.has_value();
}

// What [client] would have to say for the server to be served.
std::string advice_for(const protocol::RpcError& error) {
    constexpr std::int64_t kMissingCapability = -32021;
    if (error.code != kMissingCapability) return {};
    const auto data = core::parse_json(error.data);
    const auto* needed =
        core::object_in(data ? data->if_object() : nullptr, "requiredCapabilities");
    if (!needed) return {};
    std::string advice;
    if (needed->contains("elicitation"))
        advice += "; to be asked at the terminal, add --set client.elicitation=ask";
    if (needed->contains("sampling"))
        advice +=
            "; to answer with a text of yours, add --set client.sampling=fixed and --set "
            "client.sampling_text=TEXT";
    if (needed->contains("roots"))
        advice += "; to offer folders, add --set 'client.roots=[\"DIR\"]'";
    return advice;
}

int first_stdout_error = 0;  // an errno

// stdio keeps that something failed, not why: errno tells that only here.
void write_out(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && first_stdout_error == 0)
        first_stdout_error = errno;
}

}  // namespace

bool stdout_is_terminal() {
    static const bool terminal = ::isatty(1);
    return terminal;
}
bool stderr_is_terminal() {
    static const bool terminal = ::isatty(2);
    return terminal;
}

bool somebody_is_there() {
    return ::isatty(STDIN_FILENO) != 0 && stderr_is_terminal();
}

void say(std::string_view line) {
    say_whole(core::masked(line));
}

void say_whole(std::string_view line) {
    core::standard_error::write(core::printable(line, kShownBytes, true) + "\n");
}

void print_line(std::string_view line) {
    write_out(line);
    write_out("\n");
}

ReadyStdout::ReadyStdout() {
    struct stat info {};
    if (::fstat(1, &info) != 0) return;
    socket_ = S_ISSOCK(info.st_mode);
    // Where that is not allowed, writing blocks. A file never does, and opened anew it would be
    // written from its beginning.
    const bool writable = (::fcntl(1, F_GETFL) & O_ACCMODE) != O_RDONLY;  // else it was closed
    if (writable && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)))
        own_ = ::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

ReadyStdout::~ReadyStdout() {
    if (own_ >= 0) ::close(own_);
}

bool ReadyStdout::write(std::string_view& text) const {
    while (!text.empty() && first_stdout_error == 0) {
        const auto put = socket_ ? ::send(1, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                 : ::write(fd(), text.data(), text.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) return true;
        if (put < 0)
            first_stdout_error = errno;
        else
            text.remove_prefix(static_cast<std::size_t>(put));
    }
    return first_stdout_error == 0;
}

void print_json(std::string_view json) {
    if (stdout_is_terminal())
        print_line(core::printable_json(json));
    else
        print_line(json);
}

// A line break between a server's tokens would begin what looks like another value.
void print_foreign_json(std::string_view json) {
    std::string line(json);
    protocol::flatten(line);
    print_json(line);
}

int stdout_error() {
    if (std::fflush(stdout) != 0 && first_stdout_error == 0) first_stdout_error = errno;
    return first_stdout_error;
}

void print_foreign(std::string_view text) {
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    if (stdout_is_terminal())
        print_line(core::printable(text, kShownBytes, true));
    else
        print_line(text);
}

std::string rpc_error_json(std::string_view raw_error) {
    const auto error = protocol::parse_rpc_error(raw_error);
    auto rpc = core::masked(raw_error);
    // A secret may be a number there, or more than a string.
    if (rpc != raw_error && !core::parse_json(rpc, {})) rpc = json::serialize(json::value(rpc));
    return "{\"kind\":\"server\",\"message\":" +
           json::serialize(
               json::value(core::masked(error ? error->message : error.error().message))) +
           ",\"rpc\":" + rpc + "}";
}

void print_rpc_error(std::string_view raw_error, bool json, const std::string& server) {
    constexpr std::size_t kMessageBytes = 16u << 10;  // a server writes it; --json has all of it
    const auto error = protocol::parse_rpc_error(raw_error);
    const std::string message = error ? error->message : error.error().message;
    if (json) print_foreign_json("{\"error\":" + rpc_error_json(raw_error) + "}");
    say("error: " + (error ? (server.empty() ? "the server" : "server \"" + server + "\"") +
                                 " answered " + std::to_string(error->code) + ": " +
                                 core::printable(message, kMessageBytes, true) + advice_for(*error)
                           : message));
}

void ProgressLine::clear() {
    if (!std::exchange(shown_, false)) return;
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
}

void ProgressLine::show(const std::string& text) {
    if (!stderr_is_terminal() || !moves_its_cursor()) return;
    shown_ = true;
    std::fputs(("\r\x1b[K" + core::printable(text, 200)).c_str(), stderr);
    std::fflush(stderr);
}

std::string table_text(const std::vector<std::vector<Cell>>& rows, Look look) {
    std::vector<std::string>
        shown;  // of each cell; empty: its text, as in a list of thousands it would be copied
    std::vector<std::size_t> widths, of_cells;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (look != Look::Plain) shown.push_back(core::printable(row[i].text, kShownBytes));
            // What is last may be long: nothing stands behind it that it could push away.
            if (i + 1 == row.size()) continue;
            of_cells.push_back(width_of(look == Look::Plain ? row[i].text : shown.back()));
            widths[i] = std::max(widths[i], of_cells.back());
        }
    }
    std::string out;
    std::size_t cell = 0, width = 0;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i, ++cell) {
            const char* escape = look == Look::Colours ? escape_of(row[i].colour) : "";
            out.append(escape).append(look == Look::Plain ? row[i].text : shown[cell]);
            if (*escape) out += "\x1b[0m";
            if (i + 1 < row.size()) out.append(widths[i] - of_cells[width++] + 2, ' ');
        }
        out += '\n';
    }
    return out;
}

std::string date_text(core::Calendar::time_point time) {
    const auto seconds = static_cast<std::time_t>(
        std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
    std::tm parts{};
    char text[40] = "";
    if (!::gmtime_r(&seconds, &parts) ||
        std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts) == 0)
        return "-";
    return text;
}

void print_table(const std::vector<std::vector<Cell>>& rows) {
    const auto text = table_text(rows, colours()              ? Look::Colours
                                       : stdout_is_terminal() ? Look::Terminal
                                                              : Look::Plain);
    write_out(text);
}

// A server sends this: it chooses neither the name nor the place, and no file is written over.
Result<std::string> save_new_file(const std::string& directory, const std::string& stem,
                                  std::string_view mime_type, std::string_view bytes) {
    for (int number = 1; number < 10'000; ++number) {
        const std::string path =
            directory + "/" + stem + "-" + std::to_string(number) + "." + extension_of(mime_type);
        const int fd =
            ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd < 0) return Error{ErrorCode::Io, path + ": " + std::strerror(errno)};
        const bool whole = core::write_whole(fd, bytes);
        const int write_error = errno;
        if (::close(fd) == 0 && whole) return path;
        const int failed = whole ? errno : write_error;  // some disks only say at the end
        ::unlink(path.c_str());
        return Error{ErrorCode::Io, path + ": " + std::strerror(failed)};
    }
    return Error{ErrorCode::Io, "too many files named " + stem + "-N in " + directory};
}

Printed print_content(const json::value& content, const std::string& output_directory) {
    Printed printed;
    const auto save = [&](const json::object& block, std::string_view encoded,
                          const std::string& stem) {
        if (!save_block(block, encoded, stem, output_directory)) printed.failed = true;
    };
    const auto print_block = [&](const json::value& value) {
        const auto* block = value.if_object();
        if (!block) return print_foreign(json::serialize(value));
        const auto type = text_member(*block, "type");
        if (type == "text") {
            printed.text = true;
            return print_foreign(text_member(*block, "text"));
        }
        if (type == "image" || type == "audio")
            return save(*block, text_member(*block, "data"), std::string(type));
        if (type == "resource_link")
            return print_foreign(std::string(text_member(*block, "uri")) + "  " +
                                 std::string(text_member(*block, "name")));
        const auto* resource = block->if_contains("resource");
        const auto* held = resource ? resource->if_object() : nullptr;
        if (held && held->contains("text")) return print_foreign(text_member(*held, "text"));
        if (held && held->contains("blob"))
            return save(*held, text_member(*held, "blob"), "resource");
        print_foreign(json::serialize(value));
    };
    if (const auto* blocks = content.if_array()) {
        for (const auto& block : *blocks) print_block(block);
    } else {
        print_block(content);
    }
    return printed;
}

}  // namespace patchbay::app
