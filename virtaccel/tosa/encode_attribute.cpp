#include "virtaccel/tosa/encode_attribute.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <flatbuffers/buffer.h>
#include <flatbuffers/flatbuffer_builder.h>
#include <flatbuffers/string.h>
#include <flatbuffers/vector.h>
#include <tosa_generated.h>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

namespace fb = ::tosa;

using flatbuffers::Offset;
using FileBuilder = flatbuffers::FlatBufferBuilder;

// What an attribute is made of.
struct Source {
    FileBuilder& builder;
    const Attribute& attribute;
    std::span<const std::string> branches;

    template <class Kind>
    [[nodiscard]] Kind as() const {
        const Kind* kind = std::get_if<Kind>(&attribute);
        return kind == nullptr ? Kind{} : *kind;
    }

    template <std::size_t size>
    [[nodiscard]] auto list(const std::array<std::int32_t, size>& numbers) const {
        return builder.CreateVector(numbers.data(), numbers.size());
    }

    [[nodiscard]] auto bytes(std::span<const std::byte> bytes) const {
        builder.ForceVectorAlignment(bytes.size(), 1, 8);
        return builder.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                    bytes.size());
    }

    [[nodiscard]] auto text(std::string_view text) const {
        return builder.CreateString(text.data(), text.size());
    }

    [[nodiscard]] auto branch(std::size_t i) const {
        return i < branches.size() ? text(branches[i]) : Offset<flatbuffers::String>{};
    }
};

template <class Theirs, class Ours>
Theirs number(Ours ours) {
    return static_cast<Theirs>(static_cast<std::uint32_t>(ours));
}

template <auto create>
Offset<void> encode_axis(const Source& source) {
    return create(source.builder, source.as<AxisAttribute>().axis).Union();
}

template <auto create>
Offset<void> encode_axis_and_nan_mode(const Source& source) {
    const auto from = source.as<AxisAttribute>();
    return create(source.builder, from.axis, number<fb::NanPropagationMode>(from.nan_mode)).Union();
}

template <auto create, class Last, auto last>
Offset<void> encode_pool(const Source& source) {
    const auto from = source.as<PoolAttribute>();
    const auto kernel = source.list(from.kernel);
    const auto stride = source.list(from.stride);
    const auto pad = source.list(from.pad);
    return create(source.builder, kernel, stride, pad, number<Last>(from.*last)).Union();
}

template <auto create, class Kind>
Offset<void> encode_window(const Source& source) {
    const auto from = source.as<Kind>();
    const auto pad = source.list(from.pad);
    const auto stride = source.list(from.stride);
    const auto dilation = source.list(from.dilation);
    return create(source.builder, pad, stride, dilation, from.local_bound,
                  number<fb::DType>(from.accumulator))
        .Union();
}

Offset<void> encode_transpose_conv2d(const Source& source) {
    const auto from = source.as<TransposeConv2dAttribute>();
    const auto pad = source.list(from.out_pad);
    const auto stride = source.list(from.stride);
    return fb::CreateTransposeConv2dAttribute(source.builder, pad, stride, from.local_bound,
                                              number<fb::DType>(from.accumulator))
        .Union();
}

Offset<void> encode_fft2d(const Source& source) {
    const auto from = source.as<FftAttribute>();
    return fb::CreateFFT2dAttribute(source.builder, from.inverse, from.local_bound).Union();
}

Offset<void> encode_rfft2d(const Source& source) {
    return fb::CreateRFFT2dAttribute(source.builder, source.as<FftAttribute>().local_bound).Union();
}

Offset<void> encode_clamp(const Source& source) {
    const auto from = source.as<ClampAttribute>();
    const auto min = source.bytes(from.min);
    const auto max = source.bytes(from.max);
    return fb::CreateClampAttribute(source.builder, min, max,
                                    number<fb::NanPropagationMode>(from.nan_mode))
        .Union();
}

Offset<void> encode_shift(const Source& source) {
    return fb::CreateArithmeticRightShiftAttribute(source.builder,
                                                   source.as<ShiftAttribute>().round)
        .Union();
}

template <auto create>
Offset<void> encode_nan_mode(const Source& source) {
    return create(source.builder,
                  number<fb::NanPropagationMode>(source.as<NanAttribute>().nan_mode))
        .Union();
}

