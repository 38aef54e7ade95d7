#include "connection/server_output.hpp"

#include "config/secret_values.hpp"
#include "core/log.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

#include <utility>
#include <vector>

namespace patchbay::connection {

namespace {
constexpr std::size_t kStderrTail = 5;  // lines kept for error messages
}

void ServerOutput::keep_stderr(std::string_view line) {
    stderr_tail_.push_back(core::printable(core::log::masked(line), 300));
    if (stderr_tail_.size() <= kStderrTail) return;
    if (stderr_first_.empty())
        stderr_first_ = std::move(stderr_tail_.front());
    else
        passed_over_ = true;
    stderr_tail_.pop_front();
}

void ServerOutput::keep_stray(std::string_view line) {
    if (strays_++ == 0) first_stray_ = "\"" + core::printable(core::log::masked(line), 80) + "\"";
}

std::string ServerOutput::with_stderr(std::string text) const {
    if (stderr_tail_.empty()) return text;
    std::vector<std::string> lines;
    if (!stderr_first_.empty()) lines.push_back(stderr_first_);
    if (passed_over_) lines.emplace_back("...");
    lines.insert(lines.end(), stderr_tail_.begin(), stderr_tail_.end());
    // Each for itself: what follows a name of a secret counts as one to the end of its line.
    for (auto& line : lines) line = config::without_secrets(line);
    return text + "; stderr: " + core::join(lines, " | ");
}

std::string ServerOutput::with_strays(std::string text) const {
    if (strays_ == 0) return text;
    return text + "; it wrote " +
           (strays_ == 1 ? "a line that is" : std::to_string(strays_) + " lines that are") +
           " no JSON-RPC " + (strays_ == 1 ? "message: " : "messages, the first: ") +
           core::log::masked(first_stray_);
}

std::string with_log(std::string text, const std::string& server) {
    return text + "; see patchbay mcp logs " + core::shell_word(server);
}

}  // namespace patchbay::connection
