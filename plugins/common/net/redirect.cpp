#include "net/redirect.hpp"

#include "net/head_parser.hpp"
#include "net/trouble.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <string>

namespace patchbay::net {

bool is_redirect(const Head& head) {
    const bool moved = head.status == 301 || head.status == 302 || head.status == 303 ||
                       head.status == 307 || head.status == 308;
    return moved && !head.value("location").empty();
}

Url redirect_target(const Url& asked, std::string_view method, const Head& head,
                    bool leaves_origin) {
    const auto next = [&] {
        try {
            return asked.resolve(head.value("location"));
        } catch (const sdk::Failure& failure) {
            throw Trouble(PATCHBAY_E_PROTOCOL, std::string("the server redirects to where ") +
                                                   "nobody can follow: " + failure.what());
        }
    }();
    if (next.scheme != "http" && next.scheme != "https")
        throw Trouble(PATCHBAY_E_PROTOCOL, "a redirect to another protocol than http");
    if (asked.secure() && !next.secure())
        throw Trouble(PATCHBAY_E_DENIED, "a redirect from https to http is not followed (" +
                                             next.without_query() + ")");
    const auto told = "the server answered " + std::to_string(head.status) + ", a redirect ";
    if (!asked.leads_home(next) && !leaves_origin)
        throw Trouble(PATCHBAY_E_DENIED, told + "to another origin, " + next.without_query() +
                                             ", which was not asked: requests stay with " +
                                             asked.origin() +
                                             ". If your server has moved there, change its url");
    // Behind these two alone a POST stays one; behind the others it becomes a GET without its body.
    if (method == "POST" && head.status != 307 && head.status != 308)
        throw Trouble(PATCHBAY_E_PROTOCOL,
                      told + "that loses the request; set the url to " + next.without_query());
    return next;
}

}  // namespace patchbay::net