Offset<void> encode_transpose(const Source& source) {
    const auto from = source.as<TransposeAttribute>();
    const auto perms = source.builder.CreateVector(from.perms.data(), from.rank);
    return fb::CreateTransposeAttribute(source.builder, perms).Union();
}

Offset<void> encode_resize(const Source& source) {
    return fb::CreateResizeAttribute(source.builder,
                                     number<fb::ResizeMode>(source.as<ResizeAttribute>().mode))
        .Union();
}

Offset<void> encode_rescale(const Source& source) {
    const auto from = source.as<RescaleAttribute>();
    return fb::CreateRescaleAttribute(source.builder, from.scale32,
                                      number<fb::RoundingMode>(from.rounding), from.per_channel,
                                      from.input_unsigned, from.output_unsigned)
        .Union();
}

Offset<void> encode_custom(const Source& source) {
    const auto from = source.as<CustomAttribute>();
    const auto name = source.text(from.operator_name);
    const auto domain = source.text(from.domain_name);
    const auto implementation = source.bytes(from.implementation);
    return fb::CreateCustomAttribute(source.builder, name, domain, implementation).Union();
}

template <auto create>
Offset<void> encode_branches(const Source& source) {
    const auto first = source.branch(0);
    const auto second = source.branch(1);
    return create(source.builder, first, second).Union();
}

using Encoder = Offset<void> (*)(const Source& source);

struct EncoderRow {
    Op op;
    Encoder encode;
};

constexpr EncoderRow encoder_rows[] = {
    {Op::argmax, encode_axis_and_nan_mode<fb::CreateArgMaxAttribute>},
    {Op::avg_pool2d,
     encode_pool<fb::CreateAvgPool2dAttribute, fb::DType, &PoolAttribute::accumulator>},
    {Op::conv2d, encode_window<fb::CreateConv2dAttribute, Conv2dAttribute>},
    {Op::conv3d, encode_window<fb::CreateConv3dAttribute, Conv3dAttribute>},
    {Op::depthwise_conv2d, encode_window<fb::CreateDepthwiseConv2dAttribute, Conv2dAttribute>},
    {Op::fft2d, encode_fft2d},
    {Op::max_pool2d,
     encode_pool<fb::CreateMaxPool2dAttribute, fb::NanPropagationMode, &PoolAttribute::nan_mode>},
    {Op::rfft2d, encode_rfft2d},
    {Op::transpose_conv2d, encode_transpose_conv2d},
    {Op::clamp, encode_clamp},
    {Op::arithmetic_right_shift, encode_shift},
    {Op::maximum, encode_nan_mode<fb::CreateMaximumAttribute>},
    {Op::minimum, encode_nan_mode<fb::CreateMinimumAttribute>},
    {Op::reduce_all, encode_axis<fb::CreateReduceAllAttribute>},
    {Op::reduce_any, encode_axis<fb::CreateReduceAnyAttribute>},
    {Op::reduce_max, encode_axis_and_nan_mode<fb::CreateReduceMaxAttribute>},
    {Op::reduce_min, encode_axis_and_nan_mode<fb::CreateReduceMinAttribute>},
    {Op::reduce_product, encode_axis<fb::CreateReduceProductAttribute>},
    {Op::reduce_sum, encode_axis<fb::CreateReduceSumAttribute>},
    {Op::concat, encode_axis<fb::CreateConcatAttribute>},
    {Op::reverse, encode_axis<fb::CreateReverseAttribute>},
    {Op::transpose, encode_transpose},
    {Op::resize, encode_resize},
    {Op::rescale, encode_rescale},
    {Op::custom, encode_custom},
    {Op::cond_if, encode_branches<fb::CreateCondIfAttribute>},
    {Op::while_loop, encode_branches<fb::CreateWhileLoopAttribute>},
};

}  // namespace

Offset<void> encode_attribute(FileBuilder& builder, Op op, const Attribute& attribute,
                              std::span<const std::string> branches) {
    for (const EncoderRow& row : encoder_rows) {
        if (row.op == op) {
            return row.encode({.builder = builder, .attribute = attribute, .branches = branches});
        }
    }
    // All attributes without members look the same.
    return fb::CreateAddAttribute(builder).Union();
}

}  // namespace virtaccel::tosa
