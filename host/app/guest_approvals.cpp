#include "app/guest_approvals.hpp"

#include "core/digest.hpp"

#include <boost/json.hpp>

#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using config::Level;
using connection::Approval;

connection::Question GuestApprovals::ask(const std::string& text,
                                         const connection::Approvable& wanted, Decide decide) {
    // What an administrator wants asked each time is not answered beforehand.
    const bool beforehand = approving_.by_option && wanted.may_set(Level::AllowSession);
    if (beforehand || !approving_.at_terminal) {
        decide(beforehand ? Approval::Given : Approval::NobodyThere);
        return {};
    }
    const auto number = ++last_;
    waiting_[number] = std::move(decide);
    json::array levels;
    for (const auto level : wanted.levels) levels.emplace_back(config::name_of(level));
    tell_(json::serialize(json::object{{"event", "approve"},
                                       {"approval", number},
                                       {"text", text},
                                       {"levels", std::move(levels)},
                                       {"key", core::sha256_hex(wanted.key())}}));
    return {this, [withdraw = lifetime_.guard([this, number] { this->withdraw(number); })](
                      void*) mutable { withdraw(); }};
}

void GuestApprovals::decide(std::int64_t number, Approval approval) {
    auto found = waiting_.extract(number);
    if (found) found.mapped()(approval);
}

void GuestApprovals::withdraw(std::int64_t number) {
    if (waiting_.erase(number) != 0)
        tell_(json::serialize(json::object{{"event", "approve"}, {"approval", number}}));
}

}  // namespace patchbay::app
