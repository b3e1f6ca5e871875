#pragma once
// All that a guest can find out about a device from outside, by topic, in the order of the
// protocol's chapters. The one thing to know: each case is a function of an empty device; one row
// each.

#include <span>
#include <string_view>

#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/world.h"

namespace virtaccel::cli::probe {

struct Case {
    std::string_view name;
    void (*run)(World& world);
};

void check_device_info(World& world);
void check_frames(World& world);
void check_one_object_commands(World& world);
void check_object_ids(World& world);
void check_contexts(World& world);
void check_queues(World& world);
void check_allocations(World& world);
void check_allocation_order(World& world);
void check_writes_and_reads(World& world);
void check_transfer_refusals(World& world);
void check_programs(World& world);
void check_artifacts(World& world);
void check_operations(World& world);
void check_submission_frames(World& world);
void check_submission_objects(World& world);
void check_submission_ranges(World& world);
void check_retained_objects(World& world);
void check_events(World& world);
void check_resets(World& world);

// Every case, in order.
[[nodiscard]] std::span<const Case> all_cases();

// Runs one case after a reset, and names it. The first case is run before any other.
void run(World& world, const Case& one);

// Runs every case. Stops early if the device does not answer any more.
void run_all(Probe& probe);

}  // namespace virtaccel::cli::probe
