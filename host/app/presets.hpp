// Well-known servers that `patchbay mcp add --preset` writes: the files of config/presets, one each.
//
// Threads: the calling one. Errors: Invalid, with what is expected and what to do next; Internal: a file of ours
// makes no sense, which a test would have found.
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

struct Preset {
    struct Parameter {
        std::string name, what;
        bool folder = false;  // its value is the path of one
        bool many = false;    // the last one: it takes all words that are left
    };
    struct Variable {
        std::string name, what;
    };
    std::string id, title, docs, touches;
    std::vector<Parameter> parameters;  // by position
    std::vector<Variable> variables;    // secrets, which the environment or `patchbay secret` has
    std::string transport;              // as the entry says it, or means it
    boost::json::object server;         // with ${param:NAME} in it
};

Result<Preset> read_preset(std::string_view id, std::string_view text);
Result<std::vector<Preset>> presets();  // by id
// NotFound, with the nearest.
Result<Preset> find_preset(const std::string& id);

// Whose words fill it.
struct PresetWords {
    std::vector<std::string> values;  // by position
    // How a path that was typed is to be written.
    std::function<Result<std::string>(const std::string& typed)> folder;
    // "${NAME}" or "${secret:NAME}"; empty: nobody has it.
    std::function<std::string(const std::string& name)> variable;
};
Result<boost::json::object> entry_of(const Preset& preset, const PresetWords& words);

}  // namespace patchbay::app
