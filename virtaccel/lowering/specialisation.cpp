#include "virtaccel/lowering/specialisation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "virtaccel/base/checked.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/dynamic_operands.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::lowering {
namespace {

// Calls `visit` with the bytes of a key, piece by piece; ends early if it returns false.
template <class Visit>
bool each_piece(const SpecialisationParts& parts, Visit visit) {
    const auto number = [&visit](std::uint64_t value) {
        return visit(std::as_bytes(std::span{&value, 1}));
    };
    if (!number(parts.graph) || !visit(std::as_bytes(std::span{parts.target}))) {
        return false;
    }
    return std::ranges::all_of(parts.operands, [&](const tosa::SuppliedOperand& operand) {
        return number(operand.tensor) && number(operand.bytes.size()) && visit(operand.bytes);
    });
}

bool are_in_order(std::span<const tosa::SuppliedOperand> operands) {
    return std::ranges::adjacent_find(
               operands, [](tosa::TensorIndex a, tosa::TensorIndex b) { return a >= b; },
               &tosa::SuppliedOperand::tensor) == operands.end();
}

}  // namespace

std::uint64_t key_bytes(const SpecialisationParts& parts) {
    std::optional<std::uint64_t> bytes = 0;
    each_piece(parts, [&bytes](std::span<const std::byte> piece) {
        bytes = checked_add(*bytes, std::uint64_t{piece.size()});
        return bytes.has_value();
    });
    return bytes.value_or(std::numeric_limits<std::uint64_t>::max());
}

// FNV-1a with 64 bits (Fowler, Noll, Vo). A guest may well make two keys with one hash: then whole
// keys are compared, and there are few.
std::uint64_t hash_of(const SpecialisationParts& parts) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    each_piece(parts, [&hash](std::span<const std::byte> piece) {
        for (const std::byte byte : piece) {
            hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
        }
        return true;
    });
    return hash;
}

Result<SpecialisationKey> SpecialisationKey::make(const Memory& memory,
                                                  const SpecialisationParts& parts,
                                                  std::uint64_t bytes_max) {
    if (!are_in_order(parts.operands)) {
        return fail(Status::invalid_argument);
    }
    const std::uint64_t bytes = key_bytes(parts);
    if (bytes > bytes_max) {
        return fail(Status::resource_limit);
    }
    SpecialisationKey key;
    key.bytes_ = Array<std::byte>{memory, static_cast<std::size_t>(bytes)};
    if (key.bytes_.empty()) {
        return fail(Status::out_of_memory);
    }
    std::byte* target = key.bytes_.data();
    each_piece(parts, [&target](std::span<const std::byte> piece) {
        target = std::ranges::copy(piece, target).out;
        return true;
    });
    return key;
}

bool SpecialisationKey::is_of(const SpecialisationParts& parts) const {
    std::span<const std::byte> rest = bytes();
    return each_piece(parts,
                      [&rest](std::span<const std::byte> piece) {
                          if (piece.size() > rest.size() ||
                              !std::ranges::equal(piece, rest.first(piece.size()))) {
                              return false;
                          }
                          rest = rest.subspan(piece.size());
                          return true;
                      }) &&
           rest.empty();
}

bool operator==(const SpecialisationKey& a, const SpecialisationKey& b) {
    return std::ranges::equal(a.bytes(), b.bytes());
}

}  // namespace virtaccel::lowering
