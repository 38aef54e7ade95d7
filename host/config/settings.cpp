// What every transport has among its settings (command, args, env, url, ...), taken out of an entry and made one shape, and
// how an entry that names no transport is told to have one.
#include "config/keys.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::config {

namespace {

// Environment values written as numbers or true/false are meant as text.
bool to_scalar_text(const Node& value, std::string& text) {
    switch (value.kind) {
        case Node::Kind::Text:
            text = value.text;
            return true;
        case Node::Kind::Integer:
            text = std::to_string(value.integer);
            return true;
        case Node::Kind::Flag:
            text = value.flag ? "true" : "false";
            return true;
        default:
            return false;
    }
}

constexpr const char* kLimits[] = {"memory", "cpu_seconds", "processes", "files", "output_bytes"};
constexpr std::int64_t kMostOfALimit = std::int64_t{1} << 50;  // far from any overflow

std::string take_whole(std::int64_t& target, const Node& value) {
    const std::string expected = "a whole number from 1 to 1000000000";
    auto number = value.is(Node::Kind::Integer) ? value.integer : 0;
    if (value.is(Node::Kind::Text)) {  // as `config show` has it
        const auto* const end = value.text.data() + value.text.size();
        const auto [read, failed] = std::from_chars(value.text.data(), end, number);
        if (failed != std::errc() || read != end) return mismatch(expected, value);
    }
    if (number < 1 || number > 1'000'000'000) return wrong_number(expected, value);
    target = number;
    return {};
}

// 1073741824, "1 GiB", "512MiB", "2 GB"
std::string take_bytes(std::int64_t& target, const Node& value) {
    constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {{"", 1},
                                                                    {"b", 1},
                                                                    {"kib", 1 << 10},
                                                                    {"mib", 1 << 20},
                                                                    {"gib", 1 << 30},
                                                                    {"tib", std::int64_t{1} << 40},
                                                                    {"kb", 1'000},
                                                                    {"mb", 1'000'000},
                                                                    {"gb", 1'000'000'000},
                                                                    {"tb", 1'000'000'000'000}};
    const std::string expected = "bytes, or text such as \"512 MiB\" or \"1 GiB\", up to 1024 TiB";
    std::int64_t number = value.is(Node::Kind::Integer) ? value.integer : 0, unit = 1;
    if (value.is(Node::Kind::Text)) {
        const auto text = core::trimmed(value.text);
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
        const auto word = core::lower(
            core::trimmed({end, static_cast<std::size_t>(text.data() + text.size() - end)}));
        const auto* const found =
            std::find_if(std::begin(kUnits), std::end(kUnits),
                         [&](const auto& each) { return each.first == word; });
        if (failed != std::errc() || found == std::end(kUnits))
            return "expected " + expected + ", found \"" + core::printable(value.text, 40) + "\"";
        unit = found->second;
    } else if (!value.is(Node::Kind::Integer)) {
        return mismatch(expected, value);
    }
    if (number < 1 || number > kMostOfALimit / unit) return "expected " + expected;
    target = number * unit;
    return {};
}

class SettingsTaker {
public:
    SettingsTaker(Server& server, std::vector<Complaint>& complaints)
        : server_(server), complaints_(complaints) {}

    void take(const Member& member) {
        const auto& [key, mark, value] = member;
        if (key == "command") return command(value);
        if (key == "args") return texts(key, value);
        if (key == "env" || key == "headers") return text_map(key, value);
        if (key == "cwd" || key == "url" || key == "host") return text(key, value);
        if (key == "port") return port(value);
        if (key == "limits") return limits(value);
        // Of some other transport, and judged by its schema once the plugin is known.
        server_.settings[key] = to_json(value);
    }

    // `command = ["npx", "-y", "x"]` and `args = ["z"]` are one argument list.
    void finish() {
        if (more_args_.empty()) return;
        if (const auto* args = server_.settings.if_contains("args")) {
            for (const auto& arg : args->get_array()) more_args_.push_back(arg);
        }
        server_.settings["args"] = std::move(more_args_);
    }

private:
    void complain(std::string_view key, const Node& value, std::string_view expected) {
        complaints_.push_back({value.mark, std::string(key) + ": " + mismatch(expected, value)});
    }

    void command(const Node& value) {
        if (value.is(Node::Kind::Text) && !value.text.empty()) {
            server_.settings["command"] = value.text;
            return;
        }
        std::vector<std::string> words;
        if (value.is(Node::Kind::List)) {
            if (const auto wrong = take_texts(words, value); !wrong.empty())
                return complaints_.push_back({value.mark, "command: " + wrong});
        }
        if (words.empty() || words.front().empty())
            return complain("command", value, "a program, or a list that begins with one");
        server_.settings["command"] = words.front();
        for (std::size_t i = 1; i < words.size(); ++i)
            more_args_.push_back(boost::json::string(words[i]));
    }

    void texts(const std::string& key, const Node& value) {
        boost::json::array list;
        std::string item_text;
        if (!value.is(Node::Kind::List)) return complain(key, value, kTexts);
        for (const auto& item : value.items) {
            if (!to_scalar_text(item, item_text)) return complain(key, item, kTexts);
            list.push_back(boost::json::string(item_text));
        }
        server_.settings[key] = std::move(list);
    }

    void text_map(const std::string& key, const Node& value) {
        if (!value.is(Node::Kind::Map)) return complain(key, value, "a table of name = text");
        boost::json::object map;
        std::string member_text;
        for (const auto& member : value.members) {
            if (complaints_.size() >= kMostFaultsOfATable) return;
            if (!to_scalar_text(member.value, member_text)) {
                complain(key + "." + core::printable(member.key, 80), member.value, "text");
                continue;
            }
            // A "=" would end the name early in the child's environment and set another variable.
            if (member.key.empty() || (key == "env" && member.key.find('=') != std::string::npos)) {
                complaints_.push_back({member.mark, key + ": \"" + core::printable(member.key, 80) +
                                                        "\" cannot be a name"});
                continue;
            }
            map[member.key] = member_text;
        }
        server_.settings[key] = std::move(map);
    }

    void text(const std::string& key, const Node& value) {
        if (!value.is(Node::Kind::Text)) return complain(key, value, "text");
        server_.settings[key] = value.text;
    }

    void port(const Node& value) {
        const bool later = value.is(Node::Kind::Text) && value.text.find("${") != std::string::npos;
        if (later ||
            (value.is(Node::Kind::Integer) && value.integer > 0 && value.integer < 65536)) {
            server_.settings["port"] = to_json(value);
            return;
        }
        complaints_.push_back({value.mark, "port: expected a number from 1 to 65535"});
    }

    // Of a program. In bytes when they reach the transport, whose schema knows the same names.
    void limits(const Node& value) {
        if (!value.is(Node::Kind::Map)) return complain("limits", value, "a table of limits");
        boost::json::object taken;
        for (const auto& [key, mark, limit] : value.members) {
            if (complaints_.size() >= kMostFaultsOfATable) return;
            if (std::find(std::begin(kLimits), std::end(kLimits), key) == std::end(kLimits)) {
                complaints_.push_back(
                    {mark,
                     "limits: unknown key \"" + core::printable(key, 80) + "\"; there are " +
                         core::join({std::begin(kLimits), std::end(kLimits)}, ", ") +
                         core::did_you_mean(key, {std::begin(kLimits), std::end(kLimits)}),
                     RuleId::UnknownKey});
                continue;
            }
            const bool bytes = key == "memory" || key == "output_bytes";
            std::int64_t number = 0;
            if (auto wrong = bytes ? take_bytes(number, limit) : take_whole(number, limit);
                !wrong.empty()) {
                complaints_.push_back({limit.mark, "limits." + key + ": " + wrong});
                continue;
            }
            taken[key] = std::to_string(number);  // an sdk::Config has no numbers this deep
        }
        server_.settings["limits"] = std::move(taken);
    }

    Server& server_;
    std::vector<Complaint>& complaints_;
    boost::json::array more_args_;
};

}  // namespace

const std::vector<TransportKeys>& usual_settings() {
    static const std::vector<std::string> kRemote = {
        "url",        "headers", "connect_timeout_ms", "ca_file", "client_certificate",
        "client_key", "proxy",   "unix_socket"};
    static const std::vector<std::string> kHttp = [] {
        auto keys = kRemote;
        keys.emplace_back("keep_alive_sec");
        return keys;
    }();
    static const std::vector<TransportKeys> settings = {
        {"stdio",
         {"command", "args", "cwd", "env", "pass_env", "pid_namespace", "stop_grace_ms", "limits"}},
        {"tcp",
         {"host", "port", "allow_remote", "command", "args", "cwd", "env", "pass_env",
          "connect_timeout_ms", "stop_grace_ms", "limits"}},
        {"http", kHttp},
        {"sse", kHttp},
        {"ws", kRemote},
    };
    return settings;
}

std::vector<Complaint> take_settings(const Node& body, Server& server) {
    std::vector<Complaint> complaints;
    SettingsTaker taker(server, complaints);
    if (const auto* nested = body.find("config")) {
        for (const auto& member : nested->members) taker.take(member);
    }
    // After `config`, so that what stands beside it wins.
    for (const auto& member : body.members) {
        if (!find_server_key(member.key)) taker.take(member);
    }
    if (complaints.empty()) taker.finish();
    return complaints;
}

std::string canonical_transport(std::string_view written) {
    if (written == "streamable_http" || written == "streamable-http" ||
        written == "streamableHttp") {
        return "http";
    }
    if (written == "websocket") return "ws";
    return std::string(written);
}

std::string transport_for(bool has_command, std::string_view url) {
    if (has_command) return "stdio";
    return url.starts_with("ws://") || url.starts_with("wss://") ? "ws" : "http";
}

bool defines_connection(const Node& body) {
    const auto* nested = body.find("config");
    // One that names a template which cannot be used is a definition all the same, and no overlay.
    return body.find("transport") || body.find("command") || body.find("url") ||
           body.find("template") || (nested && (nested->find("command") || nested->find("url")));
}

}  // namespace patchbay::config
