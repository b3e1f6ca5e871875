#pragma once
// The combinations of element types that operators of TOSA 1.0 take, and the profile or extension
// each belongs to. Operators with the same combinations share a list.

#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::signatures {

inline constexpr Needs any_profile = {profiles_known, {}};

// A combination of the integer profile.
constexpr Signature integer(DType t, DType u = DType::unknown, DType v = DType::unknown,
                            DType w = DType::unknown, Extensions extensions = {}) {
    return {{t, u, v, w}, {ProfileBit::integer, extensions}};
}

// One of the floating-point profile.
constexpr Signature floating(DType t, DType u = DType::unknown, DType v = DType::unknown,
                             DType w = DType::unknown, Extensions extensions = {}) {
    return {{t, u, v, w}, {ProfileBit::floating_point, extensions}};
}

// One of an extension of that profile, with up to two types.
constexpr Signature integer_with(Extensions extensions, DType t, DType u = DType::unknown) {
    return integer(t, u, DType::unknown, DType::unknown, extensions);
}

constexpr Signature floating_with(Extensions extensions, DType t, DType u = DType::unknown) {
    return floating(t, u, DType::unknown, DType::unknown, extensions);
}

// One of both profiles.
constexpr Signature either(DType t) {
    return {{t}, any_profile};
}

using enum DType;

inline constexpr Signature nothing_typed[] = {{{}, any_profile}};

inline constexpr Signature controlflow[] = {{{}, {profiles_known, ExtensionBit::controlflow}}};

inline constexpr Signature fft[] = {floating_with(ExtensionBit::fft, fp32)};

inline constexpr Signature boolean_only[] = {either(boolean)};

inline constexpr Signature int32_only[] = {integer(int32)};

inline constexpr Signature int32_of_either[] = {either(int32)};

inline constexpr Signature integers[] = {integer(int8), integer(int16), integer(int32)};

inline constexpr Signature integers_of_either[] = {either(int8), either(int16), either(int32)};

inline constexpr Signature floats[] = {floating(fp16), floating(fp32),
                                       floating_with(ExtensionBit::bf16, bf16)};

inline constexpr Signature int32_and_floats[] = {integer(int32), floating(fp16), floating(fp32),
                                                 floating_with(ExtensionBit::bf16, bf16)};

inline constexpr Signature arithmetic[] = {either(int32), floating(fp16), floating(fp32),
                                           floating_with(ExtensionBit::bf16, bf16)};

inline constexpr Signature integers_and_floats[] = {
    integer(int8),  integer(int16), integer(int32),
    floating(fp16), floating(fp32), floating_with(ExtensionBit::bf16, bf16)};

inline constexpr Signature narrow[] = {integer(int8), integer_with(ExtensionBit::int16, int16),
                                       floating(fp16), floating(fp32),
                                       floating_with(ExtensionBit::bf16, bf16)};

inline constexpr Signature selectable[] = {either(boolean),
                                           integer(int8),
                                           integer(int16),
                                           integer(int32),
                                           floating(fp16),
                                           floating(fp32),
                                           floating_with(ExtensionBit::bf16, bf16)};

inline constexpr Signature max_pool[] = {integer(int8),
                                         integer_with(ExtensionBit::int16, int16),
                                         floating(fp16),
                                         floating(fp32),
                                         floating_with(ExtensionBit::bf16, bf16),
                                         floating_with(ExtensionBit::fp8e4m3, fp8e4m3),
                                         floating_with(ExtensionBit::fp8e5m2, fp8e5m2)};

// t the data, u the accumulator.
inline constexpr Signature avg_pool[] = {integer(int8, int32),
                                         integer_with(ExtensionBit::int16, int16, int32),
                                         floating(fp16, fp16),
                                         floating(fp16, fp32),
                                         floating(fp32, fp32),
                                         floating_with(ExtensionBit::bf16, bf16, fp32),
                                         floating_with(ExtensionBit::fp8e4m3, fp8e4m3, fp16),
                                         floating_with(ExtensionBit::fp8e5m2, fp8e5m2, fp16)};

