#include "measure.hpp"
#include "rig.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

// Files of configuration: what a look at many scopes takes, and what a change of a large file does.
namespace bench {

namespace {

namespace fs = std::filesystem;

constexpr int kInEachScope = 10;
constexpr std::size_t kLargeFileBytes = 1u << 20;
constexpr int kServersOfLargeFile = 100;

void put(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out << text;
    if (!out.flush()) give_up("cannot write " + file.string());
}

double time_of(const Command& command) {
    const auto start = Clock::now();
    Child child(command);
    child.pass_over();
    errno = 0;
    if (child.wait() != 0) give_up(command[0] + " " + command.back() + " failed");
    return milliseconds_since(start);
}

std::string server_of(const Programs& programs) {
    return "command = \"" + programs.server() + "\"\nargs = [\"-y\", \"word\"]\n";
}

std::string servers_of(const Programs& programs, const std::string& scope) {
    std::string text;
    for (int i = 1; i <= kInEachScope; ++i)
        text += "[servers." + scope + std::to_string(i) + "]\n" + server_of(programs);
    return text;
}

// Those of a client are followed, those of the project approved: all fifty count.
void measure_list(const Programs& programs, double effort, std::vector<Row>& rows) {
    const Home home(programs, kInEachScope, server_of(programs));
    const auto folder = fs::current_path();
    std::string client;
    for (int i = 1; i <= kInEachScope; ++i)
        client += std::string(i > 1 ? ",\n" : "") + "\"c" + std::to_string(i) +
                  "\": {\"command\": \"" + programs.server() + "\"}";
    const std::string user = folder / ".config/patchbay/config.toml";
    const std::string followed = folder / ".cursor/mcp.json";
    const std::string project = folder / "work/.patchbay/config.toml";
    const std::string local = folder / "work/.patchbay.local.toml";
    put(followed, "{\"mcpServers\": {" + client + "}}\n");
    put(user, "[import]\nfollow = [\"cursor\"]\n" + servers_of(programs, "u"));
    put(project, servers_of(programs, "p"));
    put(local, servers_of(programs, "l"));
    fs::current_path(folder / "work");
    Command trust{"-q", "trust", "--yes"};
    for (const char* scope : {"p", "l"})
        for (int i = 1; i <= kInEachScope; ++i) trust.push_back(scope + std::to_string(i));
    time_of(home.command(trust));
    Pair list;
    const auto read = [&] {
        list.limit.push_back(time_of({"/bin/cat", home.config(), user, project, local, followed}));
    };
    const auto look = [&] {
        list.ours.push_back(time_of(home.command({"--alone", "mcp", "list"})));
    };
    look();
    list.ours.clear();
    alternate(repeat(51, effort), read, look);
    rows.push_back({"25", "mcp list, 50 servers of five scopes; cat of them", "ms",
                    median(list.limit), median(list.ours), kNone, 10});
}

// As every safe change of a file: a new one, whole on the disk, in the place of the old.
double time_of_replacing(const fs::path& file, const std::string& text) {
    const auto start = Clock::now();
    const auto fresh = file.string() + ".new";
    const int fd = ::open(fresh.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    const auto put_out = ::write(fd, text.data(), text.size());
    if (fd < 0 || put_out != static_cast<ssize_t>(text.size()) || ::fsync(fd) != 0)
        give_up("cannot write " + fresh);
    ::close(fd);
    fs::rename(fresh, file);
    const int folder = ::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || ::fsync(folder) != 0) give_up("cannot write " + file.parent_path().string());
    ::close(folder);
    return milliseconds_since(start);
}

// Servers among comments, as in a file that has grown for years.
std::string large(const Programs& programs, bool json) {
    std::string text = json ? "{\"servers\": {\n" : "";
    for (int i = 1; i <= kServersOfLargeFile; ++i) {
        const auto id = "s" + std::to_string(i);
        const std::string comment = json ? "// a line of words about it\n" : "# words about it\n";
        const auto end = text.size() + kLargeFileBytes / kServersOfLargeFile - 128;
        while (text.size() < end) text += comment;
        text += json ? "\"" + id + "\": {\"command\": \"" + programs.server() + "\"}" +
                           (i < kServersOfLargeFile ? ",\n" : "\n}}\n")
                     : "[servers." + id + "]\ncommand = \"" + programs.server() + "\"\n";
    }
    return text;
}

void measure_edit(const Programs& programs, double effort, const char* suffix,
                  std::vector<Row>& rows) {
    const Home home(programs, 0, {});
    const bool json = std::string(suffix) == "json";
    const auto text = large(programs, json);
    const auto file = fs::current_path() / ".config/patchbay" / (std::string("config.") + suffix);
    put(file, text);
    Pair edit;
    bool on = true;
    const auto replace = [&] {
        edit.limit.push_back(time_of({"/bin/true"}) +
                             time_of_replacing(fs::current_path() / "copy", text));
    };
    const auto change = [&] {
        on = !on;
        edit.ours.push_back(time_of({programs.patchbay(), "-q", "--alone", "mcp",
                                     on ? "enable" : "disable", "--scope", "user", "s50"}));
    };
    alternate(repeat(21, effort), replace, change);
    rows.push_back(
        {"26",
         std::string("mcp disable in 1 MiB of ") + (json ? "JSON" : "TOML") + "; written, fsync",
         "ms", median(edit.limit), median(edit.ours), kNone, 20});
}

}  // namespace

void measure_config(const Programs& programs, double effort, std::vector<Row>& rows) {
    measure_list(programs, effort, rows);
    measure_edit(programs, effort, "json", rows);
    measure_edit(programs, effort, "toml", rows);
}

}  // namespace bench
