// The order in which payloads are judged (spec §5, first order table). Each fault alone gets its
// status; of two neighbours in the table, made together, the earlier one answers.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {
namespace {

using testing::PopulatedRig;
using wire::Opcode;

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

// A payload under construction; `missing` bytes are cut off its end.
template <Opcode op>
struct Draft {
    wire::RequestOf<op> record;
    std::vector<std::byte> tail;
    std::size_t missing = 0;
};

template <Opcode op>
struct Fault {
    const char* name;
    Status status;
    std::function<void(Draft<op>&)> make;
};

class PayloadOrderTest : public PopulatedRig {
  public:
    template <Opcode op>
    testing::Reply send_draft(const Draft<op>& draft) {
        auto& request = this->request<op>(draft.record, draft.tail);
        request.size -= draft.missing;
        request.header.payload_bytes = static_cast<std::uint32_t>(request.size - 16);
        return send(request);
    }

    template <Opcode op>
    void expect_order(const Draft<op>& good, const std::vector<Fault<op>>& faults) {
        const auto calls = backend->calls();
        for (std::size_t i = 0; i < faults.size(); ++i) {
            auto draft = good;
            faults[i].make(draft);
            EXPECT_TRUE(send_draft(draft).refuses(faults[i].status)) << faults[i].name;
            if (i + 1 < faults.size()) {
                faults[i + 1].make(draft);
                // The later fault may have repaired the earlier one's field; make it again.
                faults[i].make(draft);
                EXPECT_TRUE(send_draft(draft).refuses(faults[i].status))
                    << faults[i].name << ", then " << faults[i + 1].name;
            }
        }
        EXPECT_EQ(backend->calls(), calls) << "the payload comes before the backend";
        EXPECT_EQ(send_draft(good).status, Status::ok) << "without a fault it is carried out";
    }

    template <Opcode op>
    static Fault<op> one_byte_more() {
        return {"length", Status::invalid_argument, [](auto& draft) { draft.tail.resize(1); }};
    }

    [[nodiscard]] Draft<Opcode::submit> good_submission() {
        Draft<Opcode::submit> draft{.record = submission(queue_id, program_id, 2), .tail = {}};
        set_bindings(draft, {binding(buffer_id, 1), binding(buffer_id, 2)});
        return draft;
    }

    static void set_bindings(Draft<Opcode::submit>& draft,
                             const std::vector<wire::Binding>& bindings) {
        const auto bytes = std::as_bytes(std::span{bindings});
        draft.tail.assign(bytes.begin(), bytes.end());
    }

