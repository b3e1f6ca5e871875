// Negative controls: devices and backends that are wrong in one way, which only a fault brings to
// light, and that the enumeration has to find.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "tests/faults/enumeration.h"
#include "tests/faults/life.h"
#include "tests/faults/world.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/forwarding.h"

namespace virtaccel::faults {

namespace {

using backend::Certainty;
using mock::Forwarding;

template <class T>
Result<backend::AnyBackend> twin(const Memory& memory, backend::AnyBackend inner) {
    return backend::make_owned<T>(memory, std::move(inner));
}

// Whether a run without faults finds nothing wrong with these, and every enumeration does, and what
// it finds names `words`.
::testing::AssertionResult finds(const Twins& twins, std::string_view words) {
    constexpr std::array statuses{Status::internal_error, Status::device_lost};
    for (const auto& hands : {device_alone, whole_stack}) {
        const Scenario scenario{.hands = hands, .ending = Ending::release, .twins = twins};
        if (const Run plain = run(scenario, {}); !plain.finding.empty()) {
            return ::testing::AssertionFailure() << "found without a fault: " << plain.finding;
        }
        Tally tally;
        enumerate_singles(scenario, statuses, tally);
        if (tally.findings.empty()) {
            return ::testing::AssertionFailure() << "found nothing";
        }
        if (tally.findings.front().find(words) == std::string::npos) {
            return ::testing::AssertionFailure() << tally.findings.front();
        }
    }
    return ::testing::AssertionSuccess();
}

// ---- Devices that misuse their backend

// Goes on after a loss.
struct HearsNoLoss : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
        const Status status = Forwarding::write(buffer, offset, source);
        return status == Status::device_lost ? Status::internal_error : status;
    }
};

// Makes sure that a queue is gone.
struct ReleasesAgain : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] backend::ReleaseOutcome destroy_queue(backend::QueueHandle queue) {
        const auto outcome = Forwarding::destroy_queue(queue);
        if (outcome.certainty == Certainty::indeterminate) {
            (void)Forwarding::destroy_queue(queue);
        }
        return outcome;
    }
};

// Takes a rejection for success.
struct ForgetsWhatIsRejected : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] backend::ReleaseOutcome free(backend::BufferHandle buffer) {
        const auto outcome = Forwarding::free(buffer);
        return outcome.certainty == Certainty::rejected ? backend::ReleaseOutcome::released()
                                                        : outcome;
    }
};

// Takes what nobody knows for a rejection.
struct TakesDoubtForRejection : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] backend::ReleaseOutcome unload(backend::ProgramHandle program) {
        const auto outcome = Forwarding::unload(program);
        return outcome.certainty == Certainty::indeterminate
                   ? backend::ReleaseOutcome::rejected(Status::busy)
                   : outcome;
    }
};

// Publishes what it did not get.
struct PublishesFailures : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<backend::QueueHandle> create_queue(backend::ContextHandle context) {
        return Forwarding::create_queue(context).value_or(backend::QueueHandle{});
    }
};

// Drops the event of a submission that is indeterminate.
struct DropsDoubtfulEvents : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        return outcome.certainty == Certainty::indeterminate
                   ? backend::SubmitOutcome::rejected(outcome.status)
                   : outcome;
    }
};

TEST(FaultTwins, that_misuse_their_backend_are_found) {
    EXPECT_TRUE(finds({.over_audit = twin<HearsNoLoss>}, "disagree about whether they are lost"));
    EXPECT_TRUE(finds({.over_audit = twin<ReleasesAgain>}, "(an instance) that is lost"));
    EXPECT_TRUE(finds({.over_audit = twin<ForgetsWhatIsRejected>}, "books"));
    EXPECT_TRUE(finds({.over_audit = twin<TakesDoubtForRejection>},
                      "disagree about whether they are lost"));
    EXPECT_TRUE(finds({.over_audit = twin<PublishesFailures>}, "books"));
    EXPECT_TRUE(finds({.over_audit = twin<DropsDoubtfulEvents>}, "books"));
}

// ---- Backends that do not do what they say

// Rejects a release and has released.
struct ReleasesWhatItRejects : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] backend::ReleaseOutcome destroy_queue(backend::QueueHandle queue) {
        const auto outcome = Forwarding::destroy_queue(queue);
        if (outcome.certainty == Certainty::rejected) {
            (void)Forwarding::destroy_queue(queue);
        }
        return outcome;
    }
};

// Keeps what it made before it failed.
struct KeepsWhatFailed : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<backend::ContextHandle> create_context() {
        const auto made = Forwarding::create_context();
        if (!made) {
            (void)Forwarding::create_context();
        }
        return made;
    }
};

// Forgets to write when it is asked a second time.
struct WritesOnce : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
        if (failed) {
            return source.skip(source.remaining()) ? Status::ok : Status::internal_error;
        }
        const Status status = Forwarding::write(buffer, offset, source);
        failed = status != Status::ok;
        return status;
    }

    bool failed = false;
};

TEST(FaultTwins, that_do_not_do_what_they_say_are_found) {
    EXPECT_TRUE(finds({.under_audit = twin<ReleasesWhatItRejects>}, "holds something else"));
    EXPECT_TRUE(finds({.under_audit = twin<KeepsWhatFailed>}, "holds something else"));
    EXPECT_TRUE(finds({.under_audit = twin<WritesOnce>}, "not what the program computed"));
}

// ---- A harness whose memory does not come back

TEST(FaultTwins, that_leak_are_found) {
    std::vector<void*> leaked;
    const Scenario scenario{.hands =
                                [&leaked](World& world) {
                                    const Memory& memory = world.memory();
                                    leaked.push_back(memory.allocate(memory.state, 16, 16));
                                    return device_alone(world);
                                },
                            .ending = Ending::release};
    const auto plain = run(scenario, {});
    EXPECT_EQ(plain.finding, "After everything: memory leaks (1 blocks)");
    for (void* const block : leaked) {
        host::heap().release(host::heap().state, block, 16, 16);
    }
}

}  // namespace

}  // namespace virtaccel::faults
