#include "virtaccel/tosa/target.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "virtaccel/base/vocabulary.h"

namespace virtaccel::tosa {
namespace {

constexpr TargetWords plain = {0x544f5341, 1, 1, 0, 2, 3, 1, 0, 0, 0, 0, 0};

// `plain` with another word.
TargetWords with(std::size_t word, std::uint32_t value) {
    TargetWords words = plain;
    words.at(word) = value;
    return words;
}

TEST(Target, is_decoded_from_its_words) {
    const std::optional<Target> target = decode_target(plain);
    ASSERT_TRUE(target);
    EXPECT_EQ(target->major, 1U);
    EXPECT_EQ(target->minor, 0U);
    EXPECT_EQ(target->patch, 2U);
    EXPECT_EQ(target->profiles, profiles_known);
    EXPECT_EQ(target->level, Level::eight_k);
    EXPECT_TRUE(target->extensions.empty());
}

TEST(Target, is_encoded_into_the_words_it_came_from) {
    const TargetWords words = with(7, 0x7ff);
    EXPECT_EQ(encode_target(decode_target(words).value()), words);
}

TEST(Target, refuses_words_it_does_not_know) {
    EXPECT_FALSE(decode_target(with(0, 0x544f5342)));
    EXPECT_FALSE(decode_target(with(1, 2)));
    EXPECT_FALSE(decode_target(with(2, 65536)));
    EXPECT_FALSE(decode_target(with(3, 65536)));
    EXPECT_FALSE(decode_target(with(4, 65536)));
    EXPECT_FALSE(decode_target(with(5, 0)));
    EXPECT_FALSE(decode_target(with(5, 4)));
    EXPECT_FALSE(decode_target(with(6, 2)));
    EXPECT_FALSE(decode_target(with(7, 1U << 11U)));
    EXPECT_FALSE(decode_target(with(8, 1)));
    EXPECT_FALSE(decode_target(with(9, 1)));
    EXPECT_FALSE(decode_target(with(10, 1)));
    EXPECT_FALSE(decode_target(with(11, 1)));
}

TEST(Target, accepts_any_version_word_of_16_bits) {
    EXPECT_TRUE(decode_target(with(2, 65535)));
    EXPECT_TRUE(decode_target(with(6, 0)));
}

// The extensions that need a profile are refused with the other profile alone.
TEST(Target, refuses_an_extension_without_its_profile) {
    constexpr std::uint32_t integer_needed = 0x603;  // INT16, INT4, DOUBLEROUND, INEXACTROUND
    constexpr std::uint32_t float_needed = 0x3c;     // BF16, FP8E4M3, FP8E5M2, FFT
    for (std::uint32_t bit = 0; bit < 11; ++bit) {
        const std::uint32_t extension = 1U << bit;
        TargetWords words = with(7, extension);
        EXPECT_TRUE(decode_target(words)) << bit;
        words.at(5) = 1;
        EXPECT_EQ(decode_target(words).has_value(), (extension & float_needed) == 0) << bit;
        words.at(5) = 2;
        EXPECT_EQ(decode_target(words).has_value(), (extension & integer_needed) == 0) << bit;
    }
}

TEST(Extensions, have_the_specifications_names) {
    EXPECT_EQ(name_of(ExtensionBit::bf16), "BF16");
    EXPECT_EQ(name_of(ExtensionBit::inexactround), "INEXACTROUND");
    EXPECT_EQ(name_of(static_cast<ExtensionBit>(3)), "UNKNOWN");
}

}  // namespace
}  // namespace virtaccel::tosa
