#include "virtaccel/tosa/decode_attribute.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <flatbuffers/string.h>
#include <flatbuffers/vector.h>
#include <tosa_generated.h>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

namespace fb = ::tosa;

static_assert(static_cast<std::uint32_t>(fb::Op::CONST_SHAPE) + 1 == op_end);
static_assert(static_cast<std::uint32_t>(fb::Attribute::ConstShapeAttribute) + 1 == op_end);
static_assert(static_cast<std::uint32_t>(fb::DType::FP8E5M2) ==
              static_cast<std::uint32_t>(DType::fp8e5m2));

template <class Ours, class Theirs>
Ours number(Theirs theirs) {
    return static_cast<Ours>(static_cast<std::uint32_t>(theirs));
}

template <std::size_t size>
Checked<void> copy_list(std::string_view what, const flatbuffers::Vector<std::int32_t>* source,
                        std::array<std::int32_t, size>& target) {
    const std::uint32_t length = source == nullptr ? 0 : source->size();
    if (length != size) {
        return refuse(Status::invalid_argument, "has (", length, ") numbers in its ", what,
                      "; there must be ", size);
    }
    for (std::uint32_t i = 0; i < length; ++i) {
        target.at(i) = source->Get(i);
    }
    return {};
}

std::span<const std::byte> bytes_of(const flatbuffers::Vector<std::uint8_t>* source) {
    if (source == nullptr) {
        return {};
    }
    return std::as_bytes(std::span{source->data(), source->size()});
}

std::string_view text_of(const flatbuffers::String* source) {
    return source == nullptr ? std::string_view{}
                             : std::string_view{source->data(), source->size()};
}

using Decoder = Checked<Attribute> (*)(const void* table, const BlockNames& blocks);

template <class Table>
Checked<Attribute> decode_axis(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const Table*>(table);
    AxisAttribute target{.axis = source.axis()};
    if constexpr (requires { source.nan_mode(); }) {
        target.nan_mode = number<NanMode>(source.nan_mode());
    }
    return target;
}

template <class Table>
Checked<Attribute> decode_pool(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const Table*>(table);
    PoolAttribute target;
    VIRTACCEL_TRY(copy_list("kernel", source.kernel(), target.kernel));
    VIRTACCEL_TRY(copy_list("stride", source.stride(), target.stride));
    VIRTACCEL_TRY(copy_list("pad", source.pad(), target.pad));
    if constexpr (requires { source.acc_type(); }) {
        target.accumulator = number<DType>(source.acc_type());
    } else {
        target.nan_mode = number<NanMode>(source.nan_mode());
    }
    return target;
}

template <class Table, class Target>
Checked<Attribute> decode_window(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const Table*>(table);
    Target target;
    VIRTACCEL_TRY(copy_list("pad", source.pad(), target.pad));
    VIRTACCEL_TRY(copy_list("stride", source.stride(), target.stride));
    VIRTACCEL_TRY(copy_list("dilation", source.dilation(), target.dilation));
    target.local_bound = source.local_bound();
    target.accumulator = number<DType>(source.acc_type());
    return target;
}

Checked<Attribute> decode_transpose_conv2d(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const fb::TransposeConv2dAttribute*>(table);
    TransposeConv2dAttribute target;
    VIRTACCEL_TRY(copy_list("out_pad", source.out_pad(), target.out_pad));
    VIRTACCEL_TRY(copy_list("stride", source.stride(), target.stride));
    target.local_bound = source.local_bound();
    target.accumulator = number<DType>(source.acc_type());
    return target;
}

template <class Table>
Checked<Attribute> decode_fft(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const Table*>(table);
    FftAttribute target{.inverse = false, .local_bound = source.local_bound()};
    if constexpr (requires { source.inverse(); }) {
        target.inverse = source.inverse();
    }
    return target;
}

Checked<Attribute> decode_clamp(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const fb::ClampAttribute*>(table);
    return ClampAttribute{.min = bytes_of(source.min_val()),
                          .max = bytes_of(source.max_val()),
                          .nan_mode = number<NanMode>(source.nan_mode())};
}

Checked<Attribute> decode_shift(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const fb::ArithmeticRightShiftAttribute*>(table);
    return ShiftAttribute{.round = source.round()};
}

template <class Table>
Checked<Attribute> decode_nan_mode(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const Table*>(table);
    return NanAttribute{.nan_mode = number<NanMode>(source.nan_mode())};
}

Checked<Attribute> decode_transpose(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const fb::TransposeAttribute*>(table);
    TransposeAttribute target;
    const auto* perms = source.perms();
    const std::uint32_t length = perms == nullptr ? 0 : perms->size();
    if (length > rank_max) {
        return refuse(Status::resource_limit, "has (", length, ") perms; there is room for ",
                      rank_max);
    }
    for (std::uint32_t i = 0; i < length; ++i) {
        target.perms.at(i) = perms->Get(i);
    }
    target.rank = length;
    return target;
}

Checked<Attribute> decode_resize(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const fb::ResizeAttribute*>(table);
    return ResizeAttribute{.mode = number<ResizeMode>(source.mode())};
}

Checked<Attribute> decode_rescale(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const fb::RescaleAttribute*>(table);
    return RescaleAttribute{.scale32 = source.scale32(),
                            .rounding = number<RoundingMode>(source.rounding_mode()),
                            .per_channel = source.per_channel(),
                            .input_unsigned = source.input_unsigned(),
                            .output_unsigned = source.output_unsigned()};
}

