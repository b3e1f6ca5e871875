#include "virtaccel/backend/pool.h"

#include <cstddef>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/testing/memory.h"

namespace virtaccel::backend {

namespace {

struct Item {
    int value = 7;
};

TEST(Pool, gives_each_object_to_one_user) {
    Pool<Item> pool{host::heap()};
    std::set<Item*> taken;
    for (std::size_t i = 0; i < 5 * Pool<Item>::objects_per_chunk; ++i) {
        Item* const item = pool.take();
        ASSERT_NE(item, nullptr);
        EXPECT_EQ(item->value, 7);
        EXPECT_TRUE(taken.insert(item).second);
    }
}

TEST(Pool, returns_an_object_as_its_last_user_left_it) {
    Pool<Item> pool{host::heap()};
    Item* const first = pool.take();
    first->value = 42;
    pool.give(first);
    Item* const second = pool.take();
    EXPECT_EQ(second, first);
    EXPECT_EQ(second->value, 42);
}

TEST(Pool, allocates_nothing_in_steady_state_and_releases_all) {
    testing::CountingMemory memory{host::heap()};
    {
        Pool<Item> pool{memory.memory()};
        std::vector<Item*> items(100);
        for (int round = 0; round < 10; ++round) {
            for (Item*& item : items) {
                item = pool.take();
            }
            for (Item* const item : items) {
                pool.give(item);
            }
        }
        EXPECT_EQ(memory.granted(), 4U);
    }
    EXPECT_EQ(memory.live_blocks(), 0U);
}

TEST(Pool, has_nothing_to_give_when_the_memory_refuses) {
    testing::CountingMemory memory{host::heap()};
    Pool<Item> pool{memory.memory()};
    memory.refuse_after(0);
    EXPECT_EQ(pool.take(), nullptr);
    memory.refuse_nothing();
    EXPECT_NE(pool.take(), nullptr);
}

TEST(Pool, shows_every_object_in_use_or_not) {
    Pool<Item> pool{host::heap()};
    for (std::size_t i = 0; i < Pool<Item>::objects_per_chunk + 1; ++i) {
        pool.take()->value = 1;
    }
    std::size_t used = 0;
    std::size_t all = 0;
    pool.each([&](const Item& item) {
        used += item.value == 1 ? 1 : 0;
        ++all;
    });
    EXPECT_EQ(used, Pool<Item>::objects_per_chunk + 1);
    EXPECT_EQ(all, 2 * Pool<Item>::objects_per_chunk);
}

}  // namespace

}  // namespace virtaccel::backend
