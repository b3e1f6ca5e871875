#include "virtaccel/model/schedule.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "virtaccel/model/action.h"

namespace virtaccel::model {
namespace {

constexpr std::string_view text =
    "virtaccel-schedule 1\n"
    "# what it shows\n"
    "world capabilities=39 contexts=1 buffers=1 programs=1 queues=1 events=1 bindings=1 "
    "buffer_bytes=64 artifact_bytes=24 request_bytes=120 response_bytes=92 "
    "buffer_budget_bytes=300 program_budget_bytes=64 deferred_loads=0\n"
    "c1 = create_context\n"
    "e2 = submit queue=q bind=b:0:1:2:3 bind=7:0:1:0:1\n"
    "fault call=free status=5\n"
    "reset\n";

void expect_refused(const std::string& line, std::string_view what) {
    const auto parsed = parse_schedule(std::string{schedule_magic} + line);
    ASSERT_FALSE(parsed.has_value()) << line;
    EXPECT_NE(parsed.error().find(what), std::string::npos) << parsed.error();
    EXPECT_NE(parsed.error().find("(2)"), std::string::npos) << parsed.error();
}

TEST(ScheduleText, is_read_as_it_is_written) {
    const auto parsed = parse_schedule(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ(parsed->world.request_bytes, 120U);
    ASSERT_EQ(parsed->actions.size(), 4U);
    EXPECT_EQ(parsed->actions[0].name, "c1");
    EXPECT_EQ(parsed->actions[1].settings[1].value[0].object, "b");
    EXPECT_EQ(parsed->actions[1].settings[2].value[0].number, 7U);
    EXPECT_EQ(to_text(*parsed, "what it shows"), text);
}

TEST(ScheduleText, takes_hexadecimal_numbers_comments_and_foreign_line_ends) {
    const auto parsed =
        parse_schedule("virtaccel-schedule 1\n\n  # nothing\nfree_buffer buffer=0xff # why\r\n");
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ(to_text(parsed->actions.at(0)), "free_buffer buffer=255");
}

TEST(ScheduleText, refuses_another_version) {
    const auto parsed = parse_schedule("virtaccel-schedule 2\nreset\n");
    ASSERT_FALSE(parsed.has_value());
    EXPECT_NE(parsed.error().find("virtaccel-schedule 1"), std::string::npos);
}

TEST(ScheduleText, names_the_line_and_what_is_wrong_with_it) {
    expect_refused("fly\n", "fly");
    expect_refused("A = reset\n", "A");
    expect_refused("reset now=1\n", "now=1");
    expect_refused("free_buffer buffer\n", "buffer");
    expect_refused("free_buffer buffer=\n", "buffer=");
    expect_refused("free_buffer buffer=99999999999999999999999\n", "buffer=9");
    expect_refused("free_buffer bytes=1\n", "bytes=1");
    expect_refused("create_context room=9999999\n", "room=9999999");
    expect_refused("world contexts=70000\n", "contexts=70000");
    expect_refused("world contexts=many\n", "contexts=many");
    expect_refused("world moons=1\n", "moons=1");
}

TEST(ScheduleText, knows_every_setting_of_every_command) {
    for (const Verb& verb : request_verbs()) {
        for (const Field& field : verb.fields) {
            EXPECT_TRUE(is_setting(verb.name, field.name)) << verb.name << ' ' << field.name;
        }
        EXPECT_TRUE(is_setting(verb.name, "poke"));
        EXPECT_FALSE(is_setting(verb.name, "call"));
    }
    EXPECT_TRUE(is_setting("fault", "call"));
    EXPECT_FALSE(is_setting("reset", "call"));
    EXPECT_FALSE(is_setting("reset", ""));
}

}  // namespace
}  // namespace virtaccel::model
