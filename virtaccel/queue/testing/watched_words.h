#pragma once
// The accesses to a ring's shared words as calls that a test answers: what ring_memory.h uses in
// their place in a program compiled with VIRTACCEL_WATCHED_WORDS, so that a test decides what
// happens between any two of them. The one thing to know: that program defines these functions, and
// compiles the ring's sources itself.

#include <cstddef>
#include <cstdint>

namespace virtaccel::queue::testing {

// The word of `bytes` bytes at `at`; `order` is one of __ATOMIC_RELAXED and __ATOMIC_ACQUIRE.
[[nodiscard]] std::uint64_t watched_load(const std::byte* at, std::size_t bytes, int order);

// Stores a word of `bytes` bytes at `at`; `order` is one of __ATOMIC_RELAXED and __ATOMIC_RELEASE.
void watched_store(std::byte* at, std::size_t bytes, std::uint64_t word, int order);

// What was stored before is visible before anything is loaded after.
void watched_fence();

}  // namespace virtaccel::queue::testing
