// A server's answers to the handshake, one a line: R result, E error, F refused, S silence; a lower
// case letter answers the newest request, an upper case one the oldest. The first line says which
// revision is configured, and which is remembered. Whatever comes, a bounded number of requests is
// sent, each with params that are JSON, and what is agreed on is a revision we speak.
#include "core/json.hpp"
#include "fuzz/require.hpp"
#include "protocol/handshake.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace {

using namespace patchbay;
using namespace patchbay::protocol;

constexpr std::size_t kMostRequests = 4;

std::string_view next_line(std::string_view& text) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

std::string revision(std::string_view text) {
    return speaks(text) ? std::string(text) : std::string();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto first = next_line(text);
    const auto pinned = revision(first.substr(0, first.find(' ')));
    const auto space = std::min(first.find(' '), first.size());
    const auto remembered = revision(first.substr(std::min(space + 1, first.size())));
    Handshake handshake({{{"name", "fuzz"}, {"version", "1"}}, {}},
                        pinned.empty() ? "auto" : pinned, remembered);

    std::deque<std::string> asked;
    std::size_t requests = 0;
    bool over = false;
    const auto take = [&](const Handshake::Step& step) {
        if (const auto* send = std::get_if<Handshake::Send>(&step)) {
            FUZZ_REQUIRE(++requests <= kMostRequests);
            FUZZ_REQUIRE(core::parse_json_object("{" + send->params.members + "}"));
            FUZZ_REQUIRE(core::parse_json_object("{" + send->params.meta + "}"));
            asked.push_back(send->method);
        } else if (const auto* done = std::get_if<Handshake::Done>(&step)) {
            FUZZ_REQUIRE(speaks(done->session.version));
            FUZZ_REQUIRE(era_of(done->session.version) == done->session.era);
            FUZZ_REQUIRE(pinned.empty() || done->session.version == pinned ||
                         done->session.era == Era::Legacy);
            (void)done->session.can("tools", "listChanged");
            over = !handshake.ambiguous();
        } else if (std::holds_alternative<Error>(step)) {
            over = true;
        }
    };
    take(handshake.start());
    while (!over && !text.empty()) {
        const auto line = next_line(text);
        if (line.empty()) continue;
        const bool newest = line[0] >= 'a';
        const char kind = static_cast<char>(newest ? line[0] - 'a' + 'A' : line[0]);
        if (kind == 'S') {
            take(handshake.on_silence());
            continue;
        }
        if (asked.empty()) continue;
        const auto method = newest ? asked.back() : asked.front();
        const auto body = line.substr(1);
        const auto object = core::parse_json_object(body);
        const auto error = kind == 'E' ? parse_rpc_error(body) : Error{ErrorCode::Protocol, ""};
        if ((kind == 'R' && !object) || (kind == 'E' && !error)) continue;
        if (kind != 'R' && kind != 'E' && kind != 'F') continue;
        newest ? asked.pop_back() : asked.pop_front();
        if (kind == 'R') take(handshake.on_result(method, *object));
        if (kind == 'E') take(handshake.on_error(method, *error));
        if (kind == 'F') take(handshake.on_refused(method, std::string(body)));
    }
    return 0;
}
