#include "gateway/page_visits.hpp"

#include "core/json_beside.hpp"
#include "gateway/answers.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"

namespace patchbay::gateway {

std::vector<PageVisits::Page> PageVisits::in(std::string_view raw_error) {
    const auto error = protocol::parse_rpc_error(raw_error);
    if (!error || error->code != kUrlElicitationRequired) return {};
    const auto data = core::read_json_object(error->data);
    const auto* named = data ? core::array_in(&*data, "elicitations") : nullptr;
    if (!named || named->size() > kMostPages) return {};
    std::string_view rest;
    protocol::each_member(error->data, [&](std::string_view key, std::string_view value) {
        if (key == "elicitations") rest = protocol::items_in(value);
        return true;
    });
    std::vector<Page> pages;
    for (const auto& each : *named) {
        const auto text = protocol::take_item(rest);
        const auto* object = each.if_object();
        if (core::text_in(object, "mode") != "url" || !core::text_in(object, "url")) return {};
        pages.push_back(
            {std::string(core::text_in(object, "elicitationId").value_or("")), std::string(text)});
    }
    return pages;
}

// Whoever is asked may answer at once.
void PageVisits::begin(RequestNumber request, const std::vector<Page>& pages, const Ask& ask,
                       Answered answered) {
    visits_.insert_or_assign(request, Visit{pages.size(), std::move(answered)});
    for (const auto& page : pages) {
        auto question = ask(page, [this, request](auto given) { on_answer(request, given); });
        const auto visit = visits_.find(request);
        if (visit == visits_.end()) return;
        visit->second.questions.push_back(std::move(question));
    }
}

void PageVisits::on_answer(RequestNumber request, const Result<connection::Given>& given) {
    const auto visit = visits_.find(request);
    if (visit == visits_.end()) return;
    const auto answer = core::read_json_object(given ? given->text : "{}");
    const bool agreed = answer && core::text_in(&*answer, "action") == "accept";
    if (agreed && --visit->second.missing > 0) return;
    const auto ended = visits_.extract(visit);
    ended.mapped().answered(agreed);
}

}  // namespace patchbay::gateway
