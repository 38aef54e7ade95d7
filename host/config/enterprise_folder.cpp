#include "config/enterprise_folder.hpp"

#include "config/reader.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>

namespace patchbay::config {

namespace {

// What editors, package managers and who keeps copies or digests leave beside a file.
bool is_leftover(std::string_view name) {
    if (name.ends_with('~') || name.starts_with(".#")) return true;
    if (name.starts_with('#') && name.ends_with('#')) return true;
    const auto last = name.substr(std::min(name.rfind('.'), name.size()));
    for (const char* known : {".bak", ".orig", ".old", ".save", ".tmp", ".new", ".swp", ".sha256",
                              ".sig", ".asc", ".pem", ".crt", ".key", ".md"})
        if (last == known) return true;
    return last.starts_with(".dpkg-") || last.starts_with(".rpm") || last.starts_with(".ucf-");
}

}  // namespace

std::vector<std::string> suffixes() {
    std::vector<std::string> known;
    for (const auto& [suffix, format] : kSuffixes) known.emplace_back(suffix);
    return known;
}

bool is_nearly_enterprise(const std::string& name) {
    static const core::Spelling stem("enterprise");
    const std::string seen(core::trimmed(core::lower(core::seen(name))));
    if (is_leftover(seen)) return false;
    if (seen.starts_with("enterprise")) return true;
    const std::filesystem::path path(seen);
    if (stem.distance(path.stem().string()).value_or(3) > 2) return false;
    const auto known = suffixes();
    return std::any_of(known.begin(), known.end(), [&](const std::string& one) {
        return core::Spelling(one).distance(path.extension().string()).value_or(2) <= 1;
    });
}

Entries entries_of(const std::string& directory) {
    Entries listing;
    for (std::filesystem::directory_iterator each(directory, listing.failed), end;
         !listing.failed && each != end; each.increment(listing.failed))
        listing.names.push_back(each->path().filename().string());
    std::sort(listing.names.begin(), listing.names.end());
    return listing;
}

std::string fault_of_folder(const std::string& path) {
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0)
        return errno == ENOENT ? "" : std::string("cannot read it: ") + std::strerror(errno);
    if (::stat(path.c_str(), &status) != 0)
        return std::string("a link that leads to no folder: ") + std::strerror(errno);
    return S_ISDIR(status.st_mode) ? "" : "not a folder";
}

}  // namespace patchbay::config
