#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <flatbuffers/buffer.h>
#include <flatbuffers/string.h>
#include <flatbuffers/vector.h>
#include <tosa_generated.h>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/decode_attribute.h"
#include "virtaccel/tosa/flow.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/names.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/place.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/structure.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

namespace fb = ::tosa;

using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

// Writers fill constants up to a multiple of this with zeros.
constexpr std::uint64_t data_alignment = 8;

// What the lengths of SHAPEs point to, so that a tensor's shape is a span in every case.
constexpr auto lengths = [] {
    std::array<std::int32_t, shape_length_max + 1> numbers{};
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
        numbers.at(i) = static_cast<std::int32_t>(i);
    }
    return numbers;
}();

std::string_view text_of(const flatbuffers::String* text) {
    return text == nullptr ? std::string_view{} : std::string_view{text->data(), text->size()};
}

template <class Vector>
std::uint32_t size_of(const Vector* vector) {
    return vector == nullptr ? 0 : vector->size();
}

Checked<std::string_view> name_in(const flatbuffers::String* text, std::string_view owner,
                                  const Limits& limits) {
    const std::string_view name = text_of(text);
    if (name.empty()) {
        return refuse(Status::invalid_argument, "The model has a ", owner, " without a name.");
    }
    if (name.size() > limits.name_bytes_max) {
        return refuse(Status::resource_limit, "The name of a ", owner, " (", Foreign{name},
                      ") has ", name.size(), " bytes; at most ", limits.name_bytes_max,
                      " are taken.");
    }
    return name;
}

// The bytes of a value: `bytes` of them, and zeros up to a multiple of data_alignment.
Checked<std::span<const std::byte>> data_in(const flatbuffers::Vector<std::uint8_t>* source,
                                            std::string_view name, std::uint64_t bytes) {
    if (size_of(source) == 0) {
        return std::span<const std::byte>{};
    }
    const auto data = std::as_bytes(std::span{source->data(), source->size()});
    // A value of no bytes is filled up too.
    const std::uint64_t filled =
        std::max((bytes + data_alignment - 1) & ~(data_alignment - 1), data_alignment);
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (data.size() != bytes &&
        (data.size() != filled || !std::ranges::all_of(data.subspan(bytes), is_zero))) {
        return refuse(Status::invalid_argument, "Tensor (", Foreign{name}, ") has (", data.size(),
                      ") bytes of data; its type and shape take ", bytes,
                      ", which zeros may follow up to a multiple of 8.");
    }
    return data.first(bytes);
}

// A tensor of an unknown type keeps its shape and loses its data: nobody knows how many bytes it
// has.
Checked<Tensor> read_tensor(const fb::TosaTensor& source, const Limits& limits) {
    Tensor tensor;
    VIRTACCEL_TRY_ASSIGN(tensor.name, name_in(source.name(), "tensor", limits));
    const Foreign name{tensor.name};
    tensor.dtype = static_cast<DType>(source.type());
    tensor.is_variable = source.variable();
    tensor.state = tensor.name;
    if (size_of(source.variable_name()) != 0) {
        VIRTACCEL_TRY_ASSIGN(tensor.state, name_in(source.variable_name(), "variable", limits));
    }
    if (source.is_unranked()) {
        return refuse(Status::incompatible, "Tensor (", name,
                      ") has no rank: give every tensor a static shape.");
    }
    if (source.offset() != 0 || source.size() != 0) {
        return refuse(Status::incompatible, "Tensor (", name,
                      ") keeps its data outside the file: write a model with its data inside.");
    }
    if (size_of(source.scale_data()) != 0 || source.scale_type() != fb::DType::UNKNOWN) {
        return refuse(Status::incompatible, "Tensor (", name,
                      ") has block scales, which TOSA 1.0 does not have.");
    }
    if (tensor.dtype == DType::shape) {
        return refuse(Status::invalid_argument, "Tensor (", name,
                      ") has type SHAPE: put it among the shapes.");
    }
    if (size_of(source.shape()) > rank_max) {
        return refuse(Status::resource_limit, "Tensor (", name, ") has rank (",
                      source.shape()->size(), "); there is room for ", rank_max, ".");
    }
    if (source.shape() != nullptr) {
        tensor.shape = {source.shape()->data(), source.shape()->size()};
    }
    const std::optional<std::uint64_t> elements = element_count(tensor.shape);
    if (!elements) {
        return refuse(Status::invalid_argument, "Tensor (", name,
                      ") has a dimension below 1, or more elements than 64 bits count.");
    }
    tensor.elements = *elements;
    if (!bits_of(tensor.dtype)) {
        return tensor;
    }
    const std::optional<std::uint64_t> bytes = byte_count(tensor.dtype, *elements);
    if (!bytes || *bytes > limits.tensor_bytes_max) {
        return refuse(Status::resource_limit, "Tensor (", name, ") has (", *elements,
                      ") elements; at most ", limits.tensor_bytes_max, " bytes are taken.");
    }
    tensor.bytes = *bytes;
    VIRTACCEL_TRY_ASSIGN(tensor.data, data_in(source.data(), tensor.name, *bytes));
    return tensor;
}

