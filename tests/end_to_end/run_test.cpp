// `virtaccel run` as a user meets it: exit codes, messages, and what it leaves in the folder.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/end_to_end/process.h"
#include "tools/virtaccel/npy.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::end_to_end {
namespace {

using Shape = std::vector<std::uint64_t>;
using Names = std::vector<std::string>;

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string floats_file(const Shape& shape, const std::vector<float>& values) {
    return text_of(cli::format_npy("<f4", shape, std::as_bytes(std::span{values})));
}

// A folder with a model (y = (x + [1, 2, 3, 4]) + x, of shape (1, 4)) and a good input.
class Run : public testing::Test {
  protected:
    Run() {
        const auto model = tosa::testing::two_additions().finish();
        EXPECT_TRUE(model.has_value());
        folder_.write("m.tosa", text_of(*model));
        folder_.write("x.npy", floats_file({1, 4}, {10, 20, 30, 40}));
    }

    [[nodiscard]] const Folder& folder() const { return folder_; }

    [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

    [[nodiscard]] std::string x_is(const std::string& name) const { return "x=" + path(name); }

    // Runs the model with x from the file `input`, y into y.npy, and `more` arguments.
    [[nodiscard]] Ended run(const std::string& input, const Names& more = {}) const {
        Names arguments{"run",       path("m.tosa"), "--input",
                        x_is(input), "--output",     "y=" + path("y.npy")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_virtaccel(arguments);
    }

    // The program ends with `code` and exactly this message, and writes nothing.
    void expect_failure(const Ended& ended, int code, const std::string& message) const {
        EXPECT_EQ(ended.code, code);
        EXPECT_EQ(ended.err, "virtaccel: " + message + "\n");
        EXPECT_EQ(ended.out, "");
        expect_no_output();
    }

    void expect_no_output() const {
        for (const auto& name : folder_.names()) {
            EXPECT_FALSE(name.starts_with("y.npy")) << name;
        }
    }

  private:
    Folder folder_;
};

TEST_F(Run, writes_the_outputs_of_either_way_and_says_what_it_did) {
    for (const std::string device : {"loopback", "direct"}) {
        const auto ended = run("x.npy", {"--device", device, "--repeat", "3"});
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_EQ(ended.err, "");
        EXPECT_EQ(folder().read("y.npy"), floats_file({1, 4}, {21, 42, 63, 84}));
        EXPECT_NE(ended.out.find("\ndevice   " + device + "\n"), std::string::npos) << ended.out;
        EXPECT_NE(ended.out.find("\noutput   y (FP32, shape (1, 4))\n"), std::string::npos);
        EXPECT_EQ(folder().names(), (Names{"m.tosa", "x.npy", "y.npy"}));
    }
}

TEST_F(Run, prints_one_json_object_with_what_the_demo_reads) {
    const auto ended = run("x.npy", {"--json", "--repeat", "5"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(ended.out.starts_with("{\"model\":")) << ended.out;
    EXPECT_EQ(ended.out.find('\n'), ended.out.size() - 1);
    for (const std::string_view part :
         {R"("backend":"cpu")", R"("latency_ms":{"min":)", R"(,"p50":)", R"(,"p90":)", R"(,"p99":)",
          R"("load_ms":)", R"("outputs":[{"name":"y","dtype":"FP32","shape":[1,4]}])",
          R"("diagnostics":{)", R"("staged_bytes":0)"}) {
        EXPECT_NE(ended.out.find(part), std::string::npos) << part << " in " << ended.out;
    }
}

TEST_F(Run, compares_both_ways_in_one_process) {
    const auto ended = run("x.npy", {"--compare", "--json", "--repeat", "7"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find(R"("compare":{"direct_ms":{"min":)"), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find(R"("overhead_percent":)"), std::string::npos);
    EXPECT_EQ(folder().read("y.npy"), floats_file({1, 4}, {21, 42, 63, 84}));
}

TEST_F(Run, names_the_input_that_is_missing) {
    expect_failure(run_virtaccel({"run", path("m.tosa")}), 1,
                   "The input (x) of the model (" + path("m.tosa") +
                       ") is missing; give --input x=FILE.npy with FP32 of shape (1, 4).");
}

TEST_F(Run, names_inputs_and_outputs_that_the_model_does_not_have) {
    expect_failure(
        run("x.npy", {"--input", "z=" + path("x.npy")}), 1,
        "The model (" + path("m.tosa") + ") has no input (z); it has (x): give one of them.");
    expect_failure(
        run("x.npy", {"--output", "x=" + path("y.npy.other")}), 1,
        "The model (" + path("m.tosa") + ") has no output (x); it has (y): give one of them.");
}

TEST_F(Run, refuses_a_name_that_is_given_twice) {
    expect_failure(run("x.npy", {"--input", x_is("x.npy")}), 2,
                   "The tensor (x) is given twice with --input; give it once.");
    expect_failure(run("x.npy", {"--output", "y=" + path("y.npy2")}), 2,
                   "The tensor (y) is given twice with --output; give it once.");
    expect_failure(
        run("x.npy", {"--output", "z=" + path("y.npy")}), 2,
        "The file (" + path("y.npy") + ") is given for two outputs (y, z); give each its own.");
}

TEST_F(Run, refuses_arrays_of_another_shape_or_type) {
    folder().write("wide.npy", floats_file({4}, {1, 2, 3, 4}));
    expect_failure(run("wide.npy"), 1,
                   "The file (" + path("wide.npy") +
                       ") for input (x) has shape (4,) where (1, 4) is expected; reshape the "
                       "array.");
    const std::vector<double> doubles{1, 2, 3, 4};
    folder().write("double.npy",
                   text_of(cli::format_npy("<f8", Shape{1, 4}, std::as_bytes(std::span{doubles}))));
    expect_failure(run("double.npy"), 1,
                   "The file (" + path("double.npy") +
                       ") for input (x) holds elements of type (<f8) where (<f4, FP32) is "
                       "expected; save the array with that type.");
}

TEST_F(Run, refuses_files_that_are_cut_off_or_not_there) {
    const auto good = folder().read("x.npy");
    folder().write("short.npy", good.substr(0, good.size() - 1));
    expect_failure(run("short.npy"), 1,
                   "The file (" + path("short.npy") +
                       ") holds fewer bytes of data (15) than the 16 its header promises; save the "
                       "array again.");
    expect_failure(run("none.npy"), 1,
                   "The file (" + path("none.npy") +
                       ") cannot be read: No such file or directory; give the path of a file that "
                       "you may read.");
}

TEST_F(Run, refuses_models_that_are_cut_off_at_any_length) {
    const auto model = folder().read("m.tosa");
    for (std::size_t size = 0; size < model.size(); size += 1 + (size / 8)) {
        folder().write("m.tosa", model.substr(0, size));
        const auto ended = run("x.npy");
        EXPECT_EQ(ended.code, 1) << size;
        EXPECT_TRUE(ended.err.starts_with("virtaccel: The file (" + path("m.tosa") +
                                          ") is no model that can be taken: "))
            << ended.err;
        expect_no_output();
    }
}

TEST_F(Run, gives_a_reason_for_each_operator_that_the_backend_refuses) {
    const auto ended = run("x.npy", {"--backend", "null"});
    EXPECT_EQ(ended.code, 3);
    EXPECT_TRUE(ended.err.ends_with("virtaccel: The backend (null) refuses the model (" +
                                    path("m.tosa") +
                                    ") with UNSUPPORTED; change what the reasons above name.\n"))
        << ended.err;
    expect_no_output();
    EXPECT_EQ(run("x.npy", {"--backend", "null", "--device", "direct"}).code, 3);
    EXPECT_EQ(run("x.npy", {"--backend", "mock"}).code, 3);
}

TEST_F(Run, names_the_operator_that_is_not_there) {
    tosa::Builder builder;
    const auto x = builder.input("x", tosa::DType::fp32, {1, 4});
    const auto y = builder.op(
        tosa::Op::custom, {x},
        tosa::CustomAttribute{
            .operator_name = "dance", .domain_name = "nobody.knows", .implementation = {}},
        {.dtype = tosa::DType::fp32, .shape = std::vector<std::int32_t>{1, 4}});
    builder.output(y, "y");
    const auto model = builder.finish();
    ASSERT_TRUE(model.has_value()) << model.error().sentence.view();
    folder().write("m.tosa", text_of(*model));
    const auto ended = run("x.npy");
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_NE(ended.err.find("CUSTOM"), std::string::npos) << ended.err;
    expect_no_output();
}

TEST_F(Run, leaves_what_was_there_when_it_fails) {
    folder().write("y.npy", "old");
    EXPECT_EQ(run("none.npy").code, 1);
    EXPECT_EQ(folder().read("y.npy"), "old");
    EXPECT_EQ(folder().names(), (Names{"m.tosa", "x.npy", "y.npy"}));
}

TEST_F(Run, says_where_an_output_cannot_be_written) {
    const auto target = path("none") + "/y.npy";
    const auto ended =
        run_virtaccel({"run", path("m.tosa"), "--input", x_is("x.npy"), "--output", "y=" + target});
    expect_failure(ended, 1,
                   "The file (" + target +
                       ") cannot be written: No such file or directory; give a path in a folder "
                       "that you may write to.");
}

// Rank zero stays rank zero, on the way in and on the way out.
TEST_F(Run, keeps_scalars_scalar) {
    tosa::Builder builder;
    const auto x = builder.input("x", tosa::DType::fp32, std::vector<std::int32_t>{});
    builder.output(builder.op(tosa::Op::identity, {x}), "y");
    const auto model = builder.finish();
    ASSERT_TRUE(model.has_value()) << model.error().sentence.view();
    folder().write("m.tosa", text_of(*model));
    folder().write("x.npy", floats_file({}, {7}));
    const auto ended = run("x.npy");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(folder().read("y.npy"), floats_file({}, {7}));
}

// Nobody has to ask for it; the comparison says that the backend alone computes the same.
TEST_F(Run, takes_a_model_larger_than_a_frame) {
    constexpr std::int32_t columns = 1'100'000;
    tosa::Builder builder;
    const auto x = builder.input("x", tosa::DType::fp32, {1, 1, 4});
    std::vector<float> values(4 * static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i % 89);
    }
    builder.output(builder.matmul(x, builder.constant(tosa::DType::fp32, {1, 4, columns}, values)),
                   "y");
    const auto model = builder.finish();
    ASSERT_TRUE(model.has_value()) << model.error().sentence.view();
    ASSERT_GT(model->size(), std::size_t{16} << 20U);
    folder().write("m.tosa", text_of(*model));
    folder().write("x.npy", floats_file({1, 1, 4}, {1, 2, 3, 4}));
    const auto ended = run("x.npy", {"--compare"});
    EXPECT_EQ(ended.code, 0) << ended.err;
}

}  // namespace
}  // namespace virtaccel::end_to_end
