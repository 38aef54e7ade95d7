// The server's tools, over all pages of tools/list, and when that list has to be read again.
#include "connection/connection_impl.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

namespace patchbay::connection {
namespace json = boost::json;

namespace {

constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::size_t kMostNotes = 100;

}  // namespace

void Connection::Impl::list_tools(std::string cursor) {
    if (cursor.empty()) {
        relist_timer.stop();
        list_running = true;
        list_again = false;
        ++list_round;
        listing.clear();
        listing_mirrored.clear();
        cursors.clear();
        pages = 0;
        listing_bytes = 0;
        listing_ttl_ms = -1;
        shown.notes.clear();
    }
    protocol::Params params;
    if (!cursor.empty()) params.members = "\"cursor\":" + protocol::quoted(cursor);
    send_now({"tools/list", std::move(params), {}, {}}, {},
             [this, round = list_round](Result<Reply> reply) {
                 if (round == list_round) tools_listed(std::move(reply));
             });
}

void Connection::Impl::tools_listed(Result<Reply> reply) {
    if (!list_running) return;  // the connection was lost meanwhile
    if (!reply) return list_failed(reply.error());
    const auto fail = [&](ErrorCode code, const std::string& text) {
        tools_done(named({code, "tools/list " + text}));
    };
    if (!reply->error.empty()) {
        const auto error = protocol::parse_rpc_error(reply->error);
        // Resource servers announce tools that they have none of.
        if (error && error->code == kMethodNotFound && cursors.empty()) {
            shown.notes.push_back("says that it has tools and does not know tools/list");
            return tools_done({});
        }
        return fail(ErrorCode::Protocol, "failed: " + (error ? core::printable(error->message, 500)
                                                             : error.error().message));
    }
    listing_bytes += reply->result.size();
    if (listing_bytes > context.terms.limits.list_bytes) {
        return fail(ErrorCode::Limit, "has more than " +
                                          std::to_string(context.terms.limits.list_bytes) +
                                          " bytes over its pages (limit list_bytes)");
    }
    auto value = core::parse_json_object(reply->result, {.depth = context.terms.limits.json_depth});
    if (!value) return fail(value.error().code, "result " + value.error().message);
    auto page = protocol::parse_tool_page(std::move(*value), context.terms.limits);
    if (!page) return tools_done(named(page.error()));
    for (auto& note : page->notes) {
        if (shown.notes.size() < kMostNotes) shown.notes.push_back(std::move(note));
    }
    for (auto& tool : page->tools) {
        if (listing.size() >= context.terms.limits.tools_per_server) {
            return fail(ErrorCode::Limit,
                        "has more than " + std::to_string(context.terms.limits.tools_per_server) +
                            " tools (limit tools_per_server)");
        }
        if (may_be_called(tool)) listing.push_back(std::move(tool));
    }
    if (page->ttl_ms >= 0) {
        listing_ttl_ms = listing_ttl_ms < 0 ? page->ttl_ms : std::min(listing_ttl_ms, page->ttl_ms);
    }
    if (page->next_cursor.empty()) return tools_done({});
    if (++pages >= context.terms.limits.pages_per_list) {
        return fail(ErrorCode::Limit, "has more than " +
                                          std::to_string(context.terms.limits.pages_per_list) +
                                          " pages (limit pages_per_list)");
    }
    if (!cursors.insert(page->next_cursor).second) {
        return fail(ErrorCode::Protocol, "repeats the cursor \"" +
                                             core::printable(page->next_cursor, 64) +
                                             "\"; its list has no end");
    }
    list_tools(page->next_cursor);
}

// No answer at all. A server whose first list does not come is of no use yet, and comes back as one
// that was lost; one that is ready keeps the tools it has.
void Connection::Impl::list_failed(Error error) {
    if (state == State::Ready || closing || !channel) return tools_done(std::move(error));
    const std::string server = "server \"" + spec.id() + "\": ";
    if (error.message.find("tools/list") == std::string::npos)
        error.message.insert(error.message.rfind(server, 0) == 0 ? server.size() : 0,
                             "tools/list failed: ");
    error.message = with_stderr(std::move(error.message));
    lose(std::move(error));
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
    if (shown.notes.size() < kMostNotes) shown.notes.push_back(note);
    return false;
}

void Connection::Impl::publish_tools() {
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
    mirrored = std::move(listing_mirrored);
    listed_generation = generation;
}

// What the first list of a session brought before it broke off is kept: some tools are better than
// none. A later one that fails leaves the whole list before it as it was.
void Connection::Impl::tools_done(Result<void> outcome) {
    const bool was_running = std::exchange(list_running, false);
    if (was_running && channel && !closing) {
        listed_at = context.terms.now();
        tools_error.reset();
        if (outcome || listed_generation != generation) publish_tools();
        listing.clear();
        listing_mirrored.clear();
        cursors.clear();
        if (outcome || outcome.error().code == ErrorCode::Limit) {
            const auto fresh = listing_ttl_ms >= 0 ? std::chrono::milliseconds(listing_ttl_ms)
                                                   : context.terms.health.tool_cache;
            tools_until = listed_at + std::min(fresh, std::chrono::milliseconds(86'400'000));
        } else {
            tools_until.reset();  // whoever needs a tool that is not there asks again
        }
        if (!outcome) {
            tools_error = outcome.error();
            shown.last_error = core::printable(outcome.error().message, 1000);
            shown.notes.push_back(shown.last_error);
        }
        context.events.on_tools_changed(spec.id());
        if (list_again) return list_tools({});
        if (state != State::Ready) ready();
        if (std::exchange(changed_meanwhile, false)) tools_changed();
    }
    for (auto& waiter : std::exchange(list_waiters, {})) waiter(outcome);
}

void Connection::Impl::tools_changed() {
    tools_until.reset();
    if (list_running) {
        changed_meanwhile = true;
        return;
    }
    if (state != State::Ready || !context.terms.long_lived || relist_timer.running()) return;
    if (context.terms.now() - listed_at >= context.terms.relist_most) relists = 0;
    std::chrono::milliseconds pause{0};
    if (relists > 0) {
        const auto doubled = context.terms.relist_first * (1u << std::min(relists - 1, 16u));
        pause = std::min(doubled, context.terms.relist_most);
    }
    ++relists;
    relist_timer.start(pause, [this] {
        if (state == State::Ready && !list_running) list_tools({});
    });
}

void Connection::refresh_tools(std::function<void(Result<void>)> fresh) {
    auto& impl = *impl_;
    const bool none = impl.session && !impl.session->can("tools");
    const bool valid = impl.tools_until && impl.context.terms.now() < *impl.tools_until;
    const auto outcome = [this] {
        return impl_->tools_error ? Result<void>(*impl_->tools_error) : Result<void>();
    };
    if (impl.state == State::Ready && (none || (valid && !impl.list_running))) {
        return impl.context.loop.defer(
            [fresh = std::move(fresh), known = outcome()] { fresh(known); });
    }
    if (impl.state != State::Ready) {
        // Connecting lists the tools; a connection that fails tells why.
        return connect([this, watch = impl.alive, outcome, fresh = std::move(fresh)] {
            if (!*watch) return fresh(Error{ErrorCode::Unavailable, "the host is closing"});
            if (impl_->state == State::Ready) return fresh(outcome());
            fresh(Error{impl_->state == State::AuthRequired ? ErrorCode::AuthRequired
                                                            : ErrorCode::Unavailable,
                        impl_->shown.last_error});
        });
    }
    impl.list_waiters.push_back(std::move(fresh));
    if (!impl.list_running) impl.list_tools({});
}

}  // namespace patchbay::connection
