#include "virtaccel/mock/reference_artifact.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"

namespace virtaccel::mock {

namespace {

constexpr ReferenceProgram copy{
    .operation = Operation::copy, .first_slot = 0x01020304, .second_slot = 9};

std::array<std::byte, reference_artifact_bytes> bytes_of(
    const std::array<std::uint8_t, reference_artifact_bytes>& values) {
    std::array<std::byte, reference_artifact_bytes> bytes{};
    std::ranges::transform(values, bytes.begin(), [](std::uint8_t v) { return std::byte{v}; });
    return bytes;
}

// The artifact of `program` with one byte changed, and what becomes of it.
Status refusal_with(const ReferenceProgram& program, std::size_t offset, std::uint8_t value) {
    auto bytes = encode(program);
    bytes[offset] = std::byte{value};
    const auto decoded = decode(bytes);
    return decoded ? Status::ok : decoded.error();
}

Status refusal_of(const ReferenceProgram& program) {
    const auto decoded = decode(encode(program));
    return decoded ? Status::ok : decoded.error();
}

TEST(ReferenceArtifact, has_the_layout_of_the_fixture) {
    EXPECT_EQ(encode(copy), bytes_of({'V', 'A', 'M', 'K', 1, 0, 1, 1, 4, 3, 2, 1,
                                      9,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(encode({.operation = Operation::exclusive_or, .first_slot = 2, .operand = 0xa5}),
              bytes_of({'V',  'A',  'M',  'K',  1,    0, 3, 1, 2, 0, 0, 0,
                        0xff, 0xff, 0xff, 0xff, 0xa5, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(ReferenceArtifact, comes_back_as_it_was_encoded) {
    for (const ReferenceProgram& program :
         {ReferenceProgram{.operation = Operation::barrier, .first_slot = 3}, copy,
          ReferenceProgram{.operation = Operation::fill, .first_slot = 0, .operand = 255},
          ReferenceProgram{.operation = Operation::exclusive_or, .first_slot = 7, .operand = 1}}) {
        const auto decoded = decode(encode(program));
        ASSERT_TRUE(decoded);
        EXPECT_EQ(*decoded, program);
    }
}

TEST(ReferenceArtifact, refuses_every_other_length) {
    std::array<std::byte, 32> bytes{};
    std::ranges::copy(encode(copy), bytes.begin());
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        const auto decoded = decode(std::span{bytes}.first(size));
        EXPECT_EQ(decoded.has_value(), size == reference_artifact_bytes);
        EXPECT_TRUE(decoded || decoded.error() == Status::invalid_argument);
    }
}

TEST(ReferenceArtifact, refuses_another_magic_version_and_binding_abi) {
    for (std::size_t offset = 0; offset < 4; ++offset) {
        EXPECT_EQ(refusal_with(copy, offset, 'x'), Status::invalid_argument);
    }
    EXPECT_EQ(refusal_with(copy, 4, 2), Status::incompatible);
    EXPECT_EQ(refusal_with(copy, 4, 0), Status::incompatible);
    EXPECT_EQ(refusal_with(copy, 5, 1), Status::incompatible);
    EXPECT_EQ(refusal_with(copy, 7, 0), Status::incompatible);
    EXPECT_EQ(refusal_with(copy, 7, 2), Status::incompatible);
}

TEST(ReferenceArtifact, refuses_an_unknown_operation) {
    EXPECT_EQ(refusal_with(copy, 6, 4), Status::unsupported);
    EXPECT_EQ(refusal_with(copy, 6, 255), Status::unsupported);
}

TEST(ReferenceArtifact, refuses_reserved_bytes_that_are_set) {
    for (std::size_t offset = 17; offset < reference_artifact_bytes; ++offset) {
        EXPECT_EQ(refusal_with(copy, offset, 1), Status::invalid_argument);
    }
}

TEST(ReferenceArtifact, refuses_slots_that_do_not_suit_the_operation) {
    EXPECT_EQ(refusal_of({.operation = Operation::copy, .first_slot = 1, .second_slot = 1}),
              Status::invalid_argument);
    EXPECT_EQ(refusal_of({.operation = Operation::copy, .first_slot = 1, .second_slot = no_slot}),
              Status::invalid_argument);
    EXPECT_EQ(refusal_of({.operation = Operation::copy, .first_slot = no_slot, .second_slot = 1}),
              Status::invalid_argument);
    for (const auto operation : {Operation::barrier, Operation::fill, Operation::exclusive_or}) {
        EXPECT_EQ(refusal_of({.operation = operation, .first_slot = 1, .second_slot = 2}),
                  Status::invalid_argument);
        EXPECT_EQ(refusal_of({.operation = operation, .first_slot = no_slot}),
                  Status::invalid_argument);
    }
}

TEST(ReferenceArtifact, refuses_an_operand_where_none_is_used) {
    EXPECT_EQ(refusal_with(copy, 16, 1), Status::invalid_argument);
    EXPECT_EQ(refusal_of({.operation = Operation::barrier, .operand = 1}),
              Status::invalid_argument);
}

}  // namespace

}  // namespace virtaccel::mock
