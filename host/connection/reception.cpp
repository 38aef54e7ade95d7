#include "connection/reception.hpp"

#include "core/text.hpp"

#include <charconv>

namespace patchbay::connection {

Reception::Reception(const Context& context, const Parts& parts)
    : context_(context),
      parts_(parts),
      inbound_(context,
               {parts.name, parts.link, parts.requests, parts.questions, parts.notifications,
                parts.addressees, parts.tools, parts.refusals, *this, parts.loss}) {}

void Reception::begin() {
    output_ = {};
    facts_.clear();
    parts_.link.bill.begin();
}

const std::string* Reception::trouble() const {
    const auto found = facts_.find("trouble");
    return found == facts_.end() ? nullptr : &found->second;
}

std::string Reception::with_output(std::string text) const {
    auto told = output_.with_stderr(output_.with_strays(std::move(text)));
    return output_.has_strays() ? with_log(std::move(told), parts_.name.id()) : told;
}

std::string Reception::with_last_words(std::string text) const {
    return with_log(output_.with_stderr(std::move(text)), parts_.name.id());
}

void Reception::count(Status& status) const {
    status.facts = facts_;
    status.stray_lines = strays_;
    status.malformed = inbound_.malformed();
    status.late_answers = inbound_.late_answers();
    status.last_exit = parts_.link.bill.last_exit;
    status.cost = parts_.link.bill.cost;
    if (const auto pid = process()) status.cost.running.push_back(*pid);
}

std::optional<std::int64_t> Reception::process() const {
    const auto found = facts_.find("pid");
    if (found == facts_.end()) return {};
    std::int64_t pid = 0;
    const auto* const end = found->second.data() + found->second.size();
    const auto [read, failed] = std::from_chars(found->second.data(), end, pid);
    if (failed != std::errc() || read != end) return {};
    return pid;
}

void Reception::on_message(plugin::ExchangeId exchange, core::Buffer body) {
    parts_.link.bill.cost.received_bytes += body.size();
    if (parts_.link.lost) return;  // given up: nothing that it says counts any more
    parts_.owner.on_heard();
    parts_.greeting.heard();
    inbound_.message(exchange, std::move(body));
}

void Reception::on_done(plugin::ExchangeId exchange, const plugin::Problem* problem) {
    parts_.questions.done(exchange);
    parts_.refusals.done(exchange, problem);
}

void Reception::on_challenge(const plugin::Problem& problem) {
    parts_.refusals.challenged(problem);
}

void Reception::on_output(unsigned stream, std::string_view line) {
    parts_.link.bill.cost.received_bytes += line.size() + 1;
    // A program that writes has started: its silence counts from now.
    parts_.greeting.heard();
    if (stream != 1) return on_stray(line);
    output_.keep_stderr(line);
    parts_.link.last_said = output_.last_said();
    context_.events.on_output(parts_.name.id(), false, line);
}

void Reception::on_stray(std::string_view line) {
    ++strays_;
    output_.keep_stray(line);
    context_.events.on_output(parts_.name.id(), true, line);
}

void Reception::on_fact(std::string_view fact, std::string_view value) {
    if (fact == "exit") process_gone();  // its channel may be open for longer
    if (parts_.link.bill.take(fact, value, context_.loop.time().date())) return;
    if (value.empty())  // it is over, like the trouble of a connection that has come about
        facts_.erase(std::string(fact));
    else
        facts_[core::printable(fact, 32)] = core::printable(value, 256);
}

void Reception::on_closed(const plugin::Problem* problem) {
    parts_.owner.on_channel_closed(problem);
}

}  // namespace patchbay::connection
