#include "virtaccel/conformance/characters.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace virtaccel::conformance {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view unsaid = "\xef\xbf\xbd";

TEST(Characters, are_escaped_where_json_needs_it) {
    EXPECT_EQ(json_escaped("a \"b\" c\\d\n\t<&>\x7f"), "a \\\"b\\\" c\\\\d\\n\\t<&>\x7f");
    EXPECT_EQ(json_escaped("\0\x01\x1f\r"sv), "\\u0000\\u0001\\u001f\\u000d");
    EXPECT_EQ(json_escaped(""), "");
}

TEST(Characters, are_escaped_where_xml_needs_it) {
    EXPECT_EQ(xml_escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c'");
    EXPECT_EQ(xml_escaped("]]>"), "]]&gt;");
    EXPECT_EQ(xml_escaped("\t\n\r"), "&#9;&#10;&#13;");
    EXPECT_EQ(xml_escaped(""), "");
}

TEST(Characters, that_xml_cannot_say_are_replaced) {
    for (const std::string_view text : {"\0"sv, "\x1b"sv, "\xef\xbf\xbe"sv, "\xef\xbf\xbf"sv}) {
        EXPECT_EQ(xml_escaped(text), unsaid);
    }
}

TEST(Characters, of_any_length_stay_what_they_are) {
    for (const std::string_view text :
         {"\xc2\x80", "\xc3\xbc", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
          "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        EXPECT_EQ(json_escaped(text), text);
        EXPECT_EQ(xml_escaped(text), text);
    }
}

// Cut off, overlong, a surrogate, beyond the last, a byte that begins nothing: one mark for each
// byte that belongs to no character, and what follows is not lost.
TEST(Characters, that_are_no_utf8_are_replaced) {
    struct Row {
        std::string_view bytes;
        int marks;
    };

    for (const auto& [bytes, marks] :
         {Row{"\x80", 1}, Row{"\xbf", 1}, Row{"\xc0\x80", 2}, Row{"\xc1\xbf", 2}, Row{"\xc3", 1},
          Row{"\xe0\x9f\xbf", 3}, Row{"\xe2\x82", 2}, Row{"\xed\xa0\x80", 3},
          Row{"\xf0\x8f\xbf\xbf", 4}, Row{"\xf4\x90\x80\x80", 4}, Row{"\xf5\x80\x80\x80", 4},
          Row{"\xff", 1}}) {
        std::string wanted;
        for (int i = 0; i < marks; ++i) {
            wanted += unsaid;
        }
        EXPECT_EQ(json_escaped(std::string{bytes} + "z"), wanted + "z");
        EXPECT_EQ(xml_escaped(bytes), wanted);
    }
}

}  // namespace

}  // namespace virtaccel::conformance
