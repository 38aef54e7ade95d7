#include "app/ask_terminal.hpp"

#include "app/output.hpp"
#include "core/text.hpp"
#include "protocol/arguments.hpp"

#include <algorithm>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kForms = 16;  // of one server waiting at once; more are declined

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

// What may be chosen, each with the title that a form may give it; empty: anything.
std::string choices_of(const json::object& property) {
    const auto* items = property.if_contains("items");
    const auto& schema = items && items->is_object() ? items->get_object() : property;
    json::array choices;
    std::string titles;
    if (const auto* plain = schema.if_contains("enum"); plain && plain->is_array())
        choices = plain->get_array();
    for (const char* key : {"oneOf", "anyOf"}) {
        const auto* titled = schema.if_contains(key);
        if (!titled || !titled->is_array()) continue;
        for (const auto& each : titled->get_array()) {
            const auto* choice = each.if_object();
            const auto* value = choice ? choice->if_contains("const") : nullptr;
            if (!value) continue;
            choices.push_back(*value);
            const auto title = text_of(*choice, "title");
            if (!title.empty()) titles += "\n    " + json::serialize(*value) + ": " + title;
        }
    }
    if (choices.empty()) return {};
    return std::string(items ? " a list out of " : " ") +
           core::printable(json::serialize(choices), 200) + core::printable(titles, 2'000, true);
}

// What the form says against this value, for people; empty: nothing.
std::string trouble_with(const std::string& name, const json::value& property,
                         const json::value& value) {
    const auto troubles = protocol::check_arguments(
        json::object{{"properties", json::object{{name, property}}}}, json::object{{name, value}});
    return troubles.empty() ? "" : troubles.front();
}

}  // namespace

TerminalAsker::~TerminalAsker() {
    if (terminal_ >= 0) ::close(terminal_);
}

bool TerminalAsker::has_terminal() {
    const int fd = ::open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0) ::close(fd);
    return fd >= 0 && ::isatty(STDERR_FILENO);
}

std::uint64_t TerminalAsker::ask(const std::string& server, const json::object& params,
                                 Answer answer) {
    const auto* schema = params.if_contains("requestedSchema");
    const auto waiting = std::count_if(forms_.begin(), forms_.end(),
                                       [&](const Form& form) { return form.server == server; });
    if (!schema || !schema->is_object() || static_cast<std::size_t>(waiting) >= kForms) {
        answer(std::nullopt);
        return 0;
    }
    Form form;
    form.id = ++last_;
    form.server = server;
    form.heading =
        "server \"" + server + "\" asks: " + text_of(params, "message") + "\n(Ctrl-D declines)";
    form.schema = *schema;
    form.answer = std::move(answer);
    const auto* properties = schema->get_object().if_contains("properties");
    if (properties && properties->is_object()) {
        for (const auto& each : properties->get_object()) form.properties.emplace_back(each.key());
    }
    form.yes_or_no = form.properties.empty();
    const auto id = form.id;
    add(std::move(form));
    return id;
}

std::uint64_t TerminalAsker::ask_line(const std::string& heading, const std::string& prompt,
                                      Line line) {
    Form form;
    form.id = ++last_;
    form.heading = heading;
    form.line_prompt = prompt;
    form.line = std::move(line);
    if (loop_)  // the asker may not be called from inside
        loop_->defer([this, form = std::move(form)]() mutable { add(std::move(form)); });
    return last_;
}

void TerminalAsker::withdraw(std::uint64_t id) {
    const auto found =
        std::find_if(forms_.begin(), forms_.end(), [&](const Form& form) { return form.id == id; });
    if (found == forms_.end()) return;
    const bool asked = found == forms_.begin();
    const bool of_server = !found->line;
    const auto gone = std::move(*found);  // what its answer holds may come back here
    forms_.erase(found);
    if (!asked) return;
    if (of_server) say("(the call has ended, no answer is wanted any more)");
    next();
}

void TerminalAsker::add(Form form) {
    forms_.push_back(std::move(form));
    if (forms_.size() == 1) begin();
}

void TerminalAsker::begin() {
    if (terminal_ < 0 && (!loop_ || !open_terminal())) {
        if (const auto& server = forms_.front().server; !server.empty())
            say("note: server \"" + server +
                "\" asked something; there is no terminal, so it was declined");
        return end(false);
    }
    if (!forms_.front().heading.empty()) say(forms_.front().heading);
    prompt();
}

bool TerminalAsker::open_terminal() {
    terminal_ = ::open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (terminal_ < 0 && stdin_will_do_) terminal_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (terminal_ < 0) return false;
    if (auto watched =
            loop_->watch(terminal_, core::Loop::kReadable, [this](unsigned) { readable(); })) {
        watch_ = *watched;
        return true;
    }
    ::close(std::exchange(terminal_, -1));
    return false;
}

void TerminalAsker::readable() {
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
}

void TerminalAsker::prompt() {
    auto& form = forms_.front();
    if (form.line) return say(form.line_prompt);
    if (form.yes_or_no) return say("  accept? [y/N]:");
    if (form.properties.empty()) return end(true);
    const auto& name = form.properties.front();
    const auto& property = form.schema.get_object().at("properties").get_object().at(name);
    std::string text = "  " + core::printable(name, 64);
    if (const auto* object = property.if_object()) {
        const auto description = text_of(*object, "description");
        if (!description.empty()) text += " (" + description + ")";
        text += choices_of(*object);
        if (const auto* given = object->if_contains("default"))
            text += " [" + core::printable(json::serialize(*given), 100) + "]";
    }
    say(text + ":");
}

void TerminalAsker::on_line(const std::string& line) {
    auto& form = forms_.front();
    if (form.line) return end(true, line);
    if (form.yes_or_no) return end(line == "y" || line == "Y" || line == "yes");
    const std::string name = form.properties.front();
    const auto& property = form.schema.get_object().at("properties").get_object().at(name);
    if (line.empty()) {
        const auto* given =
            property.is_object() ? property.get_object().if_contains("default") : nullptr;
        if (given)
            form.content[name] = *given;
        else if (is_required(form.schema, name))
            return say("  it is required");
    } else {
        auto value = protocol::coerce_argument(form.schema, name, line);
        if (!value) return say("  " + value.error().message);
        if (const auto trouble = trouble_with(name, property, *value); !trouble.empty())
            return say("  " + trouble);
        json::object with = form.content;
        with[name] = *value;
        form.content = std::move(with);
    }
    form.properties.pop_front();
    prompt();
}

void TerminalAsker::end(bool accepted, const std::string& line) {
    auto form = std::move(forms_.front());
    forms_.pop_front();
    if (form.line)
        form.line(accepted ? std::optional(line) : std::nullopt);
    else if (accepted)
        form.answer(std::move(form.content));
    else
        form.answer(std::nullopt);
    next();
}

void TerminalAsker::next() {
    // What was typed so far was not meant for the next question: that may be another server's.
    typed_.clear();
    if (terminal_ >= 0) ::tcflush(terminal_, TCIFLUSH);
    if (!forms_.empty()) return begin();
    if (watch_) loop_->unwatch(std::exchange(watch_, 0));
    if (terminal_ >= 0) ::close(std::exchange(terminal_, -1));
}

}  // namespace patchbay::app
