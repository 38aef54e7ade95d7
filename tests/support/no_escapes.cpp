// Fails every test in which an exception came to an edge of the host or of a bundled plugin: the host
// goes on after it, which is right for a host and would hide a bug here.
#include "core/escapes.hpp"

#include <gtest/gtest.h>

namespace {

class NoEscapes final : public testing::EmptyTestEventListener {
    void OnTestEnd(const testing::TestInfo&) override {
        EXPECT_EQ(patchbay::core::take_escapes(), 0u)
            << "exceptions came to an edge; the log names them";
    }
};

const bool listening = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new NoEscapes);
    return true;
}();

}  // namespace
