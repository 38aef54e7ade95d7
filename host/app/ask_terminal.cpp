#include "app/ask_terminal.hpp"

#include "app/output.hpp"
#include "core/text.hpp"
#include "protocol/arguments.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kForms = 16;  // waiting at once; more are declined

bool is_required(const json::value& schema, const std::string& name) {
    const auto* required =
        schema.is_object() ? schema.get_object().if_contains("required") : nullptr;
    if (!required || !required->is_array()) return false;
    const auto& names = required->get_array();
    return std::any_of(names.begin(), names.end(), [&](const auto& each) {
        return each.is_string() && each.get_string() == name;
    });
}

std::string text_of(const json::object& object, const char* key) {
    const auto* value = object.if_contains(key);
    return value && value->is_string()
               ? core::printable({value->get_string().data(), value->get_string().size()}, 500)
               : std::string();
}

}  // namespace

TerminalAsker::~TerminalAsker() {
    if (terminal_ >= 0) ::close(terminal_);
}

void TerminalAsker::ask(const std::string& server, const json::object& params, Answer answer) {
    const auto* schema = params.if_contains("requestedSchema");
    if (!schema || !schema->is_object() || forms_.size() >= kForms) return answer(std::nullopt);
    Form form{server, text_of(params, "message"), *schema, {}, {}, std::move(answer)};
    const auto* properties = schema->get_object().if_contains("properties");
    if (properties && properties->is_object()) {
        for (const auto& each : properties->get_object()) form.properties.emplace_back(each.key());
    }
    forms_.push_back(std::move(form));
    if (forms_.size() == 1) begin();
}

void TerminalAsker::begin() {
    if (terminal_ < 0 && loop_) {
        terminal_ = ::open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (terminal_ >= 0) {
            auto watched = loop_->watch(terminal_, core::Loop::kReadable, [this](unsigned) {
                char text[1024];
                const auto got = ::read(terminal_, text, sizeof text);
                if (got == 0) return end(false);  // Ctrl-D declines
                if (got < 0) return;
                typed_.append(text, static_cast<std::size_t>(got));
                for (auto at = typed_.find('\n'); at != std::string::npos && !forms_.empty();
                     at = typed_.find('\n')) {
                    const std::string line = typed_.substr(0, at);
                    typed_.erase(0, at + 1);
                    on_line(line);
                }
            });
            if (watched) watch_ = *watched;
        }
    }
    if (!watch_) return end(false);
    say("server \"" + forms_.front().server + "\" asks: " + forms_.front().message +
        "\n(Ctrl-D declines)");
    prompt();
}

void TerminalAsker::prompt() {
    auto& form = forms_.front();
    if (form.properties.empty()) return end(true);
    const auto& name = form.properties.front();
    const auto& property = form.schema.get_object().at("properties").get_object().at(name);
    std::string text = "  " + core::printable(name, 64);
    if (const auto* object = property.if_object()) {
        const auto description = text_of(*object, "description");
        if (!description.empty()) text += " (" + description + ")";
        if (const auto* choices = object->if_contains("enum"))
            text += " " + core::printable(json::serialize(*choices), 200);
        if (const auto* given = object->if_contains("default"))
            text += " [" + core::printable(json::serialize(*given), 100) + "]";
    }
    say(text + ":");
}

void TerminalAsker::on_line(const std::string& line) {
    auto& form = forms_.front();
    const std::string name = form.properties.front();
    if (line.empty()) {
        const auto& property = form.schema.get_object().at("properties").get_object().at(name);
        const auto* given =
            property.is_object() ? property.get_object().if_contains("default") : nullptr;
        if (given)
            form.content[name] = *given;
        else if (is_required(form.schema, name))
            return say("  it is required");
    } else {
        auto value = protocol::coerce_argument(form.schema, name, line);
        if (!value) return say("  " + value.error().message);
        json::object with = form.content;
        with[name] = *value;
        form.content = std::move(with);
    }
    form.properties.pop_front();
    prompt();
}

void TerminalAsker::end(bool accepted) {
    auto form = std::move(forms_.front());
    forms_.pop_front();
    if (forms_.empty() && watch_) {
        loop_->unwatch(std::exchange(watch_, 0));
        ::close(std::exchange(terminal_, -1));
        typed_.clear();
    }
    if (accepted)
        form.answer(std::move(form.content));
    else
        form.answer(std::nullopt);
    if (!forms_.empty()) begin();
}

}  // namespace patchbay::app
