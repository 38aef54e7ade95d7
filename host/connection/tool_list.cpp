#include "connection/tool_list.hpp"

#include "core/text.hpp"
#include "protocol/handshake.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::connection {

namespace {

bool by_name(const protocol::Tool& a, const protocol::Tool& b) {
    return a.name < b.name;
}

}  // namespace

ToolList::ToolList(core::Loop& loop, const Terms& terms, const protocol::ClientIdentity& identity,
                   const ServerName& name, std::string definition, OwnRequests& requests,
                   ToolListOwner& owner)
    : loop_(loop),
      terms_(terms),
      identity_(identity),
      name_(name),
      definition_(std::move(definition)),
      requests_(requests),
      owner_(owner),
      notes_(name),
      pace_(terms.relist_first, terms.relist_most),
      relist_(loop) {}

void ToolList::begin_session(Offered offered, std::string instructions,
                             std::set<std::string> others) {
    session_ = Session::New;
    instructions_ = std::move(instructions);
    others_ = std::move(others);
    declared_ = protocol::declared_by(identity_);
    if (offered == Offered::Tools) return start();
    error_.reset();
    // None is a list as well: it is known that nobody need be asked.
    listed_ = std::make_shared<const catalogue::Listing>(
        catalogue::Listing{definition_, {}, true, instructions_, others_, declared_});
    owner_.on_listed(listed_);
}

void ToolList::end_session() {
    session_ = Session::None;
    listing_.reset();
    age_.make_stale();
    relist_.stop();
}

const protocol::Tool* ToolList::find(std::string_view name) const {
    const auto found =
        std::lower_bound(tools().begin(), tools().end(), name,
                         [](const auto& tool, const auto& wanted) { return tool.name < wanted; });
    return found != tools().end() && found->name == name ? &*found : nullptr;
}

const ToolMarks* ToolList::marks_of(const std::string& tool) const {
    const auto found = mirrored_.find(tool);
    return found == mirrored_.end() ? nullptr : &found->second;
}

bool ToolList::fresh() const {
    return !listing_ && age_.fresh(loop_.now());
}

bool ToolList::due() const {
    return session_ == Session::Listed && (listing_ || age_.due(loop_.now()));
}

protocol::Caching ToolList::caching() const {
    // One that is being read again may be another one.
    const auto left = age_.caching(loop_.now());
    return listing_ ? protocol::Caching{{}, left.scope} : left;
}

void ToolList::join(Waiter waiter) {
    waiters_.push_back(std::move(waiter));
    if (!listing_) start();
}

void ToolList::read_again(Waiter waiter) {
    waiters_.push_back(std::move(waiter));
    if (listing_)
        another_ = true;
    else
        start();
}

// A list that is on its way is abandoned.
void ToolList::start() {
    relist_.stop();
    another_ = changed_ = false;
    pace_.begun(loop_.now());
    notes_.clear();
    const auto marks =
        owner_.mirrors_arguments() ? ToolListing::Marks::AreHeaders : ToolListing::Marks::Ignored;
    ToolListingOwner& us = *this;
    listing_ = std::make_unique<ToolListing>(loop_, terms_, name_, notes_, requests_, marks, us);
    listing_->begin();
}

void ToolList::publish(ToolListing::Found found, bool whole) {
    auto& tools = found.tools;
    std::stable_sort(tools.begin(), tools.end(), by_name);
    const auto repeated = std::unique(
        tools.begin(), tools.end(), [](const auto& a, const auto& b) { return a.name == b.name; });
    if (repeated != tools.end()) {
        notes_.leave_out("tools listed twice under one name were left out");
        tools.erase(repeated, tools.end());
    }
    listed_ = std::make_shared<const catalogue::Listing>(catalogue::Listing{
        definition_, std::move(tools), whole, instructions_, others_, declared_});
    mirrored_ = std::move(found.mirrored);
    session_ = Session::Listed;
    owner_.on_listed(listed_);
}

void ToolList::on_listing_unanswered(const Error& error) {
    if (!owner_.on_list_unanswered(error)) on_listing_read(error);
}

// What the first list of a session brought before it broke off is kept: some tools are better than
// none. A later one that fails leaves the whole list before it as it was, and so does either leave
// what other connections have listed (Catalogue::publish).
void ToolList::on_listing_read(const Result<void>& outcome) {
    // It goes when we return: it is that which tells us.
    const auto listing = std::exchange(listing_, nullptr);
    pace_.read(loop_.now());
    const bool another = another_, has_changed = changed_;
    auto found = listing->take();
    age_.read(loop_.now(), fresh_until(outcome, found),
              outcome ? found.caching : protocol::Caching());
    error_.reset();
    if (outcome || session_ == Session::New) publish(std::move(found), outcome.has_value());
    if (!outcome) {
        error_ = outcome.error();
        notes_.end_with(core::printable(error_->message, 1000));
    }
    owner_.on_tools_changed(outcome);
    if (another) return start();
    owner_.on_tools_read();
    if (has_changed) changed();
    tell(outcome);
}

std::optional<core::Clock::time_point> ToolList::fresh_until(
    const Result<void>& outcome, const ToolListing::Found& found) const {
    if (outcome) return found.fresh_until;
    // Another list would be as long.
    if (outcome.error().code == ErrorCode::Limit)
        return loop_.now() + std::min(terms_.health.tool_cache, kLongestFresh);
    return {};
}

void ToolList::tell(const Result<void>& outcome) {
    for (auto& waiter : std::exchange(waiters_, {})) waiter(outcome);
}

void ToolList::changed() {
    age_.make_stale();
    if (listing_) changed_ = true;
    if (listing_ || session_ == Session::None || !terms_.long_lived || relist_.running()) return;
    relist_.start(pace_.next(age_.since_read(loop_.now())), [this] {
        if (!listing_) start();
    });
}

}  // namespace patchbay::connection
