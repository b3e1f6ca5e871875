#include "virtaccel/tosa/testing/chosen_model.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "virtaccel/base/testing/choices.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::testing {

namespace {

using virtaccel::testing::Choices;
using Dims32 = std::vector<std::int32_t>;

constexpr std::uint32_t operators_max = 6;
constexpr std::uint32_t operands_max = 5;
// Shapes grow from operator to operator: what is larger is an output at most, and a larger constant
// is an input.
constexpr std::uint64_t operand_elements_max = 1U << 20U;
constexpr std::uint64_t constant_bytes_max = 1U << 16U;

class Author {
  public:
    explicit Author(Choices& choices) : choices_(choices) {}

    [[nodiscard]] FileModel write() {
        const std::uint32_t count = 1 + choices_.below(operators_max);
        for (std::uint32_t i = 0; i < count; ++i) {
            add_operator();
        }
        const std::uint32_t outputs = 1 + choices_.below(3);
        for (std::uint32_t i = 0; i < outputs && i < values_.size(); ++i) {
            builder_.output(values_[values_.size() - 1 - i], "out_" + std::to_string(i));
        }
        FileModel model = builder_.file();
        // What the builder leaves where an operator did not fit.
        std::erase_if(model.regions.front().blocks.front().tensors,
                      [](const FileTensor& tensor) { return tensor.dtype == DType::unknown; });
        return model;
    }

  private:
    void add_operator() {
        const auto rows = operator_rows();
        const OperatorRow& row = choices_.one_of(rows);
        if (row.signatures.empty() || row.kind == OperatorClass::data) {
            return;
        }
        const Signature& signature = choices_.one_of(row.signatures);
        std::vector<Value> operands;
        operands.reserve(operands_max);
        const std::uint32_t count = row.inputs.is_open ? 1 + choices_.below(3) : row.inputs.count;
        for (std::uint32_t i = 0; i < std::min(count, operands_max); ++i) {
            operands.push_back(operand(row, signature, operands, i));
        }
        const DType wanted = type_of(row.outputs.letter(0), signature);
        const Value made = builder_.op(row.op, operands, attribute(row, signature, operands),
                                       {.dtype = wanted, .shape = Dims32{2, 3}});
        if (builder_.tensor(made).dtype != DType::unknown) {
            values_.push_back(made);
        }
    }

    // What stands for anything is a number here.
    static DType type_of(char letter, const Signature& signature) {
        const DType type = tosa::type_of(letter, signature);
        return type == DType::unknown ? DType::fp32 : type;
    }

    Value operand(const OperatorRow& row, const Signature& signature,
                  const std::vector<Value>& before, std::uint32_t i) {
        const DType dtype = type_of(row.inputs.letter(i), signature);
        if (dtype == DType::shape) {
            return builder_.shape(list_for(row.op, before, i));
        }
        if (i == 0) {
            for (const Value value : values_ | std::views::reverse) {
                if (can_be_operand(value, dtype) && !choices_.one_in(4)) {
                    return value;
                }
            }
        }
        const Dims32 shape = shape_for(row.op, before, i);
        const bool constant = (row.constant_inputs >> i & 1U) != 0 || choices_.one_in(3);
        const auto elements = element_count(shape);
        const auto size = elements ? byte_count(dtype, *elements) : std::nullopt;
        if (!constant || !size || *size > constant_bytes_max) {
            return builder_.input("in_" + std::to_string(inputs_++), dtype, shape);
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(*size));
        if (choices_.one_in(2)) {
            for (std::byte& byte : bytes) {
                byte = static_cast<std::byte>(choices_.byte());
            }
        }
        return builder_.constant(dtype, shape, bytes);
    }

    [[nodiscard]] bool can_be_operand(Value value, DType dtype) const {
        const auto& tensor = builder_.tensor(value);
        return tensor.dtype == dtype &&
               element_count(tensor.shape).value_or(operand_elements_max + 1) <=
                   operand_elements_max;
    }

    std::int32_t dim() { return static_cast<std::int32_t>(1 + choices_.below(4)); }

    Dims32 dims(std::size_t rank) {
        Dims32 list;
        for (std::size_t i = 0; i < rank; ++i) {
            list.push_back(dim());
        }
        return list;
    }

