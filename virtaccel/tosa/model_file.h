#pragma once
// A TOSA file as plain values, and the bytes it makes. Nothing is checked, so that tests can write
// files no checked builder would; to write a valid model, use Builder (builder.h).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {

// A name the file may lack.
using FileName = std::optional<std::string>;

struct FileTensor {
    FileName name;
    std::vector<std::int32_t> shape;
    DType dtype = DType::unknown;
    std::vector<std::byte> data;
    bool is_variable = false;
    bool is_unranked = false;
    std::uint64_t outside_offset = 0;  // of data kept outside the file
    FileName variable_name = std::nullopt;
};

struct FileShape {
    FileName name;
    std::uint32_t rank = 0;
    std::vector<std::byte> data;
};

// `attribute_op` is the operator whose attribute this pretends to be; `op` if unset, none if
// `unknown`. `branches` are the two blocks that COND_IF and WHILE_LOOP name.
struct FileOperator {
    Op op = Op::unknown;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    Attribute attribute;
    std::optional<Op> attribute_op;
    bool has_attribute_table = true;
    std::vector<std::string> branches;
};

struct FileBlock {
    FileName name = "main";
    std::vector<FileOperator> operators;
    std::vector<FileTensor> tensors;
    std::vector<FileShape> shapes;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
};

struct FileRegion {
    FileName name = "main";
    std::vector<FileBlock> blocks;
};

struct FileModel {
    Version version = {.major = 1, .minor = 0, .patch = 0};
    std::vector<FileRegion> regions;
    std::shared_ptr<const void> kept;  // what attributes point to, if anybody must keep it
};

// The flatbuffer of `model`; constants filled with zeros up to a multiple of 8, as other writers
// do. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::byte> write_file(const FileModel& model);

}  // namespace virtaccel::tosa
