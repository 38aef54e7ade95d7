#include "protocol/argument_check.hpp"

#include "core/json_beside.hpp"
#include "core/text.hpp"
#include "protocol/arguments.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace patchbay::protocol {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostTold = 5;               // faults of one call
constexpr std::size_t kUsualArguments = 2u << 10;  // of arguments as values

// Whether every object fits it, by what many tools without arguments say.
bool takes_anything(const json::value& schema) {
    constexpr std::array<std::string_view, 5> kWords = {"type", "$schema", "title", "description",
                                                        "$comment"};
    const auto* keywords = schema.if_object();
    if (!keywords) return false;
    return std::all_of(keywords->begin(), keywords->end(), [&](const auto& member) {
        const std::string_view key(member.key().data(), member.key().size());
        if (key == "type") return member.value() == "object";
        if (key == "additionalProperties") return member.value() == true;
        const auto* list = member.value().if_object();
        if (key == "properties") return list && list->empty();
        return std::find(kWords.begin(), kWords.end(), key) != kWords.end();
    });
}

// A null in the place of what need not be there is as good as left out: models write it so, and headers are.
void leave_out_nulls(json::object& arguments, const std::set<std::string, std::less<>>& required) {
    for (auto member = arguments.begin(); member != arguments.end();)
        if (member->value().is_null() && !required.contains(std::string_view(member->key())))
            member = arguments.stable_erase(member);
        else
            ++member;
}

}  // namespace

ArgumentCheck::ArgumentCheck(const Tool& tool) {
    const auto written = tool.input_schema();
    if (!tool.schema_fault.empty() || takes_anything(written)) return;
    auto compiled = Schema::compile(written, kMostSubschemas);
    if (!compiled) {
        unusable_ = compiled.error().message;
        return;
    }
    schema_ = std::move(*compiled);
    if (const auto* names = core::array_in(written.if_object(), "required"))
        for (const auto& name : *names)
            if (const auto text = core::text_of(name)) required_.emplace(*text);
}

std::string ArgumentCheck::fault(const Tool& tool, std::string_view raw) const {
    if (!schema_ || raw.size() > kMostBytes) return {};
    unsigned char room[kUsualArguments];
    json::monotonic_resource arena(room, sizeof room);
    auto arguments =
        core::read_json_object(raw.empty() ? "{}" : raw, {.depth = kMostDepth}, &arena);
    if (!arguments) return {};  // whoever sends it says what is wrong with that
    leave_out_nulls(*arguments, required_);
    const auto errors = schema_->judge(*arguments, kMostSteps);
    if (!errors || errors->empty()) return {};
    auto told = told_for_people(*errors, tool.input_schema(), *arguments);
    if (told.size() > kMostTold) {
        const auto more = std::to_string(told.size() - kMostTold);
        told.resize(kMostTold);
        told.push_back("and " + more + " more");
    }
    return core::join(told, "; ");
}

}  // namespace patchbay::protocol
