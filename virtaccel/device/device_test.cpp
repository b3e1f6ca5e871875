#include "virtaccel/device/device.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/ids.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {
namespace {

using testing::default_options;
using testing::DeviceRig;
using testing::ScriptedBackend;
using wire::Opcode;

// Why a device of changed parts is not made; nothing if it is.
std::optional<Unfit> why_not(const std::function<void(DeviceIdentity&, Options&)>& change) {
    ScriptedBackend backend;
    auto options = default_options();
    change(backend.shown, options);
    const auto device = Device::make(host::heap(), backend::AnyBackend::borrow(backend), options);
    return device ? std::nullopt : std::optional{device.error()};
}

TEST(DeviceMake, refuses_an_identity_that_no_guest_would_take) {
    EXPECT_EQ(why_not([](auto&, auto&) {}), std::nullopt);
    for (const auto bit : {CapabilityBit::external_memory, CapabilityBit::secure_contexts}) {
        EXPECT_EQ(why_not([=](auto& identity, auto&) {
                      identity.capabilities = identity.capabilities | bit;
                  }),
                  Unfit::capability_is_reserved);
    }
    EXPECT_EQ(why_not([](auto& identity, auto&) {
                  identity.capabilities = CapabilityBit::event_cancellation;
              }),
              Unfit::memory_domain_is_missing);
    const auto limit_of = [](auto member) {
        return why_not([=](auto& identity, auto&) { identity.limits.*member = 0; });
    };
    EXPECT_EQ(limit_of(&DeviceLimits::contexts), Unfit::limit_is_zero);
    EXPECT_EQ(limit_of(&DeviceLimits::buffers_per_context), Unfit::limit_is_zero);
    EXPECT_EQ(limit_of(&DeviceLimits::programs_per_context), Unfit::limit_is_zero);
    EXPECT_EQ(limit_of(&DeviceLimits::queues_per_context), Unfit::limit_is_zero);
    EXPECT_EQ(limit_of(&DeviceLimits::events_per_context), Unfit::limit_is_zero);
    EXPECT_EQ(limit_of(&DeviceLimits::bindings_per_submission), Unfit::limit_is_zero);
    EXPECT_EQ(limit_of(&DeviceLimits::buffer_bytes), Unfit::limit_is_zero);
    EXPECT_EQ(limit_of(&DeviceLimits::artifact_bytes), Unfit::limit_is_zero);
    EXPECT_EQ(
        why_not([](auto& identity, auto&) { identity.limits.bindings_per_submission = 4097; }),
        Unfit::bindings_over_limit);
    EXPECT_EQ(
        why_not([](auto& identity, auto&) { identity.limits.bindings_per_submission = 4096; }),
        std::nullopt);
}

TEST(DeviceMake, refuses_options_out_of_their_ranges) {
    EXPECT_EQ(why_not([](auto&, auto& options) { options.config.request_bytes_max = 96; }),
              Unfit::config_out_of_range);
    EXPECT_EQ(why_not([](auto&, auto& options) { options.config.response_bytes_max = 91; }),
              Unfit::config_out_of_range);
    EXPECT_EQ(why_not([](auto&, auto& options) { options.config.chain_descriptors_max = 257; }),
              Unfit::config_out_of_range);
    EXPECT_EQ(why_not([](auto&, auto& options) { options.policy.buffer_bytes_max = 0; }),
              Unfit::policy_is_zero);
    EXPECT_EQ(why_not([](auto&, auto& options) { options.policy.program_resident_bytes_max = 0; }),
              Unfit::policy_is_zero);
    EXPECT_EQ(why_not([](auto&, auto& options) { options.first_serial = 0; }),
              Unfit::serial_out_of_range);
    EXPECT_EQ(why_not([](auto&, auto& options) { options.first_serial = serial_end + 1; }),
              Unfit::serial_out_of_range);
    EXPECT_EQ(why_not([](auto&, auto& options) { options.bookkeeping_bytes_max = 100; }),
              Unfit::no_memory);
    const auto nothing = Device::make(host::heap(), backend::AnyBackend{}, default_options());
    EXPECT_EQ(nothing.error(), Unfit::no_backend);
}

TEST(DeviceMake, leaves_each_part_of_the_budget_to_the_host) {
    EXPECT_EQ(why_not([](auto&, auto& options) { options.policy = {.buffer_bytes_max = 1}; }),
              Unfit::policy_is_zero);
    EXPECT_EQ(
        why_not([](auto&, auto& options) { options.policy = {.program_resident_bytes_max = 1}; }),
        Unfit::policy_is_zero);
    EXPECT_EQ(Options{}.first_serial, 1U) << "whoever does not say starts at the beginning";
}

TEST(DeviceMake, explains_each_refusal_in_a_sentence_of_its_own) {
    std::set<std::string_view> sentences;
    for (int reason = 0; reason <= static_cast<int>(Unfit::bindings_over_limit); ++reason) {
        const auto sentence = explain(static_cast<Unfit>(reason));
        EXPECT_TRUE(sentence.ends_with('.'));
        sentences.insert(sentence);
    }
    EXPECT_EQ(sentences.size(), static_cast<std::size_t>(Unfit::bindings_over_limit) + 1);
}

TEST_F(DeviceRig, moves_with_all_it_holds) {
    const auto id = context();
    Device moved = std::move(device());
    EXPECT_EQ(moved.holdings().contexts, 1U);
    device() = std::move(moved);
    EXPECT_EQ(call<Opcode::destroy_context>({id}).status, Status::ok);
}

TEST_F(DeviceRig, names_its_backend_and_passes_the_notifier_on) {
    EXPECT_EQ(device().backend().name(), "scripted");
    device().set_notifier({});
    EXPECT_EQ(backend->notifiers, 1U);
}

TEST_F(DeviceRig, holds_what_all_contexts_together_may_have) {
    constexpr std::uint32_t contexts = 3;
    constexpr std::uint32_t of_each = 4;
    DeviceLimits& limits = backend->shown.limits;
    limits.contexts = contexts;
    limits.buffers_per_context = limits.programs_per_context = of_each;
    limits.queues_per_context = limits.events_per_context = of_each;
    remake(default_options());
    for (std::uint32_t i = 0; i < contexts; ++i) {
        const auto context_id = context();
        for (std::uint32_t j = 0; j < of_each; ++j) {
            const auto buffer_id = buffer(context_id);
            event(queue(context_id), program(context_id), {binding(buffer_id)});
        }
    }
    EXPECT_EQ(device().holdings().contexts, contexts);
    EXPECT_EQ(device().holdings().events, contexts * of_each);
}

TEST_F(DeviceRig, gives_the_room_of_an_object_away_once) {
    context();
    const auto last = context();
    EXPECT_EQ(call<Opcode::destroy_context>({last}).status, Status::ok);
    const auto first_heir = context();
    const auto second_heir = context();
    EXPECT_EQ(call<Opcode::destroy_context>({first_heir}).status, Status::ok);
    EXPECT_EQ(call<Opcode::destroy_context>({second_heir}).status, Status::ok);
}

TEST_F(DeviceRig, counts_what_it_holds) {
    const auto home = context();
    buffer(home, 100);
    buffer(home, 50);
    program(home);
    queue(home);
    const auto holdings = device().holdings();
    EXPECT_EQ(holdings.contexts, 1U);
    EXPECT_EQ(holdings.buffers, 2U);
    EXPECT_EQ(holdings.programs, 1U);
    EXPECT_EQ(holdings.queues, 1U);
    EXPECT_EQ(holdings.buffer_bytes, 150U);
    EXPECT_EQ(holdings.program_bytes, 64U);
}

using WearTest = DeviceRig;

// The fault of others: 8192 uses of a slot and it refuses, or an old ID names a new object.
TEST_F(WearTest, never_issues_an_id_twice_however_often_a_slot_is_used) {
    const auto first = context();
    EXPECT_EQ(call<Opcode::destroy_context>({first}).status, Status::ok);
    std::uint64_t last = first.raw;
    for (int i = 0; i < 20'000; ++i) {
        const auto id = context();
        ASSERT_GT(id.raw, last);
        ASSERT_NE(static_cast<std::uint32_t>(id.raw), 0U);
        ASSERT_EQ(call<Opcode::destroy_context>({id}).status, Status::ok);
        last = id.raw;
    }
    EXPECT_TRUE(call<Opcode::destroy_context>({first}).refuses(Status::stale_object));
}

TEST_F(WearTest, refuses_creations_of_every_kind_once_the_serials_end) {
    auto options = default_options();
    options.first_serial = serial_end - 4;
    remake(options);
    const auto home = context();
    const auto bound = buffer(home);
    const auto loaded = program(home);
    const auto line = queue(home);
    EXPECT_EQ(line.raw >> slot_bits, serial_end - 1);
    const auto calls = backend->calls();
    const auto limit = Status::resource_limit;
    EXPECT_TRUE(call<Opcode::create_context>().refuses(limit));
    EXPECT_TRUE(call<Opcode::allocate_buffer>(allocation(home)).refuses(limit));
    EXPECT_TRUE(call<Opcode::load_program>(artifact(home), artifact_bytes()).refuses(limit));
    EXPECT_TRUE(call<Opcode::create_queue>({home, 0U, 0U}).refuses(limit));
    EXPECT_TRUE(submit(line, loaded, std::array{binding(bound)}).refuses(limit));
    EXPECT_EQ(backend->calls(), calls) << "refused before the backend";
    EXPECT_EQ(call<Opcode::free_buffer>({bound}).status, Status::ok);
    EXPECT_TRUE(call<Opcode::free_buffer>({bound}).refuses(Status::stale_object));
    EXPECT_FALSE(device().reset().discard);
    EXPECT_TRUE(call<Opcode::create_context>().refuses(limit)) << "a reset counts on";
    EXPECT_EQ(device().next_serial(), serial_end);
}

TEST_F(WearTest, shares_no_id_with_a_device_that_starts_elsewhere) {
    const auto here = context();
    auto options = default_options();
    options.first_serial = device().next_serial();
    remake(options);
    const auto there = context();
    EXPECT_NE(here, there);
    EXPECT_TRUE(call<Opcode::destroy_context>({here}).refuses(Status::stale_object));
}

TEST_F(WearTest, clamps_limits_to_what_slots_can_name) {
    backend->shown.limits.contexts = 0xffffffff;
    backend->shown.limits.buffers_per_context = 0xffffffff;
    remake(default_options());
    EXPECT_EQ(call<Opcode::get_device_info>().as<wire::DeviceInfo>().contexts_max, 0xffffffffU);
    buffer(context(), 1);
}

}  // namespace
}  // namespace virtaccel::device
