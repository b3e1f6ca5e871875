#include "virtaccel/device/pending_load.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {
namespace {

using testing::DeviceRig;
using testing::Ending;
using testing::Operation;
using testing::untouched;
using wire::Opcode;

// One deferred request with bytes of its own, which stay while others overtake it.
struct Waiting {
    std::vector<std::byte> request;
    std::vector<std::byte> response;
    PendingLoad load;

    [[nodiscard]] bool is_untouched() const {
        return std::ranges::all_of(response, [](auto byte) { return byte == untouched; });
    }

    [[nodiscard]] Status status() const {
        const auto header = wire::load<wire::ResponseHeader>(response.data());
        return static_cast<Status>(std::uint16_t{header.status});
    }

    [[nodiscard]] ProgramId id() const {
        return wire::load<wire::Object<ProgramKind>>(response.data() + 16).object_id;
    }
};

class PendingLoadTest : public DeviceRig {
  public:
    PendingLoadTest() { remake_with(4); }

    void remake_with(std::uint32_t deferred_loads_max, std::uint64_t resident_bytes_max = 4096) {
        auto options = testing::default_options();
        options.deferred_loads_max = deferred_loads_max;
        options.policy.program_resident_bytes_max = resident_bytes_max;
        remake(options);
        context_id = context();
    }

    // Sends a load, which must be deferred.
    std::unique_ptr<Waiting> defer(std::uint64_t resident_bytes = 64) {
        auto record = artifact(context_id);
        record.resident_bytes = resident_bytes;
        const auto frame = request<Opcode::load_program>(record, artifact_bytes()).frame();
        auto waiting = std::make_unique<Waiting>();
        waiting->request.assign(frame.begin(), frame.end());
        waiting->response.assign(64, untouched);
        const auto served = device().serve(waiting->request, waiting->response);
        EXPECT_TRUE(served.deferred);
        EXPECT_EQ(served.used_bytes, 0U);
        EXPECT_TRUE(waiting->is_untouched());
        waiting->load = device().take_load();
        EXPECT_TRUE(static_cast<bool>(waiting->load));
        return waiting;
    }

    std::optional<Served> finish(Waiting& waiting) {
        return device().finish(std::move(waiting.load));
    }

    void expect_refused(Waiting& waiting, Status status) {
        const auto served = finish(waiting);
        ASSERT_TRUE(served.has_value());
        EXPECT_EQ(served->used_bytes, 16U);
        EXPECT_EQ(waiting.status(), status);
    }

    void expect_loaded(Waiting& waiting) {
        const auto served = finish(waiting);
        ASSERT_TRUE(served.has_value());
        EXPECT_EQ(served->used_bytes, 24U);
        EXPECT_EQ(waiting.status(), Status::ok);
        EXPECT_EQ(call<Opcode::unload_program>({waiting.id()}).status, Status::ok);
    }

    ContextId context_id;
};

TEST_F(PendingLoadTest, is_answered_when_it_is_finished) {
    const auto waiting = defer();
    EXPECT_EQ(backend->calls(Operation::prepare), 0U);
    EXPECT_EQ(device().holdings().programs, 0U);
    waiting->load.prepare();
    EXPECT_EQ(backend->calls(Operation::prepare), 1U);
    EXPECT_TRUE(waiting->is_untouched());
    expect_loaded(*waiting);
    EXPECT_EQ(backend->calls(Operation::prepare), 1U);
}

TEST_F(PendingLoadTest, is_prepared_when_it_is_finished_if_not_before) {
    const auto waiting = defer();
    expect_loaded(*waiting);
    EXPECT_EQ(backend->calls(Operation::prepare), 1U);
}

TEST_F(PendingLoadTest, is_overtaken_by_other_requests) {
    const auto first = defer();
    const auto second = defer();
    buffer(context_id);
    EXPECT_EQ(call<Opcode::get_device_info>().status, Status::ok);
    second->load.prepare();
    expect_loaded(*second);
    expect_loaded(*first);
}

TEST_F(PendingLoadTest, is_prepared_on_any_thread) {
    const auto first = defer();
    const auto second = defer();
    std::thread worker([&] { first->load.prepare(); });
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(call<Opcode::get_device_info>().status, Status::ok);
    }
    worker.join();
    expect_loaded(*first);
    expect_loaded(*second);
}

