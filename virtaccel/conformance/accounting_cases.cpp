#include <cstdint>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_case_list.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/device/options.h"

namespace virtaccel::conformance::cases {

namespace {

Check expect_live(BackendRig& rig, std::uint64_t wanted) {
    const auto books = rig.diagnostics();
    VIRTACCEL_TRY(expect_equal("The number of live resources", books.live_resources, wanted));
    return expect_equal("The number of indeterminate resources", books.indeterminate_resources, 0);
}

// Contexts, queues and buffers, which every backend has.
Check check_plain_objects(BackendRig& rig) {
    Caller& caller = rig.caller();
    const auto retained = rig.diagnostics().retained_bytes;
    VIRTACCEL_TRY(expect_live(rig, 0));
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY(expect_live(rig, 1));
    VIRTACCEL_TRY_ASSIGN(const QueueId queue, caller.create_queue(context));
    VIRTACCEL_TRY(expect_live(rig, 2));
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(rig.buffer_request(context, 1000, usage_known)));
    VIRTACCEL_TRY(expect_live(rig, 3));
    VIRTACCEL_TRY(expect(rig.diagnostics().retained_bytes >= retained + 1000,
                         "A buffer of (1000) bytes does not appear among the retained bytes."));
    VIRTACCEL_TRY(caller.destroy(buffer));
    VIRTACCEL_TRY(expect_live(rig, 2));
    VIRTACCEL_TRY(expect_equal("The number of retained bytes after a release",
                               rig.diagnostics().retained_bytes, retained));
    VIRTACCEL_TRY(caller.destroy(queue));
    VIRTACCEL_TRY(caller.destroy(context));
    return expect_live(rig, 0);
}

// One whole life of the sample, counted at each end.
Check check_life(BackendRig& rig) {
    const auto before = rig.diagnostics();
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    const std::uint64_t objects = 3 + scene.buffers.size();
    VIRTACCEL_TRY(expect_live(rig, objects));
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
    VIRTACCEL_TRY(expect_live(rig, objects + 1));
    VIRTACCEL_TRY(rig.wait_for_completion(event));
    VIRTACCEL_TRY(expect_live(rig, objects + 1));
    VIRTACCEL_TRY(rig.caller().destroy(event));
    VIRTACCEL_TRY(expect_live(rig, objects));
    VIRTACCEL_TRY(rig.tear_down(scene));
    VIRTACCEL_TRY(expect_live(rig, 0));
    return expect_equal("The number of retained bytes after a whole life",
                        rig.diagnostics().retained_bytes, before.retained_bytes);
}

// A reset in the middle of a life gives everything back.
Check check_reset(BackendRig& rig) {
    const auto before = rig.diagnostics();
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
    // Work that runs cannot always be cancelled, and pending work makes a reset discard the
    // backend.
    VIRTACCEL_TRY(rig.wait(event));
    const device::ResetReport report = rig.device().reset();
    VIRTACCEL_TRY(expect(!report.discard, "A reset of orderly objects discards the backend."));
    VIRTACCEL_TRY(expect_equal("The number of objects that a reset releases",
                               report.released.objects, 4 + scene.buffers.size()));
    VIRTACCEL_TRY(expect_live(rig, 0));
    return expect_equal("The number of retained bytes after a reset",
                        rig.diagnostics().retained_bytes, before.retained_bytes);
}

}  // namespace

Check accounting_resource_lifecycle(const BackendSubject& subject) {
    return on_rig(subject, [](BackendRig& rig) -> Check {
        VIRTACCEL_TRY(check_plain_objects(rig));
        for (int round = 0; round < 4; ++round) {
            VIRTACCEL_TRY(check_life(rig));
        }
        VIRTACCEL_TRY(check_reset(rig));
        return check_life(rig);
    });
}

}  // namespace virtaccel::conformance::cases
