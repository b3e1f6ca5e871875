// `virtaccel inspect` as a user meets it: what it says of a model, of a backend, and of a picture.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/end_to_end/process.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::end_to_end {
namespace {

using tosa::Builder;
using tosa::DType;
using tosa::Op;
using tosa::Value;

class Inspect : public testing::Test {
  protected:
    void write(const Builder& builder) {
        const auto model = builder.finish();
        ASSERT_TRUE(model.has_value()) << model.error().sentence.view();
        folder_.write("m.tosa", {reinterpret_cast<const char*>(model->data()), model->size()});
    }

    [[nodiscard]] Ended inspect(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> arguments{"inspect", folder_.path("m.tosa")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_virtaccel(arguments);
    }

    [[nodiscard]] const Folder& folder() const { return folder_; }

  private:
    Folder folder_;
};

void expect_parts(const std::string& text, const std::vector<std::string_view>& parts) {
    for (const std::string_view part : parts) {
        EXPECT_TRUE(has(text, part)) << part << " in\n" << text;
    }
}

TEST_F(Inspect, says_what_is_in_a_model_and_what_it_costs) {
    write(tosa::testing::small_network());
    const auto ended = inspect();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    expect_parts(ended.out, {
                                " bytes, TOSA 1.0.0)\n",
                                "profiles        PRO-FP\n",
                                "extensions      none\n",
                                "input           image (FP32, shape (1, 8, 8, 3)), 768 bytes\n",
                                "output          boxes (FP32, shape (1, 32, 6)), 768 bytes\n",
                                " (what a guest declares)\n",
                                "MACs            9216\n",
                                "CONV2D                         1       1         0",
                            });
    EXPECT_FALSE(has(ended.out, "in parts"));
    EXPECT_FALSE(has(ended.out, "The backend"));
}

TEST_F(Inspect, prints_one_json_object) {
    write(tosa::testing::two_additions());
    const auto ended = inspect({"--json", "--backend", "cpu"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(ended.out.starts_with("{\"model\":")) << ended.out;
    EXPECT_EQ(ended.out.find('\n'), ended.out.size() - 1);
    expect_parts(
        ended.out,
        {R"("version":[1,0,0])", R"("profiles":["PRO-FP"])", R"("extensions":[])",
         R"("inputs":[{"name":"x","dtype":"FP32","shape":[1,4],"bytes":16}])",
         R"({"kind":"ADD","count":2,"live":2,"foldable":0,"macs":0})", R"("constant_bytes":16)",
         R"("peak_arena_bytes":16)", R"("sent_by_parts":false)", R"("dead":[])",
         R"("backend":{"name":"cpu","takes":true,"status":"OK","reasons":[])",
         R"({"operator":1,"kind":"ADD","takes":true,"reason":""})",
         R"("fusion":"chain","with":2)"});
}

TEST_F(Inspect, says_of_each_operator_why_a_backend_does_not_take_it) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {4});
    const Value y = builder.op(
        Op::custom, {builder.add(x, x)},
        tosa::CustomAttribute{.operator_name = "dance", .domain_name = "d", .implementation = {}},
        {.dtype = DType::fp32, .shape = std::vector<std::int32_t>{4}});
    builder.output(y, "y");
    write(builder);
    const auto ended = inspect({"--backend", "cpu"});
    EXPECT_EQ(ended.code, 3);
    EXPECT_TRUE(has(ended.err, "virtaccel: The backend (cpu) refuses the model (")) << ended.err;
    expect_parts(ended.out, {"\nThe backend (cpu) refuses the model with UNSUPPORTED.\n",
                             "0 ADD                     yes\n",
                             "1 CUSTOM                  no: The operator 1 (CUSTOM) is not among "
                             "the backend's operators: choose another backend.\n"});
}

TEST_F(Inspect, knows_backends_that_take_nothing) {
    write(tosa::testing::two_additions());
    for (const std::string backend : {"null", "mock"}) {
        const auto ended = inspect({"--backend", backend});
        EXPECT_EQ(ended.code, 3) << ended.err;
        expect_parts(ended.out, {"2 ADD                     no: The backend (" + backend +
                                 ") runs no TOSA operator: choose another one.\n"});
    }
}

TEST_F(Inspect, says_when_a_guest_sends_a_model_in_parts) {
    Builder builder;
    constexpr std::int32_t elements = 5 << 20;
    const Value x = builder.input("x", DType::fp32, {elements});
    builder.output(builder.add(x, builder.zeros(DType::fp32, {elements})), "y");
    write(builder);
    const auto ended = inspect();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(has(ended.out,
                    "parts           The model is larger than a frame carries "
                    "(16777120 bytes): a guest sends it in parts.\n"))
        << ended.out;
}

TEST_F(Inspect, lists_dead_and_foldable_operators_and_conditions) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 3, 2});
    builder.op(Op::erf, {x});
    const Value at = builder.input("at", DType::int32, {1, 2});
    const Value row = builder.op(Op::gather, {x, at});
    const Value weights = builder.cast(builder.zeros(DType::fp16, {1, 2, 2}), DType::fp32);
    builder.output(builder.add(row, weights), "y");
    write(builder);
    const auto ended = inspect();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_parts(
        ended.out,
        {"operators       5 (4 live, 1 dead, 1 foldable)\n", "dead            operator 0 (ERF)\n",
         "condition       operator 1 (GATHER): input 1 must hold indices from 0 to one "
         "below the number of rows (REQUIRE)\n"});
}

