#include "config/followed.hpp"

#include "config/keys.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::config {

namespace {

struct Said {
    const Node* list = nullptr;
    const Source* source = nullptr;
};

// Of what is no list of text the merge tells.
const Node* list_in(const Fragment& fragment) {
    for (const auto& table : fragment.tables) {
        if (table.key != "import" || !table.value.is(Node::Kind::Map)) continue;
        const auto* list = table.value.find("follow");
        std::vector<std::string> names;
        if (list && take_texts(names, *list).empty()) return list;
    }
    return nullptr;
}

// The strongest, and of equals the first, as with every key.
Said said_in(const std::vector<Fragment>& fragments) {
    Said said;
    for (const auto& fragment : fragments) {
        const auto scope = fragment.source.scope;
        if (scope != Scope::User && scope != Scope::Enterprise) continue;
        const auto* list = list_in(fragment);
        if (list && (!said.source || scope > said.source->scope)) said = {list, &fragment.source};
    }
    return said;
}

std::string folder_in(const std::vector<Fragment>& fragments) {
    for (const auto& fragment : fragments)
        if (!fragment.source.project.empty()) return fragment.source.project;
    return {};
}

std::vector<std::string> known_of(const Said& said, const std::vector<std::string>& known,
                                  std::vector<Diagnostic>& diagnostics) {
    std::vector<std::string> names;
    for (const auto& each : said.list->items) {
        const auto among = [&](const auto& list) {
            return std::find(list.begin(), list.end(), each.text) != list.end();
        };
        if (!among(known)) {
            diagnostics.push_back({RuleId::UnknownClient,
                                   Severity::Error,
                                   said.source->place(each.mark),
                                   "import.follow: no client \"" + core::printable(each.text, 80) +
                                       "\" is known" + core::did_you_mean(each.text, known) +
                                       "; expected one of " + core::join(known, ", ") +
                                       "; none behind it is followed",
                                   {}});
            return names;  // what it was to forbid of weaker ones nobody knows
        }
        if (!among(names)) names.push_back(each.text);
    }
    return names;
}

bool has_a_fault(const ClientFiles::File& file) {
    return file.place.found == Candidate::Found::Broken ||
           file.place.found == Candidate::Found::Unreadable;
}

// What a file that cannot be read says of a server, or forbids of it, nobody knows: nothing weaker takes its place.
void pass_over(ClientFiles::File& file, const std::string& faulty) {
    if (file.place.found != Candidate::Found::Read) return;
    file.place.found = Candidate::Found::Ignored;
    file.place.note = "not followed until " + faulty + ", which is stronger, is mended";
    Fragment told;
    if (!file.fragments.empty()) told.source = file.fragments.front().source;
    told.diagnostics.push_back(
        {RuleId::NotFollowed, Severity::Warning, told.source.place({}), file.place.note, {}});
    file.fragments.clear();
    file.fragments.push_back(std::move(told));
}

// So that none is as strong as another: of equals a second server of one name would be a mistake.
void rank(std::vector<ClientFiles::File>& files) {
    unsigned next = 0;
    for (auto file = files.rbegin(); file != files.rend(); ++file)
        for (auto each = file->fragments.rbegin(); each != file->fragments.rend(); ++each)
            each->source.rank = ++next;
}

}  // namespace

Followed follow(const std::vector<Fragment>& fragments, const std::vector<Candidate>& candidates,
                const std::string& closed_by, const Environment& environment) {
    Followed followed;
    const auto said = said_in(fragments);
    if (!said.list || !environment.client_files) return followed;
    const auto& clients = *environment.client_files;
    const auto names = known_of(said, clients.clients(), followed.diagnostics);
    if (!closed_by.empty()) {
        if (!names.empty())
            followed.diagnostics.push_back({RuleId::NoEffect,
                                            Severity::Warning,
                                            said.source->place(said.list->mark),
                                            "import.follow: follows nothing: " + closed_by,
                                            {}});
        return followed;
    }
    std::set<std::string> own;
    for (const auto& each : candidates)
        if (each.found != Candidate::Found::Ignored) own.insert(each.path);
    const auto folder = folder_in(fragments);
    for (const auto& name : names)
        for (auto& file : clients.read(name, environment, folder, own))
            if (own.insert(file.place.path).second) followed.files.push_back(std::move(file));
    std::string faulty, of_checkout;
    for (auto& file : followed.files) {
        // What a checkout has is no word against what the user has.
        auto& stronger = file.place.scope == Scope::ClientProject ? of_checkout : faulty;
        if (!faulty.empty() || !stronger.empty())
            pass_over(file, faulty.empty() ? stronger : faulty);
        if (stronger.empty() && has_a_fault(file)) stronger = file.place.path;
    }
    rank(followed.files);
    return followed;
}

}  // namespace patchbay::config
