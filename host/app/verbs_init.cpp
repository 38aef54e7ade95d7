// patchbay init: the first configuration file of a project.
#include "app/client_file.hpp"
#include "app/compiled_in.hpp"
#include "app/config_schema.hpp"
#include "app/ignored_file.hpp"
#include "app/output.hpp"
#include "app/scope_file.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "config/load.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kFolder = ".patchbay";
constexpr const char* kSchemaFile = "patchbay.schema.json";  // as the starters name it

struct InitOptions {
    std::string format = "toml";
    bool yes = false, no_import = false;
};

Result<void> write_new(const fs::path& path, std::string_view text) {
    const auto file = ClientFile::read(path);
    if (!file) return file.error();
    std::vector<std::string> made;
    auto written = file->replace(text, ClientFile::Readers::AsUsual, made);
    if (!written) remove_folders(made);
    return written;
}

// One of any format is the project's already.
Result<void> check_new(const fs::path& folder) {
    for (const auto& [suffix, format] : config::kSuffixes) {
        const auto path = folder / ("config" + std::string(suffix));
        std::error_code none;
        if (fs::exists(fs::symlink_status(path, none)))
            return Error{ErrorCode::Invalid,
                         path.string() +
                             ": it is there already, and nothing is overwritten; patchbay mcp add "
                             "writes a server into it, patchbay config check says what is wrong"};
    }
    return {};
}

std::string_view starter(const std::string& format) {
    const auto all = starter_files();
    const auto found = std::find_if(all.begin(), all.end(), [&](const CompiledIn& each) {
        return each.name == "config." + format;
    });
    return found == all.end() ? std::string_view() : found->text;
}

// Files of ours in a checkout of somebody else would be read by nobody: not by them, nor in their folder by us.
Result<void> check_owner(const fs::path& project) {
    struct stat about {};
    if (::stat(project.c_str(), &about) != 0)
        return Error{ErrorCode::Io,
                     "cannot look at " + project.string() + ": " + std::strerror(errno)};
    if (about.st_uid == ::geteuid() || about.st_uid == 0) return {};
    return Error{ErrorCode::Denied,
                 project.string() + " belongs to user " + std::to_string(about.st_uid) +
                     ", not to you (" + std::to_string(::geteuid()) +
                     "): no file of a project counts where another user may write; patchbay mcp "
                     "add --scope user writes what you have everywhere"};
}

bool may_be_asked(const GlobalOptions& global) {
    return !global.json && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

int init_verb(const GlobalOptions& global, const InitOptions& options) {
    const auto environment = environment_of(global);
    const fs::path project = project_folder(environment);
    const auto folder = project / kFolder;
    if (project == environment.home)
        return report({ErrorCode::Invalid,
                       "this is your home, and no project: what stands here would count in all of "
                       "them; patchbay mcp add --scope user writes what you have everywhere"},
                      global);
    if (auto fine = check_owner(project); !fine) return report(fine.error(), global);
    const auto file = folder / ("config." + options.format);
    const auto ignore_file = project / ".gitignore";
    for (const auto& path : {folder, folder / kSchemaFile, ignore_file})
        if (auto fine = check_no_link(path); !fine) return report(fine.error(), global);
    // Before the first of them is written: a second init would refuse what a first has left.
    if (const auto read = ClientFile::read(ignore_file); !read) return report(read.error(), global);
    if (auto fine = check_new(folder); !fine) return report(fine.error(), global);
    std::error_code none;
    const bool has_schema = fs::exists(folder / kSchemaFile, none);
    if (!has_schema)
        if (auto written = write_new(folder / kSchemaFile, std::string(kConfigSchema) + "\n");
            !written)
            return report(written.error(), global);
    if (auto written = write_new(file, starter(options.format)); !written)
        return report(written.error(), global);
    const auto ignored = ignore_local(project);
    if (!global.json) {
        say("written: " + file.string() + ", and " + kSchemaFile + " beside it for editors" +
            (has_schema ? ", which was there" : ""));
        if (ignored && *ignored == "added")
            say("written: " + std::string(kIgnored) + " into .gitignore, for what is yours alone");
    }
    auto offer = options.no_import      ? Offer::Nothing
                 : options.yes          ? Offer::All
                 : may_be_asked(global) ? Offer::Ask
                                        : Offer::Nothing;
    json::array imported;
    const int code = offer_import(global, offer, imported);
    if (global.json)
        print_json(json::serialize(json::object{
            {"file", file.string()},
            {"schema", (folder / kSchemaFile).string()},
            {"gitignore", ignored ? json::value(*ignored) : json::value("not written")},
            {"imported", std::move(imported)}}));
    else if (offer == Offer::Nothing)
        say("patchbay import --dry-run --scope project shows what other clients have");
    return ignored ? code : report(ignored.error(), global);
}

}  // namespace

void add_init_verb(CLI::App& app, Choice& choice) {
    const auto options = std::make_shared<InitOptions>();
    auto& init = add_verb(
        app, "init", "Write the first configuration file of a project, with comments to go on from",
        "  patchbay init\n  patchbay init --format yaml --no-import\n  patchbay init --yes\n"
        ".patchbay/config.toml in the root of the checkout, else here, with the JSON Schema for "
        "editors beside it;\nin a git checkout .patchbay.local.* is added to .gitignore. What is "
        "there is never overwritten. At a\nterminal the servers that other clients have "
        "(patchbay import) are offered: yours go into .patchbay.local.toml,\nthose of the checkout "
        "into the new file. Secrets in clear text among them are kept as `patchbay secret` keeps "
        "them.");
    init.add_option("--format", options->format, "Of the file: toml, yaml or json (with comments)")
        ->check(CLI::IsMember({"toml", "yaml", "json"}))
        ->capture_default_str();
    auto* none =
        init.add_flag("--no-import", options->no_import, "Offer no servers of other clients");
    init.add_flag("--yes", options->yes,
                  "Ask nothing: take over each server that your other clients have, into "
                  ".patchbay.local.toml")
        ->excludes(none);
    choice.on(init, [options](const auto& global) { return init_verb(global, *options); });
}

}  // namespace patchbay::app