    // A shape that operand `i` may have beside those before it.
    Dims32 shape_for(Op op, const std::vector<Value>& before, std::uint32_t i) {
        const bool is_window = op == Op::conv2d || op == Op::depthwise_conv2d ||
                               op == Op::transpose_conv2d || op == Op::avg_pool2d ||
                               op == Op::max_pool2d || op == Op::resize;
        if (i == 0) {
            return dims(is_window          ? 4
                        : op == Op::conv3d ? 5
                        : op == Op::matmul ? 3
                                           : choices_.below(5));
        }
        const auto first = builder_.tensor(before.front()).shape;
        const auto last = first.empty() ? 1 : first.back();
        if (op == Op::matmul && i == 1 && first.size() == 3) {
            return {first[0], first[2], dim()};
        }
        if (op == Op::depthwise_conv2d && i == 1) {
            return {dim(), dim(), last, dim()};
        }
        if (is_window && i == 1 && op != Op::avg_pool2d) {
            return {dim(), dim(), dim(), last};
        }
        if ((is_window || op == Op::conv3d) && i == 2 && op != Op::avg_pool2d) {
            const auto weight = builder_.tensor(before[1]).shape;
            return {op == Op::depthwise_conv2d && weight.size() == 4 ? weight[2] * weight[3]
                                                                     : weight.front()};
        }
        if (op == Op::conv3d && i == 1) {
            return {dim(), dim(), dim(), dim(), last};
        }
        if (op == Op::table) {
            return {choices_.one_in(2) ? 513 : 256};
        }
        const OperatorRow* const row = row_of(op);
        if (row->kind == OperatorClass::elementwise || row->inputs.is_open) {
            return {first.begin(), first.end()};
        }
        return choices_.one_in(4) ? dims(choices_.below(4)) : Dims32{1};
    }

    // A SHAPE that operand `i` may be.
    std::vector<std::int64_t> list_for(Op op, const std::vector<Value>& before, std::uint32_t i) {
        std::vector<std::int64_t> list;
        const auto first = before.empty() ? std::span<const std::int32_t>{}
                                          : builder_.tensor(before.front()).shape;
        switch (op) {
            case Op::reshape: {
                std::int64_t elements = 1;
                for (const std::int32_t dim : first) {
                    elements *= dim;
                }
                list = {elements};
                break;
            }
            case Op::pad:
                for (std::size_t k = 0; k < 2 * first.size(); ++k) {
                    list.push_back(choices_.below(3));
                }
                break;
            case Op::resize:
                list = i == 1 ? std::vector<std::int64_t>{2, 1, 2, 1}
                              : std::vector<std::int64_t>{0, 0};
                break;
            case Op::slice:
                for (const std::int32_t dim : first) {
                    list.push_back(i == 1 ? 0 : dim);
                }
                break;
            default:
                for (std::size_t k = 0; k < first.size(); ++k) {
                    list.push_back(1 + choices_.below(2));
                }
        }
        if (choices_.one_in(4) && !list.empty()) {
            list[choices_.byte() % list.size()] = odd();
        }
        return list;
    }

    // A number that may be out of all bounds.
    std::int64_t odd() {
        switch (choices_.below(3)) {
            case 0:
                return static_cast<std::int64_t>(choices_.byte()) - 128;
            case 1:
                return std::int64_t{1} << choices_.below(63);
            default:
                return static_cast<std::int64_t>(choices_.number(8));
        }
    }

    std::int32_t small(std::int32_t usual) {
        return choices_.one_in(8) ? static_cast<std::int32_t>(odd())
                                  : usual + static_cast<std::int32_t>(choices_.below(3));
    }

    template <std::size_t count>
    std::array<std::int32_t, count> several(std::int32_t usual) {
        std::array<std::int32_t, count> list{};
        for (std::int32_t& number : list) {
            number = small(usual);
        }
        return list;
    }

    NanMode nan_mode() { return choices_.one_in(2) ? NanMode::ignore : NanMode::propagate; }

    Attribute attribute(const OperatorRow& row, const Signature& signature,
                        const std::vector<Value>& operands) {
        const DType accumulator =
            row.accumulator == 0 ? DType::unknown : type_of(row.accumulator, signature);
        const NanMode nans = row.has_nan_mode ? nan_mode() : NanMode::unknown;
        const auto rank =
            operands.empty()
                ? 0
                : static_cast<std::uint32_t>(builder_.tensor(operands.front()).shape.size());
        switch (row.attribute) {
            case 1:
                return AxisAttribute{.axis = small(0), .nan_mode = nans};
            case 2:
                return PoolAttribute{.kernel = several<2>(1),
                                     .stride = several<2>(1),
                                     .pad = several<4>(0),
                                     .accumulator = accumulator,
                                     .nan_mode = nans};
            case 3:
                return Conv2dAttribute{.pad = several<4>(0),
                                       .stride = several<2>(1),
                                       .dilation = several<2>(1),
                                       .local_bound = choices_.one_in(4),
                                       .accumulator = accumulator};
            case 4:
                return Conv3dAttribute{.pad = several<6>(0),
                                       .stride = several<3>(1),
                                       .dilation = several<3>(1),
                                       .local_bound = choices_.one_in(4),
                                       .accumulator = accumulator};
            case 5:
                return TransposeConv2dAttribute{.out_pad = several<4>(0),
                                                .stride = several<2>(1),
                                                .local_bound = choices_.one_in(4),
                                                .accumulator = accumulator};
            default:
                return plain_attribute(row, signature, rank);
        }
    }

