// The command line itself: help, wrong usage, and what `info` tells.

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/end_to_end/process.h"

namespace virtaccel::end_to_end {
namespace {

using Words = std::vector<std::string>;

// Ends with 2 and one sentence on standard error.
void expect_wrong_usage(const Words& arguments, std::string_view message) {
    const auto ended = run_virtaccel(arguments);
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(ended.err, "virtaccel: " + std::string{message} + "\n");
}

TEST(Usage, shows_an_example_for_each_command) {
    for (const std::string command :
         {"run", "info", "inspect", "device", "guest", "conform", "replay"}) {
        const auto ended = run_virtaccel({command, "--help"});
        EXPECT_EQ(ended.code, 0);
        EXPECT_EQ(ended.err, "");
        const auto example = ended.out.find("Example:\n");
        ASSERT_NE(example, std::string::npos) << ended.out;
        EXPECT_NE(ended.out.find("virtaccel " + command, example), std::string::npos);
    }
    EXPECT_EQ(run_virtaccel({"--help"}).code, 0);
}

TEST(Usage, is_wrong_without_a_command_or_with_an_unknown_one) {
    expect_wrong_usage({},
                       "The command line is wrong (A subcommand is required); see virtaccel "
                       "--help.");
    expect_wrong_usage({"dance"}, "There is no command (dance); see virtaccel --help.");
}

TEST(Usage, is_wrong_with_unknown_options_and_values_out_of_range) {
    for (const Words& arguments :
         {Words{"run"}, Words{"run", "m.tosa", "--dance"}, Words{"run", "m.tosa", "--repeat", "0"},
          Words{"run", "m.tosa", "--repeat", "many"}, Words{"run", "m.tosa", "--threads", "0"},
          Words{"run", "m.tosa", "--device", "tcp"}, Words{"run", "m.tosa", "more.tosa"},
          Words{"device"}, Words{"guest"}, Words{"inspect"},
          Words{"device", "--stdio", "--max-descriptors", "1"},
          Words{"device", "--stdio", "--max-request-bytes", "96"},
          Words{"device", "--stdio", "--max-response-bytes", "91"},
          Words{"device", "--stdio", "--max-bindings", "4097"}}) {
        const auto ended = run_virtaccel(arguments);
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_TRUE(ended.err.starts_with("virtaccel: The command line is wrong (")) << ended.err;
        EXPECT_TRUE(ended.err.ends_with("); see virtaccel " + arguments.front() + " --help.\n"))
            << ended.err;
    }
}

TEST(Usage, is_wrong_with_a_backend_that_is_not_known_or_takes_no_such_option) {
    expect_wrong_usage({"info", "--backend", "abacus"},
                       "The backend (abacus) is not known; choose one of (cpu, mock, null).");
    expect_wrong_usage({"info", "--backend", "cpu:1"},
                       "The backend (cpu) has no device (1) to choose; leave the colon and what "
                       "follows it out.");
    expect_wrong_usage({"run", "m.tosa", "--backend", "null", "--threads", "2"},
                       "The backend (null) has no threads to choose (2); leave --threads out.");
    expect_wrong_usage({"device", "--stdio", "--backend", "cpu", "--complete", "never"},
                       "The backend (cpu) takes neither --complete nor --no-cancel, which are for "
                       "(mock); leave them out.");
    expect_wrong_usage({"device", "--stdio", "--complete", "-1"},
                       "The value (-1) of --complete is none of poll, submit, never and a number "
                       "of polls; give one of them.");
}

TEST(Usage, is_wrong_with_files_that_name_no_tensor) {
    expect_wrong_usage({"run", "m.tosa", "--input", "x.npy"},
                       "The value (x.npy) of --input is not NAME=FILE.npy; name a tensor of the "
                       "model and a file.");
    expect_wrong_usage({"run", "m.tosa", "--output", "y="},
                       "The value (y=) of --output is not NAME=FILE.npy; name a tensor of the "
                       "model and a file.");
}

TEST(Info, tells_what_a_guest_is_told_of_each_backend) {
    const auto text = run_virtaccel({"info", "--backend", "mock"});
    EXPECT_EQ(text.code, 0) << text.err;
    for (const std::string_view line :
         {"backend                     mock: the reference backend\n",
          "protocol                    1.0\n", "max_request_bytes           16777216\n",
          "uuid                        76697274-696f-2d61-6363-656c6d6f636b\n",
          "class                       NPU\n",
          "capabilities                host-visible memory, device-local memory, ",
          "event cancellation, shared memory\n", "max_buffer_bytes            4096\n"}) {
        EXPECT_NE(text.out.find(line), std::string::npos) << line << " in\n" << text.out;
    }
    for (const std::string backend : {"cpu", "mock", "null"}) {
        const auto json = run_virtaccel({"info", "--json", "--backend", backend});
        EXPECT_EQ(json.code, 0) << json.err;
        EXPECT_TRUE(json.out.starts_with(R"({"backend":{"name":")" + backend + '"')) << json.out;
        EXPECT_NE(json.out.find(R"("max_contexts":64)"), std::string::npos);
    }
}

}  // namespace
}  // namespace virtaccel::end_to_end
