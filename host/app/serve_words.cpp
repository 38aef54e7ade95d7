#include "app/serve_words.hpp"

#include "app/http_terms.hpp"
#include "app/refusal.hpp"
#include "app/verb.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <set>

namespace patchbay::app {

namespace {

Error invalid(const std::string& why) {
    return {ErrorCode::Invalid, "behind --: " + why};
}

// By what their help says that they take.
std::set<std::string> options_with_paths(const CLI::App& app) {
    std::set<std::string> found;
    for (const auto* option : app.get_options())
        if (option->get_type_name() == "FILE" || option->get_type_name() == "DIR")
            for (const auto& name : option->get_lnames()) found.insert("--" + name);
    return found;
}

// A client starts us in a folder of its own.
void make_absolute(std::vector<std::string>& words, const std::set<std::string>& options,
                   const std::string& here) {
    const auto from_here = [&](const std::string& path) {
        return path.empty() || path.starts_with('/') ? path : here + "/" + path;
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto equals = words[i].find('=');
        if (!options.contains(words[i].substr(0, equals))) continue;
        if (equals != std::string::npos)
            words[i] = words[i].substr(0, equals + 1) + from_here(words[i].substr(equals + 1));
        else if (i + 1 < words.size())
            words[i + 1] = from_here(words[i + 1]);
    }
}

}  // namespace

Result<std::vector<std::string>> serve_words(std::vector<std::string> words,
                                             const std::string& here) {
    CLI::App app("", "patchbay");
    Choice unused;
    GlobalOptions global;
    app.fallthrough();
    add_globals(app, global);
    add_serve_verb(app, unused);
    std::vector<std::string> parsed(words.rbegin(), words.rend());
    parsed.emplace_back("serve");
    try {
        app.parse(parsed);
    } catch (const CLI::ParseError& error) {
        return invalid(refusal_of(app, error));
    }
    const auto* serve = app.get_subcommand("serve");
    for (const auto& option : listener_options())
        if (option != "--metrics" && serve->count(option) > 0)
            return invalid(option +
                           " is for a gateway that listens, and a client that starts patchbay "
                           "speaks to it over stdio");
    auto paths = options_with_paths(app);
    paths.merge(options_with_paths(*serve));
    make_absolute(words, paths, here);
    // Whatever [gateway] says now, or later.
    if (serve->count("--stdio") == 0) words.insert(words.begin(), "--stdio");
    return words;
}

}  // namespace patchbay::app
