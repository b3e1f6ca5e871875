#include "virtaccel/device/bounded_memory.h"

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/memory.h"

namespace virtaccel::device {
namespace {

TEST(BoundedMemory, gives_no_more_than_its_bound_and_gets_it_back) {
    BoundedMemory bounded(host::heap(), 100);
    const Memory memory = bounded.memory();
    char* const first = memory.make_array<char>(60);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(memory.make_array<char>(41), nullptr);
    char* const second = memory.make_array<char>(40);
    ASSERT_NE(second, nullptr);
    memory.release_array(first, 60);
    char* const third = memory.make_array<char>(60);
    EXPECT_NE(third, nullptr);
    memory.release_array(second, 40);
    memory.release_array(third, 60);
}

TEST(BoundedMemory, charges_nothing_when_its_source_refuses) {
    const Memory empty{.allocate = [](void*, auto, auto) -> void* { return nullptr; },
                       .release = [](void*, void*, auto, auto) {}};
    BoundedMemory bounded(empty, 100);
    EXPECT_EQ(bounded.memory().make_array<char>(100), nullptr);
    EXPECT_EQ(bounded.memory().make_array<char>(100), nullptr);
}

}  // namespace
}  // namespace virtaccel::device
