#pragma once
// A TOSA model from a file: its bytes, what it binds, and the target it is for.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/tensor_file.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/tosa/graph.h"

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

// A file that holds a well-formed graph, for which nothing else is promised.
struct GraphFile {
    std::string path;
    std::vector<std::byte> bytes;  // which the graph points into
    tosa::Graph graph;
};

[[nodiscard]] OrFailure<GraphFile> read_graph(const std::string& path);

// Reads and verifies the model in the file `path`. What a backend makes of it, it says at load.
[[nodiscard]] OrFailure<Model> read_model(const std::string& path);

// "name (FP32, shape (1, 3))".
[[nodiscard]] std::string describe(const TensorSlot& slot);

}  // namespace virtaccel::cli
