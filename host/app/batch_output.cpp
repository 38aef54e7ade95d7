#include "app/batch_output.hpp"

#include "app/output.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "protocol/compose.hpp"

#include <boost/json.hpp>

#include <utility>

namespace patchbay::app {
namespace json = boost::json;

BatchOutput::BatchOutput(core::Loop& loop, LineOutput::To to, std::function<void()> relieved)
    : lines_(loop, std::move(to), std::move(relieved),
             [this](const std::string& from, std::size_t count) {
                 lines_.put("{\"event\":\"dropped\"," + from +
                            ",\"count\":" + std::to_string(count) + "}");
             }) {}

void BatchOutput::result(const std::string& id, std::string_view raw_result) {
    lines_.tell_dropped("\"id\":" + id);
    std::string line;
    line.reserve(id.size() + raw_result.size() + 32);
    line.append("{\"id\":")
        .append(id)
        .append(",\"ok\":true,\"result\":")
        .append(raw_result)
        .append("}");
    lines_.put(std::move(line));
}

void BatchOutput::line_error(const std::string& id, const Error& error, std::size_t line) {
    put_error(id, error, ",\"line\":" + std::to_string(line));
}

void BatchOutput::put_error(const std::string& id, const Error& error, const std::string& members) {
    told_errors_ = true;
    lines_.tell_dropped("\"id\":" + id);
    lines_.put("{\"id\":" + id + ",\"ok\":false,\"error\":{\"kind\":\"" + name_of(error.code) +
               "\"" + members +
               ",\"message\":" + protocol::quoted(core::log::masked(error.message)) + "}}");
}

void BatchOutput::rpc_error(const std::string& id, std::string_view raw_error) {
    told_errors_ = true;
    lines_.tell_dropped("\"id\":" + id);
    lines_.put("{\"id\":" + id + ",\"ok\":false,\"error\":" + rpc_error_json(raw_error) + "}");
}

void BatchOutput::progress(const std::string& id, const connection::Progress& progress) {
    json::object told{{"progress", core::plain_number(progress.progress)}};
    if (progress.total) told["total"] = core::plain_number(*progress.total);
    if (!progress.message.empty()) told["message"] = progress.message;
    const auto from = "\"id\":" + id;
    lines_.put_event(from,
                     "{\"event\":\"progress\"," + from + "," + protocol::members_of(told) + "}");
}

void BatchOutput::notification(const std::string& server, const std::string& method,
                               std::string_view params) {
    const auto from = "\"server\":" + protocol::quoted(server);
    lines_.put_event(from, "{\"event\":\"notification\"," + from +
                               ",\"method\":" + protocol::quoted(method) +
                               (params.empty() ? "" : ",\"params\":" + std::string(params)) + "}");
}

void BatchOutput::event(const std::string& id, std::string_view object) {
    const auto from = "\"id\":" + id;
    lines_.put_event(from, "{" + from + "," + std::string(object.substr(1)));
}

void BatchOutput::kept_event(const std::string& id, std::string_view object) {
    lines_.put("{\"id\":" + id + "," + std::string(object.substr(1)));
}

void BatchOutput::lost_events(const std::string& id, std::uint64_t count) {
    lines_.put("{\"event\":\"dropped\",\"id\":" + id + ",\"count\":" + std::to_string(count) + "}");
}

void BatchOutput::events_anew(const std::string& id, std::uint64_t last) {
    lines_.put("{\"event\":\"anew\",\"id\":" + id + ",\"last\":" + std::to_string(last) + "}");
}

}  // namespace patchbay::app
