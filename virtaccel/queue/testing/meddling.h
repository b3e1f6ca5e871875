#pragma once
// A ring whose other side writes at any time: while a `Meddling` lives, a fuzzer's input may have
// bytes of the shared memory changed before any word of the ring is read. The one thing to know: it
// is for programs compiled with VIRTACCEL_WATCHED_WORDS (watched_words.h), and there is one at a
// time.

#include <cstddef>
#include <span>

#include "virtaccel/base/testing/choices.h"

namespace virtaccel::queue::testing {

class Meddling {
  public:
    // Both outlive this. Accesses outside of `shared` end the program.
    Meddling(virtaccel::testing::Choices& choices, std::span<std::byte> shared);
    Meddling(const Meddling&) = delete;
    Meddling& operator=(const Meddling&) = delete;
    ~Meddling();

    // The word of `bytes` bytes at `at` is about to be read.
    void before_load(const std::byte* at, std::size_t bytes);

    // That `bytes` bytes at `at` are the other side's to see.
    void expect_inside(const std::byte* at, std::size_t bytes) const;

  private:
    virtaccel::testing::Choices& choices_;
    std::span<std::byte> shared_;
};

}  // namespace virtaccel::queue::testing
