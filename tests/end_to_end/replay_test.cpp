// `virtaccel run --record` and `virtaccel replay` as a user meets them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/end_to_end/process.h"
#include "tools/virtaccel/npy.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/testing/models.h"

namespace virtaccel::end_to_end {
namespace {

using Names = std::vector<std::string>;

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A folder with a model, an input, and the recording of a run.
class Replay : public testing::Test {
  protected:
    Replay() {
        const auto model = tosa::testing::two_additions().finish();
        EXPECT_TRUE(model.has_value());
        folder_.write("m.tosa", text_of(*model));
        const std::vector<float> values{10, 20, 30, 40};
        folder_.write("x.npy", text_of(cli::format_npy("<f4", std::vector<std::uint64_t>{1, 4},
                                                       std::as_bytes(std::span{values}))));
        const auto ended = run({"--record", path("s.rec"), "--repeat", "3"});
        EXPECT_EQ(ended.code, 0) << ended.err;
    }

    [[nodiscard]] const Folder& folder() const { return folder_; }

    [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

    [[nodiscard]] Ended run(const Names& more) const {
        Names arguments{"run",      path("m.tosa"),      "--input", "x=" + path("x.npy"),
                        "--output", "y=" + path("y.npy")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_virtaccel(arguments);
    }

    // The program ends with `code` and one sentence on standard error that says `what`.
    static void expect_failure(const Names& arguments, int code, const std::string& what) {
        const auto ended = run_virtaccel(arguments);
        EXPECT_EQ(ended.code, code) << ended.err;
        EXPECT_NE(ended.err.find(what), std::string::npos) << ended.err;
        EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;
        EXPECT_EQ(ended.out, "");
    }

  private:
    Folder folder_;
};

TEST_F(Replay, agrees_with_a_recording_of_its_own) {
    for (const Names& more : {Names{}, Names{"--backend", "cpu"}}) {
        Names arguments{"replay", path("s.rec")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto ended = run_virtaccel(arguments);
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_NE(ended.out.find("agree on all entries ("), std::string::npos) << ended.out;
        EXPECT_NE(ended.out.find("reads (2), those with the same bytes are (2)"), std::string::npos)
            << ended.out;
    }
}

TEST_F(Replay, says_where_another_backend_answers_otherwise) {
    const auto ended = run_virtaccel({"replay", path("s.rec"), "--backend", "mock"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find("a LOAD_PROGRAM: the device answers (UNSUPPORTED with 0 bytes of "
                             "payload) and the recording has (OK with 8 bytes of payload)"),
              std::string::npos)
        << ended.err;
}

TEST_F(Replay, refuses_files_that_are_cut_or_foreign) {
    const std::string whole = folder().read("s.rec");
    folder().write("cut.rec", whole.substr(0, whole.size() / 2));
    expect_failure({"replay", path("cut.rec")}, 2, "ends too early");
    expect_failure({"replay", path("m.tosa")}, 2, "is neither a recording nor a schedule");
    expect_failure({"replay", path("none")}, 2, "cannot be read");
    folder().write("bad.txt", "virtaccel-schedule 1\ndance\n");
    expect_failure({"replay", path("bad.txt")}, 2, "The line (2) of the schedule");
}

TEST_F(Replay, runs_schedules_from_files_and_seeds) {
    folder().write("s.txt",
                   "virtaccel-schedule 1\n"
                   "c = create_context\n"
                   "b = allocate_buffer context=c bytes=16\n"
                   "write_buffer buffer=b data=16 pattern=3\n"
                   "read_buffer buffer=b bytes=16 pieces=5\n"
                   "destroy_context context=c  # busy\n"
                   "reset\n"
                   "free_buffer buffer=b\n");
    auto ended = run_virtaccel({"replay", path("s.txt")});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("agree on all actions (7)"), std::string::npos) << ended.out;
    ended = run_virtaccel({"replay", "--seed", "7", "--steps", "100", "--schedules", "3"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("schedules (3) with actions (300)"), std::string::npos) << ended.out;
    expect_failure({"replay", path("s.txt"), "--backend", "cpu"}, 2, "leave --backend out");
    expect_failure({"replay"}, 2, "There is nothing to replay");
    expect_failure({"replay", path("s.txt"), "--seed", "1"}, 2, "command line is wrong");
    expect_failure({"replay", path("s.txt"), "--steps", "1"}, 2, "command line is wrong");
}

TEST_F(Replay, records_nothing_where_there_are_no_frames_or_the_run_fails) {
    auto ended = run({"--record", path("no.rec"), "--device", "direct"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("leave one of the two out"), std::string::npos) << ended.err;
    ended = run({"--record", path("no.rec"), "--backend", "null"});
    EXPECT_EQ(ended.code, 3);
    EXPECT_EQ(folder().names(), (Names{"m.tosa", "s.rec", "x.npy", "y.npy"}));
    ended = run({"--record", path("compared.rec"), "--compare"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(run_virtaccel({"replay", path("compared.rec")}).code, 0);
}

}  // namespace
}  // namespace virtaccel::end_to_end
