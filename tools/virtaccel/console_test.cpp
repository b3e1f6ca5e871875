#include "tools/virtaccel/console.h"

#include <string>

#include <gtest/gtest.h>

namespace virtaccel::cli {
namespace {

using std::literals::operator""s;

TEST(Visible, keeps_what_people_write) {
    for (const auto* const text : {"", "The file (a.npy) is good.", "Gr\u00fc\u00dfe \u4f60\u597d",
                                   "\u00a0 after the controls"}) {
        EXPECT_EQ(visible(text), text);
    }
}

TEST(Visible, shows_control_characters_as_question_marks) {
    EXPECT_EQ(visible("\x1b[2Jgone"), "?[2Jgone");
    EXPECT_EQ(visible("a\nb\rc\td\0e\x7f"s), "a?b?c?d?e?");
    EXPECT_EQ(visible("\u0080\u009b31m"), "??31m");
}

}  // namespace
}  // namespace virtaccel::cli
