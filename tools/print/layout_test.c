/* The printed C header, held against the offsets of the protocol text by a C11 compiler. */
#include <stddef.h>

#include "virtaccel_wire.h"

#define AT(record, field, offset) \
    _Static_assert(offsetof(struct virtaccel_##record, field) == (offset), #record "." #field)
#define SIZE(record, bytes) _Static_assert(sizeof(struct virtaccel_##record) == (bytes), #record)

SIZE(config, 16);
AT(config, protocol_major, 0);
AT(config, protocol_minor, 2);
AT(config, command_queue_count, 4);
AT(config, max_chain_descriptors, 6);
AT(config, max_request_bytes, 8);
AT(config, max_response_bytes, 12);

SIZE(request_header, 16);
AT(request_header, opcode, 0);
AT(request_header, flags, 2);
AT(request_header, payload_bytes, 4);
AT(request_header, request_id, 8);

SIZE(response_header, 16);
AT(response_header, status, 0);
AT(response_header, flags, 2);
AT(response_header, payload_bytes, 4);
AT(response_header, request_id, 8);

SIZE(device_info, 76);
AT(device_info, uuid, 0);
AT(device_info, class, 16);
AT(device_info, reserved, 18);
AT(device_info, vendor_id, 20);
AT(device_info, device_id, 24);
AT(device_info, capabilities, 28);
AT(device_info, max_contexts, 36);
AT(device_info, max_buffers_per_context, 40);
AT(device_info, max_programs_per_context, 44);
AT(device_info, max_queues_per_context, 48);
AT(device_info, max_events_per_context, 52);
AT(device_info, max_bindings_per_submission, 56);
AT(device_info, max_buffer_bytes, 60);
AT(device_info, max_artifact_bytes, 68);

SIZE(create_context, 8);
AT(create_context, flags, 0);
AT(create_context, reserved, 4);

SIZE(object, 8);
AT(object, object_id, 0);

SIZE(allocate_buffer, 40);
AT(allocate_buffer, context_id, 0);
AT(allocate_buffer, bytes, 8);
AT(allocate_buffer, alignment, 16);
AT(allocate_buffer, memory_domain, 24);
AT(allocate_buffer, reserved0, 25);
AT(allocate_buffer, usage, 32);
AT(allocate_buffer, reserved1, 36);

SIZE(transfer_buffer, 24);
AT(transfer_buffer, buffer_id, 0);
AT(transfer_buffer, offset, 8);
AT(transfer_buffer, bytes, 16);

SIZE(load_program, 80);
AT(load_program, context_id, 0);
AT(load_program, format, 8);
AT(load_program, flags, 12);
AT(load_program, target, 16);
AT(load_program, payload_bytes, 64);
AT(load_program, resident_bytes, 72);

SIZE(create_queue, 16);
AT(create_queue, context_id, 0);
AT(create_queue, flags, 8);
AT(create_queue, reserved, 12);

SIZE(submit, 32);
AT(submit, queue_id, 0);
AT(submit, program_id, 8);
AT(submit, binding_count, 16);
AT(submit, flags, 20);
AT(submit, timeout_ns, 24);

SIZE(binding, 32);
AT(binding, buffer_id, 0);
AT(binding, offset, 8);
AT(binding, bytes, 16);
AT(binding, slot, 24);
AT(binding, access, 28);
AT(binding, reserved, 29);

SIZE(event_state, 8);
AT(event_state, state, 0);
AT(event_state, error, 2);
AT(event_state, reserved, 4);

_Static_assert(VIRTACCEL_OP_SUBMIT == 0x0500 && VIRTACCEL_OP_DESTROY_EVENT == 0x0503, "opcodes");
_Static_assert(VIRTACCEL_STATUS_STALE_OBJECT == 11 && VIRTACCEL_STATUS_INTERNAL_ERROR == 65535,
               "statuses");
_Static_assert(VIRTACCEL_CAPABILITY_SHARED == 32 && VIRTACCEL_BINDINGS_MAX == 4096, "constants");

int main(void) {
    return 0;
}
