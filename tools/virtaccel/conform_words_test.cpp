#include "tools/virtaccel/conform_words.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace virtaccel::cli {
namespace {

using Words = std::vector<std::string>;

TEST(SplitWords, cuts_at_blanks) {
    EXPECT_EQ(split_words("device --stdio\t-v"), (Words{"device", "--stdio", "-v"}));
    EXPECT_EQ(split_words("  one   two  "), (Words{"one", "two"}));
    EXPECT_EQ(split_words(""), Words{});
    EXPECT_EQ(split_words("  "), Words{});
}

TEST(SplitWords, keeps_what_is_quoted) {
    EXPECT_EQ(split_words(R"('a b' "c  d")"), (Words{"a b", "c  d"}));
    EXPECT_EQ(split_words(R"(x'a b'y"c d"z)"), Words{"xa byc dz"});
    EXPECT_EQ(split_words(R"('' "")"), (Words{"", ""}));
    EXPECT_EQ(split_words(R"('say "it"' "it's")"), (Words{R"(say "it")", "it's"}));
    EXPECT_EQ(split_words(R"(a\ b \" \\ "\"" '\')"), (Words{"a b", "\"", "\\", "\"", "\\"}));
}

TEST(SplitWords, refuses_what_is_not_closed) {
    for (const std::string_view command : {"'a", "\"a", "a'b\"", "a\\", "\"a\\\""}) {
        EXPECT_EQ(split_words(command), std::nullopt) << command;
    }
}

TEST(Matches, compares_all_of_a_name) {
    EXPECT_TRUE(matches("VQ-001", "VQ-001"));
    EXPECT_FALSE(matches("VQ-00", "VQ-001"));
    EXPECT_FALSE(matches("VQ-0011", "VQ-001"));
    EXPECT_FALSE(matches("", "VQ-001"));
    EXPECT_TRUE(matches("", ""));
}

TEST(Matches, takes_stars_for_any_characters_and_a_question_mark_for_one) {
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("*", "memory.host"));
    EXPECT_TRUE(matches("memory.*", "memory.host"));
    EXPECT_TRUE(matches("*host", "memory.host"));
    EXPECT_TRUE(matches("*.h*t", "memory.host"));
    EXPECT_TRUE(matches("m*o*o**", "memory.host"));
    EXPECT_TRUE(matches("VQ-0?1", "VQ-011"));
    EXPECT_FALSE(matches("VQ-0?1", "VQ-01"));
    EXPECT_FALSE(matches("?", ""));
    EXPECT_FALSE(matches("*.k*", "memory.host"));
    EXPECT_FALSE(matches("*hos", "memory.host"));
    EXPECT_TRUE(matches("*ab", "aab"));
}

}  // namespace
}  // namespace virtaccel::cli
