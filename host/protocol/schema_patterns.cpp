// The only door to RE2.
#include "protocol/schema_node.hpp"

#include <re2/re2.h>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::protocol::schema {

namespace {

bool is_hex(std::string_view digits) {
    return !digits.empty() && digits.find_first_not_of("0123456789abcdefABCDEF") == digits.npos;
}

// RE2 knows general categories by their short names and scripts by their names; ECMA-262 knows
// both, also with a word before them. Empty: nothing that RE2 has.
std::string property_named(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kCategories[] = {
        {"Letter", "L"},
        {"Uppercase_Letter", "Lu"},
        {"Lowercase_Letter", "Ll"},
        {"Titlecase_Letter", "Lt"},
        {"Modifier_Letter", "Lm"},
        {"Other_Letter", "Lo"},
        {"Mark", "M"},
        {"Combining_Mark", "M"},
        {"Nonspacing_Mark", "Mn"},
        {"Spacing_Mark", "Mc"},
        {"Enclosing_Mark", "Me"},
        {"Number", "N"},
        {"Decimal_Number", "Nd"},
        {"digit", "Nd"},
        {"Letter_Number", "Nl"},
        {"Other_Number", "No"},
        {"Punctuation", "P"},
        {"punct", "P"},
        {"Connector_Punctuation", "Pc"},
        {"Dash_Punctuation", "Pd"},
        {"Open_Punctuation", "Ps"},
        {"Close_Punctuation", "Pe"},
        {"Initial_Punctuation", "Pi"},
        {"Final_Punctuation", "Pf"},
        {"Other_Punctuation", "Po"},
        {"Symbol", "S"},
        {"Math_Symbol", "Sm"},
        {"Currency_Symbol", "Sc"},
        {"Modifier_Symbol", "Sk"},
        {"Other_Symbol", "So"},
        {"Separator", "Z"},
        {"Space_Separator", "Zs"},
        {"Line_Separator", "Zl"},
        {"Paragraph_Separator", "Zp"},
        {"Control", "Cc"},
        {"cntrl", "Cc"},
        {"Format", "Cf"},
        {"Private_Use", "Co"},
    };
    for (const std::string_view kind : {"General_Category=", "gc=", "Script=", "sc="})
        if (name.starts_with(kind)) name.remove_prefix(kind.size());
    for (const auto& [full, short_name] : kCategories)
        if (name == full) return std::string(short_name);
    return std::string(name);  // a short name or a script, or RE2 says that it is none
}

// What ECMA-262 spells differently from RE2: \uXXXX, \u{X}, \cX, \p{Name} and (?<name>. Surrogates
// stay as they are, so that RE2 refuses them: alone they are no character.
std::string translated(std::string_view ecma) {
    std::string out;
    for (std::size_t i = 0; i < ecma.size(); ++i) {
        const auto rest = ecma.substr(i);
        if (rest.substr(0, 3) == "(?<" && rest.size() > 3 && rest[3] != '=' && rest[3] != '!') {
            out += "(?P<";
            i += 2;
        } else if (rest[0] != '\\' || rest.size() < 2) {
            out += rest[0];
        } else if (rest[1] == 'u' && rest.size() >= 6 && is_hex(rest.substr(2, 4)) &&
                   !((rest[2] == 'd' || rest[2] == 'D') && rest[3] >= '8')) {
            out.append("\\x{").append(rest.substr(2, 4)) += '}';
            i += 5;
        } else if (rest.substr(1, 2) == "u{" && rest.find('}') != rest.npos &&
                   is_hex(rest.substr(3, rest.find('}') - 3))) {
            const auto end = rest.find('}');
            out.append("\\x{").append(rest.substr(3, end - 3)) += '}';
            i += end;
        } else if ((rest[1] == 'p' || rest[1] == 'P') && rest.substr(2, 1) == "{" &&
                   rest.find('}') != rest.npos) {
            const auto end = rest.find('}');
            out.append(rest.substr(0, 3)).append(property_named(rest.substr(3, end - 3))) += '}';
            i += end;
        } else if (rest[1] == 'c' && rest.size() >= 3 &&
                   std::isalpha(static_cast<unsigned char>(rest[2]))) {
            constexpr char kDigits[] = "0123456789abcdef";
            const int code = rest[2] & 0x1F;
            out.append("\\x").append({kDigits[code >> 4], kDigits[code & 15]});
            i += 2;
        } else {
            out += rest.substr(0, 2);
            i += 1;
        }
    }
    return out;
}

}  // namespace

struct Pattern::Program {
    explicit Program(const std::string& text, const re2::RE2::Options& options)
        : expression(text, options) {}
    re2::RE2 expression;
};

Pattern::Pattern(std::string_view ecma, std::int64_t most_memory) : text_(ecma) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(most_memory);
    auto program = std::make_unique<const Program>(translated(ecma), options);
    if (program->expression.ok()) {
        program_ = std::move(program);
    } else {
        trouble_ = program->expression.error();
    }
}

Pattern::Pattern(std::string_view ecma, std::string trouble)
    : text_(ecma), trouble_(std::move(trouble)) {}

Pattern::~Pattern() = default;

bool Pattern::matches(std::string_view text) const {
    if (!program_) return true;
    return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), program_->expression);
}

}  // namespace patchbay::protocol::schema
