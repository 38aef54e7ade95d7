// Fails every test in which an exception escaped a callback of the loop: the loop goes on after it,
// which is right for a host and would hide a bug here.
#include "core/loop.hpp"

#include <gtest/gtest.h>

namespace {

class NoEscapes final : public testing::EmptyTestEventListener {
    void OnTestEnd(const testing::TestInfo&) override {
        EXPECT_EQ(patchbay::core::Loop::take_escaped(), 0u)
            << "exceptions escaped callbacks of the loop; the log names them";
    }
};

const bool listening = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new NoEscapes);
    return true;
}();

}  // namespace
