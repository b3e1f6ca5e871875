#pragma once
// A device on a scripted backend, and a guest that speaks to it in records: what the tests of this
// folder start from. Every call checks that nothing was written past the used length and that the
// request's ID came back.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device::testing {

using wire::Opcode;

inline constexpr std::byte untouched{0xa5};
inline constexpr std::size_t rig_request_bytes = 64U << 10U;
inline constexpr std::size_t rig_response_bytes = 8U << 10U;
inline constexpr Usage usage_all = usage_known;

[[nodiscard]] inline Options default_options() {
    Options options;
    options.config.chain_descriptors_max = 16;
    options.config.request_bytes_max = rig_request_bytes;
    options.config.response_bytes_max = rig_response_bytes;
    options.policy = {.buffer_bytes_max = 1U << 24U, .program_resident_bytes_max = 4096};
    return options;
}

// What a guest finds in its response space.
struct Reply {
    std::uint32_t used_bytes = 0;
    bool deferred = false;
    Status status = Status::ok;
    std::uint32_t payload_bytes = 0;
    std::uint64_t request_id = 0;
    std::array<std::byte, sizeof(wire::DeviceInfo)> payload{};  // its first bytes

    // True if the head was used with length 0, without an answer.
    [[nodiscard]] bool is_silent() const { return used_bytes == 0 && !deferred; }

    // True for a 16-byte response with that status.
    [[nodiscard]] bool refuses(Status why) const { return used_bytes == 16 && status == why; }

    template <class Record>
    [[nodiscard]] Record as() const {
        return wire::load<Record>(payload.data());
    }

    template <class Kind>
    [[nodiscard]] Id<Kind> id() const {
        return as<wire::Object<Kind>>().object_id;
    }
};

// A request frame under construction; its header can be made wrong.
struct Request {
    wire::RequestHeader header;
    std::array<std::byte, rig_request_bytes + 64> bytes{};
    std::size_t size = sizeof(wire::RequestHeader);

    void append(std::span<const std::byte> data) {
        std::ranges::copy(data, bytes.begin() + static_cast<std::ptrdiff_t>(size));
        size += data.size();
        header.payload_bytes = static_cast<std::uint32_t>(size - sizeof header);
    }

    [[nodiscard]] std::span<const std::byte> frame() {
        std::memcpy(bytes.data(), &header, sizeof header);
        return std::span{bytes}.first(size);
    }
};

class DeviceRig : public ::testing::Test {
  public:
    DeviceRig() { remake(default_options()); }

    ~DeviceRig() override {
        EXPECT_EQ(backend->misuses(), 0U);
        EXPECT_FALSE(backend->has_endings_left()) << "an ending was never used";
    }

    // A fresh device, on the same backend.
    void remake(const Options& options) {
        device_.reset();
        auto made = Device::make(memory(), backend::AnyBackend::borrow(*backend), options);
        ASSERT_TRUE(made.has_value()) << explain(made.error());
        device_.emplace(std::move(*made));
    }

    // Where the device's memory comes from.
    [[nodiscard]] virtual Memory memory() { return host::heap(); }

    [[nodiscard]] Device& device() { return *device_; }

    template <Opcode op>
    Request& request(const wire::RequestOf<op>& record, std::span<const std::byte> tail = {}) {
        Request& request = *request_;
        request.size = sizeof request.header;
        request.header = {};
        request.header.opcode = static_cast<std::uint16_t>(op);
        request.header.request_id = ++last_request_id_;
        request.append(
            std::as_bytes(std::span{&record, 1}).first(wire::fixed_bytes<wire::RequestOf<op>>));
        request.append(tail);
        return request;
    }

    // Sends `request` with `capacity` bytes for the response.
    Reply send(Request& request, std::size_t capacity = rig_response_bytes) {
        response().fill(untouched);
        const auto served = device().serve(request.frame(), std::span{response()}.first(capacity));
        return look(served, request.header.request_id);
    }

    // What an answer of that used length left in the response space.
    Reply look(Served served, std::uint64_t request_id) {
        Reply reply{.used_bytes = served.used_bytes, .deferred = served.deferred};
        EXPECT_LE(served.used_bytes, response().size());
        EXPECT_TRUE(std::ranges::all_of(std::span{response()}.subspan(served.used_bytes),
                                        [](std::byte byte) { return byte == untouched; }))
            << "bytes past the used length were touched";
        if (served.used_bytes == 0) {
            return reply;
        }
        const auto header = wire::load<wire::ResponseHeader>(response().data());
        reply.status = static_cast<Status>(std::uint16_t{header.status});
        reply.payload_bytes = header.payload_bytes;
        reply.request_id = header.request_id;
        EXPECT_EQ(header.flags, 0);
        EXPECT_EQ(reply.request_id, request_id);
        EXPECT_EQ(served.used_bytes, sizeof header + reply.payload_bytes);
        std::memcpy(reply.payload.data(), response().data() + sizeof header,
                    std::min<std::size_t>(reply.payload.size(), reply.payload_bytes));
        return reply;
    }

