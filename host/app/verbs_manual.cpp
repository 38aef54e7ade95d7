// patchbay manual: its pages, written as files. The build does it; hidden from the help, as `man patchbay` is for people.
#include "app/manual.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/time_source.hpp"

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

namespace patchbay::app {

namespace {

// SOURCE_DATE_EPOCH, where a build is to come out alike every time, else today.
std::string date_of_pages() {
    auto when = core::Calendar::to_time_t(core::machine_time().date());
    if (const char* said = std::getenv("SOURCE_DATE_EPOCH")) {
        const std::string_view text(said);
        std::from_chars(text.data(), text.data() + text.size(), when);
    }
    std::tm day{};
    ::gmtime_r(&when, &day);
    char text[sizeof "2026-01-31"];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &day)};
}

Result<void> write_pages(const CLI::App& verb, const std::filesystem::path& folder) {
    const auto file = folder / (name_of_page(verb) + ".1");
    std::ofstream page(file, std::ios::trunc);
    page << manual_page(verb, date_of_pages());
    if (!page.flush()) return Error{ErrorCode::Io, "cannot write \"" + file.string() + "\""};
    for (const auto* each : verb.get_subcommands({}))
        if (!each->get_group().empty())
            if (auto written = write_pages(*each, folder); !written) return written;
    return {};
}

int manual_verb(const GlobalOptions& global, const std::string& folder) {
    Result<void> written;
    with_all_verbs([&](const CLI::App& app) { written = write_pages(app, folder); });
    return written ? int(kOk) : report(written.error(), global);
}

}  // namespace

void add_manual_verb(CLI::App& app, Choice& choice) {
    const auto folder = std::make_shared<std::string>(".");
    auto& manual = add_verb(app, "manual", "Write the manual pages, one a verb",
                            "  patchbay manual --output man1");
    manual.group("");
    take_output_directory(manual, *folder, "The folder that they are written to");
    choice.on(manual, [folder](const auto& global) { return manual_verb(global, *folder); });
}

}  // namespace patchbay::app
