#include "app/verb.hpp"

#include "app/log_levels.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sys/stat.h>

namespace patchbay::app {

namespace {

// Asked before the tool is called: what it did could not be undone when its answer is lost.
std::string no_folder(const std::string& path) {
    struct stat info {};
    const int failed = ::stat(path.c_str(), &info) != 0 ? errno
                       : S_ISDIR(info.st_mode)          ? 0
                                                        : ENOTDIR;
    if (failed == 0) return {};
    return "nothing can be saved in \"" + path + "\": " + std::strerror(failed);
}

}  // namespace

CLI::App& add_verb(CLI::App& parent, const std::string& name, const std::string& what,
                   const std::string& examples) {
    auto& made = *parent.add_subcommand(name, what);
    made.footer("Examples:\n" + examples +
                "\nOptions of every verb (--json, --config, ...): patchbay --help");
    return made;
}

void add_globals(CLI::App& app, GlobalOptions& global) {
    take_each(app, "--config", global.config_files, "FILE",
              "Read this configuration file too (repeatable)");
    take_each(app, "--set", global.sets, "KEY=VALUE",
              "Set one key, e.g. servers.files.enabled=false (repeatable)");
    take_each(app, "--plugin-dir", global.plugin_directories, "DIR",
              "Look for plugins here first (repeatable)");
    app.add_option("--log-level", global.log_level, "trace, debug, info, warn, error or off")
        ->type_name("LEVEL")
        ->check([](const std::string& word) {
            const std::vector<std::string> levels(std::begin(kLogLevels), std::end(kLogLevels));
            return std::find(levels.begin(), levels.end(), word) != levels.end()
                       ? std::string()
                       : "\"" + core::printable(word, 80) + "\" is none of " +
                             core::join(levels, ", ") + core::did_you_mean(word, levels);
        });
    app.add_flag("--json", global.json, "Print JSON");
    app.add_flag("--alone", global.alone,
                 "Ask no running host (`patchbay run`), as with PATCHBAY_ALONE=1");
    app.add_flag("-v,--verbose", global.verbose,
                 "Say whether a running host is asked, and why not");
    app.add_flag("-q,--quiet", global.quiet, "No warnings on stderr");
}

void take_server(CLI::App& verb, std::string& server, const std::string& what) {
    verb.add_option("--server", server, what)->type_name("ID");
}

void take_yes(CLI::App& verb, bool& yes) {
    verb.add_flag("-y,--yes", yes,
                  "Approve beforehand of what a rule wants approved, but for what an "
                  "administrator's asks each time");
}

GlobalOptions with_yes(GlobalOptions global, bool yes) {
    global.yes = yes;
    return global;
}

void take_output_directory(CLI::App& verb, std::string& directory, const std::string& what) {
    verb.add_option("--output", directory, what)
        ->type_name("DIR")
        ->check(no_folder)
        ->capture_default_str();
}

void take_each(CLI::App& verb, const std::string& option, std::vector<std::string>& values,
               const std::string& type, const std::string& what) {
    verb.add_option(option, values, what)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
}

}  // namespace patchbay::app
