#include "rig.hpp"

#include "measure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace bench {

Command pinned(Command command) {
    command.insert(command.begin(), {"/usr/bin/taskset", "-c", "0"});
    return command;
}

std::string run(const Command& command) {
    Child child(command);
    const std::string line(child.read_line());
    errno = 0;
    if (child.wait() != 0) give_up(command[0] + " failed");
    return line;
}

int repeat(int times, double effort) {
    return std::max(1, static_cast<int>(times * effort));
}

void alternate(int rounds, const std::function<void()>& limit, const std::function<void()>& ours) {
    for (int i = 0; i < rounds; ++i) {
        limit();
        ours();
    }
}

Home::Home(const Programs& programs, int servers, const std::string& settings)
    : programs_(programs) {
    std::string name = std::filesystem::temp_directory_path() / "patchbay-bench-XXXXXX";
    if (!::mkdtemp(name.data())) give_up("cannot make " + name);
    folder_ = name;
    std::ofstream file(config());
    for (int i = 1; i <= servers; ++i) file << "[servers.s" << i << "]\n" << settings;
    if (!file.flush()) give_up("cannot write " + config());
    std::filesystem::current_path(folder_);
    ::clearenv();
    ::setenv("PATH", "/usr/bin:/bin", 1);
    ::setenv("HOME", folder_.c_str(), 1);
}

Home::~Home() {
    std::filesystem::current_path("/");
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

Command Home::command(Command arguments) const {
    arguments.insert(arguments.begin(), {programs_.patchbay(), "--config", config()});
    return arguments;
}

}  // namespace bench