// A SHAPE has no dimensions of its own in the file, only a length.
Checked<Tensor> read_shape(const fb::TosaShape& source, const Limits& limits) {
    Tensor tensor{.name = {}, .dtype = DType::shape, .shape = {}, .data = {}, .state = {}};
    VIRTACCEL_TRY_ASSIGN(tensor.name, name_in(source.name(), "shape", limits));
    if (source.rank() > shape_length_max) {
        return refuse(Status::resource_limit, "Shape (", Foreign{tensor.name}, ") has (",
                      source.rank(), ") elements; there is room for ", shape_length_max, ".");
    }
    tensor.shape = std::span{lengths}.subspan(source.rank(), 1);
    tensor.elements = source.rank();
    tensor.bytes = std::uint64_t{source.rank()} * sizeof(std::int64_t);
    VIRTACCEL_TRY_ASSIGN(tensor.data, data_in(source.data(), tensor.name, tensor.bytes));
    return tensor;
}

}  // namespace

// Fills a graph from a flatbuffer whose structure has been checked. Room for everything is reserved
// first, because operators and blocks point into the list of operands.
class GraphReader {
  public:
    GraphReader(const Structure& structure, const Limits& limits)
        : source_(*structure.graph), limits_(limits) {
        graph_.blocks_.reserve(structure.counts.blocks);
        graph_.operators_.reserve(structure.counts.operators);
        graph_.tensors_.reserve(structure.counts.tensors);
        graph_.operands_.reserve(structure.counts.operands);
    }

    Checked<Graph> read() {
        VIRTACCEL_TRY(read_version());
        VIRTACCEL_TRY(read_block_names());
        BlockIndex block = 0;
        for (std::uint32_t r = 0; r < size_of(source_.regions()); ++r) {
            const fb::TosaRegion& region = *source_.regions()->Get(r);
            for (std::uint32_t b = 0; b < size_of(region.blocks()); ++b) {
                VIRTACCEL_TRY(read_block(*region.blocks()->Get(b), graph_.blocks_[block++]));
            }
        }
        VIRTACCEL_TRY(settle_nesting(graph_.blocks_, graph_.operators_));
        return std::move(graph_);
    }

  private:
    Checked<void> read_version() {
        const fb::Version& version = *source_.version();
        graph_.version_ = {
            .major = version._major(), .minor = version._minor(), .patch = version._patch()};
        const auto* compatibility = source_.compatibility();
        if (compatibility != nullptr && compatibility->features() != 0) {
            return refuse(Status::incompatible, "The model needs features (",
                          compatibility->features(), ") that TOSA 1.0 does not have.");
        }
        return {};
    }

    // All names come before any block, because an operator may name a block that follows.
    Checked<void> read_block_names() {
        block_names_.regions.reserve(size_of(source_.regions()));
        for (std::uint32_t r = 0; r < size_of(source_.regions()); ++r) {
            const fb::TosaRegion& region = *source_.regions()->Get(r);
            VIRTACCEL_TRY_ASSIGN(const std::string_view region_name,
                                 name_in(region.name(), "region", limits_));
            if (size_of(region.blocks()) == 0) {
                return refuse(Status::invalid_argument, "Region (", Foreign{region_name},
                              ") has no block.");
            }
            block_names_.regions.add(region_name, static_cast<BlockIndex>(graph_.blocks_.size()));
            for (std::uint32_t b = 0; b < region.blocks()->size(); ++b) {
                Block& block = graph_.blocks_.emplace_back();
                block.region = region_name;
                VIRTACCEL_TRY_ASSIGN(block.name,
                                     name_in(region.blocks()->Get(b)->name(), "block", limits_));
                block_names_.blocks.add(block.name,
                                        static_cast<BlockIndex>(graph_.blocks_.size() - 1));
            }
        }
        if (graph_.blocks_.empty()) {
            return refuse(Status::invalid_argument, "The model has no region, so nothing to run.");
        }
        for (NameIndex* names : {&block_names_.regions, &block_names_.blocks}) {
            if (const NameIndex::Entry* twice = names->sort(); twice != nullptr) {
                return refuse(Status::invalid_argument, "Two regions or two blocks have the name (",
                              Foreign{twice->name}, "): rename one of them.");
            }
        }
        return {};
    }

