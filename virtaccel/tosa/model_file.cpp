#include "virtaccel/tosa/model_file.h"

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

class FileWriter {
  public:
    std::vector<std::byte> write(const FileModel& model) {
        std::vector<Offset<fb::TosaRegion>> regions;
        for (const FileRegion& region : model.regions) {
            regions.push_back(write(region));
        }
        const auto region_list = builder_.CreateVector(regions);
        const auto version = fb::CreateVersion(builder_, model.version.major, model.version.minor,
                                               model.version.patch, false);
        builder_.Finish(fb::CreateTosaGraph(builder_, version, region_list),
                        fb::TosaGraphIdentifier());
        const auto bytes =
            std::as_bytes(std::span{builder_.GetBufferPointer(), builder_.GetSize()});
        return {bytes.begin(), bytes.end()};
    }

  private:
    Offset<flatbuffers::String> write(const FileName& name) {
        return name ? builder_.CreateString(*name) : Offset<flatbuffers::String>{};
    }

    auto write(const std::vector<std::string>& names) {
        return builder_.CreateVectorOfStrings(names);
    }

    Offset<flatbuffers::Vector<std::uint8_t>> write_data(const std::vector<std::byte>& data) {
        std::vector<std::uint8_t> filled;
        for (const std::byte byte : data) {
            filled.push_back(std::to_integer<std::uint8_t>(byte));
        }
        while (filled.size() % data_alignment != 0) {
            filled.push_back(0);
        }
        builder_.ForceVectorAlignment(filled.size(), 1, data_alignment);
        return builder_.CreateVector(filled);
    }

    Offset<fb::TosaRegion> write(const FileRegion& region) {
        std::vector<Offset<fb::TosaBasicBlock>> blocks;
        for (const FileBlock& block : region.blocks) {
            blocks.push_back(write(block));
        }
        const auto block_list = builder_.CreateVector(blocks);
        return fb::CreateTosaRegion(builder_, write(region.name), block_list);
    }

    Offset<fb::TosaBasicBlock> write(const FileBlock& block) {
        std::vector<Offset<fb::TosaOperator>> operators;
        for (const FileOperator& op : block.operators) {
            operators.push_back(write(op));
        }
        std::vector<Offset<fb::TosaTensor>> tensors;
        for (const FileTensor& tensor : block.tensors) {
            tensors.push_back(write(tensor));
        }
        std::vector<Offset<fb::TosaShape>> shapes;
        for (const FileShape& shape : block.shapes) {
            const auto name = write(shape.name);
            const auto data = write_data(shape.data);
            shapes.push_back(fb::CreateTosaShape(builder_, name, shape.rank, data));
        }
        const auto name = write(block.name);
        const auto operator_list = builder_.CreateVector(operators);
        const auto tensor_list = builder_.CreateVector(tensors);
        const auto inputs = write(block.inputs);
        const auto outputs = write(block.outputs);
        const auto shape_list = builder_.CreateVector(shapes);
        return fb::CreateTosaBasicBlock(builder_, name, operator_list, tensor_list, inputs, outputs,
                                        shape_list);
    }

    Offset<fb::TosaTensor> write(const FileTensor& tensor) {
        const auto name = write(tensor.name);
        const auto shape = builder_.CreateVector(tensor.shape);
        const auto data = write_data(tensor.data);
        fb::TosaTensorBuilder target{builder_};
        target.add_name(name);
        target.add_shape(shape);
        target.add_type(static_cast<fb::DType>(static_cast<std::uint32_t>(tensor.dtype)));
        target.add_data(data);
        target.add_variable(tensor.is_variable);
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
        const auto inputs = write(op.inputs);
        const auto outputs = write(op.outputs);
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
