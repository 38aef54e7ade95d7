#include "connection/tool_list.hpp"

#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::connection {

namespace {

constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::chrono::milliseconds kLongestFresh{86'400'000};
constexpr std::size_t kBytesATurn = 64u << 10;

Error wrong(ErrorCode code, const std::string& text) {
    return {code, "tools/list " + text};
}

Error over(std::size_t most, const char* what, const char* limit) {
    return wrong(ErrorCode::Limit,
                 "has more than " + std::to_string(most) + what + " (limit " + limit + ")");
}

bool by_name(const protocol::Tool& a, const protocol::Tool& b) {
    return a.name < b.name;
}

}  // namespace

ToolList::ToolList(core::Loop& loop, const Terms& terms, const ServerName& name,
                   std::string definition, OwnRequests& requests, ToolListOwner& owner)
    : time_(loop.time()),
      terms_(terms),
      name_(name),
      definition_(std::move(definition)),
      requests_(requests),
      owner_(owner),
      relist_(loop),
      read_on_(loop) {}

void ToolList::begin_session(Offered offered, std::string instructions) {
    session_ = Session::New;
    instructions_ = std::move(instructions);
    if (offered == Offered::Tools) return start();
    error_.reset();
}

void ToolList::end_session() {
    session_ = Session::None;
    listing_.reset();
    fresh_until_.reset();
    relist_.stop();
    read_on_.stop();
}

const protocol::Tool* ToolList::find(std::string_view name) const {
    const auto found =
        std::lower_bound(tools().begin(), tools().end(), name,
                         [](const auto& tool, const auto& wanted) { return tool.name < wanted; });
    return found != tools().end() && found->name == name ? &*found : nullptr;
}

const ToolList::Marks* ToolList::marks_of(const std::string& tool) const {
    const auto found = mirrored_.find(tool);
    return found == mirrored_.end() ? nullptr : &found->second;
}

bool ToolList::fresh() const {
    return !listing_ && fresh_until_ && time_.now() < *fresh_until_;
}

bool ToolList::due() const {
    if (session_ != Session::Listed) return false;
    return listing_ || (!fresh() && time_.now() - read_at_ >= kLeastAge);
}

protocol::Caching ToolList::caching() const {
    if (!fresh() || !caching_.ttl) return {{}, caching_.scope};
    return {std::chrono::duration_cast<std::chrono::milliseconds>(*fresh_until_ - time_.now()),
            caching_.scope};
}

void ToolList::join(Waiter waiter) {
    waiters_.push_back(std::move(waiter));
    if (!listing_) start();
}

void ToolList::read_again(Waiter waiter) {
    waiters_.push_back(std::move(waiter));
    if (listing_)
        listing_->another = true;
    else
        start();
}

void ToolList::start() {
    relist_.stop();
    read_on_.stop();
    listing_.emplace().number = ++listings_;
    notes_.clear();
    ask({});
}

// The number, not the id of the request, which is only known once ask() has returned.
void ToolList::ask(const std::string& cursor) {
    protocol::Params params;
    if (!cursor.empty()) params.members = "\"cursor\":" + protocol::quoted(cursor);
    requests_.ask({"tools/list", std::move(params), {}, {}}, {},
                  [this, number = listing_->number](Result<Reply> reply) {
                      if (listing_ && listing_->number == number) on_page(std::move(reply));
                  });
}

void ToolList::on_page(Result<Reply> reply) {
    if (!reply) {
        if (!owner_.on_list_unanswered(reply.error())) done(reply.error());
        return;
    }
    listing_->page_came = time_.now();
    listing_->reply = std::move(*reply);
    auto page = begin_page(listing_->reply);
    if (!page) return done(name_.named(page.error()));
    listing_->page = std::move(*page);
    take_tools();
}

Result<protocol::ToolPage> ToolList::begin_page(const Reply& reply) {
    if (!reply.error.empty()) {
        const auto error = protocol::parse_rpc_error(reply.error);
        // Resource servers announce tools that they have none of.
        if (error && error->code == kMethodNotFound && listing_->cursors.empty()) {
            notes_.push_back("says that it has tools and does not know tools/list");
            return protocol::ToolPage();
        }
        return wrong(ErrorCode::Protocol, "failed: " + (error ? core::printable(error->message, 500)
                                                              : error.error().message));
    }
    listing_->bytes += reply.result.size();
    if (listing_->bytes > terms_.limits.list_bytes)
        return over(terms_.limits.list_bytes, " bytes over its pages", "list_bytes");
    return protocol::parse_tool_page(reply.result, terms_.limits, kBytesATurn);
}

void ToolList::take_tools() {
    auto& page = listing_->page;
    for (auto& text : std::exchange(page.left_out, {})) leave_out(std::move(text));
    for (auto& text : std::exchange(page.notes, {})) note(std::move(text));
    for (auto& tool : std::exchange(page.tools, {}))
        if (listing_->tools.size() < terms_.limits.tools_per_server && may_be_called(tool))
            listing_->tools.push_back(std::move(tool));
    if (!page.unread.empty())
        return read_on_.start(std::chrono::nanoseconds(0), [this] {
            protocol::read_more(listing_->page, terms_.limits, kBytesATurn);
            take_tools();
        });
    listing_->reply = {};
    const auto cursor = end_page();
    if (!cursor) return done(name_.named(cursor.error()));
    if (cursor->empty()) return done({});
    ask(*cursor);
}

