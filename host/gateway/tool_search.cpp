#include "gateway/tool_search.hpp"

#include "core/limits.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace patchbay::gateway {

namespace {

constexpr unsigned kOfTheName = 8, kInTheName = 3, kOfTheDescription = 2, kInTheDescription = 1;

// Letters and digits; what is beyond ASCII belongs to words.
bool is_of_a_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::string> words_of(std::string_view text, std::size_t most) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : core::lower(text) + " ") {
        if (is_of_a_word(c)) {
            word += c;
        } else if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
            if (words.size() == most) break;
        }
    }
    return words;
}

// `wanted` is a word. There may be thousands of texts, all of which are looked at in one turn of the
// loop: none is cut into words of its own.
unsigned worth(std::string_view wanted, std::string_view text, unsigned whole, unsigned part) {
    const auto is_inside = [&](std::size_t at) {
        return at < text.size() && is_of_a_word(text[at]);
    };
    unsigned found = 0;
    for (auto at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
        if ((at == 0 || !is_inside(at - 1)) && !is_inside(at + wanted.size())) return whole;
        found = part;
    }
    return found;
}

}  // namespace

std::vector<const router::ListedTool*> best_tools(std::string_view query,
                                                  const std::vector<router::ListedTool>& tools,
                                                  std::size_t most) {
    const auto wanted = words_of(query, kMostWords);
    std::vector<std::pair<unsigned, const router::ListedTool*>> found;
    for (const auto& tool : tools) {
        const auto name = core::lower(tool.public_name);
        const auto about = core::lower(
            core::utf8_prefix(tool.tool->text("description"), core::Limits{}.description_bytes));
        unsigned sum = 0;
        for (const auto& each : wanted)
            sum += worth(each, name, kOfTheName, kInTheName) +
                   worth(each, about, kOfTheDescription, kInTheDescription);
        if (sum > 0) found.emplace_back(sum, &tool);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (found.size() > most) found.resize(most);
    std::vector<const router::ListedTool*> best;
    for (const auto& each : found) best.push_back(each.second);
    return best;
}

}  // namespace patchbay::gateway
