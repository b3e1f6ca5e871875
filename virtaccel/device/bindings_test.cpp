#include "virtaccel/device/bindings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {
namespace {

using Slots = std::vector<std::uint32_t>;

std::vector<wire::Binding> bindings_of(const Slots& slots) {
    std::vector<wire::Binding> bindings(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        bindings[i].buffer_id = BufferId{slots[i] + 1};
        bindings[i].bytes = 1;
        bindings[i].slot = slots[i];
        bindings[i].access = 1;
    }
    return bindings;
}

Answer fetch(BindingScratch& scratch, std::vector<wire::Binding> bindings, Lease lease = {}) {
    const Piece piece{reinterpret_cast<std::byte*>(bindings.data()),
                      bindings.size() * sizeof(wire::Binding)};
    Reader reader(PieceList::of(std::span{&piece, 1}, lease));
    return scratch.fetch(reader, static_cast<std::uint32_t>(bindings.size()), {});
}

// The slots as the scratch walks them, checking that each binding is the one of its slot.
Slots walk(const BindingScratch& scratch) {
    Slots slots;
    scratch.in_slot_order([&](const wire::Binding& binding, std::uint32_t index) {
        EXPECT_EQ(index, slots.size());
        EXPECT_EQ(binding.buffer_id.raw, std::uint64_t{binding.slot} + 1);
        slots.push_back(binding.slot);
        return true;
    });
    return slots;
}

void expect_sorted_walk(Slots slots) {
    BindingScratch scratch(host::heap(), 4096);
    ASSERT_TRUE(scratch.ready());
    ASSERT_TRUE(fetch(scratch, bindings_of(slots)).ok());
    std::ranges::sort(slots);
    EXPECT_EQ(walk(scratch), slots);
}

TEST(BindingScratch, walks_bindings_in_slot_order_whatever_order_they_came_in) {
    std::mt19937_64 random(1);
    for (const std::size_t count : {1U, 2U, 3U, 47U, 48U, 49U, 300U, 4096U}) {
        Slots slots(count);
        std::iota(slots.begin(), slots.end(), 5U);
        expect_sorted_walk(slots);
        std::ranges::reverse(slots);
        expect_sorted_walk(slots);
        std::ranges::shuffle(slots, random);
        expect_sorted_walk(slots);
    }
}

TEST(BindingScratch, sorts_slots_that_differ_in_any_byte) {
    std::mt19937_64 random(2);
    for (const unsigned shift : {0U, 8U, 16U, 24U}) {
        Slots slots(200);
        std::iota(slots.begin(), slots.end(), 0U);
        std::ranges::transform(slots, slots.begin(), [=](auto slot) { return slot << shift; });
        std::ranges::shuffle(slots, random);
        expect_sorted_walk(slots);
    }
    Slots wide;
    for (int i = 0; i < 1000; ++i) {
        wide.push_back(static_cast<std::uint32_t>(random()));
    }
    std::ranges::sort(wide);
    wide.erase(std::ranges::unique(wide).begin(), wide.end());
    std::ranges::shuffle(wide, random);
    expect_sorted_walk(wide);
}

TEST(BindingScratch, refuses_a_slot_that_stands_twice_anywhere) {
    BindingScratch scratch(host::heap(), 4096);
    for (const std::size_t count : {2U, 3U, 48U, 200U}) {
        for (std::size_t twin = 1; twin < count; ++twin) {
            Slots slots(count);
            std::iota(slots.begin(), slots.end(), 0U);
            slots[twin] = slots[0];
            EXPECT_EQ(fetch(scratch, bindings_of(slots)).status(), Status::invalid_argument);
            std::ranges::reverse(slots);
            EXPECT_EQ(fetch(scratch, bindings_of(slots)).status(), Status::invalid_argument);
        }
    }
}

TEST(BindingScratch, judges_each_binding_before_it_looks_for_duplicates) {
    BindingScratch scratch(host::heap(), 16);
    auto bindings = bindings_of({1, 1, 2});
    bindings[2].access = 4;
    EXPECT_EQ(fetch(scratch, bindings).status(), Status::invalid_argument);
    bindings = bindings_of({1, 2, 3});
    bindings[1].reserved.bytes[2] = 1;
    EXPECT_EQ(fetch(scratch, bindings).status(), Status::invalid_argument);
}

TEST(BindingScratch, stops_a_walk_that_says_so) {
    BindingScratch scratch(host::heap(), 16);
    for (const auto& slots : {Slots{1, 2, 3}, Slots{3, 2, 1}, Slots{2, 3, 1}}) {
        ASSERT_TRUE(fetch(scratch, bindings_of(slots)).ok());
        int visits = 0;
        scratch.in_slot_order([&](const wire::Binding&, std::uint32_t) { return ++visits < 2; });
        EXPECT_EQ(visits, 2);
    }
}

TEST(BindingScratch, is_silent_about_bytes_whose_lease_has_ended) {
    BindingScratch scratch(host::heap(), 16);
    const std::uint32_t epoch = 2;
    const auto answer = fetch(scratch, bindings_of({1}), {.live = &epoch, .epoch = 1});
    EXPECT_TRUE(answer.silent());
}

}  // namespace
}  // namespace virtaccel::device
