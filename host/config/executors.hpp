// The tables of [executors]: where agents run, which transports reach from there, how a URL is called there and
// what programs find in their environment.
//
// Threads: [any], pure. Errors: diagnostics; what may have been meant to forbid something is Executor::fault too.
// Source:  config/README.md; decisions/0048-what-an-agent-is-given.md.
#pragma once

#include "config/fragment.hpp"
#include "core/result.hpp"
#include "core/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

// `hints`: what may be spent on nearest names. Diagnostics go to `told`.
Executor read_executor(const Member& table, const Source& source, core::Effort& hints,
                       std::vector<Diagnostic>& told);

// What an enterprise says of one that others define: it forbids more, and its rewrites and variables come first.
void narrow(Executor& now, const Executor& said);

// That of the configuration, or a type that is known without a table; Invalid why it cannot be used, NotFound with
// the nearest.
Result<Executor> executor_named(const Config& config, const std::string& name);

// Those that executor_named() knows, each once.
std::vector<std::string> executor_names(const Config& config);

// Whether a server of that transport may be used there, as its table says or, by default, its type; `program`: it is
// started where the agent runs. Empty: yes; else the key that forbids it.
std::string forbidden_by(const Executor& executor, const std::string& transport, bool program);

// `from` matches whole parts: scheme and host in any case, the rest byte by byte, and behind it is the end, or
// `/`, `?` or `#`, or, where it ends with a host, a port. The first that matches counts, once. Null: none does.
const UrlRewrite* rewrite_of(const Executor& executor, std::string_view url);
std::string rewritten(const UrlRewrite& rewrite, std::string_view url);
// Whether what a `${...}` in it stands for decides that.
bool rewrite_is_open(const Executor& executor, std::string_view url);

// Whether a server's own value of that variable stays.
bool server_wins(const Executor& executor, std::string_view variable);

}  // namespace patchbay::config