    template <Opcode op>
    Reply call(const wire::RequestOf<op>& record = {}, std::span<const std::byte> tail = {},
               std::size_t capacity = rig_response_bytes) {
        return send(request<op>(record, tail), capacity);
    }

    [[nodiscard]] std::array<std::byte, rig_response_bytes>& response() { return *response_; }

    // One object of a kind, which must be granted.
    ContextId context() { return made<ContextKind>(call<Opcode::create_context>()); }

    BufferId buffer(ContextId context, std::uint64_t bytes = 256, Usage usage = usage_all) {
        return made<BufferKind>(call<Opcode::allocate_buffer>(allocation(context, bytes, usage)));
    }

    ProgramId program(ContextId context) {
        return made<ProgramKind>(call<Opcode::load_program>(artifact(context), artifact_bytes()));
    }

    QueueId queue(ContextId context) {
        return made<QueueKind>(call<Opcode::create_queue>(wire::CreateQueue{context, 0U, 0U}));
    }

    EventId event(QueueId queue, ProgramId program, std::initializer_list<wire::Binding> bindings) {
        return made<EventKind>(submit(queue, program, {bindings.begin(), bindings.size()}));
    }

    Reply submit(QueueId queue, ProgramId program, std::span<const wire::Binding> bindings) {
        return call<Opcode::submit>(submission(queue, program, bindings.size()),
                                    std::as_bytes(bindings));
    }

    template <class Kind>
    Id<Kind> made(const Reply& reply) {
        EXPECT_EQ(reply.used_bytes, 24U);
        EXPECT_EQ(reply.status, Status::ok);
        return reply.id<Kind>();
    }

    // Requests that are right in every respect.
    [[nodiscard]] static wire::AllocateBuffer allocation(ContextId context,
                                                         std::uint64_t bytes = 256,
                                                         Usage usage = usage_all) {
        wire::AllocateBuffer record;
        record.context_id = context;
        record.bytes = bytes;
        record.alignment = 64;
        record.memory_domain = static_cast<std::uint8_t>(MemoryDomain::host);
        record.usage = usage.bits;
        return record;
    }

    [[nodiscard]] static wire::LoadProgram artifact(ContextId context) {
        wire::LoadProgram record;
        record.context_id = context;
        record.format = 1;
        record.payload_bytes = artifact_bytes().size();
        record.resident_bytes = 64;
        return record;
    }

    [[nodiscard]] static std::span<const std::byte> artifact_bytes() {
        static constexpr std::array<std::byte, 24> bytes{std::byte{1}};
        return bytes;
    }

    [[nodiscard]] static wire::Submit submission(QueueId queue, ProgramId program,
                                                 std::size_t count) {
        wire::Submit record;
        record.queue_id = queue;
        record.program_id = program;
        record.binding_count = static_cast<std::uint32_t>(count);
        return record;
    }

    [[nodiscard]] static wire::Binding binding(BufferId buffer, std::uint32_t slot = 0,
                                               ByteRange range = {.offset = 0, .bytes = 64},
                                               Access access = Access::read_write) {
        wire::Binding record;
        record.buffer_id = buffer;
        record.offset = range.offset;
        record.bytes = range.bytes;
        record.slot = slot;
        record.access = static_cast<std::uint8_t>(access);
        return record;
    }

    std::unique_ptr<ScriptedBackend> backend = std::make_unique<ScriptedBackend>();

  private:
    std::optional<Device> device_;
    std::unique_ptr<Request> request_ = std::make_unique<Request>();
    std::unique_ptr<std::array<std::byte, rig_response_bytes>> response_ =
        std::make_unique<std::array<std::byte, rig_response_bytes>>();
    std::uint64_t last_request_id_ = 0;
};

// One of each object, in one context.
class PopulatedRig : public DeviceRig {
  public:
    ContextId context_id = context();
    BufferId buffer_id = buffer(context_id);
    ProgramId program_id = program(context_id);
    QueueId queue_id = queue(context_id);

    EventId one_event() { return event(queue_id, program_id, {binding(buffer_id)}); }
};

}  // namespace virtaccel::device::testing
