#include "app/batch_output.hpp"

#include "app/output.hpp"
#include "core/log.hpp"
#include "protocol/compose.hpp"

#include <boost/json.hpp>

#include <cmath>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kPlannedBytes = 1u << 20;  // more does not wait for the end of the turn

// Boost.JSON writes every double as 1E0; steps and bytes are whole.
json::value plain_number(double number) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (std::abs(number) <= kExact && number == std::floor(number))
        return static_cast<std::int64_t>(number);
    return number;
}

}  // namespace

void BatchOutput::result(const std::string& id, std::string_view raw_result) {
    std::string line;
    line.reserve(id.size() + raw_result.size() + 32);
    line.append("{\"id\":")
        .append(id)
        .append(",\"ok\":true,\"result\":")
        .append(raw_result)
        .append("}");
    put(std::move(line));
}

void BatchOutput::line_error(const std::string& id, const Error& error, std::size_t line) {
    put_error(id, error, ",\"line\":" + std::to_string(line));
}

void BatchOutput::put_error(const std::string& id, const Error& error, const std::string& members) {
    told_errors_ = true;
    put("{\"id\":" + id + ",\"ok\":false,\"error\":{\"kind\":\"" + name_of(error.code) + "\"" +
        members + ",\"message\":" + protocol::quoted(core::log::masked(error.message)) + "}}");
}

void BatchOutput::rpc_error(const std::string& id, std::string_view raw_error) {
    told_errors_ = true;
    put("{\"id\":" + id + ",\"ok\":false,\"error\":" + rpc_error_json(raw_error) + "}");
}

void BatchOutput::progress(const std::string& id, const connection::Progress& progress) {
    json::object told{{"progress", plain_number(progress.progress)}};
    if (progress.total) told["total"] = plain_number(*progress.total);
    if (!progress.message.empty()) told["message"] = progress.message;
    put("{\"event\":\"progress\",\"id\":" + id + "," + protocol::members_of(told) + "}");
}

void BatchOutput::notification(const std::string& server, const std::string& method,
                               std::string_view params) {
    put("{\"event\":\"notification\",\"server\":" + protocol::quoted(server) +
        ",\"method\":" + protocol::quoted(method) +
        (params.empty() ? "" : ",\"params\":" + std::string(params)) + "}");
}

// What servers say stands in here as they wrote it, with line ends between its tokens: a line of its
// own would be an answer that nobody gave.
void BatchOutput::put(std::string line) {
    protocol::flatten(line);
    out_ += line;
    out_ += '\n';
    if (out_.size() > kPlannedBytes) return flush();
    if (std::exchange(flush_planned_, true)) return;
    loop_.defer([this] {
        flush_planned_ = false;
        flush();
    });
}

void BatchOutput::flush() {
    if (!write_at_once(out_)) lost_ = true;
    out_.clear();
}

}  // namespace patchbay::app