    Attribute plain_attribute(const OperatorRow& row, const Signature& signature,
                              std::uint32_t rank) {
        switch (row.attribute) {
            case 6:
                return FftAttribute{.inverse = choices_.one_in(2), .local_bound = false};
            case 7: {
                for (std::byte& byte : bounds_) {
                    byte = static_cast<std::byte>(choices_.byte());
                }
                const auto bytes = byte_count(signature.types[0], 1).value_or(1);
                const std::span<const std::byte> all{bounds_};
                return ClampAttribute{
                    .min = all.first(bytes), .max = all.last(bytes), .nan_mode = nan_mode()};
            }
            case 8:
                return ShiftAttribute{.round = choices_.one_in(2)};
            case 9:
                return NanAttribute{.nan_mode = nan_mode()};
            case 10: {
                TransposeAttribute transpose{.perms = {}, .rank = std::min(rank, rank_max)};
                for (std::uint32_t i = 0; i < transpose.rank; ++i) {
                    transpose.perms.at(i) = choices_.one_in(8)
                                                ? static_cast<std::int32_t>(odd())
                                                : static_cast<std::int32_t>(transpose.rank - 1 - i);
                }
                return transpose;
            }
            case 11:
                return ResizeAttribute{.mode = choices_.one_in(2) ? ResizeMode::bilinear
                                                                  : ResizeMode::nearest};
            case 12:
                return RescaleAttribute{.scale32 = choices_.one_in(2),
                                        .rounding = RoundingMode::single_round,
                                        .per_channel = choices_.one_in(2),
                                        .input_unsigned = choices_.one_in(4),
                                        .output_unsigned = choices_.one_in(4)};
            case 13:
                return CustomAttribute{
                    .operator_name = "name", .domain_name = "domain", .implementation = bounds_};
            case 14:
                return BranchAttribute{};
            default:
                return NoAttribute{};
        }
    }

    Choices& choices_;
    Builder builder_;
    std::vector<Value> values_;
    std::uint32_t inputs_ = 0;
    std::array<std::byte, 16> bounds_{};
};

template <class List>
auto* any_of(Choices& choices, List& list) {
    return list.empty() ? nullptr : &list[choices.byte() % list.size()];
}

void spoil_tensor(Choices& choices, FileTensor& tensor) {
    switch (choices.below(6)) {
        case 0:
            if (auto* const dim = any_of(choices, tensor.shape)) {
                *dim = static_cast<std::int32_t>(choices.number(4));
            }
            break;
        case 1:
            tensor.dtype = static_cast<DType>(choices.byte());
            break;
        case 2:
            tensor.data.resize(choices.byte());
            break;
        case 3:
            tensor.name.reset();
            break;
        case 4:
            tensor.is_variable = true;
            break;
        default:
            tensor.shape.push_back(static_cast<std::int32_t>(choices.byte()));
    }
}

void spoil_operator(Choices& choices, FileBlock& block, FileOperator& op) {
    switch (choices.below(6)) {
        case 0:
            op.op = static_cast<Op>(choices.byte());
            break;
        case 1:
            op.has_attribute_table = false;
            break;
        case 2:
            op.attribute_op = static_cast<Op>(choices.below(72));
            break;
        case 3:
            if (auto* const input = any_of(choices, op.inputs)) {
                const auto* const tensor = any_of(choices, block.tensors);
                *input = tensor == nullptr ? "nobody" : tensor->name.value_or("nobody");
            }
            break;
        case 4:
            op.outputs.push_back(op.outputs.empty() ? "nobody" : op.outputs.front());
            break;
        default:
            std::swap(op.inputs, op.outputs);
    }
}

}  // namespace

std::vector<std::byte> chosen_model(Choices& choices) {
    FileModel model = Author{choices}.write();
    FileBlock& block = model.regions.front().blocks.front();
    const std::uint32_t spoilt = choices.one_in(3) ? choices.below(3) : 0;
    for (std::uint32_t i = 0; i < spoilt; ++i) {
        if (choices.one_in(2)) {
            if (auto* const tensor = any_of(choices, block.tensors)) {
                spoil_tensor(choices, *tensor);
            }
        } else if (auto* const op = any_of(choices, block.operators)) {
            spoil_operator(choices, block, *op);
        }
    }
    if (choices.one_in(8)) {
        std::ranges::reverse(block.operators);
    }
    return write_file(model);
}

}  // namespace virtaccel::tosa::testing
