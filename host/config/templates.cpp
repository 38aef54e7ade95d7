#include "config/templates.hpp"

#include "config/approval.hpp"
#include "config/ids.hpp"
#include "config/parameters.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace patchbay::config {

namespace {

struct Template {
    const Member* member = nullptr;
    const Source* source = nullptr;
    std::string fault = {};                // empty: it can be used
    std::vector<std::string> params = {};  // sorted
    Place place() const { return source->place(member->mark); }
};

// What a table of templates has for itself; the rest of it is the entry.
constexpr std::string_view kParams = "params";
constexpr std::string_view kTemplate = "template", kWith = "with";

bool is_scalar(const Node& value) {
    return value.is(Node::Kind::Text) || value.is(Node::Kind::Integer) ||
           value.is(Node::Kind::Flag);
}

bool is_value(const Node& value) {
    return is_scalar(value) || (value.is(Node::Kind::List) &&
                                std::all_of(value.items.begin(), value.items.end(), is_scalar));
}

std::string shown(const std::string& name) {
    return "\"" + core::printable(name, 80) + "\"";
}

void set_marks(Node& node, Mark mark) {
    node.mark = mark;
    for (auto& member : node.members) {
        member.mark = mark;
        set_marks(member.value, mark);
    }
    for (auto& item : node.items) set_marks(item, mark);
}

class TemplateResolver {
public:
    explicit TemplateResolver(std::vector<Fragment>& fragments) : fragments_(fragments) {
        for (auto& fragment : fragments_)
            for (const auto& table : fragment.tables)
                if (table.key == "templates" && fragment.source.scope != Scope::Plugin)
                    note_all(table, fragment);
    }

    TemplatePlaces run() {
        // Of the budget of all a checkout has what the others leave.
        for (const bool of_checkouts : {false, true})
            for (auto& fragment : fragments_)
                for (auto& entry : fragment.servers)
                    if (from_project(fragment.source.scope) == of_checkouts &&
                        entry.words == Words::Ours && entry.refused.empty())
                        resolve(entry, fragment.source);
        return std::move(filled_);
    }

private:
    void note_all(const Member& table, Fragment& fragment) {
        for (const auto& member : table.value.members) {
            Template found{&member, &fragment.source};
            found.params = params_of(member.value);
            found.fault = fault_of(found);  // once, however many servers name it
            if (!found.fault.empty())
                fragment.diagnostics.push_back(
                    {RuleId::InvalidTemplate,
                     Severity::Error,
                     found.place(),
                     "templates." + core::printable(member.key, 80) + ": " + found.fault,
                     {}});
            templates_[member.key].push_back(std::move(found));
        }
    }

    // Empty: it can be used.
    std::string fault_of(const Template& found) {
        const auto& body = found.member->value;
        if (!body.is(Node::Kind::Map))
            return std::string("expected a table, found ") + name_of(body.kind);
        if (!valid_id(found.member->key))
            return "the name of a template has letters, digits, \"_\" and \"-\", 64 at most";
        if (body.find(kTemplate) || body.find(kWith))
            return "a template is no server: expected neither \"template\" nor \"with\" in it";
        const auto* params = body.find(kParams);
        const bool names =
            !params ||
            (params->is(Node::Kind::List) &&
             std::all_of(params->items.begin(), params->items.end(), [](const Node& each) {
                 return each.is(Node::Kind::Text) && valid_id(each.text);
             }));
        if (!names) return "params: expected a list of names: params = [\"db\"]";
        for (const auto& name : parameters_in(body))
            if (!std::binary_search(found.params.begin(), found.params.end(), name))
                return "${param:" + core::printable(name, 80) + "} is none of its params" +
                       core::did_you_mean(name, found.params, hints_);
        return {};
    }

    static std::vector<std::string> params_of(const Node& body) {
        std::vector<std::string> names;
        if (const auto* params = body.find(kParams))
            for (const auto& each : params->items) names.push_back(each.text);
        std::sort(names.begin(), names.end());
        return names;
    }

    static bool may_use(const Source& user, const Source& source) {
        if (user.scope == Scope::Plugin) return false;
        if (user.scope == Scope::Enterprise) return source.scope == Scope::Enterprise;
        return from_project(user.scope) || !from_project(source.scope);
    }

    const Template* find(const std::string& name, const Source& user) const {
        const auto all = templates_.find(name);
        const Template* best = nullptr;
        if (all == templates_.end()) return best;
        const auto strength = [](const Template& each) {
            return std::tuple(each.source->scope, each.source->rank);
        };
        for (const auto& each : all->second)
            if (may_use(user, *each.source) && (!best || strength(each) > strength(*best)))
                best = &each;
        return best;
    }

