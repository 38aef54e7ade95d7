#include "app/distant_host.hpp"

#include "app/host_silence.hpp"
#include "core/error_words.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "policy/unmatched_rules.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

struct Said {
    std::uint64_t id = 0;
    bool is_progress = false;
    std::string_view result, error;  // raw
};

Said read(std::string_view line) {
    Said said;
    for (const auto& [key, value] : protocol::members_in(line)) {
        if (key == "id") std::from_chars(value.data(), value.data() + value.size(), said.id);
        if (key == "event") said.is_progress = value == "\"progress\"";
        if (key == "result") said.result = value;
        if (key == "error") said.error = value;
    }
    return said;
}

connection::Reply reply_with(std::string_view result) {
    connection::Reply reply;
    reply.message = core::Buffer::from(std::string(result));
    reply.result = reply.message.view();
    for (const auto& [key, value] : protocol::members_in(reply.result))
        if (key == "isError") reply.is_error = value == "true";
    return reply;
}

// An error that the server answered is a reply; of what is the host's own there is no more than the words.
Result<connection::Reply> failure(std::string_view raw) {
    for (const auto& [key, value] : protocol::members_in(raw)) {
        if (key != "rpc") continue;
        connection::Reply reply;
        reply.message = core::Buffer::from(std::string(value));
        reply.error = reply.message.view();
        return reply;
    }
    const auto error = core::parse_json_object(raw);
    const auto* told = error ? &*error : nullptr;
    return Error{
        error_code_from(core::text_in(told, "kind").value_or("")).value_or(ErrorCode::Internal),
        std::string(core::text_in(told, "message").value_or(""))};
}

std::string quoted_list(const std::vector<std::string>& texts) {
    return json::serialize(json::array(texts.begin(), texts.end()));
}

const Error kOddAnswer{ErrorCode::Protocol,
                       "the running host has answered something else than was asked"};

std::string truth(bool value) {
    return value ? "true" : "false";
}

std::string milliseconds(const char* key, std::chrono::milliseconds time) {
    if (time.count() <= 0) return {};
    return ",\"" + std::string(key) + "\":" + std::to_string(time.count());
}

}  // namespace

DistantHost::DistantHost(const service::Servers& servers, std::unique_ptr<HostLine> line,
                         HostApprovals::Ask approve)
    : servers_(servers),
      loop_(servers.connections().loop()),
      line_(std::move(line)),
      approvals_(loop_, *line_, std::move(approve)),
      look_(loop_) {
    line_->listen([this](std::string_view said) { take(said); },
                  [this] {
                      if (line_->gone()) end_all();
                  });
}

// Never sent twice, and nothing is done here instead when the host goes: nobody knows how far it came.
std::uint64_t DistantHost::send(const std::string& op, const std::string& members,
                                connection::ReplyHandler answered,
                                connection::ProgressHandler on_progress) {
    const auto id = ++last_;
    pending_[id] = {std::move(answered), std::move(on_progress)};
    if (!look_.running()) {
        heard_ = true;
        look_later();
    }
    if (line_->gone()) loop_.defer(lifetime_.guard([this] { end_all(); }));
    line_->put("{\"id\":" + std::to_string(id) + ",\"op\":\"" + op + "\"" + members + "}");
    return id;
}

// Waits here rather than in the loop: who asks is about to print, and has nothing else to do.
Result<std::string> DistantHost::ask_for_text(const std::string& op, const std::string& members) {
    std::optional<Result<std::string>> answer;
    const auto id = send(op, members, [&](Result<connection::Reply> reply) {
        if (!reply)
            answer.emplace(reply.error());
        else
            answer.emplace(std::string(reply->result));
    });
    line_->read_until([&] { return answer.has_value(); }, kAnswer);
    pending_.erase(id);
    return answer ? std::move(*answer) : Result<std::string>(gone());
}

Result<json::value> DistantHost::ask(const std::string& op, const std::string& members) {
    const auto text = ask_for_text(op, members);
    if (!text) return text.error();
    return core::parse_json(*text, {core::Limits().json_depth, core::kAnyNumberOfValues});
}

// One that was stopped, or whose loop hangs, keeps its socket.
void DistantHost::look_later() {
    look_.start(kLook, [this] {
        if (pending_.empty()) return;
        if (!std::exchange(heard_, false)) return end_all();
        line_->put("{\"id\":" + std::to_string(++last_) + ",\"op\":\"host/ping\"}");
        look_later();
    });
}

void DistantHost::limit(std::uint64_t id, std::chrono::milliseconds most, Error error) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) return;
    auto& timer = found->second.limit;
    timer = std::make_unique<core::Timer>(loop_);
    timer->start(most, [this, id, error = std::move(error)] {
        const auto pending = pending_.extract(id);
        pending.mapped().answered(error);
    });
}

void DistantHost::take(std::string_view line) {
    heard_ = true;
    if (approvals_.take(line)) return;
    const auto said = read(line);
    if (said.is_progress) return tell_progress(line, said.id);
    const auto found = pending_.find(said.id);
    if (found == pending_.end()) return;  // nobody waits for it, or it is the last line
    const auto pending = std::move(found->second);
    pending_.erase(found);
    pending.answered(said.error.empty() ? Result<connection::Reply>(reply_with(said.result))
                                        : failure(said.error));
}

