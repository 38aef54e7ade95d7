#include "gateway/task_names.hpp"

#include "core/digest.hpp"
#include "core/random.hpp"

#include <utility>

namespace patchbay::gateway {

namespace {

constexpr std::size_t kNameKeyBytes = 32;
constexpr std::size_t kSealDigits = 32;  // 128 bits: a name is a header, too

}  // namespace

TaskNames::TaskNames(std::string key, std::string whose)
    : key_(key.empty() ? core::random_hex(kNameKeyBytes) : std::move(key)),
      whose_(std::move(whose)) {}

std::string TaskNames::make(const Task& task) const {
    return task.server + ":" + seal_of(task) + ":" + task.id;
}

// No id of a server has a colon.
std::optional<TaskNames::Task> TaskNames::open(std::string_view name) const {
    const auto first = name.find(':');
    if (first == name.npos) return {};
    const auto second = name.find(':', first + 1);
    if (second == name.npos) return {};
    Task task{std::string(name.substr(0, first)), std::string(name.substr(second + 1))};
    if (!core::same_secret(name.substr(first + 1, second - first - 1), seal_of(task))) return {};
    return task;
}

// With its purpose ahead, as that of a requestState.
std::string TaskNames::seal_of(const Task& task) const {
    return core::hmac_sha256_hex(key_, "task\n" + task.server + "\n" + task.id + "\n" + whose_)
        .substr(0, kSealDigits);
}

}  // namespace patchbay::gateway
