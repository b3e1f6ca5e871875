#include "virtaccel/queue/testing/meddling.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "virtaccel/base/panic.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/queue/testing/watched_words.h"

namespace virtaccel::queue::testing {

namespace {

// A global, since an access has no argument by which it could find it.
Meddling* meddling = nullptr;

}  // namespace

Meddling::Meddling(virtaccel::testing::Choices& choices, std::span<std::byte> shared)
    : choices_(choices), shared_(shared) {
    VIRTACCEL_CHECK(meddling == nullptr);
    meddling = this;
}

Meddling::~Meddling() {
    meddling = nullptr;
}

void Meddling::expect_inside(const std::byte* at, std::size_t bytes) const {
    VIRTACCEL_CHECK(at >= shared_.data() && at + bytes <= shared_.data() + shared_.size());
}

void Meddling::before_load(const std::byte* at, std::size_t bytes) {
    expect_inside(at, bytes);
    const auto word = shared_.subspan(static_cast<std::size_t>(at - shared_.data()), bytes);
    switch (choices_.below(8)) {
        case 5:
            for (std::byte& byte : word) {
                byte = static_cast<std::byte>(choices_.byte());
            }
            return;
        case 6: {
            const auto bit = choices_.below(static_cast<std::uint32_t>(8 * bytes));
            word[bit / 8] ^= std::byte{1} << (bit % 8);
            return;
        }
        case 7: {
            const auto where = static_cast<std::size_t>(choices_.number(2));
            shared_[where % shared_.size()] = static_cast<std::byte>(choices_.byte());
            return;
        }
        default:
            return;
    }
}

std::uint64_t watched_load(const std::byte* at, std::size_t bytes, int /*order*/) {
    if (meddling != nullptr) {
        meddling->before_load(at, bytes);
    }
    std::uint64_t word = 0;
    std::memcpy(&word, at, bytes);
    return word;
}

void watched_store(std::byte* at, std::size_t bytes, std::uint64_t word, int /*order*/) {
    if (meddling != nullptr) {
        meddling->expect_inside(at, bytes);
    }
    std::memcpy(at, &word, bytes);
}

void watched_fence() {}

}  // namespace virtaccel::queue::testing
