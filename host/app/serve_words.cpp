#include "app/serve_words.hpp"

#include "app/http_terms.hpp"
#include "app/refusal.hpp"
#include "app/verb.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <set>

namespace patchbay::app {

namespace {

Error invalid_words(const std::string& why) {
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

// The words of `patchbay serve`, read as it reads them.
class ServeLine {
public:
    ServeLine() {
        app_.fallthrough();
        add_globals(app_, global_);
        add_serve_verb(app_, unused_);
    }
    Result<void> read(const std::vector<std::string>& words) {
        std::vector<std::string> parsed(words.rbegin(), words.rend());
        parsed.emplace_back("serve");
        try {
            app_.parse(parsed);
        } catch (const CLI::ParseError& error) {
            return invalid_words(refusal_of(app_, error));
        }
        return {};
    }
    const CLI::App& app() const { return app_; }
    const CLI::App& serve() const { return *app_.get_subcommand("serve"); }

private:
    CLI::App app_{"", "patchbay"};
    Choice unused_;
    GlobalOptions global_;
};

}  // namespace

Result<std::vector<std::string>> serve_words(std::vector<std::string> words,
                                             const std::string& here) {
    ServeLine line;
    if (auto read = line.read(words); !read) return read.error();
    const auto& serve = line.serve();
    for (const auto& option : listener_options())
        if (option != "--metrics" && serve.count(option) > 0)
            return invalid_words(
                option +
                " is for a gateway that listens, and a client that starts patchbay "
                "speaks to it over stdio");
    auto paths = options_with_paths(line.app());
    paths.merge(options_with_paths(serve));
    make_absolute(words, paths, here);
    // Whatever [gateway] says now, or later.
    if (serve.count("--stdio") == 0) words.insert(words.begin(), "--stdio");
    return words;
}

NamesInServe names_in_serve(const std::vector<std::string>& words) {
    ServeLine line;
    if (!line.read(words)) return {};
    NamesInServe named;
    for (const auto* option : {"--servers", "--only"})
        for (const auto& id : line.serve().get_option(option)->results())
            named.servers.push_back(id);
    named.agents = line.serve().get_option("--agent")->results();
    return named;
}

}  // namespace patchbay::app
