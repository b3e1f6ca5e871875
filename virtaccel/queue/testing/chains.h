#pragma once
// Good and bad chains for tests and fuzzers of every module that stands on a queue. The one thing
// to know: a good chain carries the same frame however it is cut; a bad one breaks exactly one rule
// of spec §5 step 1 or of virtio, and comes back with used length 0.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "virtaccel/base/vocabulary.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/raw_ends.h"

namespace virtaccel::queue::testing {

// Where a request lies in guest memory and where its response may go.
struct Frame {
    ByteRange request;
    ByteRange response;
};

// The links of one chain. Fixed room, more than any device walks.
class ChainPlan {
  public:
    static constexpr std::size_t links_max = 512;

    void add(const Link& link);

    void readable(ByteRange range) { add(range, 0); }

    void writable(ByteRange range) { add(range, descriptor_write); }

    [[nodiscard]] std::span<const Link> links() const { return {links_, count_}; }

  private:
    void add(ByteRange range, std::uint16_t flags);

    Link links_[links_max];
    std::size_t count_ = 0;
};

// One readable and one writable descriptor.
[[nodiscard]] ChainPlan whole(const Frame& frame);

// The request, or the response, in two descriptors of which the first has `bytes` bytes (more than
// 0 and less than all).
[[nodiscard]] ChainPlan request_cut(const Frame& frame, std::uint64_t bytes);
[[nodiscard]] ChainPlan response_cut(const Frame& frame, std::uint64_t bytes);

// At most `request_links` and `response_links` descriptors, all of one byte but the last of each.
[[nodiscard]] ChainPlan crumbled(const Frame& frame, std::size_t request_links,
                                 std::size_t response_links);

enum class ChainFault : std::uint8_t {
    no_readable,
    no_writable,
    readable_after_writable,
    empty_readable,
    empty_writable,
    loop_of_readable,
    loop_of_writable,
    loop_to_the_head,
    too_long,
    indirect,
    indirect_and_next,
    next_outside_the_table,
    readable_in_a_hole,
    writable_in_a_hole,
    readable_past_the_end,
    writable_past_the_end,
    readable_that_wraps,
    writable_that_wraps,
};

inline constexpr ChainFault chain_faults[] = {
    ChainFault::no_readable,
    ChainFault::no_writable,
    ChainFault::readable_after_writable,
    ChainFault::empty_readable,
    ChainFault::empty_writable,
    ChainFault::loop_of_readable,
    ChainFault::loop_of_writable,
    ChainFault::loop_to_the_head,
    ChainFault::too_long,
    ChainFault::indirect,
    ChainFault::indirect_and_next,
    ChainFault::next_outside_the_table,
    ChainFault::readable_in_a_hole,
    ChainFault::writable_in_a_hole,
    ChainFault::readable_past_the_end,
    ChainFault::writable_past_the_end,
    ChainFault::readable_that_wraps,
    ChainFault::writable_that_wraps,
};

[[nodiscard]] std::string_view name_of(ChainFault fault);

// What a bad chain needs to know of the machine.
struct Surroundings {
    std::uint64_t ram_end = 0;  // the first guest address behind the memory, which is a hole
    std::uint32_t chain_descriptors_max = 0;
};

// Lays a chain for `frame` with one fault, from descriptor `first` on, and returns its head. It
// takes at most `chain_descriptors_max` + 1 descriptors, so the table must have those.
std::uint16_t lay_bad_chain(RawDriver& driver, std::uint16_t first, const Frame& frame,
                            ChainFault fault, const Surroundings& surroundings);

}  // namespace virtaccel::queue::testing