Checked<Attribute> decode_custom(const void* table, const BlockNames&) {
    const auto& source = *static_cast<const fb::CustomAttribute*>(table);
    return CustomAttribute{.operator_name = text_of(source.operator_name()),
                           .domain_name = text_of(source.domain_name()),
                           .implementation = bytes_of(source.implementation_attrs())};
}

// Names become indexes here, so that nobody after has to look them up.
Checked<std::uint32_t> find_block(const flatbuffers::String* name, const BlockNames& blocks) {
    const std::uint32_t block = blocks.find(text_of(name));
    if (block == nowhere) {
        return refuse(Status::invalid_argument, "names a block (", Foreign{text_of(name)},
                      ") that the model does not have");
    }
    return block;
}

Checked<Attribute> decode_cond_if(const void* table, const BlockNames& blocks) {
    const auto& source = *static_cast<const fb::CondIfAttribute*>(table);
    BranchAttribute target;
    VIRTACCEL_TRY_ASSIGN(target.first, find_block(source.then_graph(), blocks));
    VIRTACCEL_TRY_ASSIGN(target.second, find_block(source.else_graph(), blocks));
    return target;
}

Checked<Attribute> decode_while_loop(const void* table, const BlockNames& blocks) {
    const auto& source = *static_cast<const fb::WhileLoopAttribute*>(table);
    BranchAttribute target;
    VIRTACCEL_TRY_ASSIGN(target.first, find_block(source.cond_graph(), blocks));
    VIRTACCEL_TRY_ASSIGN(target.second, find_block(source.body_graph(), blocks));
    return target;
}

// One line for each operator: its table's type, and ours, chosen when compiling.
struct DecoderRow {
    Op op;
    Decoder decode;
};

// The operators whose attribute has members.
constexpr DecoderRow decoder_rows[] = {
    {Op::argmax, decode_axis<fb::ArgMaxAttribute>},
    {Op::avg_pool2d, decode_pool<fb::AvgPool2dAttribute>},
    {Op::conv2d, decode_window<fb::Conv2dAttribute, Conv2dAttribute>},
    {Op::conv3d, decode_window<fb::Conv3dAttribute, Conv3dAttribute>},
    {Op::depthwise_conv2d, decode_window<fb::DepthwiseConv2dAttribute, Conv2dAttribute>},
    {Op::fft2d, decode_fft<fb::FFT2dAttribute>},
    {Op::max_pool2d, decode_pool<fb::MaxPool2dAttribute>},
    {Op::rfft2d, decode_fft<fb::RFFT2dAttribute>},
    {Op::transpose_conv2d, decode_transpose_conv2d},
    {Op::clamp, decode_clamp},
    {Op::arithmetic_right_shift, decode_shift},
    {Op::maximum, decode_nan_mode<fb::MaximumAttribute>},
    {Op::minimum, decode_nan_mode<fb::MinimumAttribute>},
    {Op::reduce_all, decode_axis<fb::ReduceAllAttribute>},
    {Op::reduce_any, decode_axis<fb::ReduceAnyAttribute>},
    {Op::reduce_max, decode_axis<fb::ReduceMaxAttribute>},
    {Op::reduce_min, decode_axis<fb::ReduceMinAttribute>},
    {Op::reduce_product, decode_axis<fb::ReduceProductAttribute>},
    {Op::reduce_sum, decode_axis<fb::ReduceSumAttribute>},
    {Op::concat, decode_axis<fb::ConcatAttribute>},
    {Op::reverse, decode_axis<fb::ReverseAttribute>},
    {Op::transpose, decode_transpose},
    {Op::resize, decode_resize},
    {Op::rescale, decode_rescale},
    {Op::custom, decode_custom},
    {Op::cond_if, decode_cond_if},
    {Op::while_loop, decode_while_loop},
};

// Decoders by operator; null where there is nothing to decode.
constexpr std::array<Decoder, op_end> decoders = [] {
    std::array<Decoder, op_end> table{};
    for (const DecoderRow& row : decoder_rows) {
        table.at(static_cast<std::size_t>(row.op)) = row.decode;
    }
    return table;
}();

// The schema numbers attributes as it numbers operators.
bool stands_for(fb::Attribute attribute, Op op) {
    return static_cast<std::uint32_t>(attribute) == static_cast<std::uint32_t>(op);
}

}  // namespace

std::uint32_t BlockNames::find(std::string_view name) const {
    const std::uint32_t block = regions.find(name);
    return block == nowhere ? blocks.find(name) : block;
}

Op op_of(const fb::TosaOperator& source) {
    const Op op = number<Op>(source.op());
    for (const Op variable : {Op::variable_read, Op::variable_write}) {
        if (op == Op::identity && stands_for(source.attribute_type(), variable)) {
            return variable;
        }
    }
    return op;
}

Checked<Attribute> decode_attribute(const fb::TosaOperator& source, Op op,
                                    const BlockNames& blocks) {
    const Decoder decode = decoders.at(static_cast<std::size_t>(op));
    const fb::Attribute attribute = source.attribute_type();
    if (attribute == fb::Attribute::NONE && decode == nullptr) {
        return NoAttribute{};
    }
    if (!stands_for(attribute, op)) {
        return refuse(Status::invalid_argument, "has an attribute of the kind (",
                      static_cast<std::uint32_t>(attribute), "); it must have its own (",
                      static_cast<std::uint32_t>(op), ")");
    }
    if (source.attribute() == nullptr) {
        return refuse(Status::invalid_argument, "names the kind of its attribute but has none");
    }
    return decode == nullptr ? Checked<Attribute>{NoAttribute{}}
                             : decode(source.attribute(), blocks);
}

}  // namespace virtaccel::tosa
