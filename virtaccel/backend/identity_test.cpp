#include "virtaccel/backend/identity.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {

namespace {

constexpr DeviceIdentity good{
    .capabilities = CapabilityBit::host_visible_memory,
    .limits = {.contexts = 1,
               .buffers_per_context = 1,
               .programs_per_context = 1,
               .queues_per_context = 1,
               .events_per_context = 1,
               .bindings_per_submission = protocol::bindings_max,
               .buffer_bytes = 1,
               .artifact_bytes = 1},
};

TEST(Identity, accepts_any_one_memory_domain) {
    DeviceIdentity identity = good;
    for (const auto domain : {CapabilityBit::host_visible_memory,
                              CapabilityBit::device_local_memory, CapabilityBit::shared_memory}) {
        identity.capabilities = domain;
        EXPECT_EQ(validate(identity), Status::ok);
    }
}

TEST(Identity, refuses_reserved_capabilities) {
    DeviceIdentity identity = good;
    for (const auto reserved : {CapabilityBit::external_memory, CapabilityBit::secure_contexts}) {
        identity.capabilities = good.capabilities | reserved;
        EXPECT_EQ(validate(identity), Status::incompatible);
    }
}

TEST(Identity, refuses_a_device_without_memory) {
    DeviceIdentity identity = good;
    identity.capabilities = CapabilityBit::event_cancellation;
    EXPECT_EQ(validate(identity), Status::incompatible);
    identity.capabilities = {};
    EXPECT_EQ(validate(identity), Status::incompatible);
}

TEST(Identity, keeps_unknown_capabilities) {
    DeviceIdentity identity = good;
    identity.capabilities = Capabilities{good.capabilities.bits | (std::uint64_t{1} << 63U)};
    EXPECT_EQ(validate(identity), Status::ok);
}

TEST(Identity, refuses_each_limit_that_is_zero) {
    for (const auto limit :
         {&DeviceLimits::contexts, &DeviceLimits::buffers_per_context,
          &DeviceLimits::programs_per_context, &DeviceLimits::queues_per_context,
          &DeviceLimits::events_per_context, &DeviceLimits::bindings_per_submission}) {
        DeviceIdentity identity = good;
        identity.limits.*limit = 0;
        EXPECT_EQ(validate(identity), Status::invalid_argument);
    }
    for (const auto limit : {&DeviceLimits::buffer_bytes, &DeviceLimits::artifact_bytes}) {
        DeviceIdentity identity = good;
        identity.limits.*limit = 0;
        EXPECT_EQ(validate(identity), Status::invalid_argument);
    }
}

TEST(Identity, refuses_more_bindings_than_the_protocol_knows) {
    DeviceIdentity identity = good;
    identity.limits.bindings_per_submission = protocol::bindings_max + 1;
    EXPECT_EQ(validate(identity), Status::invalid_argument);
}

}  // namespace

}  // namespace virtaccel::backend
