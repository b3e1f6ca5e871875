// Our guest and our device as two programs, each at the other's standard input and output.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/end_to_end/process.h"

namespace virtaccel::end_to_end {
namespace {

std::vector<std::string> device_with(const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"device", "--stdio"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
}

void expect_all_right(const std::vector<std::string>& options) {
    const auto ended = run_piped(device_with(options), {"guest", "--stdio", "--strict"});
    EXPECT_EQ(ended.second.code, 0) << ended.second.err;
    EXPECT_TRUE(ended.second.err.ends_with(" answers are right.\n"));
    EXPECT_EQ(ended.first.code, 0);
    // The device says why it refuses programs, and nothing else.
    EXPECT_NE(ended.first.err.find("virtaccel: The program is not 24 bytes long.\n"),
              std::string::npos)
        << ended.first.err;
    EXPECT_EQ(ended.first.err.find("please report"), std::string::npos);
}

TEST(TwoPrograms, get_every_answer_right) {
    expect_all_right({});
}

TEST(TwoPrograms, get_every_answer_right_when_events_end_at_once) {
    expect_all_right({"--complete", "submit"});
}

TEST(TwoPrograms, get_every_answer_right_when_events_end_late) {
    expect_all_right({"--complete", "7"});
}

TEST(TwoPrograms, get_every_answer_right_when_events_never_end) {
    expect_all_right({"--complete", "never"});
}

TEST(TwoPrograms, get_every_answer_right_without_cancellation) {
    expect_all_right({"--no-cancel"});
}

TEST(TwoPrograms, get_every_answer_right_with_small_limits) {
    expect_all_right({"--max-request-bytes", "4096", "--max-response-bytes", "92",
                      "--max-artifact-bytes", "24", "--max-buffer-bytes", "64", "--max-bindings",
                      "2", "--max-descriptors", "2"});
}

TEST(TwoPrograms, hear_a_device_that_is_wrong) {
    // The null backend is a device that takes no mock programs.
    const auto ended =
        run_piped(device_with({"--backend", "null"}), {"guest", "--stdio", "--strict"});
    EXPECT_EQ(ended.second.code, 1);
    EXPECT_NE(ended.second.err.find("\nWRONG LOAD_PROGRAM"), std::string::npos);
    EXPECT_NE(ended.second.err.find("\nvirtaccel: The device at the other end gives wrong answers"),
              std::string::npos);
    EXPECT_EQ(ended.first.code, 0);
}

TEST(TwoPrograms, hear_that_the_other_end_is_gone) {
    const auto ended = run_piped({"info"}, {"guest", "--stdio"});
    EXPECT_EQ(ended.second.code, 1);
    EXPECT_NE(ended.second.err.find("virtaccel: "), std::string::npos);
}

TEST(TwoPrograms, serve_nobody_and_end_well) {
    const auto ended = run_virtaccel({"device", "--stdio"});
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(ended.err, "");
}

}  // namespace
}  // namespace virtaccel::end_to_end
