#pragma once
// A TOSA model from a file: its bytes, what it binds, and the target it is for.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/tensor_file.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::cli {

// A checked model. Its slots are numbered by position, inputs first, then outputs (spec §10).
struct Model {
    std::string path;
    std::vector<std::byte> bytes;
    TargetWords target{};
    std::vector<TensorSlot> slots;
    std::size_t input_count = 0;

    [[nodiscard]] std::span<const TensorSlot> inputs() const {
        return std::span{slots}.first(input_count);
    }

    [[nodiscard]] std::span<const TensorSlot> outputs() const {
        return std::span{slots}.subspan(input_count);
    }
};

// Reads and verifies the model in the file `path`. What a backend makes of it, it says at load.
[[nodiscard]] OrFailure<Model> read_model(const std::string& path);

// "name (FP32, shape (1, 3))".
[[nodiscard]] std::string describe(const TensorSlot& slot);

}  // namespace virtaccel::cli
