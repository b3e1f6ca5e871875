#include "virtaccel/tosa/refusal.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"

namespace virtaccel::tosa {
namespace {

TEST(Text, joins_words_and_numbers) {
    Text text;
    text.append("a ").append(-12).append(" ").append(7U).append(" ").append(
        std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(text.view(), "a -12 7 -9223372036854775808");
}

TEST(Text, hides_what_a_strangers_name_would_do_to_a_terminal) {
    Text text;
    text.append_foreign(std::string_view{"a\x1b[31m\0\xff z", 9});
    EXPECT_EQ(text.view(), "a?[31m?? ");
}

TEST(Text, shows_only_the_beginning_of_a_long_name) {
    Text text;
    text.append_foreign(std::string(1000, 'n'));
    EXPECT_EQ(text.view(), std::string(64, 'n') + "...");
}

TEST(Text, ends_in_dots_when_it_is_full) {
    Text text;
    text.append(std::string(Text::capacity + 1, 'x')).append("more").append(12);
    EXPECT_EQ(text.view().size(), Text::capacity);
    EXPECT_TRUE(text.view().ends_with("x..."));
}

TEST(Refuse, puts_a_sentence_together) {
    const auto refused = refuse(Status::incompatible, "It has (", 3, ") of (", Foreign{"n"}, ").");
    EXPECT_EQ(refused.error().status, Status::incompatible);
    EXPECT_EQ(refused.error().sentence.view(), "It has (3) of (n).");
    EXPECT_EQ(refused.error().operator_index, nowhere);
}

}  // namespace
}  // namespace virtaccel::tosa