// t the input, u the weights, v bias and output, w the accumulator.
inline constexpr Signature convolution[] = {
    integer(int8, int8, int32, int32),
    integer(int8, int4, int32, int32, ExtensionBit::int4),
    integer(int16, int8, int48, int48, ExtensionBit::int16),
    floating(fp16, fp16, fp16, fp16),
    floating(fp16, fp16, fp16, fp32),
    floating(fp32, fp32, fp32, fp32),
    floating(bf16, bf16, bf16, fp32, ExtensionBit::bf16),
    floating(fp8e4m3, fp8e4m3, fp16, fp16, ExtensionBit::fp8e4m3),
    floating(fp8e5m2, fp8e5m2, fp16, fp16, ExtensionBit::fp8e5m2)};

// t the factors, u the product.
inline constexpr Signature matrix_product[] = {integer(int8, int32),
                                               integer_with(ExtensionBit::int16, int16, int48),
                                               floating(fp16, fp16),
                                               floating(fp16, fp32),
                                               floating(fp32, fp32),
                                               floating_with(ExtensionBit::bf16, bf16, fp32),
                                               floating_with(ExtensionBit::fp8e4m3, fp8e4m3, fp16),
                                               floating_with(ExtensionBit::fp8e5m2, fp8e5m2, fp16)};

inline constexpr Signature product[] = {
    integer(int8, int32), integer(int16, int32), {{int32, int32}, any_profile},
    floating(fp16, fp16), floating(fp32, fp32),  floating_with(ExtensionBit::bf16, bf16, bf16)};

// t the data, u the output.
inline constexpr Signature lookup[] = {integer(int8, int8),
                                       integer_with(ExtensionBit::int16, int16, int32)};

inline constexpr Signature resize[] = {integer(int8, int32),
                                       integer(int8, int8),
                                       integer_with(ExtensionBit::int16, int16, int48),
                                       integer_with(ExtensionBit::int16, int16, int16),
                                       floating(fp16, fp16),
                                       floating(fp32, fp32),
                                       floating_with(ExtensionBit::bf16, bf16, bf16)};

// The official tests of 1.0 index BOOL too.
inline constexpr Signature indexed[] = {either(boolean),
                                        integer(int8),
                                        integer(int16),
                                        integer(int32),
                                        floating(fp16),
                                        floating(fp32),
                                        floating_with(ExtensionBit::bf16, bf16),
                                        floating_with(ExtensionBit::fp8e4m3, fp8e4m3),
                                        floating_with(ExtensionBit::fp8e5m2, fp8e5m2)};

inline constexpr Signature argmax[] = {integer(int8),
                                       integer_with(ExtensionBit::int16, int16),
                                       floating(fp16),
                                       floating(fp32),
                                       floating_with(ExtensionBit::bf16, bf16),
                                       floating_with(ExtensionBit::fp8e4m3, fp8e4m3),
                                       floating_with(ExtensionBit::fp8e5m2, fp8e5m2)};

inline constexpr Signature movable[] = {either(boolean),
                                        integer(int8),
                                        integer(int16),
                                        integer(int32),
                                        floating(fp16),
                                        floating(fp32),
                                        floating_with(ExtensionBit::bf16, bf16),
                                        floating_with(ExtensionBit::fp8e4m3, fp8e4m3),
                                        floating_with(ExtensionBit::fp8e5m2, fp8e5m2)};

inline constexpr Signature joinable[] = {either(boolean),
                                         integer(int8),
                                         integer_with(ExtensionBit::int16, int16),
                                         integer(int32),
                                         floating(fp16),
                                         floating(fp32),
                                         floating_with(ExtensionBit::bf16, bf16),
                                         floating_with(ExtensionBit::fp8e4m3, fp8e4m3),
                                         floating_with(ExtensionBit::fp8e5m2, fp8e5m2)};

