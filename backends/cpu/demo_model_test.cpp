// The demo's face detection, where the demo has fetched it; skipped where it has not.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/program.h"
#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/plain.h"
#include "host/files.h"
#include "virtaccel/base/status.h"

namespace virtaccel::backends::cpu {

namespace {

// What the model makes of `input`, both outputs.
std::vector<std::vector<float>> detect(const std::vector<std::byte>& model,
                                       const std::vector<float>& input, std::uint32_t threads) {
    auto prepared = testing::prepare(model, testing::target_of(model), {.threads = threads});
    EXPECT_EQ(prepared.status, Status::ok);
    std::vector<float> copy = input;
    std::vector<std::vector<float>> outputs{std::vector<float>(std::size_t{896} * 16),
                                            std::vector<float>(896)};
    const std::vector<BoundRange> ranges{{reinterpret_cast<std::byte*>(copy.data())},
                                         {reinterpret_cast<std::byte*>(outputs[0].data())},
                                         {reinterpret_cast<std::byte*>(outputs[1].data())}};
    prepared.program->bind(ranges);
    for (const auto& step : prepared.program->steps) {
        for (std::uint32_t part = 0; part < step->parts(); ++part) {
            EXPECT_TRUE(step->run(prepared.program->frame(), part));
        }
    }
    return outputs;
}

TEST(DemoModel, detects_the_same_in_one_thread_and_in_several) {
    const std::filesystem::path path =
        std::filesystem::path{VIRTACCEL_DEMO_FOLDER} / "face_detection_short_range.tosa";
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "The demo's model (" << path.string()
                     << ") is not there: run ./run demo once.";
    }
    const auto model = host::read_file(path.string(), std::uint64_t{16} << 20U);
    ASSERT_TRUE(model) << model.error().message;
    const auto input = testing::Numbers{5}.take(std::size_t{128} * 128 * 3);
    const auto alone = detect(*model, input, 1);
    for (const std::uint32_t threads : {2U, 7U}) {
        const auto shared = detect(*model, input, threads);
        testing::expect_near(shared[0], alone[0], 1e-3F);
        testing::expect_near(shared[1], alone[1], 1e-3F);
    }
    EXPECT_TRUE(std::ranges::all_of(alone[1], [](float x) { return std::isfinite(x); }));
}

}  // namespace

}  // namespace virtaccel::backends::cpu
