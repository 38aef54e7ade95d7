// The server's tools, over all pages of tools/list, and when that list has to be read again.
#include "connection/connection_impl.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

namespace patchbay::connection {
namespace json = boost::json;

void Connection::Impl::list_tools(std::string cursor) {
    if (cursor.empty()) {
        list_running = true;
        list_again = false;
        ++list_round;
        listing.clear();
        listing_mirrored.clear();
        cursors.clear();
        pages = 0;
        listing_ttl_ms = -1;
        shown.notes.clear();
    }
    protocol::Params params;
    if (!cursor.empty()) params.members = "\"cursor\":" + protocol::quoted(cursor);
    send_now({"tools/list", std::move(params), {}, {}}, spec.config.request_timeout,
             [this, round = list_round](Result<Reply> reply) {
                 if (round == list_round) tools_listed(std::move(reply));
             });
}

void Connection::Impl::tools_listed(Result<Reply> reply) {
    if (!list_running) return;  // the connection was lost meanwhile
    if (!reply) return tools_done(reply.error());
    if (!reply->error.empty()) {
        const auto error = protocol::parse_rpc_error(reply->error);
        return tools_done(
            named({ErrorCode::Protocol,
                   "tools/list failed: " + (error ? error->message : error.error().message)}));
    }
    const auto value = core::parse_json_object(reply->result, {.depth = context.limits.json_depth});
    if (!value)
        return tools_done(
            named({value.error().code, "tools/list result " + value.error().message}));
    auto page = protocol::parse_tool_page(*value, context.limits);
    if (!page) return tools_done(named(page.error()));
    for (auto& note : page->notes) {
        if (shown.notes.size() < 100) shown.notes.push_back(std::move(note));
    }
    for (auto& tool : page->tools) {
        if (listing.size() >= context.limits.tools_per_server) {
            return tools_done(
                named({ErrorCode::Limit, "lists more than " +
                                             std::to_string(context.limits.tools_per_server) +
                                             " tools (limit tools_per_server)"}));
        }
        if (may_be_called(tool)) listing.push_back(std::move(tool));
    }
    if (page->ttl_ms >= 0) {
        listing_ttl_ms = listing_ttl_ms < 0 ? page->ttl_ms : std::min(listing_ttl_ms, page->ttl_ms);
    }
    if (page->next_cursor.empty()) return tools_done({});
    if (++pages >= context.limits.pages_per_list) {
        return tools_done(
            named({ErrorCode::Limit, "tools/list has more than " +
                                         std::to_string(context.limits.pages_per_list) +
                                         " pages (limit pages_per_list)"}));
    }
    if (!cursors.insert(page->next_cursor).second) {
        return tools_done(named({ErrorCode::Protocol, "tools/list repeats the cursor \"" +
                                                          core::printable(page->next_cursor, 64) +
                                                          "\"; its list has no end"}));
    }
    list_tools(page->next_cursor);
}

// A tool whose x-mcp-header marks make no sense is left out where they would be headers.
bool Connection::Impl::may_be_called(const protocol::Tool& tool) {
    if (!channel || !channel->takes_headers() || !modern({})) return true;
    auto marks = protocol::header_parameters(*tool.input_schema());
    if (marks) {
        if (!marks->empty()) listing_mirrored[tool.name] = std::move(*marks);
        return true;
    }
    const auto note =
        "tool \"" + core::printable(tool.name, 128) + "\" was left out: " + marks.error().message;
    core::log::warn("server \"" + spec.id() + "\": " + note);
    if (shown.notes.size() < 100) shown.notes.push_back(note);
    return false;
}

// What was listed before a failure is kept: some tools are better than none.
void Connection::Impl::tools_done(Result<void> outcome) {
    const bool was_running = std::exchange(list_running, false);
    if (was_running && channel) {
        std::stable_sort(listing.begin(), listing.end(),
                         [](const auto& a, const auto& b) { return a.name < b.name; });
        const auto repeated =
            std::unique(listing.begin(), listing.end(),
                        [](const auto& a, const auto& b) { return a.name == b.name; });
        if (repeated != listing.end()) {
            shown.notes.push_back("tools listed twice under one name were left out");
            listing.erase(repeated, listing.end());
        }
        tools = std::move(listing);
        listing.clear();
        mirrored = std::move(listing_mirrored);
        listing_mirrored.clear();
        if (!outcome) {
            shown.last_error = core::printable(outcome.error().message, 1000);
            shown.notes.push_back(shown.last_error);
        }
        const auto fresh = listing_ttl_ms >= 0 ? std::chrono::milliseconds(listing_ttl_ms)
                                               : context.health.tool_cache;
        tools_until = core::Clock::now() + std::min(fresh, std::chrono::milliseconds(86'400'000));
        context.events.on_tools_changed(spec.id());
        if (list_again) return list_tools({});
        if (state != State::Ready) ready();
    }
    for (auto& waiter : std::exchange(list_waiters, {})) waiter(outcome);
}

void Connection::refresh_tools(std::function<void(Result<void>)> fresh) {
    auto& impl = *impl_;
    const bool none = impl.session && !impl.session->can("tools");
    const bool valid = impl.tools_until && core::Clock::now() < *impl.tools_until;
    if (impl.state == State::Ready && (none || (valid && !impl.list_running))) {
        return impl.context.loop.defer([fresh = std::move(fresh)] { fresh({}); });
    }
    if (impl.state != State::Ready) {
        // Connecting lists the tools; a connection that fails tells why.
        return connect([this, watch = impl.alive, fresh = std::move(fresh)] {
            if (!*watch) return fresh(Error{ErrorCode::Unavailable, "the host is closing"});
            if (impl_->state == State::Ready) return fresh({});
            fresh(Error{impl_->state == State::AuthRequired ? ErrorCode::AuthRequired
                                                            : ErrorCode::Unavailable,
                        impl_->shown.last_error});
        });
    }
    impl.list_waiters.push_back(std::move(fresh));
    if (!impl.list_running) impl.list_tools({});
}

}  // namespace patchbay::connection
