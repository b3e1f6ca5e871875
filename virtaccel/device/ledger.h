#pragma once
// The real bytes that the guest makes the host spend, against the host's budget, and what is in
// quarantine (spec §6). A charge ends only when a release has succeeded or its object is
// quarantined.

#include <cstdint>

#include "virtaccel/device/options.h"

namespace virtaccel::device {

// One budget. Charges and reservations together never exceed it.
class Account {
  public:
    explicit Account(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

    [[nodiscard]] std::uint64_t charged_bytes() const { return charged_bytes_; }

    [[nodiscard]] bool affords(std::uint64_t bytes) const {
        return bytes <= bytes_max_ - charged_bytes_ - reserved_bytes_;
    }

    // Charges what the account affords.
    void charge(std::uint64_t bytes);

    // Ends a charge; false if there was none that large: the books contradict themselves.
    [[nodiscard]] bool refund(std::uint64_t bytes);

    // Holds room for a charge that may come, and gives it up.
    void reserve(std::uint64_t bytes);
    void unreserve(std::uint64_t bytes);

    void clear_reservations() { reserved_bytes_ = 0; }

    void clear_charges() { charged_bytes_ = 0; }

  private:
    std::uint64_t bytes_max_;
    std::uint64_t charged_bytes_ = 0;
    std::uint64_t reserved_bytes_ = 0;
};

struct Ledger {
    explicit Ledger(const ResourcePolicy& policy)
        : buffers(policy.buffer_bytes_max), programs(policy.program_resident_bytes_max) {}

    Account buffers;
    Account programs;
    Tally quarantined;
};

}  // namespace virtaccel::device
