#include "connection/tool_listing.hpp"

#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::connection {

namespace {

constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::size_t kBytesATurn = 64u << 10;

Error wrong(ErrorCode code, const std::string& text) {
    return {code, "tools/list " + text};
}

Error over(std::size_t most, const char* what, const char* limit) {
    return wrong(ErrorCode::Limit,
                 "has more than " + std::to_string(most) + what + " (limit " + limit + ")");
}

}  // namespace

void ToolNotes::leave_out(std::string text) {
    const auto word = left_out_.next();
    if (word != core::FirstFew::Word::Nothing)
        core::log::warn(
            name_.before(word == core::FirstFew::Word::Tell
                             ? text
                             : "more tools were left out; `patchbay mcp status` names them"));
    add(std::move(text));
}

void ToolListing::ask(const std::optional<std::string>& cursor) {
    at_ = cursor;
    protocol::Params params;
    if (cursor) params.members = "\"cursor\":" + protocol::quoted(*cursor);
    requests_.ask({"tools/list", std::move(params), {}, {}}, {},
                  lifetime_.guard([this](Result<Reply> reply) { on_page(std::move(reply)); }));
}

// Here and below the owner is told last: it may end what is told of.
void ToolListing::on_page(Result<Reply> reply) {
    if (!reply) return owner_.on_listing_unanswered(reply.error());
    page_came_ = time_.now();
    reply_ = std::move(*reply);
    auto page = begin_page();
    if (!page) return owner_.on_listing_read(name_.named(page.error()));
    page_ = std::move(*page);
    take_tools();
}

Result<protocol::ToolPage> ToolListing::begin_page() {
    if (!reply_.error.empty()) {
        const auto error = protocol::parse_rpc_error(reply_.error);
        // Resource servers announce tools that they have none of.
        if (error && error->code == kMethodNotFound && cursors_.empty()) {
            notes_.add("says that it has tools and does not know tools/list");
            return protocol::ToolPage();
        }
        if (meant_no_cursor(at_)) return nothing_more();
        return wrong(ErrorCode::Protocol, "failed: " + (error ? core::printable(error->message, 500)
                                                              : error.error().message));
    }
    bytes_ += reply_.result.size();
    if (bytes_ > terms_.limits.list_bytes)
        return over(terms_.limits.list_bytes, " bytes over its pages", "list_bytes");
    auto page = protocol::parse_tool_page(reply_.result, terms_.limits, kBytesATurn);
    return page && meant_no_cursor(page->next_cursor) ? nothing_more() : std::move(page);
}

// An empty cursor is one as any (2026-07-28 server/utilities/pagination). Who writes it for none answers it
// with an error, or the page that it stood in; neither is of the list.
bool ToolListing::meant_no_cursor(const std::optional<std::string>& next) const {
    return at_ && at_->empty() && next && next->empty();
}

protocol::ToolPage ToolListing::nothing_more() const {
    protocol::ToolPage page;
    page.caching = found_.caching;
    return page;
}

void ToolListing::take_tools() {
    for (auto& text : std::exchange(page_.left_out, {})) notes_.leave_out(std::move(text));
    for (auto& text : std::exchange(page_.notes, {})) notes_.add(std::move(text));
    for (auto& tool : std::exchange(page_.tools, {}))
        if (found_.tools.size() < terms_.limits.tools_per_server && may_be_called(tool))
            found_.tools.push_back(std::move(tool));
    if (!page_.unread.empty())
        return read_on_.start(std::chrono::nanoseconds(0), [this] {
            protocol::read_more(page_, terms_.limits, kBytesATurn);
            take_tools();
        });
    reply_ = {};
    const auto cursor = end_page();
    if (!cursor) return owner_.on_listing_read(name_.named(cursor.error()));
    if (!*cursor) return owner_.on_listing_read({});
    ask(*cursor);
}

Result<std::optional<std::string>> ToolListing::end_page() {
    const auto& limits = terms_.limits;
    listed_ += page_.listed;
    if (listed_ > limits.tools_per_server)
        return over(limits.tools_per_server, " tools", "tools_per_server");
    found_.caching = protocol::joined(found_.caching, page_.caching);
    const auto fresh =
        std::min(page_.caching.ttl.value_or(terms_.health.tool_cache), kLongestFresh);
    found_.fresh_until = std::min(found_.fresh_until, page_came_ + fresh);
    const auto& next = page_.next_cursor;
    if (!next) return next;
    if (++pages_ >= limits.pages_per_list)
        return over(limits.pages_per_list, " pages", "pages_per_list");
    if (!cursors_.insert(*next).second)
        return wrong(ErrorCode::Protocol, "repeats the cursor \"" + core::printable(*next, 64) +
                                              "\"; its list has no end");
    return next;
}

// A tool whose x-mcp-header marks make no sense is left out where they would be headers.
bool ToolListing::may_be_called(const protocol::Tool& tool) {
    if (marks_ == Marks::Ignored) return true;
    auto marks = protocol::header_parameters(tool.input_schema());
    if (marks) {
        if (!marks->empty()) found_.mirrored[tool.name] = std::move(*marks);
        return true;
    }
    notes_.leave_out("tool \"" + core::printable(tool.name, 128) +
                     "\" was left out: " + marks.error().message);
    return false;
}

}  // namespace patchbay::connection
