#include "config/templates.hpp"

#include "config/approval.hpp"
#include "config/ids.hpp"
#include "config/parameters.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace patchbay::config {

namespace {

struct Template {
    const Member* member = nullptr;
    const Source* source = nullptr;
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

class Resolver {
public:
    explicit Resolver(std::vector<Fragment>& fragments) : fragments_(fragments) {
        for (auto& fragment : fragments_)
            for (const auto& table : fragment.tables)
                if (table.key == "templates" && fragment.source.scope != Scope::Plugin)
                    note_all(table, fragment);
    }

    TemplatePlaces run() {
        for (auto& fragment : fragments_)
            for (auto& entry : fragment.servers)
                if (entry.words == Words::Ours && entry.refused.empty())
                    resolve(entry, fragment.source);
        return std::move(filled_);
    }

private:
    void note_all(const Member& table, Fragment& fragment) {
        for (const auto& member : table.value.members) {
            const Template found{&member, &fragment.source};
            if (auto wrong = fault_of(found); !wrong.empty())
                fragment.diagnostics.push_back(
                    {Severity::Error,
                     found.place(),
                     "templates." + core::printable(member.key, 80) + ": " + std::move(wrong),
                     {}});
            templates_[member.key].push_back(found);
        }
    }

    // Empty: it can be used.
    static std::string fault_of(const Template& found) {
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
            if (const auto known = params_of(body); !known.contains(name))
                return "${param:" + core::printable(name, 80) + "} is none of its params" +
                       core::did_you_mean(name, {known.begin(), known.end()});
        return {};
    }

    static std::set<std::string> params_of(const Node& body) {
        std::set<std::string> names;
        if (const auto* params = body.find(kParams))
            for (const auto& each : params->items) names.insert(each.text);
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

    std::string unknown(const std::string& name, const Source& user) const {
        const auto all = templates_.find(name);
        const auto text = "template: there is none of the name " + shown(name);
        if (all != templates_.end())
            return text + " that it may use: that of " + to_string(all->second.front().place()) +
                   (user.scope == Scope::Enterprise ? " is not an administrator's"
                                                    : " is a checkout's");
        std::vector<std::string> known;
        for (const auto& [id, each] : templates_)
            if (find(id, user)) known.push_back(id);
        return text + core::did_you_mean(name, known) + "; expected a table [templates." +
               core::printable(name, 80) + "]";
    }

    static void refuse(ServerEntry& entry, Mark mark, std::string why) {
        entry.refused = std::move(why);
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
        if (auto wrong = fault_of(*found); !wrong.empty())
            return refuse(entry, named->mark, at + wrong);
        Parameters given;
        if (auto wrong = take_with(with, params_of(found->member->value), given); wrong)
            return refuse(entry, wrong->mark, at + wrong->text);
        fill(entry, source, *found, given, at);
    }

    static std::optional<Complaint> take_with(const Node* with, const std::set<std::string>& params,
                                              Parameters& given) {
        if (!with) return {};
        if (!with->is(Node::Kind::Map))
            return Complaint{with->mark, "with: " + mismatch("a table of parameters", *with)};
        for (const auto& member : with->members) {
            const auto name = "with." + core::printable(member.key, 80);
            if (!params.contains(member.key))
                return Complaint{member.mark, name + ": it has no such parameter" +
                                                  core::did_you_mean(
                                                      member.key, {params.begin(), params.end()})};
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
    std::size_t left_ = kMostFromTemplates;
    TemplatePlaces filled_;
};

}  // namespace

TemplatePlaces resolve_templates(std::vector<Fragment>& fragments) {
    return Resolver(fragments).run();
}

}  // namespace patchbay::config
