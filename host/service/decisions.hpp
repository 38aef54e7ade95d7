// Answers that count for longer than a session, as the router asks for them and has them kept.
//
// Owns:    the file. Threads: [loop]; blocks for the disk, once for each question that a rule asks and for each answer.
// Errors:  a record that cannot be read answers nothing, which is logged once for each reason.
// Source:  decisions/0050-a-level-that-somebody-wrote-is-obeyed.md.
#pragma once

#include "connection/approval.hpp"
#include "service/decision_file.hpp"

#include <string>
#include <vector>

namespace patchbay::service {

// For whom an answer of that one counts.
std::string subject_of(const core::Principal& asker);

class Decisions final : public connection::Decisions {
public:
    // `project`: the folder that AllowProject is for; empty: there is none.
    Decisions(std::string directory, std::string project)
        : file_(std::move(directory)), project_(std::move(project)) {}

    bool allow(const connection::Approvable& wanted, const core::Principal& asker) override;
    std::vector<config::Level> levels(const core::Principal& asker) const override;
    Result<void> keep(const connection::Approvable& wanted, config::Level level,
                      const core::Principal& asker) override;

    // Whether it counts here, for somebody, as long as the tool is described so.
    bool counts_here(const Decision& decision) const;
    DecisionFile& file() { return file_; }
    const std::string& project() const { return project_; }

private:
    DecisionFile file_;
    std::string project_;
    std::string told_;  // why the file was not read, the last time
};

}  // namespace patchbay::service