    // Changes the second of two bindings.
    static void edit_binding(Draft<Opcode::submit>& draft,
                             const std::function<void(wire::Binding&)>& edit) {
        auto* const bytes = draft.tail.data() + sizeof(wire::Binding);
        auto binding = wire::load<wire::Binding>(bytes);
        edit(binding);
        std::memcpy(bytes, &binding, sizeof binding);
    }
};

TEST_F(PayloadOrderTest, of_create_context_is_length_flags_reserved) {
    using Faults = std::vector<Fault<Opcode::create_context>>;
    expect_order<Opcode::create_context>(
        {},
        Faults{
            one_byte_more<Opcode::create_context>(),
            {"flags", Status::unsupported, [](auto& draft) { draft.record.flags = 1; }},
            {"reserved", Status::invalid_argument, [](auto& draft) { draft.record.reserved = 1; }},
        });
}

TEST_F(PayloadOrderTest, of_create_queue_is_length_flags_reserved_context) {
    using Faults = std::vector<Fault<Opcode::create_queue>>;
    expect_order<Opcode::create_queue>(
        {.record = {context_id, 0U, 0U}, .tail = {}},
        Faults{
            one_byte_more<Opcode::create_queue>(),
            {"flags", Status::unsupported, [](auto& draft) { draft.record.flags = 8; }},
            {"reserved", Status::invalid_argument, [](auto& draft) { draft.record.reserved = 1; }},
            {"context zero", Status::invalid_argument,
             [](auto& draft) { draft.record.context_id = ContextId{}; }},
        });
}

TEST_F(PayloadOrderTest, of_allocate_buffer_ends_with_what_the_device_offers) {
    backend->shown.capabilities = CapabilityBit::host_visible_memory;
    remake(testing::default_options());
    using Faults = std::vector<Fault<Opcode::allocate_buffer>>;
    const auto bad = Status::invalid_argument;
    expect_order<Opcode::allocate_buffer>(
        {.record = allocation(context()), .tail = {}},
        Faults{
            one_byte_more<Opcode::allocate_buffer>(),
            {"context zero", bad, [](auto& draft) { draft.record.context_id = ContextId{}; }},
            {"reserved0", bad, [](auto& draft) { draft.record.reserved0.bytes[6] = 1; }},
            {"reserved1", bad, [](auto& draft) { draft.record.reserved1 = 1; }},
            {"domain value", bad, [](auto& draft) { draft.record.memory_domain = 4; }},
            {"unknown usage bit", Status::unsupported,
             [](auto& draft) { draft.record.usage = 0x20; }},
            {"empty usage", bad, [](auto& draft) { draft.record.usage = 0; }},
            {"bytes zero", bad, [](auto& draft) { draft.record.bytes = 0; }},
            {"alignment", bad, [](auto& draft) { draft.record.alignment = 48; }},
            {"too large", Status::resource_limit,
             [](auto& draft) { draft.record.bytes = std::uint64_t{1} << 62U; }},
            {"domain not offered", Status::unsupported,
             [](auto& draft) { draft.record.memory_domain = 2; }},
        });
}

TEST_F(PayloadOrderTest, of_allocate_buffer_refuses_the_first_byte_too_many) {
    auto record = allocation(context_id, backend->shown.limits.buffer_bytes);
    EXPECT_EQ(call<Opcode::allocate_buffer>(record).status, Status::ok);
    record.bytes = record.bytes + 1;
    EXPECT_TRUE(call<Opcode::allocate_buffer>(record).refuses(Status::resource_limit));
}

TEST_F(PayloadOrderTest, of_write_buffer_ends_with_the_tail) {
    using Faults = std::vector<Fault<Opcode::write_buffer>>;
    const auto bad = Status::invalid_argument;
    expect_order<Opcode::write_buffer>(
        {.record = {buffer_id, 0U, 4U}, .tail = std::vector<std::byte>(4)},
        Faults{
            {"prefix", bad, [](auto& draft) { draft.tail.clear(), draft.missing = 1; }},
            {"buffer zero", bad, [](auto& draft) { draft.record.buffer_id = BufferId{}; }},
            {"bytes zero", bad, [](auto& draft) { draft.record.bytes = 0; }},
            {"overflow", bad,
             [](auto& draft) { draft.record.offset = largest, draft.record.bytes = 2; }},
            {"tail", bad, [](auto& draft) { draft.record.bytes = 5; }},
        });
}

TEST_F(PayloadOrderTest, of_read_buffer_ends_with_the_largest_response) {
    using Faults = std::vector<Fault<Opcode::read_buffer>>;
    const auto bad = Status::invalid_argument;
    expect_order<Opcode::read_buffer>(
        {.record = {buffer_id, 0U, 4U}, .tail = {}},
        Faults{
            one_byte_more<Opcode::read_buffer>(),
            {"buffer zero", bad, [](auto& draft) { draft.record.buffer_id = BufferId{}; }},
            {"bytes zero", bad, [](auto& draft) { draft.record.bytes = 0; }},
            {"overflow", bad,
             [](auto& draft) { draft.record.offset = 1, draft.record.bytes = largest; }},
            {"response", Status::resource_limit,
             [](auto& draft) { draft.record.bytes = testing::rig_response_bytes - 15; }},
        });
    const wire::ReadBuffer everything{buffer_id, 0U, largest};
    EXPECT_TRUE(call<Opcode::read_buffer>(everything).refuses(Status::resource_limit));
    const wire::ReadBuffer gigabytes{buffer_id, 0U, std::uint64_t{1} << 32U};
    EXPECT_TRUE(call<Opcode::read_buffer>(gigabytes, {}, 24).refuses(Status::resource_limit))
        << "the largest response comes before the capacity";
}

TEST_F(PayloadOrderTest, of_load_program_ends_with_the_largest_artifact) {
    using Faults = std::vector<Fault<Opcode::load_program>>;
    const auto bad = Status::invalid_argument;
    expect_order<Opcode::load_program>(
        {.record = artifact(context_id),
         .tail = {artifact_bytes().begin(), artifact_bytes().end()}},
        Faults{
            {"prefix", bad, [](auto& draft) { draft.tail.clear(), draft.missing = 1; }},
            {"flags", Status::unsupported,
             [](auto& draft) { draft.record.flags = 1, draft.missing = 0; }},
            {"context zero", bad, [](auto& draft) { draft.record.context_id = ContextId{}; }},
            {"format zero", bad, [](auto& draft) { draft.record.format = 0; }},
            {"payload_bytes zero", bad, [](auto& draft) { draft.record.payload_bytes = 0; }},
            {"resident_bytes zero", bad, [](auto& draft) { draft.record.resident_bytes = 0; }},
            {"tail", bad, [](auto& draft) { draft.record.payload_bytes = 1U << 20U; }},
            {"too large", Status::resource_limit,
             [](auto& draft) {
                 draft.tail.resize(4001);
                 draft.record.payload_bytes = 4001;
             }},
        });
    auto endless = artifact(context_id);
    endless.payload_bytes = largest;
    EXPECT_TRUE(call<Opcode::load_program>(endless, artifact_bytes()).refuses(bad));
    endless.payload_bytes = std::uint64_t{1} << 40U;
    EXPECT_TRUE(call<Opcode::load_program>(endless, artifact_bytes().first(4)).refuses(bad));
}

TEST_F(PayloadOrderTest, of_submit_puts_flags_and_counts_before_bindings_and_ids) {
    using Faults = std::vector<Fault<Opcode::submit>>;
    const auto bad = Status::invalid_argument;
    expect_order<Opcode::submit>(
        good_submission(),
        Faults{
            {"prefix", bad, [](auto& draft) { draft.tail.clear(), draft.missing = 1; }},
            {"flags", Status::unsupported,
             [](auto& draft) { draft.record.flags = 2, draft.missing = 0; }},
            {"count zero", bad, [](auto& draft) { draft.record.binding_count = 0; }},
            {"count over the limit", Status::resource_limit,
             [](auto& draft) { draft.record.binding_count = 301; }},
            {"length", bad, [](auto& draft) { draft.record.binding_count = 3; }},
            {"binding reserved", bad,
             [](auto& draft) {
                 edit_binding(draft, [](auto& binding) { binding.reserved.bytes[0] = 1; });
             }},
            {"binding range", bad,
             [](auto& draft) {
                 edit_binding(draft, [](auto& binding) { binding.offset = largest; });
             }},
            {"binding access", bad,
             [](auto& draft) { edit_binding(draft, [](auto& binding) { binding.access = 0; }); }},
            {"binding id", bad,
             [](auto& draft) {
                 edit_binding(draft, [](auto& binding) { binding.buffer_id = BufferId{}; });
             }},
            {"duplicate slots", bad,
             [](auto& draft) { edit_binding(draft, [](auto& binding) { binding.slot = 1; }); }},
            {"queue zero", bad, [](auto& draft) { draft.record.queue_id = QueueId{}; }},
            {"program zero", bad, [](auto& draft) { draft.record.program_id = ProgramId{}; }},
        });
}

TEST_F(PayloadOrderTest, of_submit_limits_the_count_even_when_the_length_disagrees) {
    auto record = submission(queue_id, program_id, 0xffffffff);
    EXPECT_TRUE(call<Opcode::submit>(record).refuses(Status::resource_limit));
    record.binding_count = 300;
    EXPECT_TRUE(call<Opcode::submit>(record).refuses(Status::invalid_argument));
}

TEST_F(PayloadOrderTest, of_one_object_is_length_then_zero) {
    const auto expect_both = [this]<Opcode op>() {
        auto& request = this->request<op>({});
        EXPECT_TRUE(send(request).refuses(Status::invalid_argument));
        --request.size;
        request.header.payload_bytes = 7;
        EXPECT_TRUE(send(request).refuses(Status::invalid_argument));
        request.size += 2;
        request.header.payload_bytes = 9;
        EXPECT_TRUE(send(request).refuses(Status::invalid_argument));
    };
    const auto calls = backend->calls();
    expect_both.operator()<Opcode::destroy_context>();
    expect_both.operator()<Opcode::free_buffer>();
    expect_both.operator()<Opcode::unload_program>();
    expect_both.operator()<Opcode::destroy_queue>();
    expect_both.operator()<Opcode::poll_event>();
    expect_both.operator()<Opcode::cancel_event>();
    expect_both.operator()<Opcode::destroy_event>();
    EXPECT_EQ(backend->calls(), calls);
}

}  // namespace
}  // namespace virtaccel::device
