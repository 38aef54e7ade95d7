#include "app/terminal_approvals.hpp"

#include "app/output.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace patchbay::app {
using config::Level;
using connection::Approval;

namespace {

// What is typed for each level that an answer may set, and what that means.
struct Reply {
    Level level;
    const char* letter;
    const char* meaning;
};
constexpr std::array kChoices = {
    Reply{Level::AllowOnce, "o", "this once (y, too)"},
    Reply{Level::AllowSession, "s", "as often as it is asked for in this session"},
    Reply{Level::AllowProject, "p", "in this project folder, as long as it is described as now"},
    Reply{Level::AllowAlways, "a", "everywhere, as long as it is described as now"},
};

bool may_set(const ApprovalQuestion& question, Level level) {
    return std::find(question.levels.begin(), question.levels.end(), level) !=
           question.levels.end();
}

std::string prompt_of(const ApprovalQuestion& question) {
    std::string rows, letters;
    for (const auto& choice : kChoices) {
        if (!may_set(question, choice.level)) continue;
        std::string name = config::name_of(choice.level);
        name.resize(std::max<std::size_t>(name.size(), 14), ' ');
        rows += "  " + std::string(choice.letter) + "  " + name + choice.meaning + "\n";
        letters += std::string(choice.letter) + "/";
    }
    return rows + "approve? [" + letters + "N]:";
}

// Nothing: it is none.
std::optional<Approval> answer_in(std::string_view line, const ApprovalQuestion& question) {
    const auto word = core::lower(core::trimmed(line));
    if (word.empty() || word == "n" || word == "no") return Approval::Refused;
    for (const auto& choice : kChoices) {
        const bool said = word == choice.letter || word == config::name_of(choice.level) ||
                          (choice.level == Level::AllowOnce && (word == "y" || word == "yes"));
        if (said && may_set(question, choice.level)) return connection::approval_for(choice.level);
    }
    return {};
}

}  // namespace

connection::Question TerminalApprovals::ask(ApprovalQuestion question, Decide decide) {
    // Calls come as fast as their callers like, and a person answers one question at a time.
    if (waiting_.size() >= kMostWaiting) {
        decide(Approval::Refused);
        return {};
    }
    const auto number = ++last_;
    waiting_.push_back({number, std::move(question), std::move(decide)});
    if (waiting_.size() == 1) begin();
    return {this, [withdraw = lifetime_.guard([this, number] { this->withdraw(number); })](
                      void*) mutable { withdraw(); }};
}

void TerminalApprovals::begin() {
    const auto& first = waiting_.front();
    line_ = asker_->ask_line(first.question.text, prompt_of(first.question),
                             [this, alive = lifetime_.watch(),
                              number = first.number](const std::optional<std::string>& line) {
                                 return alive.expired() || take(number, line);
                             });
}

bool TerminalApprovals::take(std::uint64_t number, const std::optional<std::string>& line) {
    if (waiting_.empty() || waiting_.front().number != number) return true;  // withdrawn meanwhile
    const auto approval =
        line ? answer_in(*line, waiting_.front().question) : std::optional(Approval::Refused);
    if (!approval) {
        say("  one of these letters, please; Enter is no");
        return false;
    }
    end(*approval);
    return true;
}

void TerminalApprovals::end(Approval approval) {
    const auto key = waiting_.front().question.key;
    std::deque<Waiting> decided;
    decided.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    // Whoever has said yes for longer than once is not asked by what waits for the same already.
    const bool lasts = connection::is_given(approval) && approval != Approval::Given;
    for (auto at = waiting_.begin(); lasts && at != waiting_.end();) {
        if (at->question.key != key) {
            ++at;
            continue;
        }
        decided.push_back(std::move(*at));
        at = waiting_.erase(at);
    }
    if (!waiting_.empty()) begin();
    const auto alive = lifetime_.watch();  // whoever is told may end us
    for (auto& each : decided) {
        if (alive.expired()) return;
        each.decide(approval);
    }
}

void TerminalApprovals::withdraw(std::uint64_t number) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Waiting& each) { return each.number == number; });
    if (found == waiting_.end()) return;
    const bool asked = found == waiting_.begin();  // else the one that is asked stays on the screen
    const auto gone = std::move(*found);           // what it holds may come back here
    waiting_.erase(found);
    if (!asked) return;
    asker_->withdraw(line_);
    if (!waiting_.empty()) begin();
}

}  // namespace patchbay::app