Result<std::string> ToolList::end_page() {
    const auto& limits = terms_.limits;
    const auto& page = listing_->page;
    listing_->listed += page.listed;
    if (listing_->listed > limits.tools_per_server)
        return over(limits.tools_per_server, " tools", "tools_per_server");
    listing_->caching = protocol::joined(listing_->caching, page.caching);
    const auto fresh = std::min(page.caching.ttl.value_or(terms_.health.tool_cache), kLongestFresh);
    listing_->fresh_until = std::min(listing_->fresh_until, listing_->page_came + fresh);
    if (page.next_cursor.empty()) return std::string();
    if (++listing_->pages >= limits.pages_per_list)
        return over(limits.pages_per_list, " pages", "pages_per_list");
    if (!listing_->cursors.insert(page.next_cursor).second)
        return wrong(ErrorCode::Protocol, "repeats the cursor \"" +
                                              core::printable(page.next_cursor, 64) +
                                              "\"; its list has no end");
    return page.next_cursor;
}

// A tool whose x-mcp-header marks make no sense is left out where they would be headers.
bool ToolList::may_be_called(const protocol::Tool& tool) {
    if (!owner_.mirrors_arguments()) return true;
    auto marks = protocol::header_parameters(tool.input_schema());
    if (marks) {
        if (!marks->empty()) listing_->mirrored[tool.name] = std::move(*marks);
        return true;
    }
    leave_out("tool \"" + core::printable(tool.name, 128) +
              "\" was left out: " + marks.error().message);
    return false;
}

void ToolList::leave_out(std::string text) {
    const auto word = left_out_.next();
    if (word != core::FirstFew::Word::Nothing)
        core::log::warn(
            name_.before(word == core::FirstFew::Word::Tell
                             ? text
                             : "more tools were left out; `patchbay mcp status` names them"));
    note(std::move(text));
}

void ToolList::note(std::string text) {
    if (notes_.size() < protocol::kMostToolNotes) notes_.push_back(std::move(text));
}

void ToolList::publish(ToolListing listing, bool whole) {
    auto& tools = listing.tools;
    std::stable_sort(tools.begin(), tools.end(), by_name);
    const auto repeated = std::unique(
        tools.begin(), tools.end(), [](const auto& a, const auto& b) { return a.name == b.name; });
    if (repeated != tools.end()) {
        leave_out("tools listed twice under one name were left out");
        tools.erase(repeated, tools.end());
    }
    listed_ = std::make_shared<const catalogue::Listing>(
        catalogue::Listing{definition_, std::move(tools), whole, instructions_});
    mirrored_ = std::move(listing.mirrored);
    session_ = Session::Listed;
    owner_.on_listed(listed_);
}

// What the first list of a session brought before it broke off is kept: some tools are better than
// none. A later one that fails leaves the whole list before it as it was, and so does either leave
// what other connections have listed (Catalogue::publish).
void ToolList::done(const Result<void>& outcome) {
    auto listing = std::move(*std::exchange(listing_, std::nullopt));
    const bool another = listing.another, has_changed = listing.changed;
    read_at_ = time_.now();
    error_.reset();
    caching_ = outcome ? listing.caching : protocol::Caching();
    fresh_until_.reset();  // whoever needs a tool that is not there asks again
    if (outcome)
        fresh_until_ = listing.fresh_until;
    else if (outcome.error().code == ErrorCode::Limit)
        fresh_until_ = read_at_ + std::min(terms_.health.tool_cache, kLongestFresh);
    if (outcome || session_ == Session::New) publish(std::move(listing), outcome.has_value());
    if (!outcome) {
        error_ = outcome.error();
        notes_.push_back(core::printable(error_->message, 1000));
    }
    owner_.on_tools_changed(outcome);
    if (another) return start();
    owner_.on_tools_read();
    if (has_changed) changed();
    tell(outcome);
}

void ToolList::tell(const Result<void>& outcome) {
    for (auto& waiter : std::exchange(waiters_, {})) waiter(outcome);
}

// A server may say so as often as it likes: its list is read again at once, then less and less often.
void ToolList::changed() {
    fresh_until_.reset();
    if (listing_) listing_->changed = true;
    if (listing_ || session_ == Session::None || !terms_.long_lived || relist_.running()) return;
    if (time_.now() - read_at_ >= terms_.relist_most) relists_ = 0;
    std::chrono::milliseconds pause{0};
    if (relists_ > 0) {
        const auto doubled = terms_.relist_first * (1u << std::min(relists_ - 1, 16u));
        pause = std::min(doubled, terms_.relist_most);
    }
    ++relists_;
    relist_.start(pause, [this] {
        if (!listing_) start();
    });
}

}  // namespace patchbay::connection
