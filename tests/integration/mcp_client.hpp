// An MCP client in front of `patchbay serve`: what it sends, and what came of it.
//
// Threads: one. Errors: what does not come in time is reported by gtest, and is an empty object.
#pragma once

#include "integration/home.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace patchbay::test {

// What is there, or that nothing is.
inline json::value at(const json::object& message, const std::string& pointer) {
    const json::value whole = message;
    json::error_code failed;
    const auto* found = whole.find_pointer(pointer, failed);
    return found ? *found : json::value("nothing at " + pointer + " of " + json::serialize(whole));
}

inline std::string text_in(const json::object& answer) {
    json::error_code failed;
    const json::value whole = answer;
    const auto* text = whole.find_pointer("/result/content/0/text", failed);
    return text && text->is_string() ? std::string(text->get_string()) : json::serialize(answer);
}

class McpClient {
public:
    // `capabilities`: its own, as JSON.
    McpClient(const Home& home, bool modern, const std::string& capabilities = "{}",
              Words flags = {})
        : program_(home.patchbay(with_verb(std::move(flags)))),
          modern_(modern),
          capabilities_(json::parse(capabilities).as_object()) {}

    // The handshake of a legacy client; nothing for a modern one.
    json::object greet(const std::string& version = "2025-11-25") {
        if (modern_) return {};
        const auto answer =
            ask("initialize", {{"protocolVersion", version},
                               {"capabilities", capabilities_},
                               {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
        notify("notifications/initialized");
        return answer;
    }
    void write(const std::string& line) { program_.send(line + "\n"); }
    void notify(const std::string& method, json::object params = {}) {
        write(json::serialize(
            json::object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
    }
    // Its id; wait_for() has the answer.
    int begin(const std::string& method, json::object params = {}) {
        if (modern_) {
            auto& meta = params["_meta"];
            if (!meta.is_object()) meta = json::object();
            meta.as_object()["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
            meta.as_object()["io.modelcontextprotocol/clientCapabilities"] = capabilities_;
        }
        write(json::serialize(json::object{{"jsonrpc", "2.0"},
                                           {"id", ++last_},
                                           {"method", method},
                                           {"params", std::move(params)}}));
        return last_;
    }
    json::object wait_for(const json::value& id) {
        return find([&](const json::object& message) {
            return !message.contains("method") && message.contains("id") && message.at("id") == id;
        });
    }
    json::object ask(const std::string& method, json::object params = {}) {
        return wait_for(begin(method, std::move(params)));
    }
    json::object call(const std::string& tool, const std::string& arguments = "{}") {
        return ask("tools/call", {{"name", tool}, {"arguments", json::parse(arguments)}});
    }
    // The first that is a request or notification of that method.
    json::object wait_for_method(const std::string& method) {
        return find([&](const json::object& message) { return is_of(message, method); });
    }
    // The next that is a request.
    json::object wait_for_request() {
        const auto request = find([&](const json::object& message) {
            return message.contains("method") && message.contains("id") && !answered(message);
        });
        if (request.contains("id")) answered_.push_back(request.at("id"));
        return request;
    }
    // The question that a call leads to, and how the call ends when it is answered.
    struct Asked {
        json::value method, params;
        std::string outcome;
    };
    Asked asked(json::object call, const json::object& given) {
        const auto id = begin("tools/call", call);
        if (!modern_) {
            const auto question = wait_for_request();
            write(json::serialize(
                json::object{{"jsonrpc", "2.0"}, {"id", question.at("id")}, {"result", given}}));
            return {at(question, "/method"), at(question, "/params"), text_in(wait_for(id))};
        }
        const auto wanted = wait_for(id);
        const auto requests = at(wanted, "/result/inputRequests");
        EXPECT_TRUE(requests.is_object() && requests.get_object().size() == 1) << wanted;
        if (!requests.is_object() || requests.get_object().empty()) return {};
        const auto& question = *requests.get_object().begin();
        call["inputResponses"] = json::object{{question.key(), given}};
        call["requestState"] = at(wanted, "/result/requestState");
        const auto& request = question.value().as_object();
        return {at(request, "/method"), at(request, "/params"), text_in(ask("tools/call", call))};
    }
    // All that have come by now.
    std::vector<json::object> messages() {
        read();
        return messages_;
    }
    std::size_t count(const std::string& method) {
        std::size_t count = 0;
        for (const auto& each : messages())
            if (is_of(each, method)) ++count;
        return count;
    }
    // Whether there are more of that method than so many, before the deadline.
    bool wait_for_more(const std::string& method, std::size_t before) {
        return program_.wait_until([&] { return count(method) > before; });
    }
    Program& program() { return program_; }
    Outcome finish() { return program_.finish(); }

private:
    bool answered(const json::object& request) const {
        return std::find(answered_.begin(), answered_.end(), request.at("id")) != answered_.end();
    }
    static bool is_of(const json::object& message, const std::string& method) {
        const auto* found = message.if_contains("method");
        return found && found->is_string() && std::string_view(found->get_string()) == method;
    }
    static Words with_verb(Words flags) {
        flags.insert(flags.begin(), "serve");
        return flags;
    }
    void read() {
        const auto& out = program_.out();
        for (auto end = out.find('\n', read_); end != std::string::npos;
             read_ = end + 1, end = out.find('\n', read_)) {
            json::error_code failed;
            const auto message = json::parse(out.substr(read_, end - read_), failed);
            EXPECT_TRUE(message.is_object() && !failed)
                << "on stdout, and is no message: " << out.substr(read_, end - read_);
            if (message.is_object()) messages_.push_back(message.get_object());
        }
    }
    json::object find(const std::function<bool(const json::object&)>& wanted) {
        json::object found;
        const bool came = program_.wait_until([&] {
            read();
            for (const auto& message : messages_)
                if (found.empty() && wanted(message)) found = message;
            return !found.empty();
        });
        EXPECT_TRUE(came) << "did not come; stderr: " << program_.err();
        return found;
    }

    Program program_;
    const bool modern_;
    const json::object capabilities_;
    std::vector<json::object> messages_;
    std::vector<json::value> answered_;  // ids of requests that were waited for
    std::size_t read_ = 0;
    int last_ = 0;
};

// That member of each thing that a result lists; where there is no list: the answer.
inline std::vector<std::string> names_in(const json::object& answer, const char* member,
                                         const char* key = "name") {
    std::vector<std::string> names;
    const json::value whole = answer;
    json::error_code failed;
    const auto* list = whole.find_pointer(std::string("/result/") + member, failed);
    if (!list || !list->is_array()) return {json::serialize(answer)};
    for (const auto& each : list->get_array()) names.emplace_back(each.at(key).as_string());
    return names;
}

}  // namespace patchbay::test
