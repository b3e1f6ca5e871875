// `virtaccel conform` on what backends compute.

#include <string>

#include <gtest/gtest.h>

#include "tests/end_to_end/process.h"

namespace virtaccel::end_to_end {
namespace {

TEST(Numerics, of_the_cpu_backend_are_right_where_it_runs_them) {
    const auto ended = conform({"--backend", "cpu", "--case", "numerics.*"});
    EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
    for (const char* const name :
         {"matmul.fp32.non_square_batched", "max_pool2d.fp32.nhwc",
          "conv2d.fp32.strided_dilated_padded", "resize.fp32.bilinear_doubles_width",
          "resize.int8.bilinear_doubles_width", "identity.int4.every_value",
          "cast.fp32_to_bf16.rounds_to_even"}) {
        const auto line = ended.out.find(std::string{"\nnumerics."} + name + " ");
        ASSERT_NE(line, std::string::npos) << name;
        EXPECT_TRUE(has(ended.out.substr(line, 120), " passed\n")) << name;
    }
    EXPECT_TRUE(ended.out.ends_with(" 0 failed.\n"));
}

TEST(Numerics, of_every_operator_and_type_run_on_the_cpu_backend) {
    const auto ended = conform({"--backend", "cpu", "--case", "numerics.*"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(ended.out.ends_with(" passed, 0 skipped, 0 failed.\n")) << ended.out;
}

TEST(Numerics, are_reported_with_their_errors) {
    const Folder folder;
    const auto ended = conform({"--backend", "cpu", "--case", "numerics.matmul.fp32.*", "--json",
                                "-", "--ulp", folder.path("table.md")});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(has(ended.out, R"("name":"numerics.matmul.fp32.non_square_batched",)"))
        << ended.out;
    EXPECT_TRUE(has(ended.out, R"("outcome":"passed","reason":"","ulp":0})")) << ended.out;
    EXPECT_TRUE(has(folder.read("table.md"), "\n| MATMUL | fp32 | "));
}

TEST(Numerics, are_asked_only_of_who_takes_tosa_models) {
    EXPECT_EQ(conform({"--backend", "mock", "--case", "numerics.*"}).code, 2);
    EXPECT_EQ(conform({"--backend", "null", "--list", "--case", "numerics.*"}).code, 2);
    const auto null =
        conform({"--backend", "null", "--program", "tosa", "--case", "numerics.identity.*"});
    EXPECT_EQ(null.code, 0) << null.err;
    EXPECT_TRUE(has(null.out, "The null backend runs no program")) << null.out;
    EXPECT_TRUE(has(conform({"--list"}).out, "\nnumerics.identity.fp32.edge_values  "));
}

}  // namespace
}  // namespace virtaccel::end_to_end
