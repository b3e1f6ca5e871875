#include "backends/cpu/capabilities.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "backends/cpu/operators.h"
#include "virtaccel/lowering/capabilities.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu {

namespace {

using lowering::CapabilityDescriptor;
using tosa::DType;

void add_dtype(CapabilityDescriptor& descriptor, DType dtype) {
    const auto known =
        std::ranges::find(descriptor.dtypes, dtype, &lowering::DTypeCapability::dtype);
    if (dtype != DType::unknown && dtype != DType::shape && known == descriptor.dtypes.end()) {
        descriptor.dtypes.push_back({.dtype = dtype});
    }
}

// The types of a signature's operands, and what it needs of a target.
void add_signature(CapabilityDescriptor& descriptor, const tosa::OperatorRow& row,
                   const tosa::Signature& signature) {
    for (const tosa::OperandPattern* pattern : {&row.inputs, &row.outputs}) {
        for (std::uint32_t i = 0; i < pattern->count; ++i) {
            add_dtype(descriptor, type_of(pattern->letter(i), signature));
        }
    }
    descriptor.target.profiles = descriptor.target.profiles | signature.needs.profiles;
    descriptor.target.extensions = descriptor.target.extensions | signature.needs.extensions;
}

}  // namespace

std::vector<CapabilityDescriptor> capabilities() {
    CapabilityDescriptor descriptor;
    descriptor.name = "cpu";
    descriptor.target.profiles = {};
    for (const OperatorSupport& support : supported_operators()) {
        const tosa::OperatorRow& row = *tosa::row_of(support.op);
        for (const tosa::Signature& signature : row.signatures) {
            add_signature(descriptor, row, signature);
        }
        if (row.constant_inputs != 0) {
            descriptor.target.extensions =
                descriptor.target.extensions | tosa::ExtensionBit::dynamic;
        }
        if (support.op == tosa::Op::rescale) {
            descriptor.target.extensions = descriptor.target.extensions |
                                           tosa::ExtensionBit::doubleround |
                                           tosa::ExtensionBit::inexactround;
        }
        if (row.kind == tosa::OperatorClass::control) {
            descriptor.limits.regions_max = std::numeric_limits<std::uint32_t>::max();
            descriptor.limits.blocks_max = std::numeric_limits<std::uint32_t>::max();
        }
        descriptor.operators.push_back({.op = support.op});
    }
    descriptor.limits.runtime_conditions = lowering::RuntimeConditionSupport::all;
    std::vector<CapabilityDescriptor> descriptors;
    descriptors.push_back(std::move(descriptor));
    return descriptors;
}

}  // namespace virtaccel::backends::cpu
