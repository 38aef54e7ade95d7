// Session's judgement of requests: which era, which revision, which method.
#include "example/library.hpp"
#include "example/server.hpp"
#include "example/session.hpp"
#include "example/tools.hpp"
#include "example/wire.hpp"

#include <algorithm>
#include <array>

namespace example {
namespace json = boost::json;

namespace {

constexpr std::array<std::string_view, 4> kLegacy{"2025-11-25", "2025-06-18", "2025-03-26",
                                                  "2024-11-05"};
constexpr std::array<std::string_view, 8> kLevels{"debug", "info",     "notice", "warning",
                                                  "error", "critical", "alert",  "emergency"};
constexpr const char* kInfo = R"({"name":"patchbay-example-server","version":"1.0.0"})";
constexpr const char* kInstructions =
    R"("instructions":"A server for tests: every feature of the protocol once, nothing useful.")";

int level_of(std::string_view name) {
    const auto found = std::find(kLevels.begin(), kLevels.end(), name);
    return found == kLevels.end() ? -1 : static_cast<int>(found - kLevels.begin());
}

std::string offered_versions(const Options& options) {
    if (!options.protocol.empty()) return "[" + quoted(options.protocol) + "]";
    std::string list = "[" + quoted(kModern);
    if (options.legacy) {
        for (const auto version : kLegacy) list += "," + quoted(version);
    }
    return list + "]";
}

std::string server_capabilities(const Options& options) {
    std::string list =
        R"("resources":{"subscribe":true,"listChanged":true},"prompts":{},"completions":{})";
    // Log messages of the modern era are asked for by request, and need the capability as well.
    list += R"(,"logging":{})";
    if (options.tools_capability) list += R"(,"tools":{"listChanged":true})";
    if (options.sandbox_state)
        list += R"(,"experimental":{"codex/sandbox-state":{"version":"1.0.0"}})";
    return "\"capabilities\":{" + list + "}";
}

}  // namespace

void Session::dispatch(const Request& request) {
    if (request.era == Era::Modern && !judge_modern(request)) return;
    const auto& options = server_.options();
    if (request.era == Era::Legacy) {
        if (request.method == "server/discover") {
            if (options.silent_probe) return;
            if (options.modern) return fail(request.id, -32602, "_meta lacks the protocol version");
            return fail(request.id, -32601, "method not found: server/discover");
        }
        if (!options.legacy) {
            return fail(
                request.id, -32022, "this server speaks " + offered_versions(options) + " only",
                R"({"supported":)" + offered_versions(options) + R"(,"requested":"legacy"})");
        }
        if (request.method == "initialize") return initialize(request);
        if (request.method == "ping") return answer({request.id, request.era}, "");
        if (!initialized_) return fail(request.id, -32600, "not initialized");
    } else if (request.method == "server/discover") {
        return discover(request);
    }

    if (request.method == "tools/call" && options.tools_capability)
        return call_tool(*this, request);
    if (request.method == "tools/list" && options.tools_capability)
        return list_tools(*this, request);
    if (request.method == "codex/sandbox-state/update" && options.sandbox_state)
        return answer({request.id, request.era}, "");
    if (subscribe(request)) return;
    if (serve_library(*this, request)) return;
    fail(request.id, -32601, "method not found: " + std::string(request.method));
}

// Every modern request says its revision and the client's capabilities itself.
bool Session::judge_modern(const Request& request) {
    const auto& options = server_.options();
    if (!options.modern) {
        if (!options.silent_probe || request.method != "server/discover") {
            fail(request.id, -32601, "method not found: " + std::string(request.method));
        }
        return false;
    }
    const auto* version = string_in(request.meta, "io.modelcontextprotocol/protocolVersion");
    if (!version) {
        fail(request.id, -32602, "protocolVersion in _meta is a string");
        return false;
    }
    const std::string_view wanted(version->data(), version->size());
    if (wanted != (options.protocol.empty() ? kModern : options.protocol)) {
        fail(request.id, -32022, "Unsupported protocol version",
             R"({"supported":)" + offered_versions(options) + R"(,"requested":)" + quoted(wanted) +
                 "}");
        return false;
    }
    if (!object_in(request.meta, "io.modelcontextprotocol/clientCapabilities")) {
        fail(request.id, -32602, "_meta lacks io.modelcontextprotocol/clientCapabilities");
        return false;
    }
    return true;
}

void Session::initialize(const Request& request) {
    const auto* asked = string_in(request.params, "protocolVersion");
    if (!asked) return fail(request.id, -32602, "initialize needs protocolVersion");
    std::string version(asked->data(), asked->size());
    if (std::find(kLegacy.begin(), kLegacy.end(), version) == kLegacy.end())
        version = kLegacy.front();
    if (!server_.options().protocol.empty()) version = server_.options().protocol;
    if (const auto* told = object_in(request.params, "capabilities"))
        client_ = json::object(*told, {});
    initialized_ = true;
    answer({request.id, request.era}, "\"protocolVersion\":" + quoted(version) + "," +
                                          server_capabilities(server_.options()) +
                                          ",\"serverInfo\":" + kInfo + "," + kInstructions);
}

void Session::discover(const Request& request) {
    answer({request.id, request.era},
           "\"supportedVersions\":" + offered_versions(server_.options()) + "," +
               server_capabilities(server_.options()) + "," + kInstructions +
               R"(,"ttlMs":3600000,"cacheScope":"public")");
}

// What changes the session's own state: subscriptions of both eras, the log level.
bool Session::subscribe(const Request& request) {
    if (request.era == Era::Modern) {
        if (request.method != "subscriptions/listen") return false;
        listen(request);
        return true;
    }
    const Ticket ticket{request.id, request.era};
    if (request.method == "logging/setLevel") {
        const auto* name = string_in(request.params, "level");
        const int level = name ? level_of({name->data(), name->size()}) : -1;
        if (level < 0)
            fail(request.id, -32602, "unknown level");
        else {
            log_level_ = level;
            answer(ticket, "");
        }
        return true;
    }
    const bool on = request.method == "resources/subscribe";
    if (!on && request.method != "resources/unsubscribe") return false;
    const auto* uri = string_in(request.params, "uri");
    if (!uri) {
        fail(request.id, -32602, "uri is missing");
        return true;
    }
    if (on)
        subscribed_.emplace(uri->data(), uri->size());
    else
        subscribed_.erase(std::string(uri->data(), uri->size()));
    answer(ticket, "");
    return true;
}

void Session::listen(const Request& request) {
    const auto* filter = object_in(request.params, "notifications");
    if (!filter) return fail(request.id, -32602, "subscriptions/listen needs notifications");
    Listener listener;
    std::string agreed;
    const auto* tools = filter->if_contains("toolsListChanged");
    if (tools && tools->is_bool() && tools->get_bool() && server_.options().tools_capability) {
        listener.tools = true;
        agreed = "\"toolsListChanged\":true";
    }
    const auto* uris = filter->if_contains("resourceSubscriptions");
    if (uris && uris->is_array()) {
        for (const auto& uri : uris->get_array()) {
            if (uri.is_string()) listener.uris.emplace(uri.get_string().c_str());
        }
        std::string list;
        for (const auto& uri : listener.uris) list += (list.empty() ? "" : ",") + quoted(uri);
        agreed += (agreed.empty() ? "" : ",") + ("\"resourceSubscriptions\":[" + list + "]");
    }
    notify("notifications/subscriptions/acknowledged",
           "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" + request.id +
               "},\"notifications\":{" + agreed + "}");
    listeners_[request.id] = std::move(listener);
}

bool Session::wants_log(const Request& request, std::string_view level) const {
    if (request.era == Era::Legacy) return level_of(level) >= log_level_;
    const auto* least = string_in(request.meta, "io.modelcontextprotocol/logLevel");
    return least && level_of(level) >= level_of({least->data(), least->size()});
}

}  // namespace example
