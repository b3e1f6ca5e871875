#include "virtaccel/device/ledger.h"

#include <cstdint>

#include "virtaccel/base/panic.h"

namespace virtaccel::device {

void Account::charge(std::uint64_t bytes) {
    VIRTACCEL_CHECK(affords(bytes));
    charged_bytes_ += bytes;
}

bool Account::refund(std::uint64_t bytes) {
    if (bytes > charged_bytes_) {
        return false;
    }
    charged_bytes_ -= bytes;
    return true;
}

void Account::reserve(std::uint64_t bytes) {
    VIRTACCEL_CHECK(affords(bytes));
    reserved_bytes_ += bytes;
}

void Account::unreserve(std::uint64_t bytes) {
    VIRTACCEL_CHECK(bytes <= reserved_bytes_);
    reserved_bytes_ -= bytes;
}

}  // namespace virtaccel::device
