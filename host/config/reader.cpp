#include "config/reader.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace patchbay::config {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

Mark mark_of(std::string_view text, std::size_t offset) {
    const auto before = text.substr(0, offset);
    const auto line_start =
        before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {static_cast<unsigned>(1 + std::count(before.begin(), before.end(), '\n')),
            static_cast<unsigned>(offset - line_start + 1)};
}

// The start of the first line that is not UTF-8.
std::size_t first_invalid(std::string_view text) {
    std::size_t line_start = 0;
    while (line_start < text.size()) {
        const auto end = std::min(text.find('\n', line_start), text.size());
        if (!core::valid_utf8(text.substr(line_start, end - line_start))) return line_start;
        line_start = end + 1;
    }
    return 0;
}

std::optional<Problem> check_encoding(std::string_view text) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
        return Problem{{1, 1}, "the file is UTF-16; save it as UTF-8"};
    }
    if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
        return Problem{mark_of(text, nul), "a NUL byte; configuration is UTF-8 text"};
    }
    if (!core::valid_utf8(text)) {
        return Problem{mark_of(text, first_invalid(text)), "this line is not valid UTF-8"};
    }
    return {};
}

}  // namespace

std::optional<Format> format_of(std::string_view path) {
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos) return {};
    const auto written = core::lower(path.substr(dot));
    for (const auto& [suffix, format] : kSuffixes)
        if (written == suffix) return format;
    return {};
}

Parsed parse(std::string_view text, Format format, const Bounds& bounds) {
    if (text.size() > bounds.bytes) {
        return {{},
                Problem{{},
                        "the file is larger than " + std::to_string(bounds.bytes >> 20) +
                            " MiB, the limit for configuration",
                        RuleId::TooLarge}};
    }
    if (auto problem = check_encoding(text)) return {{}, std::move(problem)};
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    // Within a file nobody sees it, and it makes an unknown key of the one it stands before.
    if (const auto again = text.find(kByteOrderMark); again != std::string_view::npos) {
        return {{},
                Problem{mark_of(text, again), "a byte order mark inside of the file; remove it"}};
    }
    switch (format) {
        case Format::Toml:
            return parse_toml(text, bounds);
        case Format::Yaml:
            return parse_yaml(text, bounds);
        case Format::Json:
            return parse_json(text, bounds);
    }
    return {};
}

Problem too_deep(Mark mark) {
    return {mark, "nested deeper than " + std::to_string(kFileDepth) + " levels, the limit",
            RuleId::TooLarge};
}

Problem too_many_values(Mark mark, const Bounds& bounds) {
    return {mark,
            "more than " + std::to_string(bounds.nodes) +
                " values after aliases are expanded, the limit",
            RuleId::TooLarge};
}

Problem given_twice(std::string_view key, Mark first, Mark second) {
    return {second,
            "the key \"" + core::printable(key, 80) + "\" was already given at line " +
                std::to_string(first.line) + ", column " + std::to_string(first.column),
            RuleId::DuplicateKey};
}

Problem not_a_table(const Node& root) {
    return {root.mark,
            std::string("the file holds ") + name_of(root.kind) + "; expected a table of settings",
            RuleId::InvalidValue};
}

}  // namespace patchbay::config
