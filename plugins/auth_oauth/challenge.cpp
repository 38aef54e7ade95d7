#include "challenge.hpp"

#include "ascii.hpp"
#include "encoding.hpp"

#include <algorithm>
#include <cctype>

namespace patchbay::oauth {
namespace {

// RFC 9110 section 5.6.2.
bool token_letter(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) ||
           std::string_view("!#$%&'*+-.^_`|~").find(letter) != std::string_view::npos;
}

// Reads on from wherever it is, and never fails: what a foreign server writes may be cut off or
// wrong anywhere, and the rest of it still counts.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool at_end() const { return text_.empty(); }
    void space() { drop(" \t"); }
    void separators() { drop(" \t,"); }
    std::string_view token() {
        const auto end = std::find_if_not(text_.begin(), text_.end(), token_letter);
        return take(static_cast<std::size_t>(end - text_.begin()));
    }
    bool accept(char letter) {
        if (text_.empty() || text_.front() != letter) return false;
        text_.remove_prefix(1);
        return true;
    }
    std::string value() { return accept('"') ? rest_of_quoted() : std::string(token()); }
    void skip_item() { take(std::min(text_.find(','), text_.size())); }
    Reader copy() const { return *this; }

private:
    std::string_view take(std::size_t count) {
        const auto taken = text_.substr(0, count);
        text_.remove_prefix(count);
        return taken;
    }
    void drop(std::string_view letters) {
        text_.remove_prefix(std::min(text_.find_first_not_of(letters), text_.size()));
    }
    std::string rest_of_quoted() {
        std::string out;
        // Without its closing quote it ends with the field: better a cut value than none.
        while (!text_.empty() && !accept('"')) {
            if (accept('\\') && text_.empty()) break;
            out += text_.front();
            text_.remove_prefix(1);
        }
        return out;
    }

    std::string_view text_;
};

// name = value at the reader; otherwise the reader stays: a comma parts parameters as well as
// challenges, and only the "=" behind a name tells which of the two it is.
bool read_parameter(Reader& reader, Challenge& challenge) {
    auto ahead = reader.copy();
    const std::string name(ahead.token());
    ahead.space();
    if (name.empty() || !ahead.accept('=')) return false;
    ahead.space();
    challenge.parameters.emplace_back(ascii::lower(name), ahead.value());
    reader = ahead;
    return true;
}

// Whoever adds a field behind the server's own, a proxy say, does not overrule it.
void keep_first(std::string& kept, const std::string& value) {
    if (kept.empty()) kept = value;
}

}  // namespace

std::vector<Challenge> parse_challenges(std::string_view value) {
    std::vector<Challenge> out;
    Reader reader(value);
    for (reader.separators(); !reader.at_end(); reader.separators()) {
        if (!out.empty() && read_parameter(reader, out.back())) continue;
        const auto scheme = reader.token();
        if (scheme.empty()) {  // no challenge begins so: on behind the next comma, or for ever here
            reader.skip_item();
            continue;
        }
        out.push_back({std::string(scheme), {}});
        reader.space();
        // Instead of parameters there may be one token68, as of Negotiate: nothing for us.
        if (!read_parameter(reader, out.back())) reader.skip_item();
    }
    return out;
}

Demand Demand::of(const patchbay_problem& problem) {
    Demand demand;
    demand.http_status = problem.http_status;
    demand.add(problem.headers, problem.header_count);
    return demand;
}

void Demand::add(const patchbay_kv* headers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view name(headers[i].name.data, headers[i].name.size);
        const std::string_view value(headers[i].value.data, headers[i].value.size);
        if (ascii::same(name, "DPoP-Nonce")) dpop_nonce = value;
        if (!ascii::same(name, "WWW-Authenticate")) continue;
        for (const auto& challenge : parse_challenges(value)) {
            const bool is_dpop = ascii::same(challenge.scheme, "DPoP");
            // What another scheme asks for is not meant for the token that we bring.
            if (!is_dpop && !ascii::same(challenge.scheme, "Bearer")) continue;
            (is_dpop ? dpop : bearer) = true;
            for (const auto& [key, content] : challenge.parameters) {
                if (key == "resource_metadata") keep_first(resource_metadata, content);
                if (key == "scope") keep_first(scope, content);
                if (key == "error") keep_first(error, content);
            }
        }
    }
}

}  // namespace patchbay::oauth
