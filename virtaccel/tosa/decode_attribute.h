#pragma once
// The attribute table of a flatbuffer's operator, decoded and with its vectors' lengths checked.
// Inside `tosa` only.

#include <cstdint>
#include <string_view>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/names.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace tosa {
struct TosaOperator;
}  // namespace tosa

namespace virtaccel::tosa {

// The blocks an operator may name: by their region's name, which stands for its first block, or by
// their own.
struct BlockNames {
    NameIndex regions;
    NameIndex blocks;

    [[nodiscard]] std::uint32_t find(std::string_view name) const;
};

// The operator that a table means. A converter in use writes VARIABLE_READ and VARIABLE_WRITE as
// IDENTITY with their attribute.
[[nodiscard]] Op op_of(const ::tosa::TosaOperator& source);

// The attribute of `op`, which is op_of(source) and known. Refuses a missing attribute, one of
// another operator, and lists of a wrong length; the sentence is a clause without its operator.
[[nodiscard]] Checked<Attribute> decode_attribute(const ::tosa::TosaOperator& source, Op op,
                                                  const BlockNames& blocks);

}  // namespace virtaccel::tosa
