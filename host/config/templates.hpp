// [templates.ID]: what several servers have alike, with `${param:NAME}` where they differ.
//
// A server that says `template = "ID"` gets each key of it that it has not itself; what `with` says stands for the
// parameters, which `params` of the template lists. Done before anything is judged: approvals, plans and what is
// shown know the whole entry alone.
//
// Whose: a server of a checkout may use templates of everybody, one of an enterprise file those of such files, any
// other one those of no checkout. The strongest of a name counts, of equals the first.
//
// Threads: [any], pure. Errors: an entry that cannot be made whole is refused, and takes down itself alone.
// Limits:  kMostFromTemplates.
#pragma once

#include "config/fragment.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::config {

// Of all servers together: what their templates put into them. A value and each byte of text count as one.
inline constexpr std::size_t kMostFromTemplates = 4u << 20;

// Where the template of a server stands, by its id and the file that defines it.
using TemplatePlaces = std::map<std::pair<std::string, std::string>, Place>;

TemplatePlaces resolve_templates(std::vector<Fragment>& fragments);

// Whether it is refused for its template, so that all it says itself can be read.
bool lacks_template(const ServerEntry& entry);

}  // namespace patchbay::config
