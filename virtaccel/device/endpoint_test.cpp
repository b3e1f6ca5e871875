#include "virtaccel/device/endpoint.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
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

using testing::Ending;
using testing::Operation;
using testing::ScriptedBackend;
using wire::Opcode;

class EndpointTest : public ::testing::Test {
  public:
    EndpointTest() {
        auto made = Endpoint::make(host::heap(), factory(), testing::default_options(), 7);
        EXPECT_TRUE(made.has_value());
        endpoint.emplace(std::move(*made));
    }

    [[nodiscard]] backend::BackendFactory factory() {
        return {this, [](void* state) -> Result<backend::AnyBackend> {
                    auto& self = *static_cast<EndpointTest*>(state);
                    if (self.factory_fails) {
                        return fail(Status::out_of_memory);
                    }
                    self.backends.push_back(std::make_unique<ScriptedBackend>());
                    return backend::AnyBackend::borrow(*self.backends.back());
                }};
    }

    template <Opcode op>
    Status call(const wire::RequestOf<op>& record = {}) {
        std::array<std::byte, 128> request{};
        constexpr auto bytes = wire::fixed_bytes<wire::RequestOf<op>>;
        wire::RequestHeader header;
        header.opcode = static_cast<std::uint16_t>(op);
        header.payload_bytes = bytes;
        header.request_id = 1;
        std::memcpy(request.data(), &header, sizeof header);
        std::memcpy(request.data() + sizeof header, &record, bytes);
        EXPECT_NE(endpoint->device()
                      .serve(std::span{request}.first(sizeof header + bytes), response)
                      .used_bytes,
                  0U);
        return static_cast<Status>(
            std::uint16_t{wire::load<wire::ResponseHeader>(response.data()).status});
    }

    ContextId context() {
        EXPECT_EQ(call<Opcode::create_context>(), Status::ok);
        return wire::load<wire::Object<ContextKind>>(response.data() + 16).object_id;
    }

    void lose_the_device() {
        backends.back()->next(Operation::create_context, Ending::rejected(Status::device_lost));
        EXPECT_EQ(call<Opcode::create_context>(), Status::device_lost);
    }

    std::vector<std::unique_ptr<ScriptedBackend>> backends;
    std::optional<Endpoint> endpoint;
    std::array<std::byte, 128> response{};
    bool factory_fails = false;
};

TEST_F(EndpointTest, refuses_a_seed_that_is_zero_or_the_current_one) {
    const auto id = context();
    EXPECT_EQ(endpoint->reset(0), ResetAnswer::refused);
    EXPECT_EQ(endpoint->reset(7), ResetAnswer::refused);
    EXPECT_EQ(endpoint->last_report().released, Tally{});
    EXPECT_EQ(call<Opcode::destroy_context>({id}), Status::ok) << "nothing has changed";
    EXPECT_EQ(endpoint->reset(8), ResetAnswer::reused);
    EXPECT_EQ(endpoint->reset(8), ResetAnswer::refused);
    EXPECT_EQ(endpoint->reset(7), ResetAnswer::reused);
}

TEST_F(EndpointTest, keeps_the_backend_when_everything_was_released) {
    const auto id = context();
    EXPECT_EQ(endpoint->reset(8), ResetAnswer::reused);
    EXPECT_EQ(endpoint->last_report().released.objects, 1U);
    EXPECT_EQ(backends.size(), 1U);
    const auto fresh = context();
    EXPECT_GT(fresh.raw, id.raw);
    EXPECT_EQ(call<Opcode::destroy_context>({id}), Status::stale_object);
}

TEST_F(EndpointTest, builds_a_new_device_when_the_old_one_is_lost) {
    const auto id = context();
    endpoint->set_notifier({});
    lose_the_device();
    EXPECT_EQ(endpoint->reset(8), ResetAnswer::rebuilt);
    EXPECT_EQ(endpoint->last_report().quarantined.objects, 1U);
    EXPECT_EQ(backends.size(), 2U);
    EXPECT_EQ(backends.back()->notifiers, 1U);
    EXPECT_FALSE(endpoint->device().needs_reset());
    const auto fresh = context();
    EXPECT_GT(fresh.raw, id.raw) << "the serial goes on counting";
    EXPECT_EQ(call<Opcode::destroy_context>({id}), Status::stale_object);
    EXPECT_EQ(endpoint->reset(9), ResetAnswer::reused);
}

TEST_F(EndpointTest, stays_lost_until_a_backend_can_be_made) {
    lose_the_device();
    factory_fails = true;
    EXPECT_EQ(endpoint->reset(8), ResetAnswer::unavailable);
    EXPECT_EQ(call<Opcode::get_device_info>(), Status::device_lost);
    EXPECT_EQ(endpoint->reset(8), ResetAnswer::unavailable) << "the seed was not taken";
    endpoint->set_notifier({});
    factory_fails = false;
    EXPECT_EQ(endpoint->reset(8), ResetAnswer::rebuilt);
    EXPECT_EQ(call<Opcode::get_device_info>(), Status::ok);
    EXPECT_EQ(endpoint->reset(8), ResetAnswer::refused);
}

TEST_F(EndpointTest, chooses_a_namespace_where_the_transport_names_none) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(endpoint->reset(), ResetAnswer::reused);
    }
    EXPECT_EQ(endpoint->reset(10), ResetAnswer::refused) << "they follow each other";
    EXPECT_EQ(endpoint->reset(~std::uint64_t{0}), ResetAnswer::reused);
    EXPECT_EQ(endpoint->reset(), ResetAnswer::reused) << "never zero";
    EXPECT_EQ(endpoint->reset(1), ResetAnswer::refused) << "it is the first again";
}

TEST_F(EndpointTest, is_not_made_of_what_does_not_fit) {
    EXPECT_EQ(Endpoint::make(host::heap(), factory(), testing::default_options(), 0).error(),
              Unfit::seed_is_zero);
    EXPECT_EQ(Endpoint::make(host::heap(), factory(), {}, 1).error(), Unfit::config_out_of_range);
    factory_fails = true;
    EXPECT_EQ(Endpoint::make(host::heap(), factory(), testing::default_options(), 1).error(),
              Unfit::no_backend);
}

}  // namespace
}  // namespace virtaccel::device
