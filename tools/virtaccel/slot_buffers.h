#pragma once
// What both ways of running a model ask of a buffer behind one of its slots.

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "tools/virtaccel/model.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::cli {

// Where kernels read and write whole vectors.
inline constexpr std::uint64_t slot_alignment = 64;

// The nearest memory that a device with `capabilities` offers.
[[nodiscard]] constexpr MemoryDomain nearest_domain(Capabilities capabilities) {
    for (const auto domain : {MemoryDomain::host, MemoryDomain::shared}) {
        if (capabilities.has_all(capability_of(domain))) {
            return domain;
        }
    }
    return MemoryDomain::device;
}

[[nodiscard]] constexpr Usage slot_usage(const Model& model, std::size_t slot) {
    return slot < model.input_count
               ? Usage{UsageBit::transfer_destination} | UsageBit::program_input
               : Usage{UsageBit::transfer_source} | UsageBit::program_output;
}

[[nodiscard]] constexpr Access slot_access(const Model& model, std::size_t slot) {
    return slot < model.input_count ? Access::read : Access::write;
}

}  // namespace virtaccel::cli
