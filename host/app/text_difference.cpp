#include "app/text_difference.hpp"

#include "config/secret_values.hpp"
#include "config/show.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::app {

namespace {

using Lines = std::vector<std::string_view>;
constexpr std::size_t kLongLine = 200, kAround = 60;
constexpr std::size_t kLineBytes = 64u << 10;  // of one line made printable
constexpr std::string_view kMask = "***";

Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

// Lines that went, and those in their place.
struct Hunk {
    std::size_t before, removed, after, added;
};

std::size_t common(const Lines& a, std::size_t i, const Lines& b, std::size_t j) {
    std::size_t count = 0;
    while (i + count < a.size() && j + count < b.size() && a[i + count] == b[j + count]) ++count;
    return count;
}

// The change of one key is one place of the text, and perhaps a comma above it: where the lines in
// between are the same again, there are two.
std::vector<Hunk> hunks_of(const Lines& before, const Lines& after) {
    const auto top = common(before, 0, after, 0);
    std::size_t bottom = 0;
    const auto most = std::min(before.size(), after.size()) - top;
    while (bottom < most && before[before.size() - 1 - bottom] == after[after.size() - 1 - bottom])
        ++bottom;
    const auto removed = before.size() - top - bottom, added = after.size() - top - bottom;
    if (removed == 0 && added == 0) return {};
    const auto same = removed > 0 && added > 0 ? common(before, top + 1, after, top + 1) : 0;
    if (same == 0 || top + 1 + same > before.size() - bottom) return {{top, removed, top, added}};
    const auto next = top + 1 + same;
    return {{top, 1, top, 1},
            {next, before.size() - bottom - next, next, after.size() - bottom - next}};
}

struct Row {
    char sign;
    std::string text, other;  // its line, and the one in its place
};

std::string line_at(const Lines& lines, std::size_t i) {
    auto line = i < lines.size() ? lines[i] : std::string_view();
    if (line.ends_with('\r')) line.remove_suffix(1);
    return std::string(line);
}

std::vector<Row> rows_of(const Hunk& hunk, const Lines& before, const Lines& after) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < hunk.removed; ++i)
        rows.push_back({'-', line_at(before, hunk.before + i), line_at(after, hunk.after + i)});
    for (std::size_t i = 0; i < hunk.added; ++i)
        rows.push_back({'+', line_at(after, hunk.after + i), line_at(before, hunk.before + i)});
    return rows;
}

template <class Mask>
void mask_each(std::vector<Row>& rows, const Mask& mask) {
    for (auto& row : rows) mask(row.text), mask(row.other);
}

// Of a long line what may be shown, and as much beside it as a secret that reaches into that may have,
// each byte of it in six letters: what is far away need not be looked through for each of them.
void shorten(Row& row, std::size_t longest_secret) {
    auto& [sign, text, other] = row;
    if (text.size() <= kLongLine) return other.clear();
    const auto most = std::min(text.size(), other.size()), margin = kAround + 6 * longest_secret;
    const auto front = static_cast<std::size_t>(
        std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first - text.begin());
    const auto alike = static_cast<std::size_t>(
        std::mismatch(text.rbegin(), text.rend(), other.rbegin(), other.rend()).first -
        text.rbegin());
    const auto back = std::min(alike, most - front);
    for (auto* line : {&text, &other}) {
        line->erase(line->size() - (back > margin ? back - margin : 0));
        line->erase(0, front > margin ? front - margin : 0);
    }
}

// As they are, however short; then with the escapes that a format has for them, and by the lines of
// those that have several. What no value of the file is, a remark for one, is known by the name before it.
void mask(std::vector<Row>& rows, const std::vector<std::string>& secrets) {
    mask_each(rows, [&](std::string& line) {
        for (const auto& secret : secrets)
            for (auto at = line.find(secret); at != std::string::npos;
                 at = line.find(secret, at + kMask.size()))
                line.replace(at, secret.size(), kMask);
    });
    const bool escapes = std::any_of(rows.begin(), rows.end(), [](const Row& row) {
        return row.text.find('\\') != std::string::npos;
    });
    for (std::size_t done = 0; done < secrets.size();) {
        core::Secrets some;  // as many as it can hold
        for (; some.size() < core::Secrets::kMost / 2 && done < secrets.size(); ++done)
            if (escapes || secrets[done].find('\n') != std::string::npos) some.add(secrets[done]);
        if (some.size() == 0) break;
        mask_each(rows, [](std::string& line) { line = core::masked(line); });
    }
    mask_each(rows, [](std::string& line) {
        const auto parts = config::secret_parts(line);
        for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
            const auto size = part->end - part->begin;
            if (!config::is_a_reference_alone(std::string_view(line).substr(part->begin, size)))
                line.replace(part->begin, size, kMask);
        }
    });
}

// What both of a pair have at their ends need not be seen where there is much of it.
std::string_view around(std::string_view line, std::string_view other) {
    if (line.size() <= kLongLine) return line;
    const auto front = static_cast<std::size_t>(
        std::mismatch(line.begin(), line.end(), other.begin(), other.end()).first - line.begin());
    const auto back = static_cast<std::size_t>(
        std::mismatch(line.rbegin(), line.rend(), other.rbegin(), other.rend()).first -
        line.rbegin());
    const auto begin = front > kAround ? front - kAround : 0;
    const auto end = std::max(front, line.size() - std::min(back, line.size()));
    return line.substr(begin, std::min(end + kAround, line.size()) - begin);
}

}  // namespace

std::string difference(std::string_view before, std::string_view after, const std::string& name,
                       const std::vector<std::string>& secrets) {
    const auto old_lines = lines_of(before), new_lines = lines_of(after);
    const auto hunks = hunks_of(old_lines, new_lines);
    if (hunks.empty()) return {};
    const auto shown = [](const Row& row) {
        const auto part = around(row.text, row.other);
        const bool cut = part.size() < row.text.size();
        return std::string(1, row.sign) + (cut ? "..." : "") + core::printable(part, kLineBytes) +
               (cut ? "...\n" : "\n");
    };
    std::size_t longest = kLongLine;  // so that what is left is a long line still
    for (const auto& secret : secrets) longest = std::max(longest, secret.size());
    std::string out = "--- " + name + "\n+++ " + name + "\n";
    for (const auto& hunk : hunks) {
        out += "@@ -" + std::to_string(hunk.before + (hunk.removed > 0)) + "," +
               std::to_string(hunk.removed) + " +" + std::to_string(hunk.after + (hunk.added > 0)) +
               "," + std::to_string(hunk.added) + " @@\n";
        auto rows = rows_of(hunk, old_lines, new_lines);
        for (auto& row : rows) shorten(row, longest);
        mask(rows, secrets);  // before they are cut: half of a secret would be known by nobody
        for (const auto& row : rows) out += shown(row);
    }
    return out;
}

}  // namespace patchbay::app