TEST_F(PendingLoadTest, passes_on_why_the_backend_refuses) {
    struct Log {
        int lines = 0;
    } log;

    auto options = testing::default_options();
    options.deferred_loads_max = 1;
    options.refusals = {&log, [](void* state, auto) { ++static_cast<Log*>(state)->lines; }};
    remake(options);
    context_id = context();
    const auto refused = defer();
    backend->next(Operation::prepare, Ending::rejected(Status::incompatible));
    expect_refused(*refused, Status::incompatible);
    EXPECT_EQ(log.lines, 1);
    const auto failed = defer();
    backend->next(Operation::load, Ending::rejected(Status::out_of_memory));
    expect_refused(*failed, Status::out_of_memory);
    const auto odd = defer();
    backend->next(Operation::prepare, Ending::rejected(Status::ok));
    expect_refused(*odd, Status::internal_error);
    EXPECT_EQ(device().holdings().program_bytes, 0U);
    EXPECT_FALSE(device().needs_reset());
}

TEST_F(PendingLoadTest, is_dropped_by_a_reset_without_an_answer) {
    const auto prepared = defer();
    const auto unprepared = defer();
    const auto late = defer();
    prepared->load.prepare();
    EXPECT_FALSE(device().reset().discard);
    late->load.prepare();
    for (auto* waiting : {prepared.get(), unprepared.get(), late.get()}) {
        EXPECT_FALSE(finish(*waiting).has_value());
        EXPECT_TRUE(waiting->is_untouched());
    }
    EXPECT_EQ(backend->calls(Operation::abandon), 2U);
    EXPECT_EQ(backend->calls(Operation::load), 0U);
    EXPECT_EQ(backend->live(), 0U);
    context_id = context();
    expect_loaded(*defer(4096));
}

TEST_F(PendingLoadTest, is_dropped_by_its_own_end) {
    {
        const auto waiting = defer(4096);
        waiting->load.prepare();
    }
    EXPECT_EQ(backend->calls(Operation::abandon), 1U);
    expect_loaded(*defer(4096));
}

TEST_F(PendingLoadTest, that_nobody_took_is_dropped_by_a_reset) {
    const auto frame =
        request<Opcode::load_program>(artifact(context_id), artifact_bytes()).frame();
    EXPECT_TRUE(device().serve(frame, response()).deferred);
    EXPECT_FALSE(device().reset().discard);
    EXPECT_FALSE(static_cast<bool>(device().take_load()));
    EXPECT_TRUE(device().serve(frame, response()).used_bytes == 16) << "a stale context";
}

TEST_F(PendingLoadTest, finds_its_context_gone) {
    const auto waiting = defer();
    waiting->load.prepare();
    EXPECT_EQ(call<Opcode::destroy_context>({context_id}).status, Status::ok);
    expect_refused(*waiting, Status::stale_object);
    EXPECT_EQ(backend->calls(Operation::abandon), 1U);
    EXPECT_EQ(backend->live(), 0U);
}

TEST_F(PendingLoadTest, finds_its_quota_used_up) {
    const auto waiting = defer();
    for (std::uint32_t i = 0; i < backend->shown.limits.programs_per_context; ++i) {
        const auto other = defer();
        EXPECT_EQ(finish(*other)->used_bytes, 24U);
    }
    waiting->load.prepare();
    expect_refused(*waiting, Status::resource_limit);
    EXPECT_EQ(backend->calls(Operation::abandon), 1U);
}

TEST_F(PendingLoadTest, holds_room_in_the_budget) {
    remake_with(2, 100);
    const auto waiting = defer(60);
    auto record = artifact(context_id);
    record.resident_bytes = 41;
    EXPECT_TRUE(
        call<Opcode::load_program>(record, artifact_bytes()).refuses(Status::resource_limit));
    backend->resident_bytes = 10;
    expect_loaded(*waiting);
    const auto larger = defer(100);
    expect_loaded(*larger);
    const auto failing = defer(100);
    backend->next(Operation::load, Ending::rejected(Status::incompatible));
    expect_refused(*failing, Status::incompatible);
    expect_loaded(*defer(100));
}

TEST_F(PendingLoadTest, is_answered_at_once_past_the_limit) {
    remake_with(1);
    const auto waiting = defer();
    program(context_id);
    expect_loaded(*waiting);
    expect_loaded(*defer());
}

