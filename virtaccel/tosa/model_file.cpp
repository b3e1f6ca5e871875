#include "virtaccel/tosa/model_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <flatbuffers/buffer.h>
#include <flatbuffers/flatbuffer_builder.h>
#include <flatbuffers/string.h>
#include <flatbuffers/vector.h>
#include <tosa_generated.h>

#include "virtaccel/tosa/encode_attribute.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

namespace fb = ::tosa;

using flatbuffers::Offset;

constexpr std::size_t data_alignment = 8;

// A flatbuffer grows from its end, and a table's parts must be finished before it is begun: names,
// lists and attributes come first everywhere.
class FileWriter {
    template <class Part>
    auto write_all(const std::vector<Part>& parts) {
        std::vector<decltype(write(parts.front()))> offsets;
        offsets.reserve(parts.size());
        for (const Part& part : parts) {
            offsets.push_back(write(part));
        }
        return builder_.CreateVector(offsets);
    }

    auto write_names(const std::vector<std::string>& names) {
        return builder_.CreateVectorOfStrings(names);
    }

  public:
    std::vector<std::byte> write(const FileModel& model) {
        const auto regions = write_all(model.regions);
        const auto version = fb::CreateVersion(builder_, model.version.major, model.version.minor,
                                               model.version.patch, false);
        builder_.Finish(fb::CreateTosaGraph(builder_, version, regions), fb::TosaGraphIdentifier());
        const auto bytes =
            std::as_bytes(std::span{builder_.GetBufferPointer(), builder_.GetSize()});
        return {bytes.begin(), bytes.end()};
    }

  private:
    Offset<flatbuffers::String> write(const FileName& name) {
        return name ? builder_.CreateString(*name) : Offset<flatbuffers::String>{};
    }

    Offset<flatbuffers::Vector<std::uint8_t>> write_data(const std::vector<std::byte>& data) {
        const std::size_t blocks = (data.size() + data_alignment - 1) / data_alignment;
        std::vector<std::uint8_t> filled(blocks * data_alignment);
        std::ranges::transform(data, filled.begin(), std::to_integer<std::uint8_t>);
        builder_.ForceVectorAlignment(filled.size(), 1, data_alignment);
        return builder_.CreateVector(filled);
    }

    Offset<fb::TosaRegion> write(const FileRegion& region) {
        const auto blocks = write_all(region.blocks);
        return fb::CreateTosaRegion(builder_, write(region.name), blocks);
    }

    Offset<fb::TosaBasicBlock> write(const FileBlock& block) {
        const auto name = write(block.name);
        const auto operators = write_all(block.operators);
        const auto tensors = write_all(block.tensors);
        const auto inputs = write_names(block.inputs);
        const auto outputs = write_names(block.outputs);
        const auto shapes = write_all(block.shapes);
        return fb::CreateTosaBasicBlock(builder_, name, operators, tensors, inputs, outputs,
                                        shapes);
    }

    Offset<fb::TosaShape> write(const FileShape& shape) {
        const auto name = write(shape.name);
        const auto data = write_data(shape.data);
        return fb::CreateTosaShape(builder_, name, shape.rank, data);
    }

    Offset<fb::TosaTensor> write(const FileTensor& tensor) {
        const auto name = write(tensor.name);
        const auto shape = builder_.CreateVector(tensor.shape);
        const auto data = write_data(tensor.data);
        const auto variable_name = write(tensor.variable_name);
        fb::TosaTensorBuilder target{builder_};
        target.add_name(name);
        target.add_shape(shape);
        target.add_type(static_cast<fb::DType>(static_cast<std::uint32_t>(tensor.dtype)));
        target.add_data(data);
        target.add_variable(tensor.is_variable);
        target.add_variable_name(variable_name);
        target.add_is_unranked(tensor.is_unranked);
        target.add_offset(tensor.outside_offset);
        return target.Finish();
    }

    Offset<fb::TosaOperator> write(const FileOperator& op) {
        const Op attribute_op = op.attribute_op.value_or(op.op);
        Offset<void> attribute;
        if (op.has_attribute_table && attribute_op != Op::unknown) {
            attribute = encode_attribute(builder_, attribute_op, op.attribute, op.branches);
        }
        const auto inputs = write_names(op.inputs);
        const auto outputs = write_names(op.outputs);
        return fb::CreateTosaOperator(
            builder_, static_cast<fb::Op>(static_cast<std::uint32_t>(op.op)),
            static_cast<fb::Attribute>(static_cast<std::uint8_t>(attribute_op)), attribute, inputs,
            outputs);
    }

    flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace

std::vector<std::byte> write_file(const FileModel& model) {
    return FileWriter{}.write(model);
}

}  // namespace virtaccel::tosa
