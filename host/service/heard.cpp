#include "service/heard.hpp"

#include "service/statuses.hpp"

#include <algorithm>

namespace patchbay::service {

const catalogue::Standing* standing_of(const std::string& server, const std::vector<Heard>& heard) {
    const auto found = std::find_if(heard.begin(), heard.end(),
                                    [&](const auto& each) { return each.server == server; });
    return found == heard.end() ? nullptr : &found->standing;
}

void add_standing(boost::json::object& item, const std::string& server,
                  const std::vector<Heard>& heard) {
    const auto* standing = standing_of(server, heard);
    if (!standing) return;
    item["listed_at"] = time_of(standing->listed);
    item["kept"] = standing->recalled;
}

}  // namespace patchbay::service
