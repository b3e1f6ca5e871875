#include "virtaccel/model/payload.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "virtaccel/model/fixture.h"
#include "virtaccel/model/wire_text.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {
namespace {

using Payload = std::span<const std::byte>;

constexpr std::uint64_t binding_bytes = 32;
constexpr std::uint64_t bindings_hard_max = 4096;

bool overflows(std::uint64_t offset, std::uint64_t bytes) {
    return bytes > std::numeric_limits<std::uint64_t>::max() - offset;
}

bool is_power_of_two(std::uint64_t number) {
    return number != 0 && (number & (number - 1)) == 0;
}

std::uint16_t judge_create_context(Payload payload) {
    if (payload.size() != 8) {
        return status::invalid_argument;
    }
    if (number_at(payload, 0, 4) != 0) {
        return status::unsupported;
    }
    return number_at(payload, 4, 4) != 0 ? status::invalid_argument : status::ok;
}

std::uint16_t judge_create_queue(Payload payload) {
    if (payload.size() != 16) {
        return status::invalid_argument;
    }
    if (number_at(payload, 8, 4) != 0) {
        return status::unsupported;
    }
    if (number_at(payload, 12, 4) != 0 || number_at(payload, 0, 8) == 0) {
        return status::invalid_argument;
    }
    return status::ok;
}

std::uint64_t capability_of_domain(std::uint64_t domain) {
    return domain == 1   ? capability::host_visible_memory
           : domain == 2 ? capability::device_local_memory
                         : capability::shared_memory;
}

std::uint16_t judge_allocate_buffer(const World& world, Payload payload) {
    if (payload.size() != 40 || number_at(payload, 0, 8) == 0) {
        return status::invalid_argument;
    }
    const auto bytes = number_at(payload, 8, 8);
    const auto alignment = number_at(payload, 16, 8);
    const auto domain = number_at(payload, 24, 1);
    const auto usage = number_at(payload, 32, 4);
    if (number_at(payload, 25, 7) != 0 || number_at(payload, 36, 4) != 0 || domain < 1 ||
        domain > 3) {
        return status::invalid_argument;
    }
    if ((usage & ~usage::known) != 0) {
        return status::unsupported;
    }
    if (usage == 0 || bytes == 0 || !is_power_of_two(alignment)) {
        return status::invalid_argument;
    }
    if (bytes > world.buffer_bytes) {
        return status::resource_limit;
    }
    return (world.capabilities & capability_of_domain(domain)) == 0 ? status::unsupported
                                                                    : status::ok;
}

// What WRITE_BUFFER and READ_BUFFER share.
std::uint16_t judge_transfer(Payload payload) {
    if (payload.size() < 24) {
        return status::invalid_argument;
    }
    const auto offset = number_at(payload, 8, 8);
    const auto bytes = number_at(payload, 16, 8);
    return number_at(payload, 0, 8) == 0 || bytes == 0 || overflows(offset, bytes)
               ? status::invalid_argument
               : status::ok;
}

std::uint16_t judge_write_buffer(Payload payload) {
    if (const auto judged = judge_transfer(payload); judged != status::ok) {
        return judged;
    }
    return number_at(payload, 16, 8) != payload.size() - 24 ? status::invalid_argument : status::ok;
}

std::uint16_t judge_read_buffer(const World& world, Payload payload) {
    if (payload.size() != 24) {
        return status::invalid_argument;
    }
    if (const auto judged = judge_transfer(payload); judged != status::ok) {
        return judged;
    }
    return number_at(payload, 16, 8) > world.response_bytes - header_bytes ? status::resource_limit
                                                                           : status::ok;
}

std::uint16_t judge_load_program(const World& world, Payload payload) {
    if (payload.size() < 80) {
        return status::invalid_argument;
    }
    if (number_at(payload, 12, 4) != 0) {
        return status::unsupported;
    }
    const auto bytes = number_at(payload, 64, 8);
    if (number_at(payload, 0, 8) == 0 || number_at(payload, 8, 4) == 0 || bytes == 0 ||
        number_at(payload, 72, 8) == 0 || bytes != payload.size() - 80) {
        return status::invalid_argument;
    }
    return bytes > world.artifact_bytes ? status::resource_limit : status::ok;
}

std::uint16_t judge_binding(Payload binding) {
    const auto offset = number_at(binding, 8, 8);
    const auto bytes = number_at(binding, 16, 8);
    const auto access = number_at(binding, 28, 1);
    const bool good = number_at(binding, 29, 3) == 0 && bytes != 0 && !overflows(offset, bytes) &&
                      access >= 1 && access <= 3 && number_at(binding, 0, 8) != 0;
    return good ? status::ok : status::invalid_argument;
}

std::uint16_t judge_submit(const World& world, Payload payload) {
    if (payload.size() < 32) {
        return status::invalid_argument;
    }
    if (number_at(payload, 20, 4) != 0) {
        return status::unsupported;
    }
    const auto count = number_at(payload, 16, 4);
    if (count == 0) {
        return status::invalid_argument;
    }
    if (count > std::min(bindings_hard_max, world.bindings)) {
        return status::resource_limit;
    }
    if (payload.size() != 32 + (count * binding_bytes)) {
        return status::invalid_argument;
    }
    std::set<std::uint64_t> slots;
    for (std::size_t at = 32; at < payload.size(); at += binding_bytes) {
        const auto binding = payload.subspan(at, binding_bytes);
        if (const auto judged = judge_binding(binding); judged != status::ok) {
            return judged;
        }
        slots.insert(number_at(binding, 24, 4));
    }
    return slots.size() != count || number_at(payload, 0, 8) == 0 || number_at(payload, 8, 8) == 0
               ? status::invalid_argument
               : status::ok;
}

std::uint16_t judge_object(Payload payload) {
    return payload.size() != 8 || number_at(payload, 0, 8) == 0 ? status::invalid_argument
                                                                : status::ok;
}

}  // namespace

