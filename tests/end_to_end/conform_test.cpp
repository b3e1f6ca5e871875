// `virtaccel conform` on backends, on our own devices, and on programs that are none.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/end_to_end/process.h"

namespace virtaccel::end_to_end {
namespace {

using Words = std::vector<std::string>;

// A device command that is this program, under quotes.
std::string our_device(const std::string& options = {}) {
    return std::string{"stdio:'"} + VIRTACCEL_PROGRAM + "' device --stdio " + options;
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) {
        ++count;
    }
    return count;
}

// The row of a case in a table, with one blank between columns.
std::string row_of(std::string_view table, std::string_view name) {
    const auto from = table.find("\n" + std::string{name} + " ");
    std::string row;
    for (const char character : table.substr(from + 1)) {
        if (character == '\n') {
            break;
        }
        if (character != ' ' || !row.ends_with(' ')) {
            row += character;
        }
    }
    return row;
}

void expect_pass(const Words& arguments, const std::string& subject) {
    const auto ended = conform(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
    EXPECT_TRUE(has(ended.out, "\n" + subject + ": ")) << ended.out;
    EXPECT_TRUE(ended.out.ends_with(" 0 failed.\n")) << ended.out;
}

// Ends with 1; `sentence` is among the words on standard error, and nothing is said of our own
// bugs.
void expect_failure(const Words& arguments, std::string_view sentence) {
    const auto ended = conform(arguments);
    EXPECT_EQ(ended.code, 1) << ended.err << ended.out;
    EXPECT_TRUE(has(ended.err, "virtaccel: ")) << ended.err;
    EXPECT_TRUE(has(ended.err, sentence)) << ended.err << ended.out;
}

void expect_wrong_usage(const Words& arguments, std::string_view sentence) {
    const auto ended = conform(arguments);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(ended.err, "virtaccel: " + std::string{sentence} + "\n");
}

TEST(Conform, passes_the_backends_that_run_programs) {
    expect_pass({"--backend", "cpu"}, "backend cpu");
    expect_pass({"--backend", "mock"}, "backend mock");
}

TEST(Conform, passes_the_loopback_device_over_every_backend) {
    expect_pass({"--device", "loopback"}, "device loopback over mock");
    expect_pass({"--device", "loopback", "--backend", "cpu"}, "device loopback over cpu");
    expect_pass({"--device", "loopback", "--backend", "null"}, "device loopback over null");
    expect_pass({"--device", "loopback", "--max-descriptors", "256"}, "device loopback over mock");
}

TEST(Conform, fails_what_needs_a_program_on_the_null_backend_by_name) {
    const auto ended = conform({"--backend", "null"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(row_of(ended.out, "metadata.stable-valid"), "metadata.stable-valid passed");
    EXPECT_EQ(row_of(ended.out, "memory.device"),
              "memory.device skipped The backend does not advertise device-local memory.");
    EXPECT_EQ(row_of(ended.out, "submission.binding-validation"),
              "submission.binding-validation failed The case needs a program and the subject "
              "supplies none: give it a valid artifact.");
    EXPECT_TRUE(ended.err.starts_with("virtaccel: The subject (backend null) fails cases ("))
        << ended.err;
    EXPECT_TRUE(has(ended.err, "first (program.segmented-artifact-bounds): The case needs"))
        << ended.err;
}

TEST(Conform, passes_our_device_in_another_program) {
    const auto ended = conform({"--device", our_device()});
    EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
    EXPECT_EQ(count_of(ended.out, "\nVQ-0"), 20U) << ended.out;
    EXPECT_EQ(row_of(ended.out, "VQ-016"),
              "VQ-016 skipped The transport carries one request at a time.");
    EXPECT_EQ(row_of(ended.out, "submit.quota"), "submit.quota passed");
    EXPECT_TRUE(ended.out.ends_with(" 0 failed.\n")) << ended.out;
    const auto queue = conform({"--case", "VQ-*", "--device", our_device()});
    EXPECT_EQ(count_of(queue.out, "  passed\n"), 11U) << queue.out;
    EXPECT_TRUE(has(queue.out, ": 11 passed, 9 skipped, 0 failed.\n"));
}

TEST(Conform, passes_our_device_over_other_backends_and_limits) {
    const auto cpu = conform({"--program", "tosa", "--device", our_device("--backend cpu")});
    EXPECT_EQ(cpu.code, 0) << cpu.err << cpu.out;
    const auto null = conform({"--program", "none", "--device", our_device("--backend null")});
    EXPECT_EQ(null.code, 0) << null.err << null.out;
    EXPECT_EQ(row_of(null.out, "VQ-015"), "VQ-015 skipped The subject supplies no program.");
    const auto small =
        conform({"--max-request-bytes", "65536", "--max-response-bytes", "4096", "--device",
                 our_device("--max-request-bytes 65536 --max-response-bytes 4096 "
                            "--complete 3")});
    EXPECT_EQ(small.code, 0) << small.err << small.out;
    const auto smallest =
        conform({"--max-request-bytes", "200", "--max-response-bytes", "92", "--device",
                 our_device("--max-request-bytes 200 --max-response-bytes 92 --max-artifact-bytes "
                            "30 --max-buffer-bytes 100 --max-bindings 2")});
    EXPECT_EQ(smallest.code, 0) << smallest.err << smallest.out;
}

TEST(Conform, fails_a_device_that_takes_no_such_program) {
    expect_failure({"--device", our_device("--backend null")},
                   "LOAD_PROGRAM of the sample is answered with (UNSUPPORTED); the protocol "
                   "demands (OK).");
}

TEST(Conform, says_that_a_program_ends_in_place_of_an_answer) {
    expect_failure({"--device", "stdio:false"},
                   "The program (false) has ended with exit code (1) where it has to answer a "
                   "frame; look at its messages.\n");
    expect_failure({"--device", "stdio:echo 1"},
                   "The program (echo) has ended with exit code "
                   "(0)");
    expect_failure({"--device", "stdio:sh -c 'kill -9 $$'"},
                   "The program (sh) has ended with signal (9)");
}

// The second frame of each program goes unanswered. It has answered the first, so every case gets a
// fresh one.
TEST(Conform, starts_a_program_anew_that_ended_after_an_answer) {
    const auto ended =
        conform({"--case", "VQ-*", "--device",
                 R"(stdio:sh -c 'head -c 8 >/dev/null; printf "\001\0\0\0"; exit 7')"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(count_of(ended.out, "The program (sh) has ended with exit code (7)"), 20U)
        << ended.out;
}

TEST(Conform, gives_a_program_up_that_never_answers) {
    const auto ended =
        conform({"--case", "VQ-*", "--timeout", "0.1", "--device", "stdio:sleep 1000"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(count_of(ended.out,
                       "The program (sleep) has not answered within the time limit (0.1 "
                       "s); make it answer each frame, or give it more time with "
                       "--timeout.\n"),
              1U)
        << ended.out;
    EXPECT_EQ(count_of(ended.out, "The case is not run: the device has never answered.\n"), 19U);
}

TEST(Conform, gives_a_program_up_that_stops_answering_again_and_again) {
    const auto ended =
        conform({"--case", "VQ-*", "--timeout", "0.1", "--device",
                 R"(stdio:sh -c 'head -c 8 >/dev/null; printf "\001\0\0\0"; sleep 1000')"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(count_of(ended.out, "has not answered within the time limit"), 5U) << ended.out;
    EXPECT_EQ(count_of(ended.out,
                       "The case is not run: the program did not answer in the last 5 cases; "
                       "make it answer those first.\n"),
              15U)
        << ended.out;
}

// One byte of a reply at a time does not buy more time.
TEST(Conform, gives_a_program_up_that_answers_too_slowly) {
    expect_failure({"--timeout", "0.3", "--case", "VQ-001", "--device",
                    "stdio:sh -c 'while :; do printf x; sleep 0.2; done'"},
                   "The program (sh) has not answered within the time limit (0.3 s)");
}

TEST(Conform, says_that_an_answer_is_out_of_step) {
    expect_failure({"--device", "stdio:yes"},
                   "The device answers a reset with (0xa790a79) and not with 0, 1 or 2; make it "
                   "keep to the framing.\n");
    expect_failure({"--device", "stdio:cat /dev/zero"},
                   "The device refuses resets into two new namespaces (0x5eed0001, 0x5eed0002)");
    expect_failure({"--case", "VQ-001", "--device",
                    R"(stdio:sh -c 'printf "\001\0\0\0\0\001\001\0"; cat >/dev/null')"},
                   "The device says that it used (65792) bytes of a response that has room for "
                   "(256); make it keep to the framing.\n");
}

TEST(Conform, says_that_a_program_cannot_be_started) {
    const auto ended = conform({"--device", "stdio:no-such-program --stdio"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(ended.err,
              "virtaccel: The program (no-such-program) cannot be started: No such file or "
              "directory; give one that is there and may be run.\n");
}

TEST(Conform, is_wrong_without_a_subject_or_with_one_it_does_not_know) {
    expect_wrong_usage({},
                       "There is nothing to judge; name a backend (--backend cpu) or a device "
                       "(--device loopback, --device \"stdio:COMMAND ARG...\").");
    expect_wrong_usage({"--device", "tcp:1"},
                       "The device (tcp:1) is not known; choose loopback or "
                       "\"stdio:COMMAND ARG...\".");
    expect_wrong_usage({"--backend", "abacus"},
                       "The backend (abacus) is not known; choose one of (cpu, mock, null).");
    expect_wrong_usage({"--device", "stdio:  "},
                       "The device (stdio:  ) names no command; write stdio:COMMAND ARG... with "
                       "one blank between words, and quotes around words with blanks.");
    expect_wrong_usage({"--device", "stdio:'a"},
                       "The device (stdio:'a) has an open quote; write stdio:COMMAND ARG... with "
                       "one blank between words, and quotes around words with blanks.");
    expect_wrong_usage({"--device", "stdio:x", "--backend", "cpu"},
                       "The device (stdio:x) brings a backend of its own; leave --backend (cpu) "
                       "out, and say with --program what it takes.");
    expect_wrong_usage({"--backend", "mock", "--case", "VQ-*"},
                       "No case has a name like (VQ-*); --list shows the names.");
    for (const Words& arguments :
         {Words{"--program", "elf"}, Words{"--timeout", "0"}, Words{"--timeout", "nan"},
          Words{"--max-descriptors", "1"}, Words{"x"}}) {
        EXPECT_EQ(conform(arguments).code, 2);
    }
}

TEST(Conform, lists_names_and_titles) {
    const auto both = conform({"--list"});
    EXPECT_EQ(both.code, 0);
    EXPECT_TRUE(has(both.out, "\nmemory.host  ")) << both.out;
    EXPECT_TRUE(has(both.out, "\nVQ-001  ")) << both.out;
    const auto device = conform({"--list", "--device", "loopback", "--case", "VQ-01[34]"});
    EXPECT_EQ(device.code, 2);
    const auto two = conform(
        {"--list", "--device", "stdio:nobody starts this", "--case", "VQ-013", "--case", "VQ-?20"});
    EXPECT_EQ(two.code, 0);
    EXPECT_EQ(two.out,
              "VQ-013  the used length is exact\n"
              "VQ-020  lost output or an indeterminate release needs a reset\n");
    const auto backend = conform({"--list", "--backend", "cpu"});
    EXPECT_FALSE(has(backend.out, "VQ-"));
    EXPECT_TRUE(backend.out.starts_with("standard cases:\nmetadata.stable-valid  ")) << backend.out;
    EXPECT_TRUE(has(backend.out, "\nfurther cases:\nmetadata.contexts-limit-is-not-zero  "));
    EXPECT_TRUE(has(both.out, "\ndevice cases:\nVQ-001  ")) << both.out;
}

TEST(Conform, runs_the_cases_that_match) {
    const auto ended = conform({"--backend", "mock", "--case", "memory.*"});
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.out,
              "case           outcome  reason\n"
              "memory.host    passed\n"
              "memory.device  passed\n"
              "memory.shared  passed\n"
              "backend mock: 3 passed, 0 skipped, 0 failed.\n");
}

TEST(Conform, shows_where_the_further_cases_begin) {
    const auto ended = conform({"--backend", "null", "--case", "memory.host", "--case",
                                "report.*-program-input", "--case", "load.deferred-runs"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(
        ended.out,
        "case                         outcome  reason\n"
        "standard cases:\n"
        "memory.host                  passed\n"
        "further cases:\n"
        "report.host-program-input    passed\n"
        "report.device-program-input  skipped  The backend does not advertise device-local "
        "memory.\n"
        "report.shared-program-input  skipped  The backend does not advertise shared memory.\n"
        "load.deferred-runs           failed   The case needs a program and the subject "
        "supplies none: give it a valid artifact.\n"
        "backend null: 2 passed, 2 skipped, 1 failed.\n");
}

TEST(Conform, writes_its_reports_with_further_cases) {
    const Folder folder;
    const auto ended =
        conform({"--backend", "mock", "--json", folder.path("r.json"), "--junit",
                 folder.path("r.xml"), "--badge", folder.path("r.svg"), "--case", "cancel.*"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(has(folder.read("r.json"),
                    R"("name":"cancel.at-once","title":"a cancellation right )"
                    R"(after a submission has one result","group":"further")"));
    EXPECT_TRUE(has(folder.read("r.xml"), R"(name="cancel.at-once"/>)"));
    EXPECT_TRUE(has(folder.read("r.xml"), R"(tests="16" failures="0")"));
    EXPECT_TRUE(has(folder.read("r.svg"), ">15 of 16</text>"));
}

TEST(Conform, writes_its_reports) {
    const Folder folder;
    const auto ended =
        conform({"--backend", "null", "--json", folder.path("r.json"), "--junit",
                 folder.path("r.xml"), "--badge", folder.path("r.svg"), "--case", "memory.*"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(folder.names(), (Words{"r.json", "r.svg", "r.xml"}));
    EXPECT_TRUE(folder.read("r.json").starts_with(
        R"({"subject":"backend null","protocol":"1.0","version":")"));
    EXPECT_TRUE(folder.read("r.json").ends_with("]}\n"));
    EXPECT_TRUE(has(folder.read("r.xml"), R"(<testcase classname="backend null" )"
                                          R"(name="memory.host"/>)"));
    EXPECT_TRUE(has(folder.read("r.svg"), ">1 of 3</text>"));
}

TEST(Conform, writes_its_reports_of_a_failure_too) {
    const Folder folder;
    const auto ended =
        conform({"--case", "VQ-*", "--device", "stdio:false", "--junit", folder.path("r.xml")});
    EXPECT_EQ(ended.code, 1);
    EXPECT_TRUE(has(folder.read("r.xml"), R"(tests="20" failures="20")"));
}

TEST(Conform, prints_json_in_place_of_the_table) {
    const auto ended = conform({"--backend", "mock", "--case", "memory.host", "--json", "-"});
    EXPECT_EQ(ended.code, 0);
    EXPECT_TRUE(ended.out.starts_with(R"({"subject":"backend mock",)")) << ended.out;
    EXPECT_TRUE(ended.out.ends_with("]}\n"));
    EXPECT_EQ(count_of(ended.out, "\n"), 1U);
}

TEST(Conform, says_before_it_runs_that_a_report_cannot_be_written) {
    const Folder folder;
    const auto ended = conform({"--backend", "mock", "--badge", folder.path("here.svg"), "--junit",
                                folder.path("nowhere/r.xml")});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(ended.err, "virtaccel: The file (" + folder.path("nowhere/r.xml") +
                             ") cannot be written: No such file or directory; give a path in a "
                             "folder that you may write to.\n");
    EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace virtaccel::end_to_end