    // Tensors, then what names them; then who makes what.
    Checked<void> read_block(const fb::TosaBasicBlock& source, Block& block) {
        NameIndex names;
        VIRTACCEL_TRY(read_tensors(source, block, names));
        VIRTACCEL_TRY_ASSIGN(block.inputs, read_slots(source.inputs(), block, names));
        VIRTACCEL_TRY_ASSIGN(block.outputs, read_slots(source.outputs(), block, names));
        block.operators.first = static_cast<OperatorIndex>(graph_.operators_.size());
        block.operators.count = size_of(source.operators());
        for (std::uint32_t i = 0; i < block.operators.count; ++i) {
            VIRTACCEL_TRY_ASSIGN(const Operator op,
                                 read_operator(*source.operators()->Get(i), i, names));
            graph_.operators_.push_back(op);
        }
        return settle_flow(graph_.tensors_, block,
                           std::span{graph_.operators_}.subspan(block.operators.first));
    }

    Checked<void> read_tensors(const fb::TosaBasicBlock& source, Block& block, NameIndex& names) {
        block.tensors.first = static_cast<TensorIndex>(graph_.tensors_.size());
        for (std::uint32_t i = 0; i < size_of(source.tensors()); ++i) {
            VIRTACCEL_TRY_ASSIGN(const Tensor tensor,
                                 read_tensor(*source.tensors()->Get(i), limits_));
            graph_.tensors_.push_back(tensor);
        }
        for (std::uint32_t i = 0; i < size_of(source.shapes()); ++i) {
            VIRTACCEL_TRY_ASSIGN(const Tensor tensor,
                                 read_shape(*source.shapes()->Get(i), limits_));
            graph_.tensors_.push_back(tensor);
        }
        const auto end = static_cast<TensorIndex>(graph_.tensors_.size());
        block.tensors.count = end - block.tensors.first;
        names.reserve(block.tensors.count);
        for (TensorIndex i = block.tensors.first; i < end; ++i) {
            names.add(graph_.tensors_[i].name, i);
        }
        if (const NameIndex::Entry* twice = names.sort(); twice != nullptr) {
            return refuse(Status::invalid_argument, "Two tensors have the name (",
                          Foreign{twice->name}, "): rename one of them.");
        }
        return {};
    }

    // The tensors that names stand for; a name that none has is left to `missing`.
    std::span<const TensorIndex> resolve(const Strings* source, const NameIndex& names,
                                         std::string_view& missing) {
        const std::size_t first = graph_.operands_.size();
        for (std::uint32_t i = 0; i < size_of(source); ++i) {
            const std::string_view name = text_of(source->Get(i));
            const TensorIndex tensor = names.find(name);
            if (tensor == nowhere) {
                missing = name;
                return {};
            }
            graph_.operands_.push_back(tensor);
        }
        return std::span{graph_.operands_}.subspan(first);
    }

    Checked<std::span<const TensorIndex>> read_slots(const Strings* source, const Block& block,
                                                     const NameIndex& names) {
        std::string_view missing;
        const auto slots = resolve(source, names, missing);
        if (slots.size() != size_of(source)) {
            return refuse(Status::invalid_argument, "Block (", Foreign{block.name},
                          ") has an input or output (", Foreign{missing},
                          ") that no tensor of its has as its name.");
        }
        return slots;
    }

    Checked<Operator> read_operator(const fb::TosaOperator& source, std::uint32_t index,
                                    const NameIndex& names) {
        Operator op{
            .op = op_of(source), .index = index, .inputs = {}, .outputs = {}, .attribute = {}};
        std::string_view missing;
        op.inputs = resolve(source.inputs(), names, missing);
        op.outputs = resolve(source.outputs(), names, missing);
        if (op.inputs.size() != size_of(source.inputs()) ||
            op.outputs.size() != size_of(source.outputs())) {
            return refuse_operator(Status::invalid_argument, op, "has an operand (",
                                   Foreign{missing}, ") that no tensor has as its name.");
        }
        const OperatorRow* row = row_of(op.op);
        if (row == nullptr) {
            return op;
        }
        if (!row->inputs.admits(op.inputs.size()) || !row->outputs.admits(op.outputs.size())) {
            return refuse_operator(Status::invalid_argument, op, "has (", op.inputs.size(),
                                   ") inputs and (", op.outputs.size(), ") outputs; it takes ",
                                   row->inputs.required, " and ", row->outputs.required,
                                   row->inputs.is_open ? " or more." : ".");
        }
        auto attribute = decode_attribute(source, op.op, block_names_);
        if (!attribute) {
            return refuse_operator(attribute.error().status, op, attribute.error().sentence.view(),
                                   ".");
        }
        op.attribute = *attribute;
        return op;
    }

    const fb::TosaGraph& source_;
    const Limits& limits_;
    BlockNames block_names_;
    Graph graph_;
};

Checked<Graph> verify(std::span<const std::byte> bytes, const Limits& limits) noexcept {
    try {
        VIRTACCEL_TRY_ASSIGN(const Structure structure, check_structure(bytes, limits));
        return GraphReader{structure, limits}.read();
    } catch (const std::bad_alloc&) {
        return refuse(Status::out_of_memory,
                      "There is no memory for the tables of the model: free some and try again.");
    }
}

}  // namespace virtaccel::tosa
