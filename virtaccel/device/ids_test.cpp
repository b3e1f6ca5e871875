#include "virtaccel/device/ids.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "virtaccel/device/options.h"

namespace virtaccel::device {
namespace {

TEST(Ids, hold_the_serial_above_the_slot) {
    const auto id = make_raw_id(serial_end - 1, slots_max);
    EXPECT_EQ(id, ~std::uint64_t{0});
    EXPECT_EQ(slot_of(make_raw_id(7, 3)), 3U);
    EXPECT_EQ(make_raw_id(7, 3) >> slot_bits, 7U);
}

TEST(Ids, are_never_zero_in_their_low_half) {
    EXPECT_NE(static_cast<std::uint32_t>(make_raw_id(std::uint64_t{1} << 12U, 1)), 0U);
}

TEST(SerialCounter, counts_to_its_end_and_no_further) {
    SerialCounter serials(serial_end - 2);
    EXPECT_EQ(serials.take(), serial_end - 2);
    EXPECT_FALSE(serials.exhausted());
    EXPECT_EQ(serials.take(), serial_end - 1);
    EXPECT_TRUE(serials.exhausted());
    EXPECT_EQ(serials.next(), serial_end);
}

}  // namespace
}  // namespace virtaccel::device
