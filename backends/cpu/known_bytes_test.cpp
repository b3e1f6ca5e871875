#include "backends/cpu/known_bytes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/step.h"
#include "host/memory.h"
#include "virtaccel/base/testing/memory.h"

namespace virtaccel::backends::cpu {
namespace {

constexpr std::uint64_t large = KnownBytes::forgotten_bytes_min;

class KnownBytesTest : public ::testing::Test {
  protected:
    // The values that are dropped once no operator after `position` is left.
    std::vector<ValueId> dropped_until(std::uint32_t position) {
        std::vector<ValueId> values;
        known.drop_until(position, [&](ValueId value) { values.push_back(value); });
        return values;
    }

    virtaccel::testing::CountingMemory heap{host::heap()};
    KnownBytes known{heap.memory(), 10 * large};
};

using Values = std::vector<ValueId>;

TEST_F(KnownBytesTest, go_when_their_last_reader_has_been_lowered) {
    const auto* const first = known.make(1, large, 3);
    static_cast<void>(known.make(2, large, 1));
    EXPECT_NE(first, nullptr);
    EXPECT_EQ(known.left_bytes(), 8 * large);
    EXPECT_EQ(dropped_until(0), Values{});
    EXPECT_EQ(dropped_until(1), Values{2});
    EXPECT_EQ(dropped_until(2), Values{});
    EXPECT_EQ(heap.live_bytes(), large);
    EXPECT_EQ(dropped_until(3), Values{1});
    EXPECT_EQ(heap.live_bytes(), 0U);
    EXPECT_EQ(known.left_bytes(), 10 * large);
}

TEST_F(KnownBytesTest, stay_as_long_as_any_value_that_lies_in_them) {
    const auto* const bytes = known.make(1, large, 2);
    known.share(5, bytes, 7);
    known.share(6, bytes, 4);
    EXPECT_EQ(dropped_until(6), Values{});
    EXPECT_EQ(dropped_until(7), (Values{1, 5, 6}));
}

TEST_F(KnownBytesTest, stay_if_a_step_reads_them_or_if_they_are_few) {
    const auto* const read = known.make(1, large, 2);
    const auto* const few = known.make(2, large - 1, 2);
    known.keep(read);
    known.keep(nullptr);
    EXPECT_EQ(dropped_until(100), Values{});
    EXPECT_EQ(known.take(read).data(), read);
    EXPECT_EQ(known.take(few).data(), few);
    const std::byte elsewhere{};
    EXPECT_EQ(known.take(&elsewhere).data(), nullptr);
    known.clear();
    EXPECT_EQ(heap.live_bytes(), 0U);
}

}  // namespace
}  // namespace virtaccel::backends::cpu