TEST_F(PendingLoadTest, finds_the_device_lost) {
    const auto prepared = defer();
    const auto unprepared = defer();
    prepared->load.prepare();
    backend->next(Operation::create_context, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(call<Opcode::create_context>().refuses(Status::device_lost));
    expect_refused(*prepared, Status::device_lost);
    expect_refused(*unprepared, Status::device_lost);
    EXPECT_EQ(backend->calls(Operation::prepare), 1U);
    EXPECT_EQ(backend->calls(Operation::load), 0U);
    EXPECT_EQ(backend->calls(Operation::abandon), 1U);
}

TEST_F(PendingLoadTest, loses_the_device_when_its_preparation_says_so) {
    const auto waiting = defer();
    backend->next(Operation::prepare, Ending::rejected(Status::device_lost));
    expect_refused(*waiting, Status::device_lost);
    EXPECT_TRUE(device().discard_required());
}

TEST_F(PendingLoadTest, loses_the_device_also_when_a_reset_overtook_it) {
    const auto waiting = defer();
    backend->next(Operation::prepare, Ending::rejected(Status::device_lost));
    waiting->load.prepare();
    EXPECT_FALSE(device().reset().discard) << "nobody has told the device yet";
    EXPECT_FALSE(finish(*waiting).has_value());
    EXPECT_TRUE(device().discard_required());
    EXPECT_TRUE(call<Opcode::create_context>().refuses(Status::device_lost));
    EXPECT_TRUE(device().reset().discard);
}

TEST_F(PendingLoadTest, may_outlive_its_device) {
    const auto first = defer();
    const auto second = defer();
    first->load.prepare();
    remake_with(1);
    second->load.prepare();
    EXPECT_FALSE(finish(*first).has_value()) << "not a load of this device";
    second->load = {};
    EXPECT_EQ(backend->calls(Operation::abandon), 2U);
}

TEST_F(PendingLoadTest, keeps_a_dropped_backend_until_it_ends) {
    struct Flag {
        testing::ScriptedBackend backend;
        bool dropped = false;
    };

    auto flag = std::make_unique<Flag>();
    auto table = backend::detail::borrowed_table<testing::ScriptedBackend>;
    // The backend is the flag's first member, so that `self` is the flag, too.
    table.drop = [](void* self) { static_cast<Flag*>(self)->dropped = true; };
    auto options = testing::default_options();
    options.deferred_loads_max = 1;
    auto made = Device::make(host::heap(), backend::AnyBackend{flag.get(), table}, options);
    ASSERT_TRUE(made.has_value());
    Device lost = std::move(*made);
    std::swap(device(), lost);
    context_id = context();
    const auto waiting = defer();
    flag->backend.next(Operation::create_queue, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(call<Opcode::create_queue>({context_id, 0U, 0U}).refuses(Status::device_lost));
    EXPECT_TRUE(device().reset().discard);
    device().drop_backend();
    EXPECT_FALSE(flag->dropped);
    waiting->load.prepare();
    EXPECT_FALSE(finish(*waiting).has_value());
    EXPECT_TRUE(flag->dropped);
    EXPECT_TRUE(call<Opcode::get_device_info>().refuses(Status::device_lost));
    device().set_notifier({});
    std::swap(device(), lost);
}

TEST_F(PendingLoadTest, needs_a_reset_when_it_cannot_be_answered) {
    auto waiting = defer();
    std::uint32_t live = 1;
    const Piece readable{waiting->request.data(), waiting->request.size()};
    const Piece writable{waiting->response.data(), waiting->response.size()};
    const auto served = device().serve(PieceList::of({&readable, 1}, {&live, 1}),
                                       PieceList::of({&writable, 1}, {&live, 1}));
    EXPECT_TRUE(served.deferred);
    PendingLoad leased = device().take_load();
    leased.prepare();
    live = 2;
    EXPECT_EQ(device().finish(std::move(leased))->used_bytes, 0U);
    EXPECT_TRUE(device().needs_reset());
    waiting->load = {};
    EXPECT_FALSE(device().reset().discard);
}

TEST_F(PendingLoadTest, is_read_from_as_many_pieces_as_it_came_in) {
    const auto frame =
        request<Opcode::load_program>(artifact(context_id), artifact_bytes()).frame();
    std::vector<std::byte> bytes(frame.begin(), frame.end());
    std::vector<std::byte> space(64, untouched);
    std::vector<Piece> readable;
    std::vector<Piece> writable;
    for (auto& byte : bytes) {
        readable.push_back({&byte, 1});
    }
    for (auto& byte : space) {
        writable.push_back({&byte, 1});
    }
    ASSERT_TRUE(device().serve(PieceList::of(readable), PieceList::of(writable)).deferred);
    PendingLoad load = device().take_load();
    std::ranges::fill(readable, Piece{});
    std::ranges::fill(writable, Piece{});
    load.prepare();
    EXPECT_EQ(device().finish(std::move(load))->used_bytes, 24U);
    EXPECT_EQ(std::ranges::count(space, untouched), 40);
}

}  // namespace
}  // namespace virtaccel::device