TEST_F(Inspect, refuses_files_and_command_lines_that_are_wrong) {
    folder().write("m.tosa", "no model");
    EXPECT_EQ(inspect().code, 1);
    EXPECT_TRUE(has(inspect().err, "is no model that can be taken")) << inspect().err;
    write(tosa::testing::two_additions());
    EXPECT_EQ(inspect({"--backend", "abacus"}).code, 2);
    EXPECT_EQ(run_virtaccel({"inspect"}).code, 2);
}

// With a search path that has nothing, there is no Graphviz.
TEST_F(Inspect, says_that_graphviz_is_not_there) {
    write(tosa::testing::two_additions());
    const char* const set = std::getenv("PATH");
    const std::string path = set == nullptr ? "" : set;
    ASSERT_EQ(::setenv("PATH", folder().path("nothing").c_str(), 1), 0);
    const auto ended = inspect({"--svg", folder().path("m.svg")});
    ASSERT_EQ(::setenv("PATH", path.c_str(), 1), 0);
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.err,
              "virtaccel: The program (dot), which draws the picture, cannot be started; install "
              "Graphviz (Debian's package graphviz), or leave --svg out.\n");
    EXPECT_EQ(folder().names(), (std::vector<std::string>{"m.tosa"}));
}

TEST_F(Inspect, draws_a_picture) {
    Builder builder;
    const Value x = builder.input("x\"];<&\xff", DType::fp32, {4});
    builder.output(builder.add(x, x), "y");
    write(builder);
    const std::string target = folder().path("m.svg");
    const auto ended = inspect({"--svg", target});
    if (has(ended.err, "cannot be started")) {
        GTEST_SKIP() << "There is no Graphviz here.";
    }
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    const std::string svg = folder().read("m.svg");
    EXPECT_TRUE(has(svg, "<svg")) << svg;
    EXPECT_TRUE(has(svg, "x&quot;];&lt;&amp;?")) << svg;
    EXPECT_TRUE(has(svg, "0 ADD")) << svg;
}

TEST_F(Inspect, says_where_a_picture_cannot_be_written) {
    write(tosa::testing::two_additions());
    const auto ended = inspect({"--svg", folder().path("none") + "/m.svg"});
    if (has(ended.err, "cannot be started")) {
        GTEST_SKIP() << "There is no Graphviz here.";
    }
    EXPECT_EQ(ended.code, 1);
    EXPECT_TRUE(has(ended.err, "cannot be written")) << ended.err;
}

}  // namespace
}  // namespace virtaccel::end_to_end
