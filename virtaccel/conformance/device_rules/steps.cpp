#include "virtaccel/conformance/device_rules/steps.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

Check need_program(const Stage& stage) {
    if (!stage.has_sample()) {
        return skipped("The subject supplies no program.");
    }
    return {};
}

Checked<Control*> need_control(Stage& stage) {
    VIRTACCEL_TRY(need_program(stage));
    Control* const control = stage.device_under_test().control();
    if (control == nullptr) {
        return skipped("The device runs elsewhere, where nothing can be held or made to fail.");
    }
    return control;
}

Checked<ProgramId> load_sample(Stage& stage, ContextId context) {
    return expect_id<ProgramKind>("LOAD_PROGRAM of the sample",
                                  stage.load(context, stage.sample().artifact));
}

Checked<EventId> submit(Stage& stage, const Scene& scene,
                        const std::vector<wire::Binding>& bindings, std::uint64_t timeout_ns) {
    return expect_id<EventKind>("SUBMIT", stage.submit(scene, bindings, timeout_ns));
}

Check finish(Stage& stage, EventId event) {
    VIRTACCEL_TRY(stage.wait_for_completion(event));
    return stage.caller().destroy(event);
}

Check submit_and_finish(Stage& stage, const Scene& scene) {
    VIRTACCEL_TRY_ASSIGN(const EventId event, stage.submit(scene));
    return finish(stage, event);
}

Checked<BufferId> bare_buffer(Stage& stage, ContextId context, std::size_t index) {
    const SampleSlot& slot = stage.sample().slots[index];
    return stage.caller().allocate(
        stage.buffer_request(context, slot.before.size(), usage_for(slot.access)));
}

}  // namespace virtaccel::conformance::rules
