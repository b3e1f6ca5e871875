#include "virtaccel/device/object_table.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/entry.h"
#include "virtaccel/device/ids.h"

namespace virtaccel::device {
namespace {

using Table = ObjectTable<QueueKind>;

class TableTest : public ::testing::Test {
  public:
    QueueId add(Table& table) {
        const auto vacant = table.reserve();
        EXPECT_TRUE(vacant.has_value());
        ++serial_;
        return table.occupy(*vacant, serial_, backend::QueueHandle{.word = serial_}).id();
    }

  private:
    std::uint64_t serial_ = 0;
};

TEST_F(TableTest, finds_what_it_holds_by_the_whole_id) {
    Table table(host::heap(), 10);
    const auto id = add(table);
    ASSERT_TRUE(table.find(id).has_value());
    EXPECT_EQ((*table.find(id))->handle.word, 1U);
    for (unsigned bit = 0; bit < 64; ++bit) {
        EXPECT_EQ(table.find({id.raw ^ (std::uint64_t{1} << bit)}).error(), Status::stale_object);
    }
}

TEST_F(TableTest, refuses_ids_of_slots_that_do_not_exist) {
    Table table(host::heap(), 10);
    EXPECT_FALSE(table.find({make_raw_id(1, 1)}).has_value());
    EXPECT_FALSE(table.find({make_raw_id(1, 0)}).has_value());
    EXPECT_FALSE(table.find({~std::uint64_t{0}}).has_value());
}

TEST_F(TableTest, gives_a_vacated_slot_away_under_another_id) {
    Table table(host::heap(), 10);
    const auto first = add(table);
    add(table);
    table.vacate(*table.find(first));
    const auto third = add(table);
    EXPECT_EQ(slot_of(third.raw), slot_of(first.raw));
    EXPECT_FALSE(table.find(first).has_value());
    EXPECT_TRUE(table.find(third).has_value());
    EXPECT_EQ(table.size(), 2U);
}

TEST_F(TableTest, keeps_a_buried_slot_out_of_use_until_it_is_cleared) {
    Table table(host::heap(), 1);
    const auto id = add(table);
    table.bury(*table.find(id));
    EXPECT_FALSE(table.find(id).has_value());
    EXPECT_EQ(table.reserve().error(), Status::resource_limit);
    table.clear();
    EXPECT_TRUE(table.reserve().has_value());
}

TEST_F(TableTest, never_moves_an_entry_while_it_grows) {
    Table table(host::heap(), 3000);
    std::vector<QueueId> ids;
    std::vector<const Entry<QueueKind>*> places;
    for (int i = 0; i < 3000; ++i) {
        ids.push_back(add(table));
        places.push_back(&**table.find(ids.back()));
    }
    EXPECT_EQ(table.reserve().error(), Status::resource_limit);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(&**table.find(ids[i]), places[i]);
    }
}

TEST_F(TableTest, visits_its_objects_in_slot_order_while_they_end) {
    Table table(host::heap(), 600);
    std::vector<QueueId> ids;
    for (int i = 0; i < 600; ++i) {
        ids.push_back(add(table));
    }
    table.vacate(*table.find(ids[5]));
    std::vector<QueueId> seen;
    table.for_each([&](Live<QueueKind> object) {
        seen.push_back(object.id());
        table.vacate(object);
    });
    ids.erase(ids.begin() + 5);
    EXPECT_EQ(seen, ids);
    EXPECT_EQ(table.size(), 0U);
}

TEST_F(TableTest, forgets_everything_when_it_is_cleared) {
    Table table(host::heap(), 300);
    const auto old = add(table);
    for (int i = 1; i < 300; ++i) {
        add(table);
    }
    table.clear();
    EXPECT_FALSE(table.find(old).has_value());
    const auto fresh = add(table);
    EXPECT_EQ(slot_of(fresh.raw), slot_of(old.raw));
    EXPECT_FALSE(table.find(old).has_value());
    int count = 0;
    table.for_each([&](Live<QueueKind> /*object*/) { ++count; });
    EXPECT_EQ(count, 1);
}

TEST_F(TableTest, clamps_its_room_to_what_slots_can_name) {
    Table table(host::heap(), std::uint64_t{1} << 40U);
    for (std::uint32_t i = 0; i < slots_max; ++i) {
        const auto vacant = table.reserve();
        ASSERT_TRUE(vacant.has_value());
        (void)table.occupy(*vacant, 1, {});
    }
    EXPECT_EQ(table.reserve().error(), Status::resource_limit);
    EXPECT_TRUE(table.find({make_raw_id(1, slots_max)}).has_value());
}

TEST_F(TableTest, says_out_of_memory_and_goes_on_once_there_is_some) {
    struct Tap {
        bool open = true;
    } tap;

    const Memory memory{.state = &tap,
                        .allocate = [](void* state, auto bytes, auto alignment) -> void* {
                            const Memory heap = host::heap();
                            return static_cast<Tap*>(state)->open
                                       ? heap.allocate(heap.state, bytes, alignment)
                                       : nullptr;
                        },
                        .release =
                            [](void*, void* block, auto bytes, auto alignment) {
                                const Memory heap = host::heap();
                                heap.release(heap.state, block, bytes, alignment);
                            }};
    Table table(memory, 10);
    ASSERT_TRUE(table.has_directory());
    tap.open = false;
    EXPECT_EQ(table.reserve().error(), Status::out_of_memory);
    EXPECT_FALSE(Table(memory, 10).has_directory());
    tap.open = true;
    EXPECT_TRUE(table.reserve().has_value());
}

}  // namespace
}  // namespace virtaccel::device
