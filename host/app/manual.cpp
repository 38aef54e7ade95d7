#include "app/manual.hpp"

#include <cctype>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <vector>

namespace patchbay::app {

namespace {

constexpr std::size_t kColumns = 78;

// So that every sign is what it is typed as: roff makes typographic ones of some.
std::string escaped_roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\\':
                out += "\\(rs";
                break;
            case '-':
                out += "\\-";
                break;
            case '\'':
                out += "\\(aq";
                break;
            case '`':
                out += "\\(ga";
                break;
            case '"':
                out += "\\(dq";
                break;
            case '^':
                out += "\\(ha";
                break;
            case '~':
                out += "\\(ti";
                break;
            default:
                out += c;
        }
    }
    // At the head of a line it would be a request.
    return out.starts_with('.') ? "\\&" + out : out;
}

// The words of the text, in lines that anybody can read.
std::string filled(const std::string& text) {
    std::string out, line, word;
    for (std::istringstream words(text); words >> word;) {
        word = escaped_roff(word);
        if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
            out += line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return line.empty() ? out : out + line + "\n";
}

// "patchbay mcp add"
std::string words_of(const CLI::App& verb) {
    const auto* parent = verb.get_parent();
    return (parent ? words_of(*parent) + " " : std::string()) + verb.get_name();
}

std::string in_upper_case(std::string text) {
    for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

// CLI11 has one text for people; the same parts, put together for roff.
class Page : public CLI::Formatter {
public:
    std::string of(const CLI::App& verb, const std::string& date) const {
        const auto title = in_upper_case(name_of_page(verb));
        std::string out = ".TH " + escaped_roff(title) + " 1 " + date +
                          " \"patchbay " PATCHBAY_VERSION "\" Patchbay\n.SH NAME\n";
        out += escaped_roff(name_of_page(verb)) + " \\- " + filled(verb.get_description());
        out += ".SH SYNOPSIS\n" + synopsis(verb);
        out += arguments(verb) + options(verb) + commands(verb);
        return out + footer(verb.get_footer()) + see_also(verb);
    }

private:
    // "\nUsage: patchbay mcp add [OPTIONS] ID\n" without its label.
    std::string synopsis(const CLI::App& verb) const {
        const auto usage = make_usage(&verb, words_of(verb));
        const auto begin = usage.find(words_of(verb));
        return begin == usage.npos ? filled(usage) : filled(usage.substr(begin));
    }

    static std::string entry(const std::string& name, const std::string& what) {
        const auto text = filled(what);
        return ".TP\n\\fB" + escaped_roff(name) + "\\fR\n" + (text.empty() ? "\\&\n" : text);
    }
    std::string entry(const CLI::Option& option, bool positional) const {
        const auto text = filled(make_option_desc(&option));
        auto value = make_option_opts(&option);
        if (const auto first = value.find_first_not_of(' '); first != value.npos)
            value.erase(0, first);
        return ".TP\n\\fB" + escaped_roff(make_option_name(&option, positional)) + "\\fR" +
               (value.empty() ? "" : " \\fI" + escaped_roff(value) + "\\fR") + "\n" +
               (text.empty() ? "\\&\n" : text);
    }

    std::string arguments(const CLI::App& verb) const {
        std::string out;
        for (const auto* each : verb.get_options())
            if (each->get_positional() && !each->get_group().empty()) out += entry(*each, true);
        return out.empty() ? out : ".SH ARGUMENTS\n" + out;
    }

    std::string options(const CLI::App& verb) const {
        std::string out;
        for (const auto& group : verb.get_groups()) {
            if (group.empty()) continue;  // of what is hidden
            std::string listed;
            for (const auto* each : verb.get_options())
                if (each->get_group() == group && each->nonpositional())
                    listed += entry(*each, false);
            if (!listed.empty())
                out += ".SH \"" + escaped_roff(in_upper_case(group)) + "\"\n" + listed;
        }
        return out;
    }

    static std::string commands(const CLI::App& verb) {
        std::string out;
        for (const auto* each : verb.get_subcommands({}))
            if (!each->get_group().empty())
                out += entry(each->get_display_name(true), each->get_description());
        return out.empty() ? out : ".SH COMMANDS\n" + out;
    }

    // Examples are indented and stand as they are, what is not is text; "Exit codes:" begins a part of its own.
    static std::string footer(const std::string& text) {
        constexpr std::string_view kExits = "Exit codes:", kOfEveryVerb = "Options of every verb";
        constexpr std::string_view kExitHeading = ".SH \"EXIT STATUS\"\n";
        std::string out, examples, paragraph, line;
        const auto end_examples = [&] {
            if (!examples.empty()) out += ".nf\n" + examples + ".fi\n";
            examples.clear();
        };
        const auto end_paragraph = [&] {
            if (!paragraph.empty())
                out += (out.ends_with(kExitHeading) ? "" : ".PP\n") + filled(paragraph);
            paragraph.clear();
        };
        for (std::istringstream lines(text); std::getline(lines, line);) {
            if (line == "Examples:") {
                out += ".SH EXAMPLES\n";
            } else if (line.starts_with(kExits)) {
                end_examples();
                end_paragraph();
                out += kExitHeading;
                paragraph = line.substr(kExits.size());
            } else if (line.starts_with("  ") && paragraph.empty()) {
                examples += escaped_roff(line.substr(2)) + "\n";
            } else if (!line.empty()) {
                end_examples();
                if (line.starts_with(kOfEveryVerb)) end_paragraph();
                paragraph += " " + line;
            }
        }
        end_examples();
        end_paragraph();
        return out;
    }

    static std::string see_also(const CLI::App& verb) {
        std::vector<std::string> pages;
        for (const auto* above = verb.get_parent(); above; above = above->get_parent())
            pages.insert(pages.begin(), name_of_page(*above));
        for (const auto* each : verb.get_subcommands({}))
            if (!each->get_group().empty()) pages.push_back(name_of_page(*each));
        std::string out;
        for (std::size_t i = 0; i < pages.size(); ++i)
            out +=
                ".BR " + escaped_roff(pages[i]) + " (1)" + (i + 1 < pages.size() ? " ,\n" : "\n");
        return out.empty() ? out : ".SH \"SEE ALSO\"\n" + out;
    }
};

}  // namespace

std::string name_of_page(const CLI::App& verb) {
    const auto* parent = verb.get_parent();
    return (parent ? name_of_page(*parent) + "-" : std::string()) + verb.get_name();
}

std::string manual_page(const CLI::App& verb, const std::string& date) {
    return Page().of(verb, date);
}

}  // namespace patchbay::app
