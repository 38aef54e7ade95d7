#include "net/admission.hpp"

#include <gtest/gtest.h>

namespace patchbay::net {
namespace {

TEST(Admission, HasSoManyPlacesAndEachIsGivenBack) {
    Admission admission;
    for (std::size_t i = 0; i < Admission::kConnections; ++i) {
        ASSERT_TRUE(admission.has_place());
        admission.enter();
    }
    EXPECT_FALSE(admission.has_place());
    admission.leave();
    EXPECT_TRUE(admission.has_place());
}

TEST(Admission, IsCrowdedByManyUntilHalfOfThemAreGoneAndSaysSoOnce) {
    Admission admission;
    for (std::size_t i = 0; i < Admission::kQueued; ++i) admission.arrive(0);
    EXPECT_FALSE(admission.crowded());
    admission.arrive(0);
    EXPECT_TRUE(admission.crowded());
    for (std::size_t i = 0; i < Admission::kQueued / 2; ++i) admission.depart(0);
    EXPECT_FALSE(admission.has_room_again()) << "one more than half of them";
    EXPECT_TRUE(admission.crowded());
    admission.depart(0);
    EXPECT_TRUE(admission.has_room_again());
    EXPECT_FALSE(admission.crowded());
    EXPECT_FALSE(admission.has_room_again());
}

TEST(Admission, IsCrowdedByBytesAsWell) {
    Admission admission;
    admission.arrive(Admission::kQueuedBytes);
    EXPECT_FALSE(admission.crowded());
    admission.arrive(1);
    EXPECT_TRUE(admission.crowded());
    admission.depart(Admission::kQueuedBytes / 2);
    EXPECT_FALSE(admission.has_room_again());
    admission.depart(1);
    EXPECT_TRUE(admission.has_room_again());
}

TEST(Admission, ThatNobodyAskedOfTellsNobodyOfRoom) {
    Admission admission;
    for (std::size_t i = 0; i <= Admission::kQueued; ++i) admission.arrive(0);
    for (std::size_t i = 0; i <= Admission::kQueued; ++i) admission.depart(0);
    EXPECT_FALSE(admission.has_room_again());
    EXPECT_FALSE(admission.crowded());
}

}  // namespace
}  // namespace patchbay::net
