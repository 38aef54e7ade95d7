#include "app/service_unit.hpp"

#include "core/digest.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <sys/un.h>

namespace patchbay::app {

namespace {

constexpr std::string_view kMark =
    "# Written by `patchbay service install`; sha256 of what follows: ";
constexpr std::size_t kUnitNameBytes = 40, kUnitKeyDigits = 8;
constexpr std::size_t kSocketBytes = sizeof(sockaddr_un::sun_path) - 1;

Error unfit(const std::string& text, const std::string& why) {
    return {ErrorCode::Invalid, "\"" + core::printable(text, 200) + "\" " + why};
}

// Nothing that ends a line or hides: it would begin another setting. A line that is not UTF-8 systemd leaves out.
Result<void> check(const std::string& text) {
    const bool plain = std::none_of(text.begin(), text.end(),
                                    [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (!plain) return unfit(text, "has control characters, which no unit of systemd takes");
    if (!core::valid_utf8(text)) return unfit(text, "is not UTF-8, as a unit of systemd has to be");
    return {};
}

// It ends its lines, without quotes: a backslash there would join the next line, and a blank is dropped.
Result<void> check_folder(const std::string& folder) {
    if (folder.ends_with('\\') || folder.ends_with(' '))
        return unfit(folder,
                     "ends with a backslash or a blank, of which a unit of systemd makes "
                     "another folder; rename it");
    return {};
}

Result<void> check_socket(const std::string& path) {
    if (path.size() <= kSocketBytes) return {};
    return unfit(path, "is " + std::to_string(path.size()) +
                           " bytes long, and systemd listens at " + std::to_string(kSocketBytes) +
                           " at most; a shorter XDG_RUNTIME_DIR or state directory helps");
}

// `%` begins a specifier in every setting.
std::string plain(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '%' ? std::string("%%") : std::string(1, c);
    return out;
}

std::string quoted(const std::string& text) {
    std::string out;
    for (const char c : plain(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return "\"" + out + "\"";
}

// Of a command `$` begins a variable too.
std::string word(const std::string& text) {
    std::string out;
    for (const char c : quoted(text)) out += c == '$' ? std::string("$$") : std::string(1, c);
    return out;
}

std::string marked(const std::string& text) {
    return std::string(kMark) + core::sha256_hex(text) + "\n" + text;
}

Result<void> check(const ServiceTerms& terms) {
    std::vector<std::string> all{terms.folder, terms.socket};
    all.insert(all.end(), terms.command.begin(), terms.command.end());
    for (const auto& [name, value] : terms.environment) {
        all.push_back(name);
        all.push_back(value);
    }
    for (const auto& each : all)
        if (auto checked = check(each); !checked) return checked.error();
    if (auto checked = check_folder(terms.folder); !checked) return checked.error();
    return check_socket(terms.socket);
}

}  // namespace

std::string unit_name(const std::string& folder, const std::string& key) {
    std::string name;
    for (const char c : folder.substr(folder.rfind('/') + 1)) {
        if (name.size() == kUnitNameBytes) break;
        const bool fits = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
        name += fits ? c : '_';
    }
    return "patchbay-" + (name.empty() ? "" : name + "-") + key.substr(0, kUnitKeyDigits);
}

// What is forbidden is what no MCP server needs: servers write files, talk to the network and compile code as they
// run, each as its own programs want.
Result<std::string> service_text(const ServiceTerms& terms) {
    if (auto checked = check(terms); !checked) return checked.error();
    std::string text =
        "[Unit]\n"
        "Description=Patchbay, a host of MCP servers, for " +
        plain(terms.folder) +
        "\n"
        "Requires=" +
        terms.name +
        ".socket\n"
        "After=" +
        terms.name +
        ".socket\n"
        "\n[Service]\n"
        "Type=notify\n"
        "NotifyAccess=main\n"
        "WorkingDirectory=" +
        plain(terms.folder) + "\n";
    for (const auto& [name, value] : terms.environment)
        text += "Environment=" + quoted(name + "=" + value) + "\n";
    if (!terms.unset.empty()) text += "UnsetEnvironment=" + core::join(terms.unset, " ") + "\n";
    // Of a command the first word is a path, in which `$` is itself.
    text += "ExecStart=" + quoted(terms.command.front());
    for (std::size_t i = 1; i < terms.command.size(); ++i) text += " " + word(terms.command[i]);
    return marked(text +
                  "\n"
                  "ExecReload=kill -HUP $MAINPID\n"
                  "Restart=on-failure\n"
                  "TimeoutStopSec=20\n"
                  "KillMode=mixed\n"
                  "NoNewPrivileges=yes\n"
                  "LockPersonality=yes\n"
                  "RestrictRealtime=yes\n"
                  "RestrictSUIDSGID=yes\n"
                  "SystemCallArchitectures=native\n"
                  "LimitCORE=0\n"
                  "\n[Install]\n"
                  "Also=" +
                  terms.name +
                  ".socket\n"
                  "WantedBy=default.target\n");
}

Result<std::string> socket_text(const ServiceTerms& terms) {
    if (auto checked = check(terms); !checked) return checked.error();
    return marked(
        "[Unit]\n"
        "Description=Where commands come to Patchbay, for " +
        plain(terms.folder) +
        "\n"
        "\n[Socket]\n"
        "ListenStream=" +
        plain(terms.socket) +
        "\n"
        "SocketMode=0600\n"
        "DirectoryMode=0700\n"
        "\n[Install]\n"
        "WantedBy=sockets.target\n");
}

Authorship authorship_of(std::string_view unit) {
    if (!unit.starts_with(kMark)) return Authorship::Others;
    unit.remove_prefix(kMark.size());
    const auto end = unit.find('\n');
    if (end == std::string_view::npos) return Authorship::Changed;
    return unit.substr(0, end) == core::sha256_hex(unit.substr(end + 1)) ? Authorship::Ours
                                                                         : Authorship::Changed;
}

}  // namespace patchbay::app
