// What stands in the folder of enterprise files beside those that are read, or in that folder's place.
// What such a thing forbids would be passed over in silence.
//
// Threads: [any]. Looks for files, opens none.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace patchbay::config {

std::vector<std::string> suffixes();  // of the files that are read, in every format

// Why what is there by the name of a folder is none; empty: it is one, or nothing is there.
std::string fault_of_folder(const std::string& path);

struct Entries {
    std::vector<std::string> names;  // sorted
    std::error_code failed;          // why these are not all
};
Entries entries_of(const std::string& directory);

// Whether somebody most likely took it for an enterprise file or a folder of them: `Enterprise.toml`,
// `enterprise.d`, `enterprice.json`. Not what editors and package managers leave beside one.
bool is_nearly_enterprise(const std::string& name);

}  // namespace patchbay::config
