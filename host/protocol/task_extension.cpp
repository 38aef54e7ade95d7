#include "protocol/task_extension.hpp"

#include "core/json.hpp"

namespace patchbay::protocol {

bool names_tasks(std::string_view raw_capabilities) {
    // Most say nothing of it, and every request of the modern era has some.
    if (raw_capabilities.find("tasks") == raw_capabilities.npos) return false;
    const auto capabilities = core::parse_json_object(raw_capabilities);
    return capabilities && names_tasks(*capabilities);
}

bool names_tasks(const boost::json::object& capabilities) {
    const auto* extensions = core::object_in(&capabilities, "extensions");
    return core::object_in(extensions, kTasksExtension) != nullptr;
}

bool names_a_task(std::string_view method) {
    return method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel";
}

}  // namespace patchbay::protocol
