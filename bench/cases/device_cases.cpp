#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "bench/cases/cases.h"
#include "bench/cases/device_rig.h"
#include "bench/cases/fixture.h"
#include "bench/cases/meter.h"
#include "bench/cases/shared_cases.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::bench {
namespace {

using wire::Opcode;

class DeviceCases {
  public:
    DeviceCases(Meter& meter, const Layer& layer) : meter_(meter), layer_(layer) {}

    void control() {
        DeviceRig rig(layer_.factory);
        rig.write<Opcode::get_device_info>({});
        meter_.measure(layer_.device_name, "get_device_info", 0, [&] { rig.send_again(); });
        for (const std::uint32_t batch : batch_sizes) {
            meter_.measure(layer_.device_name, fmt::format("get_device_info_batch_{}", batch), 0,
                           [&] {
                               for (std::uint32_t i = 0; i < batch; ++i) {
                                   rig.send_again();
                               }
                           });
        }
        meter_.measure(layer_.device_name, "create_destroy_context", 0,
                       [&] { rig.send<Opcode::destroy_context>(rig.create_context()); });
        const auto context = rig.create_context();
        for (const Size& size : allocation_sizes) {
            meter_.measure(layer_.device_name, fmt::format("allocate_free_{}", size.name), 0, [&] {
                rig.send<Opcode::free_buffer>(rig.allocate(context, size.bytes));
            });
        }
    }

    void transfers() {
        DeviceRig rig(layer_.factory);
        const auto context = rig.create_context();
        for (const Size& size : transfer_sizes) {
            if (size.bytes > layer_.buffer_bytes_max) {
                continue;
            }
            const auto buffer = rig.allocate(context, size.bytes);
            wire::WriteBuffer write;
            write.buffer_id = buffer.object_id;
            write.bytes = size.bytes;
            rig.write<Opcode::write_buffer>(write, size.bytes);
            const auto write_once = [&] { rig.send_again(); };
            // The device alone has no guest: both kinds of write are the same to it.
            meter_.measure(layer_.device_name, fmt::format("write_{}", size.name), size.bytes,
                           write_once);
            meter_.measure(layer_.device_name, fmt::format("write_prepared_{}", size.name),
                           size.bytes, write_once);
            wire::ReadBuffer read;
            read.buffer_id = buffer.object_id;
            read.bytes = size.bytes;
            rig.write<Opcode::read_buffer>(read);
            meter_.measure(layer_.device_name, fmt::format("read_{}", size.name), size.bytes,
                           [&] { rig.send_again(); });
        }
    }

    void submissions() {
        for_each_submission(
            layer_, [&](std::uint32_t bindings, bool reversed) { submission(bindings, reversed); });
    }

    void resets() {
        DeviceRig rig(layer_.factory);
        measure_resets(meter_, layer_.device_name, rig, make_mixed);
    }

  private:
    // `count` bindings, each of a buffer of its own, in ascending or descending slot order.
    void submission(std::uint32_t count, bool reversed) {
        DeviceRig rig(layer_.factory);
        const auto context = rig.create_context();
        std::vector<wire::Binding> bindings(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            bindings[i].buffer_id = rig.allocate(context, 64).object_id;
            bindings[i].bytes = std::uint64_t{64};
            bindings[i].slot = reversed ? count - 1 - i : i;
            bindings[i].access = static_cast<std::uint8_t>(Access::read);
        }
        wire::Submit submit;
        submit.queue_id = rig.create_queue(context).object_id;
        submit.program_id = rig.load(context).object_id;
        submit.binding_count = count;
        const std::size_t tail_bytes = bindings.size() * sizeof(wire::Binding);
        meter_.measure(layer_.device_name, submission_name(count, reversed), 0, [&] {
            std::memcpy(rig.tail<Opcode::submit>(), bindings.data(), tail_bytes);
            const auto event = rig.make<Opcode::submit>(submit, tail_bytes);
            rig.send<Opcode::poll_event>(event);
            rig.send<Opcode::destroy_event>(event);
        });
    }

    static void make_mixed(DeviceRig& rig) {
        const auto context = rig.create_context();
        wire::Submit submit;
        for (std::uint32_t i = 0; i < mixed_queues; ++i) {
            submit.queue_id = rig.create_queue(context).object_id;
        }
        wire::Binding binding;
        for (std::uint32_t i = 0; i < mixed_buffers; ++i) {
            binding.buffer_id = rig.allocate(context, 64).object_id;
        }
        for (std::uint32_t i = 0; i < mixed_programs; ++i) {
            submit.program_id = rig.load(context).object_id;
        }
        binding.bytes = std::uint64_t{64};
        binding.access = static_cast<std::uint8_t>(Access::read);
        submit.binding_count = 1U;
        for (std::uint32_t i = 0; i < mixed_events; ++i) {
            std::memcpy(rig.tail<Opcode::submit>(), &binding, sizeof binding);
            (void)rig.make<Opcode::submit>(submit, sizeof binding);
        }
    }

    Meter& meter_;
    const Layer& layer_;
};

}  // namespace

void run_device_cases(Meter& meter, const Layer& layer) {
    DeviceCases cases(meter, layer);
    cases.control();
    cases.transfers();
    cases.submissions();
    cases.resets();
}

}  // namespace virtaccel::bench
