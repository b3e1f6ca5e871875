#include "virtaccel/guest/parted_load.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <utility>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/status.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/sending.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::guest {
namespace {

// Parts end on a multiple of this, so that the next one starts well aligned.
constexpr std::uint64_t part_alignment = 64;

// Whether a first part, which breaks no rule, was refused because nobody knows such artifacts.
bool is_foreign(const Failure& failure) {
    return failure.cause == Cause::answer &&
           (failure.status == Status::unsupported || failure.status == Status::incompatible ||
            failure.status == Status::invalid_argument);
}

}  // namespace

Outcome<PartedLoad> PartedLoad::make(const Client& client, const ProgramSpec& spec,
                                     const parts::Key& key, const Memory& memory) {
    constexpr auto op = wire::Opcode::load_program;
    const auto& identity = client.identity();
    const auto most = client.part_bytes_max();
    const auto aligned = most & ~(part_alignment - 1);
    const auto part_bytes = static_cast<std::size_t>(aligned == 0 ? most : aligned);
    if (spec.artifact.empty()) {
        return not_sent(op, Status::invalid_argument, Cause::request);
    }
    if (part_bytes == 0 || (identity && spec.artifact.size() > identity->limits.artifact_bytes)) {
        return not_sent(op, Status::resource_limit, Cause::request);
    }
    const auto count = ((spec.artifact.size() - 1) / part_bytes) + 1;
    if (identity && count >= identity->limits.programs_per_context) {
        return not_sent(op, Status::resource_limit, Cause::request);
    }
    Array<ProgramHandle> parts{memory, count};
    if (parts.empty()) {
        return not_sent(op, Status::out_of_memory, Cause::memory);
    }
    return PartedLoad{spec, key, part_bytes, std::move(parts)};
}

PartedLoad::PartedLoad(const ProgramSpec& spec, const parts::Key& key, std::size_t part_bytes,
                       Array<ProgramHandle> parts)
    : spec_(spec), key_(key), part_bytes_(part_bytes), parts_(std::move(parts)) {}

std::span<const std::byte> PartedLoad::next_bytes() const {
    const auto offset = loaded_ * part_bytes_;
    if (loaded_ == parts_.size()) {
        return {};
    }
    return spec_.artifact.subspan(offset, std::min(part_bytes_, spec_.artifact.size() - offset));
}

Outcome<void> PartedLoad::post(Client& client, Chain& chain, const ContextHandle& context,
                               std::span<const std::byte> bytes) const {
    if (loaded_ == parts_.size()) {
        return client.load_joined(chain, context,
                                  {.key = key_,
                                   .format = spec_.format,
                                   .target = spec_.target,
                                   .artifact_bytes = spec_.artifact.size(),
                                   .resident_bytes = spec_.resident_bytes});
    }
    return client.load_part(chain, context,
                            {.key = key_,
                             .total_bytes = spec_.artifact.size(),
                             .offset = loaded_ * part_bytes_,
                             .bytes = bytes});
}

void PartedLoad::take(Outcome<ProgramHandle> loaded) {
    if (!loaded) {
        failure_ = loaded.error();
        if (loaded_ == 0 && is_foreign(*failure_)) {
            failure_->cause = Cause::parts;
        }
    } else if (loaded_ < parts_.size()) {
        parts_[loaded_++] = *std::move(loaded);
    } else {
        program_ = *std::move(loaded);
    }
}

Outcome<ProgramHandle> PartedLoad::result() {
    VIRTACCEL_CHECK(is_over());
    if (failure_) {
        return std::unexpected{*failure_};
    }
    return std::move(*program_);
}

}  // namespace virtaccel::guest
