#include "virtaccel/queue/testing/chains.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include "virtaccel/base/panic.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/raw_ends.h"

namespace virtaccel::queue::testing {

namespace {

[[nodiscard]] ByteRange first_of(ByteRange range, std::uint64_t bytes) {
    return {.offset = range.offset, .bytes = bytes};
}

[[nodiscard]] ByteRange rest_of(ByteRange range, std::uint64_t bytes) {
    return {.offset = range.offset + bytes, .bytes = range.bytes - bytes};
}

// A readable and a writable descriptor with one of them moved away.
[[nodiscard]] ChainPlan moved(const Frame& frame, std::uint16_t which, ByteRange to) {
    Frame bad = frame;
    (which == descriptor_write ? bad.response : bad.request) = to;
    return whole(bad);
}

[[nodiscard]] ChainPlan too_long(const Frame& frame, std::size_t links) {
    ChainPlan plan;
    plan.readable(frame.request);
    for (std::size_t i = 1; i < links; ++i) {
        plan.writable(first_of(frame.response, 1));
    }
    return plan;
}

// The faults that links alone can have.
[[nodiscard]] ChainPlan bad_plan(const Frame& frame, ChainFault fault,
                                 const Surroundings& surroundings) {
    const ByteRange hole{.offset = surroundings.ram_end, .bytes = 16};
    const ByteRange past{.offset = surroundings.ram_end - 8, .bytes = std::uint64_t{1} << 30U};
    const ByteRange wrap{.offset = std::numeric_limits<std::uint64_t>::max() - 7, .bytes = 16};
    ChainPlan plan;
    switch (fault) {
        case ChainFault::no_readable:
            plan.writable(frame.response);
            return plan;
        case ChainFault::no_writable:
            plan.readable(frame.request);
            return plan;
        case ChainFault::readable_after_writable:
            plan.readable(first_of(frame.request, 1));
            plan.writable(frame.response);
            plan.readable(rest_of(frame.request, 1));
            return plan;
        case ChainFault::empty_readable:
            plan.readable(first_of(frame.request, 0));
            plan.readable(frame.request);
            plan.writable(frame.response);
            return plan;
        case ChainFault::empty_writable:
            plan = whole(frame);
            plan.writable(first_of(frame.response, 0));
            return plan;
        case ChainFault::too_long:
            return too_long(frame, surroundings.chain_descriptors_max + 1);
        case ChainFault::readable_in_a_hole:
            return moved(frame, 0, hole);
        case ChainFault::writable_in_a_hole:
            return moved(frame, descriptor_write, hole);
        case ChainFault::readable_past_the_end:
            return moved(frame, 0, past);
        case ChainFault::writable_past_the_end:
            return moved(frame, descriptor_write, past);
        case ChainFault::readable_that_wraps:
            return moved(frame, 0, wrap);
        case ChainFault::writable_that_wraps:
            return moved(frame, descriptor_write, wrap);
        default:
            return whole(frame);
    }
}

// The faults that take a descriptor's successor or flags.
void spoil(RawDriver& driver, std::uint16_t head, std::uint16_t second, ChainFault fault) {
    const auto lead = [&driver](std::uint16_t from, std::uint16_t to) {
        driver.change(from, [to](Descriptor& descriptor) {
            descriptor.flags |= descriptor_next;
            descriptor.next = to;
        });
    };
    switch (fault) {
        case ChainFault::loop_of_readable:
            return lead(head, head);
        case ChainFault::loop_of_writable:
            return lead(second, second);
        case ChainFault::loop_to_the_head:
            return lead(second, head);
        case ChainFault::next_outside_the_table:
            return lead(second, static_cast<std::uint16_t>(driver.ring().size));
        case ChainFault::indirect:
            return driver.change(
                second, [](Descriptor& descriptor) { descriptor.flags |= descriptor_indirect; });
        case ChainFault::indirect_and_next:
            return driver.change(
                head, [](Descriptor& descriptor) { descriptor.flags |= descriptor_indirect; });
        default:
            return;
    }
}

}  // namespace

void ChainPlan::add(const Link& link) {
    VIRTACCEL_CHECK(count_ < links_max);
    links_[count_++] = link;
}

void ChainPlan::add(ByteRange range, std::uint16_t flags) {
    VIRTACCEL_CHECK(range.bytes <= std::numeric_limits<std::uint32_t>::max());
    add(Link{
        .address = range.offset, .bytes = static_cast<std::uint32_t>(range.bytes), .flags = flags});
}

ChainPlan whole(const Frame& frame) {
    ChainPlan plan;
    plan.readable(frame.request);
    plan.writable(frame.response);
    return plan;
}

ChainPlan request_cut(const Frame& frame, std::uint64_t bytes) {
    ChainPlan plan;
    plan.readable(first_of(frame.request, bytes));
    plan.readable(rest_of(frame.request, bytes));
    plan.writable(frame.response);
    return plan;
}

ChainPlan response_cut(const Frame& frame, std::uint64_t bytes) {
    ChainPlan plan;
    plan.readable(frame.request);
    plan.writable(first_of(frame.response, bytes));
    plan.writable(rest_of(frame.response, bytes));
    return plan;
}

ChainPlan crumbled(const Frame& frame, std::size_t request_links, std::size_t response_links) {
    ChainPlan plan;
    const auto crumble = [](ByteRange range, std::size_t links, auto&& add) {
        const std::uint64_t crumbs = std::min<std::uint64_t>(links, range.bytes) - 1;
        for (std::uint64_t i = 0; i < crumbs; ++i) {
            add(first_of(rest_of(range, i), 1));
        }
        add(rest_of(range, crumbs));
    };
    crumble(frame.request, request_links, [&plan](ByteRange range) { plan.readable(range); });
    crumble(frame.response, response_links, [&plan](ByteRange range) { plan.writable(range); });
    return plan;
}

std::string_view name_of(ChainFault fault) {
    constexpr std::string_view names[] = {"no_readable",
                                          "no_writable",
                                          "readable_after_writable",
                                          "empty_readable",
                                          "empty_writable",
                                          "loop_of_readable",
                                          "loop_of_writable",
                                          "loop_to_the_head",
                                          "too_long",
                                          "indirect",
                                          "indirect_and_next",
                                          "next_outside_the_table",
                                          "readable_in_a_hole",
                                          "writable_in_a_hole",
                                          "readable_past_the_end",
                                          "writable_past_the_end",
                                          "readable_that_wraps",
                                          "writable_that_wraps"};
    static_assert(std::size(names) == std::size(chain_faults));
    return names[static_cast<std::size_t>(fault)];
}

std::uint16_t lay_bad_chain(RawDriver& driver, std::uint16_t first, const Frame& frame,
                            ChainFault fault, const Surroundings& surroundings) {
    const ChainPlan plan = bad_plan(frame, fault, surroundings);
    const std::uint16_t head = driver.lay(first, plan.links());
    const auto second = static_cast<std::uint16_t>((first + 1U) & (driver.ring().size - 1));
    spoil(driver, head, second, fault);
    return head;
}

}  // namespace virtaccel::queue::testing
