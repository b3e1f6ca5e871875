#include "host/memory.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "virtaccel/base/memory.h"

// A sanitizer's heap stops the program when it has nothing, unless it is told to answer null.
extern "C" const char*
__asan_default_options() {  // NOLINT(bugprone-*,cert-*,readability-*): theirs
    return "allocator_may_return_null=1";
}

extern "C" const char*
__tsan_default_options() {  // NOLINT(bugprone-*,cert-*,readability-*): theirs
    return "allocator_may_return_null=1";
}

namespace virtaccel::host {
namespace {

TEST(Heap, gives_blocks_of_the_alignment_asked_for) {
    const Memory memory = heap();
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void* block = memory.allocate(memory.state, 10, alignment);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
        memory.release(memory.state, block, 10, alignment);
    }
}

TEST(Heap, answers_null_when_it_has_nothing) {
    const Memory memory = heap();
    const std::size_t most = std::numeric_limits<std::ptrdiff_t>::max();
    EXPECT_EQ(memory.allocate(memory.state, most, 16), nullptr);
}

}  // namespace
}  // namespace virtaccel::host
