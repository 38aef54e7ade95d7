#include "app/batch_in_flight.hpp"

#include <algorithm>

namespace patchbay::app {

BatchInFlight::Request* BatchInFlight::find(const std::string& id) {
    const auto found = requests_.find(id);
    return found == requests_.end() ? nullptr : &found->second;
}

std::vector<std::string> BatchInFlight::ids() const {
    std::vector<std::string> ids;
    for (const auto& each : requests_) ids.push_back(each.first);
    return ids;
}

std::size_t BatchInFlight::ending() const {
    return static_cast<std::size_t>(std::count_if(
        requests_.begin(), requests_.end(), [](const auto& each) { return !each.second.endless; }));
}

void BatchInFlight::succeed(const std::string& id, std::string_view raw_result, Outcome outcome) {
    if (!find(id)) return;
    lacking_ = lacking_ || outcome == Outcome::Lacking;
    output_.result(id, raw_result);
    finish(id);
}

void BatchInFlight::fail(const std::string& id, const Error& error) {
    const auto* request = find(id);
    if (!request) return;
    if (request->over && error.code == ErrorCode::Cancelled) return succeed(id, "{}");
    output_.error(id, error);
    finish(id);
}

void BatchInFlight::refuse(const BatchLine& line, const std::string& why) {
    output_.line_error(line.id, wrong_line(line.number, why), line.number);
    finish(line.id);
}

connection::ReplyHandler BatchInFlight::relay(const std::string& id) {
    return lifetime_.guard([this, id](Result<connection::Reply> reply) {
        if (!reply) return fail(id, reply.error());
        if (reply->error.empty())
            return succeed(id, reply->result, reply->is_error ? Outcome::Lacking : Outcome::Fine);
        if (!find(id)) return;
        output_.rpc_error(id, reply->error);
        finish(id);
    });
}

connection::ProgressHandler BatchInFlight::tell_progress(const std::string& id) {
    return lifetime_.guard(
        [this, id](const connection::Progress& progress) { output_.progress(id, progress); });
}

BatchInFlight::EventHandler BatchInFlight::tell_event(const std::string& id) {
    return {
        lifetime_.guard([this, id](std::string_view object) { output_.kept_event(id, object); }),
        lifetime_.guard([this, id](std::string_view object) { output_.event(id, object); }),
        lifetime_.guard([this, id](std::uint64_t count) { output_.lost_events(id, count); }),
        lifetime_.guard([this, id](std::uint64_t last) { output_.events_anew(id, last); })};
}

// Later, for it may be called while lines are taken, which what follows does too.
void BatchInFlight::finish(const std::string& id) {
    requests_.erase(id);
    loop_.defer(lifetime_.guard([this] { finished_(); }));
}

}  // namespace patchbay::app
