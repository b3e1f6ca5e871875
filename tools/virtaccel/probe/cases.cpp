#include "tools/virtaccel/probe/cases.h"

#include <array>
#include <span>
#include <string>

#include "adapters/stdio/framing.h"
#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/world.h"

namespace virtaccel::cli::probe {
namespace {

using adapters::stdio::ResetReply;

constexpr std::array table{
    Case{"device information", check_device_info},
    Case{"frames", check_frames},
    Case{"commands of one object", check_one_object_commands},
    Case{"object IDs", check_object_ids},
    Case{"contexts", check_contexts},
    Case{"queues", check_queues},
    Case{"buffers", check_allocations},
    Case{"buffers, order of checks", check_allocation_order},
    Case{"writes and reads", check_writes_and_reads},
    Case{"writes and reads refused", check_transfer_refusals},
    Case{"programs", check_programs},
    Case{"mock artifacts", check_artifacts},
    Case{"mock operations", check_operations},
    Case{"submissions, frame", check_submission_frames},
    Case{"submissions, objects", check_submission_objects},
    Case{"submissions, ranges and access", check_submission_ranges},
    Case{"objects that an event retains", check_retained_objects},
    Case{"events", check_events},
    Case{"resets", check_resets},
};

}  // namespace

std::span<const Case> all_cases() {
    return table;
}

void run(World& world, const Case& one) {
    Probe& probe = world.probe();
    probe.note(std::string{"case  "} + std::string{one.name});
    probe.resets("before the case", world.new_seed(), {ResetReply::reused, ResetReply::rebuilt});
    one.run(world);
}

void run_all(Probe& probe) {
    World world{probe};
    for (const Case& one : table) {
        if (probe.failure().empty()) {
            run(world, one);
        }
    }
}

}  // namespace virtaccel::cli::probe