void DistantHost::tell_progress(std::string_view line, std::uint64_t id) const {
    const auto found = pending_.find(id);
    const auto told = core::parse_json_object(line);
    if (found == pending_.end() || !found->second.on_progress || !told) return;
    connection::Progress progress;
    progress.progress = core::number_in(&*told, "progress").value_or(0);
    progress.total = core::number_in(&*told, "total");
    progress.message = core::text_in(&*told, "message").value_or("");
    found->second.on_progress(progress);
}

Error DistantHost::gone(ErrorCode code) const {
    return {code, lost_host(*line_) + "; with --alone a command needs none"};
}

// Who repeats it alone does it twice.
Error DistantHost::gone_with_it() const {
    return {ErrorCode::Unavailable, lost_host(*line_) + "; the request may have been carried out"};
}

void DistantHost::end_all() {
    for (const auto& [id, pending] : std::exchange(pending_, {}))
        pending.answered(pending.may_be_done ? gone_with_it() : gone());
}

void DistantHost::connect(const std::vector<std::string>& servers, std::function<void()> settled) {
    // Rules without a tool are told of these alone, as a host of one command would.
    const auto all = servers.empty() ? servers_.connections().ids() : servers;
    asked_for_.insert(all.begin(), all.end());
    send("host/connect", ",\"servers\":" + quoted_list(servers),
         [settled = std::move(settled)](const Result<connection::Reply>&) { settled(); });
}

// Of a host that has gone nobody has listed anything.
std::vector<std::string> DistantHost::unknown(const std::vector<std::string>& servers) {
    asked_for_.insert(servers.begin(), servers.end());
    const auto told = ask("host/unknown", ",\"servers\":" + quoted_list(servers));
    if (!told || !told->is_array()) return servers;
    std::vector<std::string> ids;
    for (const auto& each : told->get_array()) ids.emplace_back(core::text_of(each).value_or(""));
    return ids;
}

void DistantHost::ask_for_tools(const std::vector<std::string>& servers, service::Ask ask,
                                std::function<void()> settled) {
    asked_for_.insert(servers.begin(), servers.end());
    send("host/ask",
         ",\"servers\":" + quoted_list(servers) + ",\"anew\":" + truth(ask == service::Ask::Anew),
         [settled = std::move(settled)](const Result<connection::Reply>&) { settled(); });
}

Result<void> DistantHost::turn(const std::string& op, const std::string& server) {
    const auto done = ask(op, ",\"server\":" + protocol::quoted(server));
    return done ? Result<void>() : Result<void>(done.error());
}

Result<std::string> DistantHost::sandbox_state(const std::string& state) {
    return ask_for_text("host/sandbox-state", state.empty() ? "" : ",\"state\":" + state);
}

Result<std::vector<service::Decision>> DistantHost::session_answers() {
    const auto told = ask("host/answers", "");
    if (!told) return told.error();
    const auto* list = told->if_array();
    if (!list) return kOddAnswer;
    std::vector<service::Decision> answers;
    for (const auto& each : *list) {
        auto answer = service::parse_decision(each);
        if (!answer) return kOddAnswer;
        answers.push_back(std::move(*answer));
    }
    return answers;
}

Result<std::size_t> DistantHost::forget_session_answers(const std::vector<PolicyTarget>& targets) {
    json::array list;
    for (const auto& each : targets)
        list.push_back(json::array{json::value(each.server), json::value(each.key)});
    const auto told = ask("host/forget-answers", ",\"targets\":" + json::serialize(list));
    if (!told) return told.error();
    const auto forgotten = core::integer_in(told->if_object(), "forgotten");
    if (!forgotten || *forgotten < 0) return kOddAnswer;
    return static_cast<std::size_t>(*forgotten);
}

// Of a host that has gone, what is configured here.
std::vector<connection::Status> DistantHost::statuses() {
    const auto told = ask("host/statuses", "");
    if (!told || !told->is_array()) return servers_.statuses();
    std::vector<connection::Status> statuses;
    for (const auto& each : told->get_array())
        if (auto status = parse_status(each)) statuses.push_back(std::move(*status));
    return statuses;
}

service::ToolList DistantHost::tools(const std::vector<std::string>& servers, service::Wait wait,
                                     service::Ask how) {
    listed_.clear();
    const auto told = ask("host/tools", ",\"servers\":" + quoted_list(servers) + ",\"cut_short\":" +
                                            truth(wait == service::Wait::CutShort) +
                                            ",\"anew\":" + truth(how == service::Ask::Anew));
    auto list = told ? parse_tools(*told, listed_) : Result<service::ToolList>(told.error());
    if (list) return std::move(*list);
    service::ToolList none;
    for (const auto& id : servers.empty() ? servers_.connections().ids() : servers)
        none.errors.push_back({id, within("server \"" + id + "\"", list.error())});
    return none;
}

