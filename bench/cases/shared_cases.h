#pragma once
// What the cases of both kinds of layer have in common: which submissions are measured, and what a
// reset gives up. The one thing to know: a `Rig` is the layer's own (device_rig.h, full_rig.h).

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "bench/cases/cases.h"
#include "bench/cases/fixture.h"
#include "bench/cases/meter.h"

namespace virtaccel::bench {

// Calls `submission(bindings, reversed)` for all that the layer can express.
template <class Submission>
void for_each_submission(const Layer& layer, Submission submission) {
    for (const std::uint32_t bindings : binding_counts) {
        if (bindings <= layer.bindings_max) {
            submission(bindings, false);
            submission(bindings, true);
        }
    }
}

[[nodiscard]] inline std::string submission_name(std::uint32_t bindings, bool reversed) {
    return fmt::format("submit_poll_destroy_{}{}", bindings, reversed ? "_reversed" : "");
}

// `make_mixed(rig)` makes the thousand mixed objects (fixture.h).
template <class Rig, class MakeMixed>
void measure_resets(Meter& meter, std::string_view layer, Rig& rig, MakeMixed make_mixed) {
    meter.measure_after(
        layer, "reset_1000_buffers",
        [&] {
            const auto context = rig.create_context();
            for (int i = 0; i < 1000; ++i) {
                (void)rig.allocate(context, 64);
            }
        },
        [&] { rig.reset(); });
    meter.measure_after(layer, "reset_1000_mixed", [&] { make_mixed(rig); }, [&] { rig.reset(); });
}

}  // namespace virtaccel::bench
