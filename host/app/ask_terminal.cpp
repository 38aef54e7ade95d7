#include "app/ask_terminal.hpp"

#include "app/form_field.hpp"
#include "app/output.hpp"
#include "app/visible_json.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// A person answers one question at a time: without these bounds one server could keep everybody
// else's questions from ever being asked.
constexpr std::size_t kForms = 16;              // of one server waiting at once; more are declined
constexpr std::size_t kTypedBytes = 64u << 10;  // without a line break; stdin may be any file
constexpr unsigned kWithdrawn = 16;  // questions of one server in a row that nobody could answer

// Also what has no line break yet, so without lines for that moment. Not by tcflush(): it takes away
// a Ctrl-C too that has just been typed and is no signal yet.
void forget_typed(int terminal) {
    termios usual;
    if (::tcgetattr(terminal, &usual) != 0) return;  // no terminal, so nobody types ahead
    auto raw = usual;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    if (::tcsetattr(terminal, TCSANOW, &raw) != 0) return;
    char text[1024];
    std::size_t forgotten = 0;
    for (ssize_t got = 1; got > 0 && forgotten < kTypedBytes;) {
        got = ::read(terminal, text, sizeof text);
        if (got > 0) forgotten += static_cast<std::size_t>(got);
    }
    ::tcsetattr(terminal, TCSANOW, &usual);
}

}  // namespace

TerminalAsker::~TerminalAsker() {
    if (terminal_ >= 0) ::close(terminal_);
}

// Not stdin, which may be the batch itself; but a question on stderr has to be seen.
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
    auto& past = past_[server];
    if (past.withdrawn >= kWithdrawn) {
        note(server, past, "asks and withdraws without end, so its questions are declined");
        answer(std::nullopt);
        return 0;
    }
    Form form;
    form.id = ++last_;
    form.server = server;
    form.heading = "server \"" + server + "\" asks: " + printable_in(params, "message") +
                   "\n(Ctrl-D declines)";
    form.schema = schema->get_object();
    form.answer = std::move(answer);
    const auto* properties = core::object_in(&form.schema, "properties");
    if (properties) {
        for (const auto& each : *properties) form.properties.emplace_back(each.key());
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
    if (of_server) {
        ++past_[gone.server].withdrawn;
        say("(the call has ended, no answer is wanted any more)");
    }
    next();
}

// A server asks as often as it likes.
void TerminalAsker::note(const std::string& server, Past& past, const std::string& what) {
    const auto word = past.told.next();
    if (word == core::FirstFew::Word::Nothing) return;
    say("note: server \"" + server + "\" " +
        (word == core::FirstFew::Word::Tell ? what : "goes on asking; no more of it is told"));
}

void TerminalAsker::add(Form form) {
    forms_.push_back(std::move(form));
    if (forms_.size() == 1) begin();
}

void TerminalAsker::begin() {
    if (terminal_ < 0 && (!loop_ || !open_terminal())) {
        if (const auto& server = forms_.front().server; !server.empty())
            note(server, past_[server],
                 "asked something; there is no terminal, so it was declined");
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
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    // Ctrl-D declines. So does a terminal that has gone: it stays readable, and fails each time.
    if (got <= 0) return end(false);
    typed_.append(text, static_cast<std::size_t>(got));
    for (auto at = typed_.find('\n'); at != std::string::npos && !forms_.empty();
         at = typed_.find('\n')) {
        const std::string line = typed_.substr(0, at);
        typed_.erase(0, at + 1);
        on_line(line);
    }
    if (typed_.size() <= kTypedBytes || forms_.empty()) return;
    say("(a line of more than 64 KiB is no answer: declined)");
    end(false);
}

void TerminalAsker::prompt() {
    auto& form = forms_.front();
    if (form.line) return say(form.line_prompt);
    if (form.yes_or_no) return say("  accept? [y/N]:");
    if (form.properties.empty()) return end(true);
    say(shown_field(form.schema, form.properties.front()));
}

void TerminalAsker::on_line(const std::string& line) {
    auto& form = forms_.front();
    if (form.line) return end(true, line);
    if (form.yes_or_no) return end(line == "y" || line == "Y" || line == "yes");
    const std::string name = form.properties.front();
    if (line.empty()) {
        const auto* field = core::object_in(core::object_in(&form.schema, "properties"), name);
        const auto* given = field ? field->if_contains("default") : nullptr;
        if (given)
            form.content[name] = *given;
        else if (is_required(form.schema, name))
            return say("  it is required");
    } else {
        auto value = field_value(form.schema, name, line);
        if (!value) return say("  " + value.error().message);
        form.content[name] = std::move(*value);
    }
    form.properties.pop_front();
    prompt();
}

void TerminalAsker::end(bool accepted, const std::string& line) {
    auto form = std::move(forms_.front());
    forms_.pop_front();
    // Only a person's own answer forgives; one that was declined for want of a terminal does not.
    if (terminal_ >= 0 && !form.line) past_[form.server].withdrawn = 0;
    if (form.line) {
        const bool taken = form.line(accepted ? std::optional(line) : std::nullopt);
        if (!taken && accepted) {
            forms_.push_front(std::move(form));
            return prompt();
        }
    } else if (accepted)
        form.answer(std::move(form.content));
    else
        form.answer(std::nullopt);
    next();
}

void TerminalAsker::next() {
    // What was typed so far was not meant for the next question: that may be another server's.
    typed_.clear();
    if (terminal_ >= 0) forget_typed(terminal_);
    if (!forms_.empty()) return begin();
    if (watch_) loop_->unwatch(std::exchange(watch_, 0));
    if (terminal_ >= 0) ::close(std::exchange(terminal_, -1));
}

}  // namespace patchbay::app
