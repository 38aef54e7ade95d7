#include "config/rule_ids.hpp"

#include <array>
#include <cstddef>

namespace patchbay::config {

namespace {

constexpr std::array kRules = {
    RuleInfo{RuleId::SyntaxError, "syntax-error",
             "The text is no TOML, YAML or JSON, or no UTF-8; nothing of it is used."},
    RuleInfo{RuleId::DuplicateKey, "duplicate-key", "A key stands twice in one table of a file."},
    RuleInfo{RuleId::TooLarge, "too-large", "A limit of size, depth or number is exceeded."},
    RuleInfo{RuleId::UnreadableFile, "unreadable-file",
             "A file or folder is there and cannot be read."},
    RuleInfo{RuleId::MissingFile, "missing-file", "A file or folder that was named is not there."},
    RuleInfo{RuleId::UnsafeFile, "unsafe-file",
             "Others may write a file, so it is not read or does not count."},
    RuleInfo{RuleId::IgnoredSource, "ignored-source",
             "A file, variable or flag is passed over, and why."},
    RuleInfo{RuleId::MisnamedFile, "misnamed-file",
             "What stands beside the enterprise files has a name that is not read."},
    RuleInfo{RuleId::UnknownKey, "unknown-key", "Nothing reads this key."},
    RuleInfo{RuleId::UnknownTable, "unknown-table", "Nothing reads this table."},
    RuleInfo{RuleId::UnreadRule, "unread-rule",
             "Something that nothing reads may be meant to forbid; what it may be about is closed "
             "until it is mended."},
    RuleInfo{RuleId::InvalidValue, "invalid-value",
             "A value has the wrong type, or is none that this key may have."},
    RuleInfo{RuleId::InvalidName, "invalid-name",
             "A name is missing, or is none that may be given."},
    RuleInfo{RuleId::ConflictingKeys, "conflicting-keys",
             "Two keys say the same, or contradict each other."},
    RuleInfo{RuleId::DuplicateDefinition, "duplicate-definition",
             "Sources of equal strength define or adjust the same."},
    RuleInfo{RuleId::NotAllowedHere, "not-allowed-here",
             "A source of this scope may not say that."},
    RuleInfo{RuleId::OverlayKey, "overlay-key",
             "An entry without a way to connect says what may only stand in a definition."},
    RuleInfo{RuleId::NoEffect, "no-effect", "What is said here changes nothing, and why."},
    RuleInfo{RuleId::ForeignKey, "foreign-key",
             "A key or spelling of another program is not read as it would read it."},
    RuleInfo{RuleId::MissingConnection, "missing-connection",
             "An entry does not say how to reach its server, or says two ways."},
    RuleInfo{RuleId::UnknownServer, "unknown-server", "A server is named that nobody defines."},
    RuleInfo{RuleId::AmbiguousName, "ambiguous-name",
             "A name may mean another server than it seems to."},
    RuleInfo{RuleId::NotApproved, "not-approved",
             "What a checkout defines waits for your approval."},
    RuleInfo{RuleId::UnknownTransport, "unknown-transport",
             "No plugin that is loaded provides this transport."},
    RuleInfo{RuleId::RefusedSettings, "refused-settings",
             "A transport refuses the settings of a server."},
    RuleInfo{RuleId::InvalidAuth, "invalid-auth",
             "How to sign in is unknown, refused, or of no use."},
    RuleInfo{RuleId::InvalidReference, "invalid-reference", "A ${...} is none that can be read."},
    RuleInfo{RuleId::UnresolvedReference, "unresolved-reference",
             "A variable, secret or file that a ${...} names is not here."},
    RuleInfo{RuleId::MissingProgram, "missing-program",
             "The program or folder that a server starts with is not here."},
    RuleInfo{RuleId::ShellSyntax, "shell-syntax",
             "Something only a shell would split or expand stands where there is none."},
    RuleInfo{RuleId::ExposedSecret, "exposed-secret",
             "A secret stands in clear text where git or others may read it."},
    RuleInfo{RuleId::InvalidTemplate, "invalid-template",
             "A template, or a server's use of one, cannot be filled in."},
    RuleInfo{RuleId::UnmatchedRule, "unmatched-rule",
             "A pattern or a tool's name matches nothing."},
    RuleInfo{RuleId::WideRule, "wide-rule",
             "A rule denies more, or other tools, than it seems to."},
    RuleInfo{
        RuleId::EmptyList, "empty-list",
        "A list that is empty, or of which nothing is here: it allows, lifts or shows nothing."},
    RuleInfo{RuleId::ContradictoryRules, "contradictory-rules",
             "What a rule allows another one forbids, which counts whatever the first says."},
    RuleInfo{RuleId::UnusablePick, "unusable-pick",
             "An agent takes the servers of another that is missing, faulty, or itself."},
    RuleInfo{RuleId::UnknownClient, "unknown-client", "[import] follow names no client."},
    RuleInfo{RuleId::NotFollowed, "not-followed",
             "A client's file, or a server in it, is not followed, and why."},
    RuleInfo{RuleId::UnknownPlugin, "unknown-plugin", "No plugin has this id."},
    RuleInfo{RuleId::RefusedPlugin, "refused-plugin", "A plugin is not loaded, and why."},
    RuleInfo{RuleId::InvalidListener, "invalid-listener",
             "`patchbay serve` would refuse to listen as [gateway] says."},
    RuleInfo{RuleId::LeftOut, "left-out", "An agent is not given this server, and why."},
    RuleInfo{RuleId::NotCarriedOver, "not-carried-over",
             "What an agent is given loses something on the way: a rule, a reference, a setting."},
};

constexpr bool are_in_order() {
    for (std::size_t i = 0; i < kRules.size(); ++i)
        if (static_cast<std::size_t>(kRules[i].id) != i) return false;
    return static_cast<std::size_t>(RuleId::NotCarriedOver) + 1 == kRules.size();
}
static_assert(are_in_order(), "a row for each id, in the order of the enumeration");

}  // namespace

std::span<const RuleInfo> rule_infos() {
    return kRules;
}

std::string_view name_of(RuleId id) {
    return kRules[static_cast<std::size_t>(id)].name;
}

}  // namespace patchbay::config
