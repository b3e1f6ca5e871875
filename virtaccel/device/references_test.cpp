#include "virtaccel/device/references.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/id.h"
#include "virtaccel/device/bounded_memory.h"
#include "virtaccel/device/entry.h"

namespace virtaccel::device {
namespace {

struct Buffers {
    explicit Buffers(std::size_t count) : entries(count) {
        for (auto& entry : entries) {
            references.push_back({&entry});
        }
    }

    [[nodiscard]] bool all_have(std::uint32_t users) const {
        return std::ranges::all_of(entries, [=](auto& entry) { return entry.users == users; });
    }

    std::vector<Entry<BufferKind>> entries;
    std::vector<Reference> references;
};

TEST(References, count_one_user_for_each_binding_of_any_number) {
    ReferencePool pool(host::heap());
    for (const std::size_t count : {1U, 3U, 4U, 5U, 19U, 20U, 64U, 500U, 4096U}) {
        Buffers buffers(count);
        References references;
        ASSERT_TRUE(pool.reserve(count));
        pool.retain(references, buffers.references);
        EXPECT_TRUE(buffers.all_have(1)) << count;
        pool.let_go(references);
        EXPECT_TRUE(buffers.all_have(0)) << count;
        EXPECT_EQ(references.count, 0U);
    }
}

TEST(References, count_a_buffer_as_often_as_it_is_bound) {
    ReferencePool pool(host::heap());
    Buffers buffers(1);
    const std::vector<Reference> same(40, buffers.references[0]);
    References references;
    ASSERT_TRUE(pool.reserve(same.size()));
    pool.retain(references, same);
    EXPECT_EQ(buffers.entries[0].users, 40U);
    pool.let_go(references);
    EXPECT_EQ(buffers.entries[0].users, 0U);
}

TEST(References, take_no_memory_once_the_pool_is_warm) {
    BoundedMemory bounded(host::heap(), std::uint64_t{64} << 10U);
    ReferencePool pool(bounded.memory());
    Buffers buffers(256);
    std::array<References, 2> held;
    for (auto& references : held) {
        ASSERT_TRUE(pool.reserve(buffers.references.size()));
        pool.retain(references, buffers.references);
    }
    for (int i = 0; i < 1000; ++i) {
        References& references = held[static_cast<std::size_t>(i) % held.size()];
        pool.let_go(references);
        ASSERT_TRUE(pool.reserve(buffers.references.size()));
        pool.retain(references, buffers.references);
    }
    std::ranges::for_each(held, [&](References& references) { pool.let_go(references); });
    EXPECT_TRUE(buffers.all_have(0));
}

TEST(References, are_refused_without_memory_for_their_blocks) {
    BoundedMemory bounded(host::heap(), 100);
    ReferencePool pool(bounded.memory());
    EXPECT_TRUE(pool.reserve(4));
    EXPECT_FALSE(pool.reserve(5));
}

}  // namespace
}  // namespace virtaccel::device
