#pragma once
// An attribute as a flatbuffer's table; the other way of decode_attribute.h. Inside `tosa` only.

#include <span>
#include <string>

#include <flatbuffers/buffer.h>
#include <flatbuffers/flatbuffer_builder.h>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {

// The attribute table of `op`. An `attribute` of another kind is written as if it held zeros.
[[nodiscard]] flatbuffers::Offset<void> encode_attribute(flatbuffers::FlatBufferBuilder& builder,
                                                         Op op, const Attribute& attribute,
                                                         std::span<const std::string> branches);

}  // namespace virtaccel::tosa
