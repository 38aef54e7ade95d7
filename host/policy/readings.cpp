#include "policy/readings.hpp"

#include "core/text.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>

namespace patchbay::policy {

namespace {

constexpr std::string_view kPrefix = "mcp__";

// What all public names of a server begin with, and what is asked of it besides its tools is called.
std::string beginning_of(std::string_view server) {
    return std::string(kPrefix).append(server).append("__");
}

struct Pattern {
    explicit Pattern(std::string_view written)
        : text(core::trimmed(written)),
          open(text.ends_with('*')),
          begin(text.substr(0, text.size() - (open ? 1 : 0))) {}
    std::string_view text;
    bool open;               // anything may follow
    std::string_view begin;  // without the `*`
};

}  // namespace

std::string_view plain_beginning(std::string_view pattern) {
    auto end = std::min(pattern.find_first_of("?()[]{}|^$\\+,;"), pattern.size());
    for (const char* mark : {".*", "\u00a0"})
        end = std::min({end, pattern.find(mark), pattern.size()});
    return pattern.substr(0, end);
}

std::string_view own_tool(const config::Server& server, std::string_view tool) {
    for (const auto& name : {server.id, server.written}) {
        const auto own = beginning_of(name);
        if (!name.empty() && tool.starts_with(own)) return tool.substr(own.size());
    }
    return {};
}

Readings::Readings(const std::vector<config::Server>& servers) {
    for (const auto& server : servers) {
        ids_.insert(server.id);
        if (!server.written.empty()) renamed_.push_back({beginning_of(server.written), server.id});
    }
}

// A tool's name may hold `__` too, so each of them may be where the server ends.
std::vector<Readings::Tools> Readings::by_id(std::string_view begin) const {
    std::vector<Tools> found;
    if (!begin.starts_with(kPrefix)) return found;
    for (auto end = begin.find("__", kPrefix.size()); end != std::string_view::npos;
         end = begin.find("__", end + 1)) {
        const auto id = ids_.find(begin.substr(kPrefix.size(), end - kPrefix.size()));
        if (id != ids_.end()) found.push_back({*id, begin.substr(end + 2)});
    }
    return found;
}

std::vector<Readings::Tools> Readings::by_written_name(std::string_view begin) const {
    std::vector<Tools> found;
    for (const auto& [own, id] : renamed_)
        if (begin.starts_with(own)) found.push_back({id, begin.substr(own.size())});
    return found;
}

std::vector<std::string> Readings::of_deny(std::string_view written) const {
    std::vector<std::string> readings;
    const Pattern pattern(written);
    const auto add = [&](std::string reading) {
        if (reading != written &&
            std::find(readings.begin(), readings.end(), reading) == readings.end())
            readings.push_back(std::move(reading));
    };
    add(std::string(pattern.text));
    auto meant = by_id(pattern.begin);
    const auto more = by_written_name(pattern.begin);
    meant.insert(meant.end(), more.begin(), more.end());
    for (const auto& [server, rest] : meant) {
        if (pattern.open) {
            add(beginning_of(server).append(rest) + "*");
            add(protocol::public_beginning(server, rest) + "*");
        } else {
            add(rest.empty() ? beginning_of(server) : protocol::public_name(server, rest));
            if (!rest.empty()) add(protocol::name_told_apart(server, rest));
        }
    }
    // A server alone, and the beginning of what some are called.
    if (!pattern.open && pattern.begin.starts_with(kPrefix) &&
        ids_.contains(pattern.begin.substr(kPrefix.size())))
        add(std::string(pattern.begin) + "__*");
    bool is_written_name = !more.empty();  // in which any letter stands for itself
    for (const auto& [own, id] : renamed_) {
        const bool whole = own.starts_with(pattern.begin) &&
                           (pattern.open || own.size() == pattern.begin.size() + 2);
        if (whole) add(beginning_of(id) + "*");
        is_written_name = is_written_name || whole;
    }
    for (const auto& [server, rest] : more) {
        const auto plain = plain_beginning(rest);
        if (plain.size() < rest.size()) add(beginning_of(server).append(plain) + "*");
    }
    const auto plain = plain_beginning(pattern.text);
    if (plain.size() < pattern.text.size() && !is_written_name) {
        const auto wider = std::string(plain) + "*";
        add(wider);
        for (auto& reading : of_deny(wider)) add(std::move(reading));
    }
    return readings;
}

std::vector<std::string> Readings::of_allow(std::string_view written) const {
    const Pattern pattern(written);
    std::vector<std::string> readings;
    if (pattern.text != written) readings.emplace_back(pattern.text);
    // What begins like an id is about that server.
    const bool of_id = !by_id(pattern.begin).empty() ||
                       (pattern.open && std::any_of(ids_.begin(), ids_.end(), [&](auto id) {
                            return beginning_of(id).starts_with(pattern.begin);
                        }));
    const auto meant = of_id ? by_id(pattern.begin) : by_written_name(pattern.begin);
    if (meant.size() != 1) return readings;
    const auto& [server, rest] = meant.front();
    auto reading = pattern.open   ? beginning_of(server).append(rest) + "*"
                   : rest.empty() ? beginning_of(server)
                                  : protocol::public_name(server, rest);
    if (reading != pattern.text) readings.push_back(std::move(reading));
    return readings;
}

}  // namespace patchbay::policy
