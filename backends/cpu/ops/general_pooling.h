#pragma once
// Pooling in the plainest way, of every element type.

#include <cstdint>
#include <memory>

#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

struct PoolValues {
    ValueId input = 0;
    ValueId output = 0;
    // Of an average.
    ValueId input_zero = 0;
    ValueId output_zero = 0;
};

// A pool over an image of `dtype`. Every window has a pixel inside the image.
struct GeneralPool {
    tosa::DType dtype = tosa::DType::unknown;
    ImageWindow window;
    PoolValues values;
    std::uint32_t parts = 1;
};

// A NaN wins, or loses to any number if it is to be ignored.
[[nodiscard]] std::unique_ptr<Step> make_general_max_pool(const GeneralPool& pool,
                                                          bool ignores_nan);
[[nodiscard]] std::unique_ptr<Step> make_general_avg_pool(const GeneralPool& pool);

}  // namespace virtaccel::backends::cpu::ops
