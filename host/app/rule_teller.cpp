#include "app/rule_teller.hpp"

#include "policy/unmatched_rules.hpp"

#include <utility>

namespace patchbay::app {

namespace {

// Of this run: what an earlier host was told may not be so any more.
policy::KnownTools listed_now(const catalogue::Catalogue& catalogue) {
    policy::KnownTools known;
    for (const auto& [id, listing] : catalogue.listings()) {
        const auto* standing = catalogue.standing(id);
        if (!listing->whole || !standing || standing->recalled) continue;
        auto& names = known[id];
        for (const auto& tool : listing->tools) names.push_back(tool.name);
    }
    return known;
}

}  // namespace

RuleTeller::RuleTeller(Session& session, std::vector<std::string> shown)
    : session_(session), shown_(std::move(shown)), pause_(session.host().loop()) {
    session_.host().catalogue().watch(*this);
    look();
}

RuleTeller::~RuleTeller() {
    session_.host().catalogue().unwatch(*this);
}

void RuleTeller::on_published() {
    if (!std::exchange(due_, true)) pause_.start(kPause, [this] { look(); });
}

void RuleTeller::look() {
    due_ = false;
    const auto& config = session_.host().config();
    const auto known = listed_now(session_.host().catalogue());
    auto found = policy::unmatched_rules(config, known);
    auto of_option = policy::unmatched_patterns(config, known, "--tools", shown_);
    found.insert(found.end(), of_option.begin(), of_option.end());
    std::erase_if(found, [this](const auto& each) { return !is_news(each); });
    print_diagnostics(found, session_.global().quiet);
}

// A server that lists something else all the time would otherwise have each of its names offered.
bool RuleTeller::is_news(const config::Diagnostic& found) {
    const auto text = config::to_string(found);
    return told_.size() < kMost && told_.insert(text.substr(0, text.find("; did you mean"))).second;
}

}  // namespace patchbay::app
