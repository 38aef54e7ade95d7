#include "service/approval_record.hpp"

#include "core/replace_file.hpp"
#include "core/text.hpp"

namespace patchbay::service {

Result<void> ApprovalRecord::change(const std::function<Result<std::string>()>& next) const {
    if (directory.empty())
        return Error{ErrorCode::Unsupported, "there is no state directory to keep approvals in"};
    const auto folder = core::open_private_directory(directory, kOthers, core::Make::Yes);
    if (!folder) return folder.error();
    const auto turn = core::take_turn(*folder, directory, writers, wait);
    if (!turn) return turn.error();
    const auto text = next();
    if (!text) return text.error();
    // A folder may be called anything; a record that nobody can read again approves nothing at all.
    if (!core::valid_utf8(*text))
        return Error{
            ErrorCode::Unsupported,
            std::string("the path of this folder is not UTF-8, and approvals are kept by path") +
                no_path};
    const auto path = directory + "/" + name;
    if (text->size() > most_bytes)
        return Error{ErrorCode::Limit, path + " would be over " + std::to_string(most_bytes >> 20) +
                                           " MiB" + shorten};
    return core::replace_file(path, *text, core::Durable::Yes);
}

}  // namespace patchbay::service
