#include "app/ignored_file.hpp"

#include "app/client_file.hpp"
#include "core/text.hpp"

#include <sstream>
#include <system_error>
#include <vector>

namespace patchbay::app {
namespace fs = std::filesystem;

Result<void> check_no_link(const fs::path& path) {
    std::error_code none;
    if (!fs::is_symlink(path, none)) return {};
    return Error{ErrorCode::Denied, path.string() +
                                        ": it is a link, and may lead out of the project; expected "
                                        "a file or folder of its own"};
}

Result<std::string> ignore_local(const fs::path& project) {
    std::error_code none;
    if (!fs::exists(project / ".git", none)) return std::string("no git checkout");
    const auto path = project / ".gitignore";
    if (auto fine = check_no_link(path); !fine) return fine.error();
    const auto file = ClientFile::read(path);
    if (!file) return file.error();
    std::string text = file->text();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with('\r')) line.pop_back();
        const auto word = core::trimmed(line);
        if (word == kIgnored || word == "/" + std::string(kIgnored))
            return std::string("there already");
    }
    const std::string end = text.find("\r\n") != text.npos ? "\r\n" : "\n";
    if (!text.empty() && !text.ends_with('\n')) text += end;
    text += std::string(kIgnored) + end;
    std::vector<std::string> made;
    if (auto written = file->replace(text, ClientFile::Readers::AsUsual, made); !written)
        return written.error();
    return std::string("added");
}

}  // namespace patchbay::app
