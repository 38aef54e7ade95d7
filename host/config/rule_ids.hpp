// What a diagnostic is about, by a name that stays: for scripts that read `--json`, and for whoever looks one up. A
// message may be worded anew, its id may not change.
//
// A new one is a member here, a row in rule_ids.cpp, and one in the table of config/README.md and in
// config/schema/api; a test holds them against each other.
//
// Threads: [any], constant.
#pragma once

#include <span>
#include <string_view>

namespace patchbay::config {

enum class RuleId {
    // Files and other sources
    SyntaxError,
    DuplicateKey,
    TooLarge,
    UnreadableFile,
    MissingFile,
    UnsafeFile,
    IgnoredSource,
    MisnamedFile,
    // Keys and values
    UnknownKey,
    UnknownTable,
    UnreadRule,
    InvalidValue,
    InvalidName,
    ConflictingKeys,
    DuplicateDefinition,
    NotAllowedHere,
    OverlayKey,
    NoEffect,
    ForeignKey,
    // Servers
    MissingConnection,
    UnknownServer,
    AmbiguousName,
    NotApproved,
    UnknownTransport,
    RefusedSettings,
    InvalidAuth,
    InvalidReference,
    UnresolvedReference,
    MissingProgram,
    ShellSyntax,
    ExposedSecret,
    InvalidTemplate,
    // Rules about tools
    UnmatchedRule,
    WideRule,
    EmptyList,
    ContradictoryRules,
    // Agents, clients, plugins, the gateway
    UnusablePick,
    UnknownClient,
    NotFollowed,
    UnknownPlugin,
    RefusedPlugin,
    InvalidListener,
    // What an agent is given
    LeftOut,
    NotCarriedOver,
};

struct RuleInfo {
    RuleId id;
    std::string_view name;     // "unknown-key"
    std::string_view meaning;  // a sentence, as config/README.md has it
};
// All of them, in the order of the enumeration.
std::span<const RuleInfo> rule_infos();

std::string_view name_of(RuleId id);

}  // namespace patchbay::config
