#include "app/catalogue_folder.hpp"

#include "catalogue/listing_text.hpp"
#include "core/digest.hpp"
#include "core/log.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace patchbay::app {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameDigits = 64;  // of a SHA-256
constexpr const char* kSuffix = ".json";

// Two servers of one definition are two programs.
std::string file_of(const std::string& server, const std::string& definition) {
    return core::sha256_hex(server + "\n" + definition) + kSuffix;
}

// Ours, or a draft of ours; what somebody else has put there is not ours to remove.
bool is_ours(const fs::directory_entry& file) {
    const auto name = file.path().filename().string();
    std::error_code gone;
    return name.size() > kNameDigits && name.find_first_not_of("0123456789abcdef") == kNameDigits &&
           name.substr(kNameDigits).starts_with(kSuffix) &&
           file.symlink_status(gone).type() == fs::file_type::regular;
}

// Another host may do the same at the same time: what is gone already is no trouble.
void remove_oldest(const std::string& path, std::size_t most) {
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code trouble;
    for (const auto& each : fs::directory_iterator(path, trouble)) {
        if (!is_ours(each)) continue;
        const auto written = each.last_write_time(trouble);
        if (!trouble) files.emplace_back(written, each.path());
    }
    if (files.size() <= most) return;
    std::sort(files.begin(), files.end());
    files.resize(files.size() - most);
    for (const auto& [written, file] : files) fs::remove(file, trouble);
}

}  // namespace

CatalogueFolder::CatalogueFolder(core::Loop& loop, catalogue::Catalogue& catalogue,
                                 std::string path)
    : catalogue_(catalogue), path_(std::move(path)), pause_(loop), worker_(loop, 1) {
    catalogue_.watch(*this);
}

CatalogueFolder::~CatalogueFolder() {
    catalogue_.unwatch(*this);
    save();
}

void CatalogueFolder::recall(const std::vector<registry::ServerSpec>& specs,
                             const core::Limits& limits) {
    std::size_t bytes = 0;
    for (const auto& spec : specs) {
        const auto text = core::read_private(path_, file_of(spec.id(), spec.definition_key),
                                             core::Others::MayNothing,
                                             std::min(kMostBytes, kRecallBytes - bytes));
        if (!text || !*text) continue;
        bytes += (*text)->size();
        auto listing = catalogue::from_text(**text, spec.definition_key, limits);
        if (!listing) continue;
        auto shared = std::make_shared<const catalogue::Listing>(std::move(*listing));
        kept_[spec.id()] = shared;
        catalogue_.recall(spec.id(), std::move(shared));
    }
}

void CatalogueFolder::on_published() {
    if (!pause_.running()) pause_.start(kPause, [this] { save(); });
}

// One that broke off is not what the server has.
void CatalogueFolder::save() {
    for (const auto& [server, listing] : catalogue_.listings()) {
        if (!listing->whole || kept_[server] == listing) continue;
        kept_[server] = listing;
        write(file_of(server, listing->definition), catalogue::to_text(*listing));
    }
}

void CatalogueFolder::write(const std::string& name, std::string text) {
    if (text.size() > kMostBytes) return;
    worker_.run(
        [path = path_, name, text = std::move(text)](const std::stop_token&) -> Result<void> {
            // What is not believed is not written to either: a link there would lead us, who remove
            // what is too much, into a folder of something else.
            const auto folder =
                core::open_private_directory(path, core::Others::MayNothing, core::Make::Yes);
            if (!folder) return folder.error();
            const auto written = core::replace_file(path + "/" + name, text);
            if (written) remove_oldest(path, kMostFiles);
            return written;
        },
        [this](const Result<void>& written) {
            if (!written && !std::exchange(told_, true))
                core::log::warn("the tools of servers are not kept for the next start: " +
                                written.error().message);
        });
}

}  // namespace patchbay::app
