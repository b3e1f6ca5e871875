#include "virtaccel/conformance/bench.h"

#include <cstdint>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/result.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

Checked<BackendRig*> Bench::rig(std::uint32_t deferred_loads_max) {
    if (!rig_) {
        VIRTACCEL_TRY_ASSIGN(
            auto made,
            device_over(subject(), backend::AnyBackend::borrow(instance), deferred_loads_max));
        rig_.emplace(subject(), std::move(made));
    }
    return &*rig_;
}

Check Bench::replace() {
    drop_rig();
    instance = {};
    VIRTACCEL_TRY_ASSIGN(instance, make_backend(subject()));
    return {};
}

Check judge_on_bench(const BackendSubject& subject, Judge judge) {
    VIRTACCEL_TRY_ASSIGN(auto made, make_backend(subject));
    Bench bench{subject, std::move(made)};
    const auto before = bench.books();
    VIRTACCEL_TRY(
        expect_equal("The number of live resources of a fresh backend", before.live_resources, 0));
    VIRTACCEL_TRY(expect_equal("The number of indeterminate resources of a fresh backend",
                               before.indeterminate_resources, 0));
    const Check verdict = judge(bench);
    bench.drop_rig();
    if (!verdict && verdict.error().outcome == Outcome::failed) {
        return verdict;
    }
    VIRTACCEL_TRY(bench.expect_books(before, "after the case"));
    return verdict;
}

}  // namespace virtaccel::conformance
