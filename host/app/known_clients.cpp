#include "app/known_clients.hpp"

#include "app/client_words.hpp"

#include <algorithm>

namespace patchbay::app {
namespace json = boost::json;

namespace {

using config::Format;
using Variables = EntryWords::Variables;

constexpr int kGooseTimeoutSeconds = 300;  // what its own examples have

json::array arguments_of(const Launch& launch) {
    return json::array(launch.arguments.begin(), launch.arguments.end());
}

json::array words_of(const Launch& launch) {
    auto words = arguments_of(launch);
    words.insert(words.begin(), json::value(launch.command));
    return words;
}

json::object plain(const Launch& launch) {
    return {{"command", launch.command}, {"args", arguments_of(launch)}};
}

json::object with_type(const char* type, json::object entry) {
    json::object out{{"type", type}};
    for (auto& member : entry) out[member.key()] = std::move(member.value());
    return out;
}

json::object vs_code(const Launch& launch) {
    return with_type("stdio", plain(launch));
}
// Also what a client could do without, where its own examples have it: in its words there is nothing that
// it would add to the file by itself.
json::object zed(const Launch& launch) {
    auto entry = plain(launch);
    entry["env"] = json::object();
    return entry;
}
json::object opencode(const Launch& launch) {
    return {{"type", "local"}, {"command", words_of(launch)}};
}
json::object copilot(const Launch& launch) {
    auto entry = with_type("local", plain(launch));
    entry["tools"] = json::array{"*"};
    return entry;
}
json::object goose(const Launch& launch) {
    return {{"type", "stdio"},           {"name", launch.entry},           {"enabled", true},
            {"cmd", launch.command},     {"args", arguments_of(launch)},   {"envs", json::object()},
            {"env_keys", json::array()}, {"timeout", kGooseTimeoutSeconds}};
}

json::object with_header(const Launch& launch, json::object entry) {
    if (!launch.authorization.empty())
        entry["headers"] = json::object{{"Authorization", launch.authorization}};
    return entry;
}

json::object plain_url(const Launch& launch, const std::string& url) {
    return with_header(launch, {{"url", url}});
}
// It has a key of its own for that: `headers` would be passed over in silence.
json::object codex_url(const Launch& launch, const std::string& url) {
    json::object entry{{"url", url}};
    if (!launch.token_variable.empty()) entry["bearer_token_env_var"] = launch.token_variable;
    return entry;
}
json::object http_url(const Launch& launch, const std::string& url) {
    return with_header(launch, {{"type", "http"}, {"url", url}});
}
json::object gemini_url(const Launch& launch, const std::string& url) {
    return with_header(launch, {{"httpUrl", url}});
}
json::object windsurf_url(const Launch& launch, const std::string& url) {
    return with_header(launch, {{"serverUrl", url}});
}
json::object opencode_url(const Launch& launch, const std::string& url) {
    return with_header(launch, {{"type", "remote"}, {"url", url}});
}
json::object cline_url(const Launch&, const std::string& url) {
    return {{"type", "streamableHttp"}, {"url", url}};
}
json::object roo_url(const Launch& launch, const std::string& url) {
    return with_header(launch, {{"type", "streamable-http"}, {"url", url}});
}
json::object copilot_url(const Launch&, const std::string& url) {
    return {{"type", "http"}, {"url", url}, {"tools", json::array{"*"}}};
}
json::object sse_url(const Launch&, const std::string& url) {
    return {{"type", "sse"}, {"url", url}};
}
json::object copilot_sse(const Launch&, const std::string& url) {
    return {{"type", "sse"}, {"url", url}, {"tools", json::array{"*"}}};
}
json::object mcporter_url(const Launch& launch, const std::string& url) {
    return with_header(launch, {{"baseUrl", url}});
}
// `env_keys` names what its headers may refer to.
json::object goose_url(const Launch& launch, const std::string& url) {
    json::object headers;
    json::array variables;
    if (!launch.token_variable.empty()) {
        headers["Authorization"] = launch.authorization;
        variables.emplace_back(launch.token_variable);
    }
    return {{"type", "streamable_http"}, {"name", launch.entry},
            {"enabled", true},           {"uri", url},
            {"headers", headers},        {"envs", json::object()},
            {"env_keys", variables},     {"timeout", kGooseTimeoutSeconds}};
}

ClientFolders on_each(ClientFolder on_linux, ClientFolder on_macos, ClientFolder on_windows) {
    return {{on_linux, on_macos, on_windows}};
}
ClientFolders on_all(Base base, const char* name) {
    return on_each({base, name}, {base, name}, {base, name});
}

const std::vector<config::edit::Path> kMcpServers{{"mcpServers"}};

// In the order of their names. Looked up in November 2026. A client whose documentation names no way to
// refer to a variable has none here, though it may know one: a reference that is not read would be sent as it is.
const std::vector<KnownClient>& table() {
    static const std::vector<KnownClient> rows{
        // ~/.claude.json is the scope "user"; CLAUDE_CONFIG_DIR moves it.
        {"claude",
         "Claude Code",
         Format::Json,
         "CLAUDE_CONFIG_DIR",
         {on_all(Base::Home, "")},
         {".claude.json"},
         {".mcp.json"},
         nullptr,
         kMcpServers,
         plain,
         http_url,
         nullptr,
         "${*}",
         "https://code.claude.com/docs/en/mcp",
         {.sse = sse_url,
          .defaults = true,
          .run = "claude",
          .run_words = {"--mcp-config={config}", "--strict-mcp-config"}}},
        // Servers behind a URL are connectors of the account, not of this file.
        {"claude-desktop",
         "Claude Desktop",
         Format::Json,
         nullptr,
         {on_all(Base::Applications, "Claude")},
         {"claude_desktop_config.json"},
         {},
         nullptr,
         kMcpServers,
         plain,
         nullptr,
         nullptr,
         nullptr,
         "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
         {.headers = nullptr}},
        // The second folder is where the extension for VS Code kept it before it shared it with its CLI.
        {"cline",
         "Cline",
         Format::Json,
         nullptr,
         {on_all(Base::Home, ".cline/data/settings"),
          on_all(Base::Applications, "Code/User/globalStorage/saoudrizwan.claude-dev/settings")},
         {"cline_mcp_settings.json"},
         {},
         nullptr,
         kMcpServers,
         plain,
         cline_url,
         from_cline,
         nullptr,
         "https://docs.cline.bot/cli/configuration",
         {.cwd = "cwd", .sse = sse_url}},
        {"codex",
         "Codex",
         Format::Toml,
         "CODEX_HOME",
         {on_all(Base::Home, ".codex")},
         {"config.toml"},
         {".codex/config.toml"},
         nullptr,
         {{"mcp_servers"}},
         plain,
         codex_url,
         nullptr,
         "*",
         "https://developers.openai.com/codex/mcp",
         {.cwd = "cwd",
          .headers = "http_headers",
          .tools = "enabled_tools",
          .variables = Variables::ByName,
          .run = "codex",
          .run_variable = "CODEX_HOME",
          .run_in_folder = true,
          .drops_variables = true}},
        {"copilot",
         "GitHub Copilot CLI",
         Format::Json,
         "COPILOT_HOME",
         {on_all(Base::Home, ".copilot")},
         {"mcp-config.json"},
         {".mcp.json"},
         nullptr,
         kMcpServers,
         copilot,
         copilot_url,
         from_copilot,
         nullptr,
         "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/"
         "add-mcp-servers",
         {.tools = "tools",
          .sse = copilot_sse,
          .run = "copilot",
          .run_words = {"--additional-mcp-config=@{config}"}}},
        {"cursor",
         "Cursor",
         Format::Json,
         nullptr,
         {on_all(Base::Home, ".cursor")},
         {"mcp.json"},
         {".cursor/mcp.json"},
         nullptr,
         kMcpServers,
         plain,
         plain_url,
         nullptr,
         "${env:*}",
         "https://cursor.com/docs/mcp",
         {.sse = plain_url}},
        {"gemini",
         "Gemini CLI",
         Format::Json,
         nullptr,
         {on_all(Base::Home, ".gemini")},
         {"settings.json"},
         {".gemini/settings.json"},
         nullptr,
         kMcpServers,
         plain,
         gemini_url,
         from_gemini,
         "${*}",
         "https://geminicli.com/docs/tools/mcp-server/",
         {.cwd = "cwd",
          .tools = "includeTools",
          .sse = plain_url,
          .opening = "$",
          .run = "gemini",
          .run_variable = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"}},
        {"goose",
         "goose",
         Format::Yaml,
         nullptr,
         {on_each({Base::Config, "goose"}, {Base::Config, "goose"},
                  {Base::Applications, "Block/goose/config"})},
         {"config.yaml"},
         {},
         nullptr,
         {{"extensions"}},
         goose,
         goose_url,
         from_goose,
         "${*}",
         "https://goose-docs.ai/docs/guides/config-files",
         {.env = "envs", .variables = Variables::Headers}},
        {"kiro",
         "Kiro",
         Format::Json,
         nullptr,
         {on_all(Base::Home, ".kiro/settings")},
         {"mcp.json"},
         {".kiro/settings/mcp.json"},
         nullptr,
         kMcpServers,
         plain,
         plain_url,
         nullptr,
         "${*}",
         "https://kiro.dev/docs/mcp/configuration"},
        {"mcporter",
         "MCPorter",
         Format::Json,
         nullptr,
         {on_all(Base::Home, ".mcporter")},
         {"mcporter.json", "mcporter.jsonc"},
         {"config/mcporter.json"},
         nullptr,
         kMcpServers,
         plain,
         mcporter_url,
         from_mcporter,
         "${*}",
         "https://github.com/steipete/mcporter/blob/main/docs/config.md",
         {.cwd = "cwd", .sse = mcporter_url}},
        // Its second generation has the servers in a table of their own, and takes both.
        {"opencode",
         "opencode",
         Format::Json,
         nullptr,
         {on_all(Base::Config, "opencode")},
         {"opencode.json", "opencode.jsonc"},
         {"opencode.json", "opencode.jsonc"},
         nullptr,
         {{"mcp"}, {"mcp", "servers"}},
         opencode,
         opencode_url,
         from_opencode,
         "{env:*}",
         "https://opencode.ai/docs/mcp-servers",
         {.env = "environment",
          .sse = opencode_url,
          .run = "opencode",
          .run_variable = "OPENCODE_CONFIG"}},
        {"qwen",
         "Qwen Code",
         Format::Json,
         nullptr,
         {on_all(Base::Home, ".qwen")},
         {"settings.json"},
         {".qwen/settings.json"},
         nullptr,
         kMcpServers,
         plain,
         gemini_url,
         from_gemini,
         "${*}",
         "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/",
         {.cwd = "cwd",
          .tools = "includeTools",
          .sse = plain_url,
          .opening = "$",
          .run = "qwen",
          .run_variable = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"}},
        {"roo",
         "Roo Code",
         Format::Json,
         nullptr,
         {on_all(Base::Applications,
                 "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings")},
         {"mcp_settings.json"},
         {".roo/mcp.json"},
         nullptr,
         kMcpServers,
         plain,
         roo_url,
         nullptr,
         "${env:*}",
         "https://docs.roocode.com/features/mcp/using-mcp-in-roo",
         {.cwd = "cwd", .sse = sse_url}},
        {"vscode",
         "VS Code",
         Format::Json,
         nullptr,
         {on_all(Base::Applications, "Code/User")},
         {"mcp.json"},
         {".vscode/mcp.json"},
         "profiles",
         {{"servers"}},
         vs_code,
         http_url,
         nullptr,
         "${env:*}",
         "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
         {.cwd = "cwd", .sse = sse_url}},
        {"vscode-insiders",
         "VS Code Insiders",
         Format::Json,
         nullptr,
         {on_all(Base::Applications, "Code - Insiders/User")},
         {"mcp.json"},
         {".vscode/mcp.json"},
         "profiles",
         {{"servers"}},
         vs_code,
         http_url,
         nullptr,
         "${env:*}",
         "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
         {.cwd = "cwd", .sse = sse_url}},
        {"windsurf",
         "Windsurf",
         Format::Json,
         nullptr,
         {on_all(Base::Home, ".codeium/windsurf")},
         {"mcp_config.json"},
         {},
         nullptr,
         kMcpServers,
         plain,
         windsurf_url,
         nullptr,
         "${env:*}",
         "https://docs.windsurf.com/windsurf/cascade/mcp",
         {.sse = windsurf_url}},
        {"zed",
         "Zed",
         Format::Json,
         nullptr,
         {on_each({Base::Config, "zed"}, {Base::Home, ".config/zed"}, {Base::Applications, "Zed"})},
         {"settings.json"},
         {".zed/settings.json"},
         nullptr,
         {{"context_servers"}},
         zed,
         plain_url,
         from_zed,
         nullptr,
         "https://zed.dev/docs/ai/mcp"},
    };
    return rows;
}

}  // namespace

std::span<const KnownClient> known_clients() {
    return table();
}

const KnownClient* find_client(std::string_view id) {
    const auto& rows = table();
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const KnownClient& client) { return client.id == id; });
    return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> transports_of(const KnownClient& client) {
    std::vector<std::string> names{"stdio"};
    if (client.url) names.emplace_back("http");
    if (client.words.sse) names.emplace_back("sse");
    return names;
}

}  // namespace patchbay::app
