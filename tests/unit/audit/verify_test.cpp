// Whoever changes a trail is found, at the line where it was done.
#include "audit/verify.hpp"

#include "audit/trail.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace patchbay::audit {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct AVerdict : testing::Test {
    static constexpr int kRecords = 6;
    test::ScratchFolder state;
    fs::path file;
    std::vector<std::string> lines;

    AVerdict() {
        Trail trail(state.path(), {});
        for (int i = 1; i <= kRecords; ++i)
            EXPECT_TRUE(
                trail.append("\"kind\":\"call\",\"server\":\"s" + std::to_string(i) + "\"\n", 5s));
        file = state / "audit/audit-000000000001.jsonl";
        std::istringstream text(slurp());
        for (std::string line; std::getline(text, line);) lines.push_back(line);
    }
    std::string slurp() const {
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    }
    Verdict of(const std::vector<std::string>& all) const {
        std::ofstream out(file, std::ios::trunc);
        for (const auto& line : all) out << line << '\n';
        out.close();
        const auto judged = verify(state.path());
        EXPECT_TRUE(judged) << judged.error().message;
        return judged ? *judged : Verdict();
    }
    std::uint64_t first_fault(const std::vector<std::string>& all) const {
        const auto judged = of(all);
        return judged.faults.empty() ? 0 : judged.faults.front().line;
    }
};

TEST_F(AVerdict, IsSoundOfWhatWasWritten) {
    const auto judged = of(lines);
    EXPECT_THAT(judged.faults, IsEmpty());
    EXPECT_EQ(judged.records, static_cast<std::uint64_t>(kRecords));
    EXPECT_EQ(judged.first, 1u);
}

TEST_F(AVerdict, NamesTheLineOfEveryChange) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        auto changed = lines;
        changed[i].replace(changed[i].find("\"s"), 3, "\"x");
        EXPECT_EQ(first_fault(changed), i + 1) << "changed";
        EXPECT_EQ(of(changed).faults.size(), 1u) << "and no other";
        auto doubled = lines;
        doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
        EXPECT_EQ(first_fault(doubled), i + 2) << "said twice";
        auto strange = lines;
        strange.insert(strange.begin() + static_cast<std::ptrdiff_t>(i), "{\"n\":1}");
        EXPECT_EQ(first_fault(strange), i + 1) << "put in";
        if (i + 1 == lines.size()) continue;
        auto swapped = lines;
        std::swap(swapped[i], swapped[i + 1]);
        EXPECT_EQ(first_fault(swapped), i + 1) << "swapped";
        auto shorter = lines;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_EQ(first_fault(shorter), i == 0 ? 1 : i + 1) << "taken out";
    }
    auto cut = lines;
    cut.pop_back();
    ASSERT_FALSE(of(cut).faults.empty());
    EXPECT_THAT(to_string(of(cut).faults.front()), HasSubstr("/audit/head: names record 6"));
}

TEST_F(AVerdict, IsNotFooledByWhoSignsWithAnotherKey) {
    Chain forger("another key");
    std::vector<std::string> forged;
    for (int i = 1; i <= kRecords; ++i) {
        std::string line;
        forger.append("\"kind\":\"call\"", line);
        line.pop_back();
        forged.push_back(line);
    }
    EXPECT_EQ(first_fault(forged), 1u);
    std::ofstream(state / "audit/head", std::ios::trunc)
        << text_of({1, 1, kRecords, 1, forger.last()}, forger);
    EXPECT_EQ(first_fault(forged), 1u);
}

TEST_F(AVerdict, TellsSoManyFaultsAndCountsTheRest) {
    std::vector<std::string> strange(50, "{}");
    const auto judged = of(strange);
    EXPECT_EQ(judged.faults.size(), Verdict::kMostFaults);
    EXPECT_GE(judged.more_faults, 29u);
}

TEST_F(AVerdict, ReadsALineOfAnyLengthWithoutKeepingIt) {
    auto all = lines;
    all.insert(all.begin() + 2, std::string(5u << 20, 'x'));
    EXPECT_EQ(first_fault(all), 3u);
    EXPECT_EQ(of(all).records, static_cast<std::uint64_t>(kRecords));
}

TEST_F(AVerdict, NeedsTheKeyAndNothingWhereThereIsNoTrail) {
    fs::remove(state / "audit.key");
    const auto judged = verify(state.path());
    ASSERT_FALSE(judged);
    EXPECT_THAT(judged.error().message, HasSubstr("audit.key is missing"));
    const test::ScratchFolder empty;
    const auto nothing = verify(empty.path());
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->sound());
    EXPECT_EQ(nothing->records, 0u);
    EXPECT_TRUE(nothing->notes.empty());
}

TEST_F(AVerdict, TellsThatRecordsMayHaveBeenTakenAwayWhereTheirKeyIs) {
    fs::remove_all(state / "audit");
    const auto judged = verify(state.path());
    ASSERT_TRUE(judged);
    ASSERT_EQ(judged->notes.size(), 1u);
    EXPECT_THAT(judged->notes.front().what, HasSubstr("all of them were taken away"));
}

}  // namespace
}  // namespace patchbay::audit
