#include "app/shown_difference.hpp"

#include "app/text_difference.hpp"
#include "config/edit/edit.hpp"
#include "config/secret_names.hpp"
#include "config/secret_values.hpp"
#include "config/show.hpp"
#include "core/json.hpp"
#include "core/secrets.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// One of a letter or two would be struck out of every word that is shown.
void add_secret(std::string_view text, std::vector<std::string>& out) {
    if (text.size() >= 4) out.emplace_back(text);
}

void add_parts(std::string_view text, const std::vector<config::Part>& parts,
               std::vector<std::string>& out) {
    for (const auto& part : parts) add_secret(text.substr(part.begin, part.end - part.begin), out);
}

// As `config show` has it: any value that a program or a server is given may be a secret, whatever it is called. A word
// that stands everywhere is none.
bool is_passed_on(std::string_view table) {
    constexpr std::string_view kTables[] = {"env", "headers", "http_headers"};
    return std::find(std::begin(kTables), std::end(kTables), table) != std::end(kTables);
}

bool is_plain(std::string_view text) {
    return text == "true" || text == "false" || text.find_first_not_of("0123456789.") == text.npos;
}

// `value`: of which `name` is the key.
void add_passed_on(const json::value& value, std::string_view name, std::vector<std::string>& out) {
    if (const auto* list = value.if_array())
        for (const auto& each : *list) add_passed_on(each, name, out);
    const auto* table = value.if_object();
    if (!table) return;
    for (const auto& member : *table) {
        add_passed_on(member.value(), member.key(), out);
        if (!is_passed_on(name)) continue;
        const auto text = core::text_of(member.value());
        if (text && !is_plain(*text) && !config::is_a_reference_alone(*text))
            add_secret(*text, out);
    }
}

void add_secrets(const json::value& value, std::string_view name, std::vector<std::string>& out) {
    if (const auto* table = value.if_object())
        for (const auto& member : *table) add_secrets(member.value(), member.key(), out);
    if (const auto* list = value.if_array()) {
        // Together: the word after `--token` is a secret because of the one before.
        const auto parts = config::secret_parts(*list);
        for (std::size_t i = 0; i < list->size(); ++i) {
            if (const auto text = core::text_of((*list)[i])) add_parts(*text, parts[i], out);
            add_secrets((*list)[i], name, out);
        }
    }
    const auto text = core::text_of(value);
    if (text && config::is_a_reference_alone(*text)) return;
    if (text && config::is_secret(name, *text)) return add_secret(*text, out);
    if (text) return add_parts(*text, config::secret_parts(*text), out);
    if (value.is_number() && config::names_a_secret(name)) add_secret(json::serialize(value), out);
}

// As it is read, or with escapes that are known when it is masked; one that is folded over lines is neither.
bool stands_in(std::string_view text, std::string_view secret) {
    if (text.find(secret) != text.npos) return true;
    const auto quoted = json::serialize(json::value(secret));
    if (text.find(std::string_view(quoted).substr(1, quoted.size() - 2)) != text.npos) return true;
    if (secret.find('\n') != secret.npos) return false;  // its lines may be too short to be masked
    const auto before = core::masked(text);
    core::Secrets one;
    one.add(secret);
    return core::masked(text) != before;
}

}  // namespace

// What a terminal, or a log that took it, need not show of a person's file: what it holds, and what it
// would hold.
std::string shown_difference(const std::string& before, const std::string& after,
                             const std::string& name, config::Format format, PassedOn passed_on) {
    std::vector<std::string> secrets;
    bool whole = true;  // each stands there as it is read
    for (const auto* text : {&before, &after}) {
        std::vector<std::string> found;
        if (const auto root = config::edit::read(*text, format)) {
            add_secrets(*root, {}, found);
            if (passed_on == PassedOn::AllHidden) add_passed_on(*root, {}, found);
        }
        for (auto& each : found) {
            whole = whole && stands_in(*text, each);
            secrets.push_back(std::move(each));
        }
    }
    if (!whole && before != after)
        return "(not shown: a secret stands in " + name + " in several pieces)\n";
    std::sort(secrets.begin(), secrets.end());
    secrets.erase(std::unique(secrets.begin(), secrets.end()), secrets.end());
    // One that holds another goes first: what is left of it would be known by nobody.
    std::stable_sort(secrets.begin(), secrets.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return difference(before, after, name, secrets);
}

}  // namespace patchbay::app
