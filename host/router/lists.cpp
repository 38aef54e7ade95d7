#include "router/lists.hpp"

#include "core/json_beside.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"

#include <algorithm>
#include <memory>
#include <set>

namespace patchbay::router {
namespace json = boost::json;
using connection::Reply;

namespace {

constexpr std::int64_t kMethodNotFound = -32601;

// The array that a list method's result carries.
std::string_view list_member(std::string_view method) {
    if (method == "resources/templates/list") return "resourceTemplates";
    return method.substr(0, method.find('/'));
}

// Kept alive by whoever wants it; the page on its way is cancelled with it.
class PagedList : public std::enable_shared_from_this<PagedList> {
public:
    PagedList(Router& router, connection::Caller& caller, const core::Limits& limits,
              ServerRequest asked, std::function<void(Result<ListedItems>)> listed)
        : router_(router),
          caller_(caller),
          limits_(limits),
          asked_(std::move(asked)),
          listed_(std::move(listed)) {}
    PagedList(const PagedList&) = delete;
    ~PagedList() {
        if (page_) router_.cancel(page_);
    }

    void begin() { ask(asked_); }

private:
    void ask_on(const std::string& cursor) {
        at_empty_ = cursor.empty();
        auto request = asked_;
        request.params.members = "\"cursor\":" + protocol::quoted(cursor);
        ask(std::move(request));
    }

    void ask(ServerRequest request) {
        page_ = router_.request(caller_, std::move(request),
                                [weak = weak_from_this()](Result<Reply> reply) {
                                    const auto self = weak.lock();
                                    if (!self) return;
                                    self->page_ = 0;
                                    if (reply)
                                        self->on_page(*reply);
                                    else
                                        self->listed_(reply.error());
                                });
    }

    void on_page(const Reply& reply) {
        if (!reply.error.empty()) {
            const auto error = protocol::parse_rpc_error(reply.error);
            // Servers announce resources and know nothing of templates: they have none.
            if (error && error->code == kMethodNotFound && cursors_.empty())
                return listed_(ListedItems());
            if (at_empty_) return listed_(std::move(items_));
            return fail("failed: " +
                        (error ? core::printable(error->message, 500) : "unreadable error"));
        }
        // What it takes as values, not as text: `[],` is three bytes there and sixty here.
        bytes_ += core::json_cost(reply.result);
        if (bytes_ > limits_.list_bytes)
            return too_much(limits_.list_bytes, "bytes over its pages", "list_bytes");
        auto page = core::read_json_object(reply.result, {.depth = limits_.json_depth});
        if (!page) return fail("result " + page.error().message);
        auto* items = page->if_contains(list_member(asked_.method));
        if (!items || !items->is_array()) return fail("result has no such list");
        if (items_.values.size() + items->get_array().size() > limits_.items_per_list)
            return too_much(limits_.items_per_list, "items", "items_per_list");
        const auto* cursor = page->if_contains("nextCursor");
        const bool more = cursor && cursor->is_string();
        // An empty cursor is one as any (2026-07-28 server/utilities/pagination). Who writes it for none
        // answers it with an error, or the page that it stood in; neither is of the list.
        if (more && at_empty_ && cursor->get_string().empty()) return listed_(std::move(items_));
        for (auto& item : items->get_array()) items_.values.push_back(std::move(item));
        keep_texts(reply.result);
        if (!more) return listed_(std::move(items_));
        const std::string following(cursor->get_string());
        // A server that goes in a circle would be asked for ever.
        if (!cursors_.insert(following).second) {
            return fail("repeats the cursor \"" + core::printable(following, 64) +
                        "\"; its list has no end");
        }
        if (cursors_.size() >= limits_.pages_per_list)
            return too_much(limits_.pages_per_list, "pages", "pages_per_list");
        ask_on(following);
    }

    // Of equal members the last counts, as it did for the values.
    void keep_texts(std::string_view result) {
        std::string_view list;
        protocol::Caching caching;
        protocol::each_member(result, [&](std::string_view key, std::string_view value) {
            if (key == list_member(asked_.method)) list = value;
            protocol::read_caching(caching, key, value);
            return true;
        });
        items_.caching = cursors_.empty() ? caching : protocol::joined(items_.caching, caching);
        for (auto rest = protocol::items_in(list); items_.texts.size() < items_.values.size();)
            items_.texts.emplace_back(protocol::take_item(rest));
    }
    void fail(const std::string& why, ErrorCode code = ErrorCode::Protocol) {
        listed_(Error{code, "server \"" + asked_.server + "\": " + asked_.method + " " + why});
    }
    void too_much(std::size_t most, const char* what, const char* limit) {
        fail("has more than " + std::to_string(most) + " " + what + " (limit " + limit + ")",
             ErrorCode::Limit);
    }

    Router& router_;
    connection::Caller& caller_;  // gone: no page comes any more, and no other is asked for
    const core::Limits& limits_;
    const ServerRequest asked_;
    const std::function<void(Result<ListedItems>)> listed_;
    ListedItems items_;
    std::set<std::string> cursors_;
    bool at_empty_ = false;  // that page is on its way
    std::size_t bytes_ = 0;
    CallId page_ = 0;  // on its way
};

}  // namespace

std::shared_ptr<void> read_all_pages(Router& router, connection::Caller& caller,
                                     const core::Limits& limits, ServerRequest asked,
                                     std::function<void(Result<ListedItems>)> listed) {
    auto list =
        std::make_shared<PagedList>(router, caller, limits, std::move(asked), std::move(listed));
    list->begin();
    return list;
}

Result<Reply> with_tools_shown(Reply reply, const std::string& server, std::size_t most_depth,
                               const std::function<bool(const std::string&)>& shown,
                               const InPlace& in_place) {
    if (!reply.error.empty()) return reply;
    auto result = core::parse_json_object(reply.result, {.depth = most_depth});
    if (!result)
        return Error{ErrorCode::Protocol,
                     "server \"" + server + "\": tools/list result " + result.error().message};
    auto* listed = result->if_contains("tools");
    if (!listed || !listed->is_array()) return reply;  // no tool is in it that could be hidden
    auto& items = listed->get_array();
    const auto name_of = [](const json::value& item) {
        return std::string(core::text_in(item.if_object(), "name").value_or(""));
    };
    const auto hidden = std::stable_partition(
        items.begin(), items.end(), [&](const auto& item) { return shown(name_of(item)); });
    bool same = hidden == items.end();
    for (auto item = items.begin(); item != hidden; ++item)
        if (auto other = in_place(name_of(*item))) {
            *item = std::move(*other);
            same = false;
        }
    if (same) return reply;
    items.erase(hidden, items.end());
    Reply fewer;
    fewer.message = core::Buffer::from(json::serialize(*result));
    fewer.result = fewer.message.view();
    return fewer;
}

}  // namespace patchbay::router