void DistantHost::find_tool(const std::string& name, std::chrono::milliseconds timeout,
                            std::function<void(Result<router::ListedTool>)> found) {
    for (const auto& id : protocol::servers_for(name, servers_.connections().ids()))
        asked_for_.insert(id);
    const auto id = send(
        "host/find", ",\"name\":" + protocol::quoted(name) + milliseconds("timeout_ms", timeout),
        [this, found = std::move(found)](Result<connection::Reply> reply) {
            if (!reply) return found(reply.error());
            const auto told = core::parse_json(reply->result);
            found(told ? parse_tool(*told, found_) : Result<router::ListedTool>(told.error()));
        });
    if (timeout.count() > 0) limit(id, timeout + kGrace, gone(ErrorCode::Timeout));
}

router::CallId DistantHost::call(router::Call call, connection::ReplyHandler handler) {
    const auto begun = call.begun.value_or(loop_.now());
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now() - begun);
    auto members = ",\"name\":" + protocol::quoted(call.name) +
                   milliseconds("timeout_ms", call.timeout) + milliseconds("spent_ms", spent) +
                   (call.on_progress ? ",\"progress\":true" : "");
    if (!call.arguments.empty()) members += ",\"arguments\":" + call.arguments;
    const auto id = send("host/call", members, std::move(handler), std::move(call.on_progress));
    pending_[id].may_be_done = true;
    if (call.timeout.count() > 0)
        limit(id, std::max<std::chrono::milliseconds>(call.timeout - spent, {}) + kGrace,
              gone(ErrorCode::Timeout));
    return id;
}

namespace {

// It comes as a whole: until then all owe their answer.
class DistantListing final : public AnyListing {
public:
    DistantListing(std::vector<std::string> servers, std::function<void()> cut_short)
        : silent_(std::move(servers)), cut_short_(std::move(cut_short)) {}
    service::ThingList so_far() const override { return {}; }
    std::vector<std::string> silent() const override { return silent_; }
    void cut_short() override { cut_short_(); }

private:
    const std::vector<std::string> silent_;
    const std::function<void()> cut_short_;
};

const char* word_of(service::Kind kind) {
    return service::words_of(kind).method;
}

// Of a host that has gone, or was interrupted, each server lacks for the same reason.
service::ThingList nothing_of(const std::vector<std::string>& servers, const Error& why) {
    service::ThingList list;
    for (const auto& id : servers)
        list.errors.push_back(why.code == ErrorCode::Cancelled ? service::interrupted(id)
                                                               : service::ServerError{id, why});
    return list;
}

}  // namespace

std::shared_ptr<AnyListing> DistantHost::list_things(service::Kind kind, const std::string& server,
                                                     service::ThingListing::Servers which,
                                                     service::ThingListing::Done done) {
    const auto servers = server.empty() ? servers_.connections().ids() : std::vector{server};
    asked_for_.insert(servers.begin(), servers.end());
    const auto held = std::make_shared<bool>(true);
    const auto id = send(
        "host/things",
        ",\"kind\":" + protocol::quoted(word_of(kind)) + ",\"server\":" + protocol::quoted(server) +
            ",\"which\":" + protocol::quoted(app::word_of(which)),
        [servers, done = std::move(done),
         held = std::weak_ptr(held)](const Result<connection::Reply>& reply) {
            if (held.expired()) return;
            if (!reply) return done(nothing_of(servers, reply.error()));
            const auto told = core::parse_json(
                reply->result, {core::Limits().json_depth, core::kAnyNumberOfValues});
            auto list = told ? parse_things(*told) : Result<service::ThingList>(told.error());
            done(list ? std::move(*list) : nothing_of(servers, list.error()));
        });
    const auto listing = std::make_shared<DistantListing>(
        servers, lifetime_.guard([this, id] { cancel(id, "interrupted by the user"); }));
    // Nobody is told once the listing is let go of.
    return {listing.get(), [listing, held](AnyListing*) {}};
}

router::CallId DistantHost::request(router::ServerRequest request,
                                    connection::ReplyHandler handler) {
    asked_for_.insert(request.server);
    return send("request",
                ",\"server\":" + protocol::quoted(request.server) +
                    ",\"method\":" + protocol::quoted(request.method) + ",\"params\":{" +
                    request.params.members + "}",
                std::move(handler));
}

void DistantHost::cancel(router::CallId id, const std::string& why) {
    send("cancel", ",\"target\":" + std::to_string(id) + ",\"reason\":" + protocol::quoted(why),
         [](const Result<connection::Reply>&) {});
    limit(id, kGrace, {ErrorCode::Cancelled, why});
}

std::vector<std::string> DistantHost::rule_warnings() {
    const auto& welcome = line_->welcome();
    // It runs by what was read here, and there is no rule.
    if (welcome.fits && welcome.kept.empty() && !policy::has_rules(servers_.config())) return {};
    const auto told =
        ask("host/rules", ",\"servers\":" + quoted_list({asked_for_.begin(), asked_for_.end()}));
    std::vector<std::string> warnings;
    if (told && told->is_array())
        for (const auto& each : told->get_array())
            warnings.emplace_back(core::text_of(each).value_or(""));
    return warnings;
}

}  // namespace patchbay::app