    std::string unknown(const std::string& name, const Source& user) {
        const auto all = templates_.find(name);
        const auto text = "template: there is none of the name " + shown(name);
        if (all != templates_.end())
            return text + " that it may use: that of " + to_string(all->second.front().place()) +
                   (user.scope == Scope::Enterprise ? " is not an administrator's"
                                                    : " is a checkout's");
        // Of each scope the same, which a file with thousands of wrong names asks for each time.
        auto& known = known_[user.scope];
        if (!known)
            for (known.emplace(); const auto& [id, each] : templates_)
                if (find(id, user)) known->push_back(id);
        return text + core::did_you_mean(name, *known, hints_) + "; expected a table [templates." +
               core::printable(name, 80) + "]";
    }

    static void refuse(ServerEntry& entry, Mark mark, std::string why) {
        entry.refused = std::move(why);
        entry.refused_by = RuleId::InvalidTemplate;
        entry.mark = mark;
    }

    void resolve(ServerEntry& entry, const Source& source) {
        const auto* named = entry.body.find(kTemplate);
        const auto* with = entry.body.find(kWith);
        if (!named && !with) return;
        if (!named)
            return refuse(entry, with->mark,
                          "with: it fills a template, and the server names none");
        if (!named->is(Node::Kind::Text))
            return refuse(entry, named->mark, std::string("template: ") + mismatch("text", *named));
        const auto* found = find(named->text, source);
        if (!found) return refuse(entry, named->mark, unknown(named->text, source));
        const auto at = "template " + shown(named->text) + " (" + to_string(found->place()) + "): ";
        if (!found->fault.empty()) return refuse(entry, named->mark, at + found->fault);
        Parameters given;
        if (auto wrong = take_with(with, found->params, given); wrong)
            return refuse(entry, wrong->mark, at + wrong->text);
        fill(entry, source, *found, given, at);
    }

    std::optional<Complaint> take_with(const Node* with, const std::vector<std::string>& params,
                                       Parameters& given) {
        if (!with) return {};
        if (!with->is(Node::Kind::Map))
            return Complaint{with->mark, "with: " + mismatch("a table of parameters", *with)};
        for (const auto& member : with->members) {
            const auto name = "with." + core::printable(member.key, 80);
            if (!std::binary_search(params.begin(), params.end(), member.key))
                return Complaint{member.mark, name + ": it has no such parameter" +
                                                  core::did_you_mean(member.key, params, hints_)};
            if (!is_value(member.value))
                return Complaint{member.value.mark,
                                 name + ": " +
                                     mismatch("text, a number, true or false, or a list "
                                              "of these",
                                              member.value)};
            if (!parameters_in(member.value).empty())
                return Complaint{member.value.mark,
                                 name + ": ${param:...} stands in templates alone"};
            given[member.key] = member.value;
        }
        return {};
    }

    void fill(ServerEntry& entry, const Source& source, const Template& found,
              const Parameters& given, const std::string& at) {
        const auto mark = entry.body.find(kTemplate)->mark;
        auto body = Node::of_map(entry.body.mark);
        for (const auto& member : found.member->value.members) {
            if (member.key == kParams || entry.body.find(member.key)) continue;
            const auto size = weight(member.value);
            if (size > left_) return refuse(entry, mark, at + kTooMuch);
            left_ -= size;
            body.members.push_back(member);
            // A place is one of the server's own file.
            if (found.source->file != source.file) {
                body.members.back().mark = mark;
                set_marks(body.members.back().value, mark);
            }
        }
        if (auto wrong = fill_in(body, given, left_); wrong)
            return refuse(entry, mark, at + wrong->text);
        std::erase_if(entry.body.members, [](const Member& member) {
            return member.key == kTemplate || member.key == kWith;
        });
        std::move(body.members.begin(), body.members.end(), std::back_inserter(entry.body.members));
        filled_.emplace(std::pair(entry.id, source.file), found.place());
    }

    static constexpr const char* kTooMuch =
        "what templates put into all servers is more than 4 MiB, the limit";

    std::vector<Fragment>& fragments_;
    std::map<std::string, std::vector<Template>> templates_;
    std::map<Scope, std::optional<std::vector<std::string>>> known_;  // names that it may use
    core::Effort hints_{core::Effort::kOneLoad};
    std::size_t left_ = kMostFromTemplates;
    TemplatePlaces filled_;
};

}  // namespace

bool lacks_template(const ServerEntry& entry) {
    // Else it would have been taken out, or the reader's own reason had been first.
    return entry.body.find(kTemplate) && (entry.refused.starts_with(kTemplate) ||
                                          entry.refused.starts_with(std::string(kWith) + ":"));
}

TemplatePlaces resolve_templates(std::vector<Fragment>& fragments) {
    return TemplateResolver(fragments).run();
}

}  // namespace patchbay::config
