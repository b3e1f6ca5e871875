#include "virtaccel/tosa/operators.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

TEST(OperatorTable, has_a_row_for_each_of_the_75_operators) {
    EXPECT_EQ(operator_rows().size(), 75U);
    std::set<std::string_view> names;
    for (const OperatorRow& row : operator_rows()) {
        EXPECT_EQ(row_of(row.op), &row);
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_NE(row.shape, nullptr) << row.name;
        EXPECT_FALSE(row.signatures.empty()) << row.name;
        EXPECT_LT(row.attribute, std::variant_size_v<Attribute>) << row.name;
    }
    EXPECT_EQ(row_of(Op::unknown), nullptr);
    EXPECT_EQ(row_of(static_cast<Op>(op_end)), nullptr);
}

TEST(OperatorTable, asks_for_constants_among_its_inputs_alone) {
    for (const OperatorRow& row : operator_rows()) {
        EXPECT_EQ(row.constant_inputs >> row.inputs.count, 0U) << row.name;
    }
}

// Each signature names the extensions of its types, and a profile that offers them.
TEST(OperatorTable, needs_the_extensions_of_its_types) {
    struct TypeNeed {
        DType dtype;
        ExtensionBit extension;
    };

    constexpr TypeNeed needs[] = {{DType::bf16, ExtensionBit::bf16},
                                  {DType::fp8e4m3, ExtensionBit::fp8e4m3},
                                  {DType::fp8e5m2, ExtensionBit::fp8e5m2},
                                  {DType::int4, ExtensionBit::int4},
                                  {DType::int48, ExtensionBit::int16}};
    for (const OperatorRow& row : operator_rows()) {
        for (const Signature& signature : row.signatures) {
            for (const TypeNeed& need : needs) {
                const bool has_type = std::ranges::count(signature.types, need.dtype) > 0;
                EXPECT_TRUE(!has_type || signature.needs.extensions.has(need.extension))
                    << row.name << " " << name_of(need.dtype);
            }
            EXPECT_FALSE(signature.needs.profiles.empty()) << row.name;
            Target target;
            target.profiles = signature.needs.profiles;
            target.extensions = signature.needs.extensions;
            EXPECT_TRUE(decode_target(encode_target(target))) << row.name;
        }
    }
}

TEST(OperatorTable, uses_every_variable_of_its_patterns) {
    for (const OperatorRow& row : operator_rows()) {
        for (std::size_t variable = 0; variable < 4; ++variable) {
            const char letter = static_cast<char>('t' + variable);
            const auto in = [letter](const OperandPattern& pattern) {
                return std::ranges::count(pattern.letters, letter) > 0;
            };
            const bool is_used = in(row.inputs) || in(row.outputs) || row.accumulator == letter;
            for (const Signature& signature : row.signatures) {
                EXPECT_TRUE(is_used || signature.types.at(variable) == DType::unknown ||
                            row.kind == OperatorClass::elementwise)
                    << row.name << " " << letter;
                EXPECT_TRUE(!is_used || signature.types.at(variable) != DType::unknown)
                    << row.name << " " << letter;
            }
        }
    }
}

TEST(OperandPattern, admits_open_ends) {
    const OperatorRow& concat = *row_of(Op::concat);
    EXPECT_FALSE(concat.inputs.admits(0));
    EXPECT_TRUE(concat.inputs.admits(1));
    EXPECT_TRUE(concat.inputs.admits(64));
    const OperatorRow& cond_if = *row_of(Op::cond_if);
    EXPECT_FALSE(cond_if.inputs.admits(0));
    EXPECT_TRUE(cond_if.inputs.admits(1));
    EXPECT_EQ(cond_if.inputs.letter(0), 'B');
    EXPECT_EQ(cond_if.inputs.letter(9), '?');
    EXPECT_FALSE(row_of(Op::add)->inputs.admits(3));
}

}  // namespace
}  // namespace virtaccel::tosa
