// What happens when memory ends: each allocation fails once, for every entry function.

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/validate.h"

namespace {

// Allocations until one fails; zero for never.
std::size_t allocations_left = 0;

}  // namespace

// Not inlined: a compiler that sees both halves takes them for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    if (allocations_left == 1) {
        allocations_left = 0;
        throw std::bad_alloc{};
    }
    allocations_left -= allocations_left == 0 ? 0 : 1;
    // NOTIDY(banned_words): operator new cannot be written in terms of itself.
    void* block = std::malloc(bytes == 0 ? 1 : bytes);
    if (block == nullptr) {
        throw std::bad_alloc{};
    }
    return block;
}

[[gnu::noinline]] void operator delete(void* block) noexcept {
    std::free(block);
}

[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}

namespace virtaccel::tosa {
namespace {

// Calls `run` with the first, second, ... allocation failing, until none does any more. Returns how
// many did.
template <class Run>
std::size_t fail_each(Run run) {
    for (std::size_t allocation = 1;; ++allocation) {
        allocations_left = allocation;
        const auto result = run();
        const bool failed = allocations_left == 0;
        allocations_left = 0;
        if (!failed) {
            EXPECT_TRUE(result);
            return allocation - 1;
        }
        EXPECT_EQ(result.error().status, Status::out_of_memory) << allocation;
    }
}

TEST(Memory, that_ends_is_answered_by_verify_and_analyze) {
    const std::vector<std::byte> bytes = testing::small_network().finish().value();
    EXPECT_GT(fail_each([&bytes] { return verify(bytes); }), 5U);
    const Graph graph = verify(bytes).value();
    EXPECT_GT(fail_each([&graph] { return analyze(graph); }), 3U);
    EXPECT_GT(fail_each([&graph] { return analyze_for(graph, target_of(graph)); }), 8U);
}

TEST(Memory, is_not_needed_to_validate) {
    const std::vector<std::byte> bytes = testing::small_network().finish().value();
    const Graph graph = verify(bytes).value();
    EXPECT_EQ(fail_each([&graph] { return validate_for(graph, target_of(graph)); }), 0U);
}

}  // namespace
}  // namespace virtaccel::tosa
