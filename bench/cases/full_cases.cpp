#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bench/cases/cases.h"
#include "bench/cases/fixture.h"
#include "bench/cases/full_rig.h"
#include "bench/cases/meter.h"
#include "bench/cases/shared_cases.h"
#include "bench/cases/taken.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::bench {
namespace {

using wire::Opcode;

// The deepest batch needs a ring of 8,192; everything else runs at a real device's size.
constexpr std::uint32_t ring_size = 1024;
constexpr std::uint32_t ring_size_deep = 8192;

class FullCases {
  public:
    FullCases(Meter& meter, const Layer& layer) : meter_(meter), layer_(layer) {}

    void control() {
        FullRig rig(layer_.factory, ring_size, 1);
        meter_.measure(layer_.full_name, "get_device_info", 0, [&] {
            taken(rig.client().get_device_info(rig.chain()).has_value());
            (void)rig.finish<Opcode::get_device_info>(rig.chain());
        });
        meter_.measure(layer_.full_name, "create_destroy_context", 0, [&] {
            auto context = rig.create_context();
            taken(rig.client().release(rig.chain(), context).has_value());
            (void)rig.finish<Opcode::destroy_context>(rig.chain());
        });
        const auto context = rig.create_context();
        for (const Size& size : allocation_sizes) {
            meter_.measure(layer_.full_name, fmt::format("allocate_free_{}", size.name), 0, [&] {
                auto buffer = rig.allocate(context, size.bytes);
                taken(rig.client().release(rig.chain(), buffer).has_value());
                (void)rig.finish<Opcode::free_buffer>(rig.chain());
            });
        }
    }

    // One kick for the whole batch.
    void batches() {
        for (const std::uint32_t batch : batch_sizes) {
            FullRig rig(layer_.factory, batch > ring_size / 2 ? ring_size_deep : ring_size, batch);
            guest::Client& client = rig.client();
            meter_.measure(layer_.full_name, fmt::format("get_device_info_batch_{}", batch), 0,
                           [&] {
                               for (std::uint32_t i = 0; i < batch; ++i) {
                                   taken(client.get_device_info(rig.chain(i)).has_value());
                               }
                               client.kick();
                               for (std::uint32_t i = 0; i < batch; ++i) {
                                   guest::Chain* done = client.next();
                                   taken(done != nullptr &&
                                         client.result<Opcode::get_device_info>(*done).has_value());
                               }
                           });
        }
    }

    void transfers() {
        FullRig rig(layer_.factory, ring_size, 1);
        guest::Client& client = rig.client();
        const auto context = rig.create_context();
        for (const Size& size : transfer_sizes) {
            if (size.bytes > layer_.buffer_bytes_max) {
                continue;
            }
            const auto buffer = rig.allocate(context, size.bytes);
            std::vector<std::byte> data(size.bytes, std::byte{1});
            meter_.measure(layer_.full_name, fmt::format("write_{}", size.name), size.bytes, [&] {
                taken(client.write_buffer(rig.chain(), buffer, 0, data).has_value());
                (void)rig.finish<Opcode::write_buffer>(rig.chain());
            });
            meter_.measure(layer_.full_name, fmt::format("write_prepared_{}", size.name),
                           size.bytes, [&] {
                               taken(client
                                         .write_prepared(rig.chain(), buffer, 0,
                                                         std::span<const std::byte>{data})
                                         .has_value());
                               (void)rig.finish<Opcode::write_buffer>(rig.chain());
                           });
            meter_.measure(layer_.full_name, fmt::format("read_{}", size.name), size.bytes, [&] {
                taken(client.read_prepared(rig.chain(), buffer, 0, std::span<std::byte>{data})
                          .has_value());
                (void)rig.finish<Opcode::read_buffer>(rig.chain());
            });
        }
    }

    void submissions() {
        for_each_submission(
            layer_, [&](std::uint32_t bindings, bool reversed) { submission(bindings, reversed); });
    }

    void resets() {
        FullRig rig(layer_.factory, ring_size, 1);
        measure_resets(meter_, layer_.full_name, rig, make_mixed);
    }

  private:
    // `count` bindings, each of a buffer of its own, in ascending or descending slot order.
    void submission(std::uint32_t count, bool reversed) {
        FullRig rig(layer_.factory, ring_size, 1);
        guest::Client& client = rig.client();
        const auto context = rig.create_context();
        std::vector<guest::BufferHandle> buffers;
        buffers.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            buffers.push_back(rig.allocate(context, 64));
        }
        std::vector<guest::Binding> bindings;
        bindings.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            bindings.push_back({.slot = reversed ? count - 1 - i : i,
                                .access = Access::read,
                                .buffer = &buffers[i],
                                .range = {.offset = 0, .bytes = 64}});
        }
        const auto queue = rig.create_queue(context);
        const auto program = rig.load(context);
        meter_.measure(layer_.full_name, submission_name(count, reversed), 0, [&] {
            const guest::Submission submission{
                .queue = queue, .program = program, .bindings = bindings};
            taken(client.submit(rig.chain(), submission).has_value());
            auto event = std::move(rig.finish<Opcode::submit>(rig.chain())->event);
            taken(client.poll_event(rig.chain(), event).has_value());
            taken(rig.finish<Opcode::poll_event>(rig.chain())->phase == EventPhase::complete);
            taken(client.release(rig.chain(), event).has_value());
            (void)rig.finish<Opcode::destroy_event>(rig.chain());
        });
    }

    static void make_mixed(FullRig& rig) {
        const auto context = rig.create_context();
        guest::QueueHandle queue;
        guest::BufferHandle buffer;
        guest::ProgramHandle program;
        for (std::uint32_t i = 0; i < mixed_queues; ++i) {
            queue = rig.create_queue(context);
        }
        for (std::uint32_t i = 0; i < mixed_buffers; ++i) {
            buffer = rig.allocate(context, 64);
        }
        for (std::uint32_t i = 0; i < mixed_programs; ++i) {
            program = rig.load(context);
        }
        const guest::Binding binding{.buffer = &buffer, .range = {.offset = 0, .bytes = 64}};
        for (std::uint32_t i = 0; i < mixed_events; ++i) {
            const guest::Submission submission{
                .queue = queue, .program = program, .bindings = std::span{&binding, 1}};
            taken(rig.client().submit(rig.chain(), submission).has_value());
            (void)rig.finish<Opcode::submit>(rig.chain());
        }
    }

    Meter& meter_;
    const Layer& layer_;
};

}  // namespace

void run_full_cases(Meter& meter, const Layer& layer) {
    FullCases cases(meter, layer);
    cases.control();
    cases.batches();
    cases.transfers();
    cases.submissions();
    cases.resets();
}

}  // namespace virtaccel::bench
