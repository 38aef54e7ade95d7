#include "app/typed_entry.hpp"

#include "config/show.hpp"
#include "config/sources.hpp"
#include "core/json.hpp"
#include "service/configuration.hpp"
#include "service/trust.hpp"

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr const char* kApprovals = "approvals";
constexpr const char* kAdjustedBy = "adjusted_by";  // of a definition

bool is_same_file(const std::string& one, const std::string& other) {
    std::error_code failed;
    return std::filesystem::equivalent(one, other, failed) && !failed;
}

// Null: it reads as none.
json::value restated(const ScopeFile& file, const json::value& entry,
                     const config::Proposal& proposal) {
    const auto read =
        entry_as_read(file, entry, {proposal.place.scope, 0, file.path(), proposal.directory});
    return read ? config::to_json(read->body) : json::value();
}

}  // namespace

std::optional<config::ServerEntry> entry_as_read(const ScopeFile& file, const json::value& entry,
                                                 const config::Source& source) {
    const auto text = config::edit::set({}, config::Format::Json, file.key(), entry);
    if (!text) return {};
    auto fragment = config::read_fragment(*text, config::Format::Json, source);
    if (fragment.servers.size() != 1) return {};
    return std::move(fragment.servers.front());
}

IsTyped is_whole(const ScopeFile& file, const json::object& entry) {
    return [&file, entry](const config::Proposal& proposal) {
        const auto& definition = proposal.definition;
        const auto* server = definition.if_contains("server");
        // What another file says in the same words begins in another folder, and may be another program.
        return is_same_file(proposal.place.file, file.path()) && server && server->is_object() &&
               *server == restated(file, entry, proposal) && !definition.contains(kAdjustedBy) &&
               !definition.contains("refused");
    };
}

IsTyped is_switched(const ScopeFile& file, const json::value& before, const json::value& after,
                    const std::string& approved) {
    return [&file, before, after, approved](const config::Proposal& proposal) {
        if (approved.empty()) return false;
        // What was approved is what there would be now, had it not been turned: the same, with the entry as it was. It may
        // be the one that defines the server, or one of those that adjust it.
        const auto is_now = after.is_null() ? json::value() : restated(file, after, proposal);
        const auto was = before.is_null() ? json::value() : restated(file, before, proposal);
        const auto& definition = proposal.definition;
        const auto is_approved = [&](json::object earlier) {
            return config::digest_of(earlier) == approved;
        };
        if (const auto* server = definition.if_contains("server"); server && *server == is_now) {
            auto earlier = definition;
            earlier["server"] = was;
            if (is_approved(std::move(earlier))) return true;
        }
        const auto* list = core::array_in(&definition, kAdjustedBy);
        const auto adjusted = list ? *list : json::array();
        // At each place where it may stand, as it was or not at all.
        for (std::size_t i = 0; i < adjusted.size() + (is_now.is_null() ? 1 : 0); ++i) {
            if (!is_now.is_null() && adjusted[i] != is_now) continue;
            auto others = adjusted;
            if (is_now.is_null())
                others.insert(others.begin() + static_cast<std::ptrdiff_t>(i), was);
            else if (was.is_null())
                others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            else
                others[i] = was;
            auto earlier = definition;
            if (others.empty())
                earlier.erase(kAdjustedBy);
            else
                earlier[kAdjustedBy] = std::move(others);
            if (is_approved(std::move(earlier))) return true;
        }
        return false;
    };
}

Result<void> approve(Host& host, const std::string& id, const IsTyped& typed) {
    std::vector<config::Proposal> own;
    for (const auto& proposal : host.config().untrusted)
        if (proposal.id == id && typed && typed(proposal)) own.push_back(proposal);
    return own.empty() ? Result<void>() : host.trust().approve(own);
}

std::string approved_digest(Host& host, const std::string& id) {
    return service::is_approved(id, host.config()) ? host.trust().digest_of(host.project(), id)
                                                   : std::string();
}

json::object approval_of(Host& host, const std::string& id, config::Scope scope) {
    const auto digest = approved_digest(host, id);
    // Of a file that needs no approval there is none to take back.
    if (digest.empty() && scope != config::Scope::Project && scope != config::Scope::Local)
        return {};
    json::array one;
    one.push_back(json::object{{"id", id}, {"digest", digest}});
    return {{kApprovals, std::move(one)}};
}

json::object joined_notes(const json::object& first, const json::object& second) {
    auto joined = first;
    for (const auto& member : second) {
        const auto* more = member.value().if_array();
        if (!more) continue;
        auto& list = joined[member.key()];
        if (!list.is_array()) list.emplace_array();
        list.get_array().insert(list.get_array().end(), more->begin(), more->end());
    }
    return joined;
}

Result<void> approve_again(Host& host, const json::object& note, const std::string& folder) {
    // Where the last file of a project has gone, none is read here.
    const auto project = host.project().empty() ? folder : host.project();
    const auto* all = core::array_in(&note, kApprovals);
    for (std::size_t i = 0; all && i < all->size(); ++i) {
        const auto* one = (*all)[i].if_object();
        const auto id = core::text_in(one, "id"), digest = core::text_in(one, "digest");
        if (!id || !digest) continue;
        const std::string server(*id);
        if (digest->empty()) {
            if (host.trust().digest_of(project, server).empty()) continue;
            if (auto done = host.trust().revoke(project, {server}); !done) return done;
            continue;
        }
        // Nothing is approved any more: somebody has revoked it since, and an undo is no way round that.
        if (host.trust().digest_of(project, server).empty()) continue;
        if (auto done = approve(
                host, server,
                [&](const config::Proposal& proposal) { return proposal.digest == *digest; });
            !done)
            return done;
    }
    return {};
}

}  // namespace patchbay::app
