#include "integration/home.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/inotify.h>
#include <unistd.h>

namespace patchbay::test {

namespace fs = std::filesystem;
namespace json = boost::json;

std::string built(const std::string& path) {
    return std::string(PATCHBAY_BUILD_DIR) + "/" + path;
}
std::string example_server() {
    return built("bin/patchbay-example-server");
}

namespace {

// With the options of the sanitizers that the build may have.
std::map<std::string, std::string> base_environment(const fs::path& root) {
    std::map<std::string, std::string> all{{"HOME", root},
                                           {"PATH", "/usr/bin:/bin"},
                                           {"LANG", "C.UTF-8"},
                                           {"XDG_CONFIG_HOME", root / "config"},
                                           {"XDG_DATA_HOME", root / "data"},
                                           {"XDG_STATE_HOME", root / "state"},
                                           {"XDG_CACHE_HOME", root / "cache"},
                                           {"XDG_RUNTIME_DIR", root / "run"}};
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
        if (const char* value = std::getenv(name)) all[name] = value;
    }
    return all;
}

json::array words(const Words& list) {
    return json::array(list.begin(), list.end());
}

}  // namespace

void Home::measure_memory() {
    // Else AddressSanitizer keeps up to 256 MiB of what was freed, which is no growth of the host.
    auto& options = environment["ASAN_OPTIONS"];
    options += (options.empty() ? "" : ":") + std::string("quarantine_size_mb=1");
}

Home::Home() {
    for (const char* folder : {"work/.git", "config/patchbay", "data", "state", "cache", "run"})
        fs::create_directories(root_ / folder);
    fs::permissions(root_ / "run", fs::perms::owner_all);
    environment = base_environment(root_);
}

std::string Home::write(const fs::path& path, std::string_view text) {
    const fs::path file = work() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
}

void Home::add(const std::string& id, json::object server) {
    servers_[id] = std::move(server);
    write(user_config() / "mcp.json", json::serialize(json::object{{"mcpServers", servers_}}));
}

void Home::add_example(const std::string& id, const Words& flags, json::object more) {
    more["command"] = example_server();
    more["args"] = words(flags);
    add(id, std::move(more));
}

std::string Home::add_recorded(const std::string& id, const Words& flags, json::object more) {
    const std::string file = root_ / (id + ".input");
    // The file comes first: what the server has answered is in it. tee writes to its stdout, which
    // is the file here, before it writes to what it is given by name, which is the pipe.
    std::string line = "tee /dev/fd/3 3>&1 >'" + file + "' | exec '" + example_server() + "'";
    for (const auto& flag : flags) line += " " + flag;
    more["command"] = "/bin/sh";
    more["args"] = words({"-c", line});
    add(id, std::move(more));
    return file;
}

std::string Home::add_hostile(const std::string& id, const Words& modes) {
    const std::string file = root_ / (id + ".ready");
    std::string line = "exec 3>&1 >'" + file + "'; exec '" + built("tests/peers/hostile") + "' " +
                       root_.filename().string();
    for (const auto& mode : modes) line += " " + mode;
    add(id, {{"command", "/bin/sh"}, {"args", words({"-c", line})}});
    return file;
}

Command Home::patchbay(Words arguments, std::string input) const {
    arguments.insert(arguments.begin(), built("bin/patchbay"));
    return {std::move(arguments), environment, work(), std::move(input), kDeadline};
}

Lines::Lines(std::string_view out) {
    while (!out.empty()) {
        const auto end = out.find('\n');
        if (end == std::string_view::npos) {
            ADD_FAILURE() << "a line without its end: " << out.substr(0, 200);
            return;
        }
        json::error_code failed;
        const auto value = json::parse({out.data(), end}, failed);
        if (failed || !value.is_object())
            ADD_FAILURE() << "not a JSON object: "
                          << out.substr(0, std::min<std::size_t>(end, 200));
        else
            all.push_back(value.get_object());
        out.remove_prefix(end + 1);
    }
}

std::size_t Lines::place(const json::value& id) const {
    std::size_t found = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto* own = all[i].if_contains("id");
        if (!own || *own != id || all[i].contains("event")) continue;
        EXPECT_EQ(found, all.size()) << "a second answer to " << json::serialize(id);
        found = i;
    }
    EXPECT_NE(found, all.size()) << "no answer to " << json::serialize(id);
    return found;
}

const json::object& Lines::answer(const json::value& id) const {
    static const json::object none;
    const auto found = place(id);
    return found < all.size() ? all[found] : none;
}

std::string Lines::kind(const json::value& id) const {
    const auto* error = answer(id).if_contains("error");
    return error ? json::value_to<std::string>(error->at("kind")) : "";
}

std::string Lines::message(const json::value& id) const {
    const auto* error = answer(id).if_contains("error");
    return error ? json::value_to<std::string>(error->at("message")) : "";
}

std::string Lines::text(const json::value& id) const {
    json::error_code failed;
    const json::value whole = answer(id);
    const auto* text = whole.find_pointer("/result/content/0/text", failed);
    return text && text->is_string() ? json::value_to<std::string>(*text)
                                     : "no text in " + json::serialize(whole).substr(0, 300);
}

std::vector<json::object> Lines::events(std::string_view event, std::string_view method) const {
    std::vector<json::object> found;
    const auto says = [](const json::object& line, std::string_view key, std::string_view text) {
        const auto* value = line.if_contains(key);
        return value && value->is_string() && std::string_view(value->get_string()) == text;
    };
    for (const auto& line : all) {
        if (says(line, "event", event) && (method.empty() || says(line, "method", method)))
            found.push_back(line);
    }
    return found;
}

TcpServer::TcpServer(const Home& home, const Words& flags)
    : program_([&] {
          fs::remove(home.root() / "port");  // of another one
          Command command{{example_server(), "--tcp", "0", "--port-file", home.root() / "port"},
                          home.environment,
                          home.work(),
                          {},
                          kDeadline};
          command.argv.insert(command.argv.end(), flags.begin(), flags.end());
          return command;
      }()) {
    const auto file = home.root() / "port";
    if (!wait_for_file(file, "\n"))
        ADD_FAILURE() << "the server opened no port; it says: " << program_.err();
    std::ifstream(file) >> port_;
}

bool wait_for_file(const fs::path& file, std::string_view text) {
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    const int watch = ::inotify_init1(IN_CLOEXEC);
    ::inotify_add_watch(watch, file.parent_path().c_str(),
                        IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_CLOSE_WRITE);
    bool found = false;
    while (!(found = read_file(file).find(text) != std::string::npos)) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        pollfd ready{watch, POLLIN, 0};
        char events[4096];
        if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
        if (::read(watch, events, sizeof events) <= 0) break;
    }
    ::close(watch);
    return found;
}

// Of a process that goes meanwhile /proc has less, which is no trouble.
std::string read_file(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return std::move(text).str();
}

}  // namespace patchbay::test
