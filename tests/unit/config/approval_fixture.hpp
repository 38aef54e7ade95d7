// A checkout, and what a person has approved of it.
#pragma once

#include "config/approval.hpp"
#include "support.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace patchbay::config {

class Approval : public ::testing::Test {
protected:
    World world;
    FakeApprovals approvals;

    void SetUp() override {
        world.variables["PATH"] = world.folder / "bin";
        program("bin/run");
        approvals.digests.emplace();
    }
    void program(const std::string& name) {
        world.folder.write(name, "#!/bin/sh\n");
        ASSERT_EQ(::chmod((world.folder / name).c_str(), 0755), 0);
    }
    void project(const std::string& text) {
        world.folder.write("home/user/src/project/.patchbay/config.toml", text);
    }
    void local(const std::string& text) {
        world.folder.write("home/user/src/project/.patchbay.local.toml", text);
    }
    void user(const std::string& text) {
        world.folder.write("home/user/.config/patchbay/config.toml", text);
    }
    Config now() const { return load(world.environment, {}, &approvals).config; }
    // As `patchbay trust ID...` does.
    void approve(const std::vector<std::string>& ids) {
        const auto config = now();
        for (const auto& id : ids) {
            const auto it = std::find_if(config.untrusted.begin(), config.untrusted.end(),
                                         [&](const auto& proposal) { return proposal.id == id; });
            ASSERT_NE(it, config.untrusted.end()) << id;
            (*approvals.digests)[id] = it->digest;
        }
    }
    std::vector<std::string> waiting() const {
        std::vector<std::string> ids;
        for (const auto& proposal : now().untrusted) ids.push_back(proposal.id);
        return ids;
    }
};

using Ids = std::vector<std::string>;

}  // namespace patchbay::config
