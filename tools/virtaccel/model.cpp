#include "tools/virtaccel/model.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "host/files.h"
#include "tools/virtaccel/console.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/npy_header.h"
#include "tools/virtaccel/tensor_file.h"
#include "virtaccel/base/result.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::cli {
namespace {

TensorSlot slot_of(const tosa::Tensor& tensor) {
    return {.name = std::string{tensor.name},
            .dtype = tensor.dtype,
            .shape = {tensor.shape.begin(), tensor.shape.end()},
            .bytes = tensor.bytes};
}

}  // namespace

OrFailure<GraphFile> read_graph(const std::string& path) {
    GraphFile file{.path = path, .bytes = {}, .graph = {}};
    VIRTACCEL_TRY_ASSIGN(file.bytes, host::read_file(path, tosa::Limits{}.bytes_max));
    auto graph = tosa::verify(file.bytes);
    if (!graph) {
        return failure(fmt::format("The file ({}) is no model that can be taken: {}", path,
                                   graph.error().sentence.view()));
    }
    file.graph = *std::move(graph);
    return file;
}

OrFailure<Model> read_model(const std::string& path) {
    VIRTACCEL_TRY_ASSIGN(GraphFile file, read_graph(path));
    Model model{.path = path, .bytes = {}, .target = {}, .slots = {}, .input_count = 0};
    const auto& main = file.graph.main();
    for (const auto slots : {main.inputs, main.outputs}) {
        for (const auto tensor : slots) {
            model.slots.push_back(slot_of(file.graph.tensors()[tensor]));
        }
    }
    for (const TensorSlot& slot : model.slots) {
        if (slot.bytes == 0) {
            return failure(
                fmt::format("The model ({}) has an input or output ({}) of no bytes, "
                            "which no buffer can hold; take it out of the model.",
                            path, slot.name));
        }
    }
    model.input_count = main.inputs.size();
    model.target = tosa::encode_target(tosa::target_of(file.graph));
    model.bytes = std::move(file.bytes);
    return model;
}

std::string describe(const TensorSlot& slot) {
    return fmt::format("{} ({}, shape {})", visible(slot.name), tosa::name_of(slot.dtype),
                       shape_text(slot.shape));
}

}  // namespace virtaccel::cli
