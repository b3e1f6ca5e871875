#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::BufferHandle;
using backend::ContextHandle;

namespace {

constexpr std::byte dirt{0xdb};

// The bytes that a request for so many really gets.
std::size_t granted(const Direct& direct, std::uint64_t bytes) {
    return static_cast<std::size_t>(direct.request(bytes).bytes);
}

Checked<BufferHandle> dirty_buffer(const Direct& direct, ContextHandle context,
                                   std::uint64_t bytes) {
    return direct.buffer(context, Bytes(granted(direct, bytes), dirt));
}

// A new buffer of `bytes` is nothing but zeros, to its last byte.
Check expect_zeroed(const Direct& direct, ContextHandle context, std::uint64_t bytes,
                    std::string_view when) {
    VIRTACCEL_TRY_ASSIGN(const BufferHandle buffer, direct.buffer(context, granted(direct, bytes)));
    VIRTACCEL_TRY(
        direct.expect_contents(buffer, Bytes(granted(direct, bytes)), say("A new buffer ", when)));
    return direct.release(buffer);
}

// Buffers of one size, dirtied and freed, and again of that size.
template <std::uint64_t bytes>
Check same_size(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY(expect_zeroed(bench, context, bytes, "of a size used before"));
        std::vector<BufferHandle> buffers;
        for (int i = 0; i < 4; ++i) {
            VIRTACCEL_TRY_ASSIGN(const auto buffer, dirty_buffer(bench, context, bytes));
            buffers.push_back(buffer);
        }
        for (const auto buffer : buffers) {
            VIRTACCEL_TRY(bench.release(buffer));
        }
    }
    return bench.release(context);
}

// A buffer of one size, dirtied and freed, and then one of another size.
template <std::uint64_t first, std::uint64_t second>
Check other_size(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY_ASSIGN(const auto buffer, dirty_buffer(bench, context, first));
        VIRTACCEL_TRY(bench.release(buffer));
        VIRTACCEL_TRY(expect_zeroed(bench, context, second, "after one of another size"));
    }
    return bench.release(context);
}

Check in_another_context(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto first, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto buffer, dirty_buffer(bench, first, 1000));
    VIRTACCEL_TRY(bench.release(buffer));
    VIRTACCEL_TRY(bench.release(first));
    VIRTACCEL_TRY_ASSIGN(const auto second, bench.context());
    VIRTACCEL_TRY(expect_zeroed(bench, second, 1000, "in a context after another"));
    return bench.release(second);
}

Check beside_dirty_ones(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    std::vector<BufferHandle> dirty;
    for (std::uint64_t i = 0; i < 16; ++i) {
        VIRTACCEL_TRY_ASSIGN(const auto buffer, dirty_buffer(bench, context, 1 + (i * 37)));
        dirty.push_back(buffer);
        VIRTACCEL_TRY(expect_zeroed(bench, context, 1 + (i * 37), "beside one in use"));
    }
    for (std::uint64_t i = 0; i < dirty.size(); ++i) {
        VIRTACCEL_TRY(bench.expect_contents(dirty[i], Bytes(granted(bench, 1 + (i * 37)), dirt),
                                            "A buffer beside new ones"));
        VIRTACCEL_TRY(bench.release(dirty[i]));
    }
    return bench.release(context);
}

// The memory that a program wrote is nobody's to see either.
Check after_a_program(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(bench.run(act));
    VIRTACCEL_TRY(bench.tear_down_in(act));
    for (const SampleSlot& slot : bench.sample().slots) {
        VIRTACCEL_TRY(
            expect_zeroed(bench, act.context, slot.before.size(), "after a program used one"));
    }
    return bench.release(act.context);
}

// A byte written into the middle of a buffer leaves the rest zero.
Check around_a_write(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    const std::size_t bytes = granted(bench, 300);
    Bytes wanted(bytes);
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, bytes));
    wanted[bytes / 2] = dirt;
    VIRTACCEL_TRY(bench.write(buffer, bytes / 2, std::span{wanted}.subspan(bytes / 2, 1)));
    VIRTACCEL_TRY(bench.expect_contents(buffer, wanted, "A buffer with one byte written"));
    VIRTACCEL_TRY(bench.release(buffer));
    return bench.release(context);
}

Check after_a_reset(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig());
    Caller& caller = rig->caller();
    for (int round = 0; round < 3; ++round) {
        VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                             caller.allocate(rig->buffer_request(context, 777, usage_known)));
        VIRTACCEL_TRY_ASSIGN(const Bytes found, caller.read(buffer, 0, 777));
        VIRTACCEL_TRY(expect(found == Bytes(777), "A new buffer after a reset is not zeroed."));
        VIRTACCEL_TRY(caller.write(buffer, 0, Bytes(777, dirt)));
        VIRTACCEL_TRY(
            expect(!rig->device().reset().discard, "A reset of a buffer discards the backend."));
    }
    return {};
}

Check in_another_instance(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto buffer, dirty_buffer(bench, context, 500));
    VIRTACCEL_TRY_ASSIGN(auto made, make_backend(bench.subject()));
    const Direct other{made, bench.subject()};
    VIRTACCEL_TRY_ASSIGN(const auto other_context, other.context());
    VIRTACCEL_TRY(expect_zeroed(other, other_context, 500, "of a second instance"));
    VIRTACCEL_TRY(other.release(other_context));
    VIRTACCEL_TRY(bench.release(buffer));
    return bench.release(context);
}

constexpr std::array rules{
    Rule{"zero.one-byte", "a byte that was used is zero again", same_size<1>},
    Rule{"zero.less-than-a-line", "63 bytes that were used are zero again", same_size<63>},
    Rule{"zero.a-line", "64 bytes that were used are zero again", same_size<64>},
    Rule{"zero.a-line-and-a-byte", "65 bytes that were used are zero again", same_size<65>},
    Rule{"zero.less-than-a-page", "4095 bytes that were used are zero again", same_size<4095>},
    Rule{"zero.a-page", "4096 bytes that were used are zero again", same_size<4096>},
    Rule{"zero.many-pages", "65,539 bytes (or as many as may be) are zero again", same_size<65539>},
    Rule{"zero.after-a-larger-one", "a smaller buffer shows nothing of a larger one",
         other_size<4096, 40>},
    Rule{"zero.after-a-smaller-one", "a larger buffer shows nothing of a smaller one",
         other_size<40, 4096>},
    Rule{"zero.after-one-byte-less", "the last byte of a slightly larger buffer is zero",
         other_size<127, 128>},
    Rule{"zero.in-another-context", "a context sees nothing of one before it", in_another_context},
    Rule{"zero.in-another-instance", "an instance sees nothing of another", in_another_instance},
    Rule{"zero.beside-dirty-ones", "a new buffer shows nothing of its neighbours, nor they of it",
         beside_dirty_ones},
    Rule{"zero.around-a-write", "what is not written stays zero", around_a_write},
    Rule{"zero.after-a-program", "a new buffer shows nothing that a program wrote",
         after_a_program},
    Rule{"zero.after-a-reset", "a new buffer shows nothing from before a reset", after_a_reset},
};

}  // namespace

Rules zero_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further