inline constexpr Signature storable[] = {either(boolean),
                                         either(int8),
                                         either(int16),
                                         either(int32),
                                         integer_with(ExtensionBit::int4, int4),
                                         integer_with(ExtensionBit::int16, int48),
                                         floating(fp16),
                                         floating(fp32),
                                         floating_with(ExtensionBit::bf16, bf16),
                                         floating_with(ExtensionBit::fp8e4m3, fp8e4m3),
                                         floating_with(ExtensionBit::fp8e5m2, fp8e5m2)};

inline constexpr Signature variables[] = {integer_with(ExtensionBit::variable, int8),
                                          floating_with(ExtensionBit::variable, fp16),
                                          floating_with(ExtensionBit::variable, fp32)};

// t the input, u the output.
inline constexpr Signature rescale[] = {integer(int8, int8),
                                        integer(int8, int16),
                                        integer(int8, int32),
                                        integer(int16, int8),
                                        integer(int16, int16),
                                        integer(int16, int32),
                                        integer(int32, int8),
                                        integer(int32, int16),
                                        integer(int32, int32),
                                        integer_with(ExtensionBit::int16, int48, int8),
                                        integer_with(ExtensionBit::int16, int48, int16),
                                        integer_with(ExtensionBit::int16, int48, int32)};

inline constexpr Extensions bf16_and_fp8e4m3 =
    Extensions{ExtensionBit::bf16} | ExtensionBit::fp8e4m3;
inline constexpr Extensions bf16_and_fp8e5m2 =
    Extensions{ExtensionBit::bf16} | ExtensionBit::fp8e5m2;

inline constexpr Signature cast[] = {integer(boolean, int8),
                                     integer(boolean, int16),
                                     integer(boolean, int32),
                                     integer(int8, boolean),
                                     integer(int8, int16),
                                     integer(int8, int32),
                                     integer(int16, boolean),
                                     integer(int16, int8),
                                     integer(int16, int32),
                                     integer(int32, boolean),
                                     integer(int32, int8),
                                     integer(int32, int16),
                                     floating(int8, fp16),
                                     floating(int8, fp32),
                                     floating(int16, fp16),
                                     floating(int16, fp32),
                                     floating(int32, fp16),
                                     floating(int32, fp32),
                                     floating(fp16, int8),
                                     floating(fp16, int16),
                                     floating(fp16, int32),
                                     floating(fp16, fp32),
                                     floating(fp32, int8),
                                     floating(fp32, int16),
                                     floating(fp32, int32),
                                     floating(fp32, fp16),
                                     floating_with(ExtensionBit::bf16, int8, bf16),
                                     floating_with(ExtensionBit::bf16, int16, bf16),
                                     floating_with(ExtensionBit::bf16, int32, bf16),
                                     floating_with(ExtensionBit::bf16, bf16, int8),
                                     floating_with(ExtensionBit::bf16, bf16, int16),
                                     floating_with(ExtensionBit::bf16, bf16, int32),
                                     floating_with(ExtensionBit::bf16, bf16, fp32),
                                     floating_with(ExtensionBit::bf16, fp32, bf16),
                                     floating_with(ExtensionBit::fp8e4m3, fp8e4m3, fp16),
                                     floating_with(ExtensionBit::fp8e4m3, fp8e4m3, fp32),
                                     floating_with(ExtensionBit::fp8e4m3, fp16, fp8e4m3),
                                     floating_with(ExtensionBit::fp8e4m3, fp32, fp8e4m3),
                                     floating_with(bf16_and_fp8e4m3, fp8e4m3, bf16),
                                     floating_with(bf16_and_fp8e4m3, bf16, fp8e4m3),
                                     floating_with(ExtensionBit::fp8e5m2, fp8e5m2, fp16),
                                     floating_with(ExtensionBit::fp8e5m2, fp8e5m2, fp32),
                                     floating_with(ExtensionBit::fp8e5m2, fp16, fp8e5m2),
                                     floating_with(ExtensionBit::fp8e5m2, fp32, fp8e5m2),
                                     floating_with(bf16_and_fp8e5m2, fp8e5m2, bf16),
                                     floating_with(bf16_and_fp8e5m2, bf16, fp8e5m2)};

}  // namespace virtaccel::tosa::signatures