bool is_command(std::uint64_t opcode) {
    static const std::set<std::uint64_t> commands{
        opcode::get_device_info, opcode::create_context, opcode::destroy_context,
        opcode::allocate_buffer, opcode::free_buffer,    opcode::write_buffer,
        opcode::read_buffer,     opcode::load_program,   opcode::unload_program,
        opcode::create_queue,    opcode::destroy_queue,  opcode::submit,
        opcode::poll_event,      opcode::cancel_event,   opcode::destroy_event};
    return commands.contains(opcode);
}

std::uint16_t judge_payload(const World& world, std::uint64_t opcode, Payload payload) {
    switch (opcode) {
        case opcode::get_device_info:
            return payload.empty() ? status::ok : status::invalid_argument;
        case opcode::create_context:
            return judge_create_context(payload);
        case opcode::allocate_buffer:
            return judge_allocate_buffer(world, payload);
        case opcode::write_buffer:
            return judge_write_buffer(payload);
        case opcode::read_buffer:
            return judge_read_buffer(world, payload);
        case opcode::load_program:
            return judge_load_program(world, payload);
        case opcode::create_queue:
            return judge_create_queue(payload);
        case opcode::submit:
            return judge_submit(world, payload);
        default:
            return judge_object(payload);
    }
}

std::uint64_t success_bytes(std::uint64_t opcode, Payload payload) {
    switch (opcode) {
        case opcode::get_device_info:
            return 76;
        case opcode::create_context:
        case opcode::allocate_buffer:
        case opcode::load_program:
        case opcode::create_queue:
        case opcode::submit:
        case opcode::poll_event:
            return 8;
        case opcode::read_buffer:
            return number_at(payload, 16, 8);
        default:
            return 0;
    }
}

std::vector<Binding> bindings_in(Payload payload) {
    std::vector<Binding> bindings;
    for (std::size_t at = 32; at < payload.size(); at += binding_bytes) {
        bindings.push_back({.buffer = number_at(payload, at, 8),
                            .offset = number_at(payload, at + 8, 8),
                            .bytes = number_at(payload, at + 16, 8),
                            .slot = number_at(payload, at + 24, 4),
                            .access = number_at(payload, at + 28, 1)});
    }
    std::ranges::sort(bindings, {}, &Binding::slot);
    return bindings;
}

}  // namespace virtaccel::model
