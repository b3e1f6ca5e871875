/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Printed from virtaccel/wire by tools/print; do not edit, run `./run print`. */
#ifndef VIRTACCEL_WIRE_H
#define VIRTACCEL_WIRE_H

#include <linux/types.h>

#define VIRTACCEL_PROTOCOL_MAJOR 0x1
#define VIRTACCEL_PROTOCOL_MINOR 0x0
#define VIRTACCEL_COMMAND_QUEUE 0x0
#define VIRTACCEL_COMMAND_QUEUE_COUNT 0x1
#define VIRTACCEL_CHAIN_DESCRIPTORS_MIN 0x2
#define VIRTACCEL_CHAIN_DESCRIPTORS_MAX 0x100
#define VIRTACCEL_REQUEST_BYTES_MIN 0x61
#define VIRTACCEL_RESPONSE_BYTES_MIN 0x5c
#define VIRTACCEL_FRAME_BYTES_MAX 0x1000000
#define VIRTACCEL_BINDINGS_MAX 0x1000
#define VIRTACCEL_CAPABILITY_HOST_VISIBLE 0x1
#define VIRTACCEL_CAPABILITY_DEVICE_LOCAL 0x2
#define VIRTACCEL_CAPABILITY_CANCELLATION 0x4
#define VIRTACCEL_CAPABILITY_SHARED 0x20
#define VIRTACCEL_CLASS_OTHER 0x0
#define VIRTACCEL_CLASS_NPU 0x1
#define VIRTACCEL_CLASS_GPU 0x2
#define VIRTACCEL_CLASS_DSP 0x3
#define VIRTACCEL_DOMAIN_HOST 0x1
#define VIRTACCEL_DOMAIN_DEVICE 0x2
#define VIRTACCEL_DOMAIN_SHARED 0x3
#define VIRTACCEL_USAGE_TRANSFER_SOURCE 0x1
#define VIRTACCEL_USAGE_TRANSFER_DESTINATION 0x2
#define VIRTACCEL_USAGE_PROGRAM_INPUT 0x4
#define VIRTACCEL_USAGE_PROGRAM_OUTPUT 0x8
#define VIRTACCEL_USAGE_MUTABLE_STATE 0x10
#define VIRTACCEL_ACCESS_READ 0x1
#define VIRTACCEL_ACCESS_WRITE 0x2
#define VIRTACCEL_ACCESS_READ_WRITE 0x3
#define VIRTACCEL_EVENT_PENDING 0x0
#define VIRTACCEL_EVENT_COMPLETE 0x1
#define VIRTACCEL_EVENT_FAILED 0x2
#define VIRTACCEL_EVENT_CANCELLED 0x3

#define VIRTACCEL_OP_GET_DEVICE_INFO 0x0001
#define VIRTACCEL_OP_CREATE_CONTEXT 0x0100
#define VIRTACCEL_OP_DESTROY_CONTEXT 0x0101
#define VIRTACCEL_OP_ALLOCATE_BUFFER 0x0200
#define VIRTACCEL_OP_FREE_BUFFER 0x0201
#define VIRTACCEL_OP_WRITE_BUFFER 0x0202
#define VIRTACCEL_OP_READ_BUFFER 0x0203
#define VIRTACCEL_OP_LOAD_PROGRAM 0x0300
#define VIRTACCEL_OP_UNLOAD_PROGRAM 0x0301
#define VIRTACCEL_OP_CREATE_QUEUE 0x0400
#define VIRTACCEL_OP_DESTROY_QUEUE 0x0401
#define VIRTACCEL_OP_SUBMIT 0x0500
#define VIRTACCEL_OP_POLL_EVENT 0x0501
#define VIRTACCEL_OP_CANCEL_EVENT 0x0502
#define VIRTACCEL_OP_DESTROY_EVENT 0x0503

#define VIRTACCEL_STATUS_OK 0
#define VIRTACCEL_STATUS_UNSUPPORTED 1
#define VIRTACCEL_STATUS_INCOMPATIBLE 2
#define VIRTACCEL_STATUS_INVALID_ARGUMENT 3
#define VIRTACCEL_STATUS_OUT_OF_BOUNDS 4
#define VIRTACCEL_STATUS_BUSY 5
#define VIRTACCEL_STATUS_OUT_OF_MEMORY 6
#define VIRTACCEL_STATUS_RESOURCE_LIMIT 7
#define VIRTACCEL_STATUS_DEADLINE_EXPIRED 8
#define VIRTACCEL_STATUS_DEVICE_LOST 9
#define VIRTACCEL_STATUS_PERMISSION_DENIED 10
#define VIRTACCEL_STATUS_STALE_OBJECT 11
#define VIRTACCEL_STATUS_INTERNAL_ERROR 65535

#define VIRTACCEL_CONFIG_BYTES 16
#define VIRTACCEL_REQUEST_HEADER_BYTES 16
#define VIRTACCEL_RESPONSE_HEADER_BYTES 16
#define VIRTACCEL_DEVICE_INFO_BYTES 76
#define VIRTACCEL_CREATE_CONTEXT_BYTES 8
#define VIRTACCEL_OBJECT_BYTES 8
#define VIRTACCEL_ALLOCATE_BUFFER_BYTES 40
#define VIRTACCEL_TRANSFER_BUFFER_BYTES 24
#define VIRTACCEL_LOAD_PROGRAM_BYTES 80
#define VIRTACCEL_CREATE_QUEUE_BYTES 16
#define VIRTACCEL_SUBMIT_BYTES 32
#define VIRTACCEL_BINDING_BYTES 32
#define VIRTACCEL_EVENT_STATE_BYTES 8

/* The prefix of the device's configuration space. */
struct virtaccel_config {
	__le16 protocol_major;
	__le16 protocol_minor;
	__le16 command_queue_count;
	__le16 max_chain_descriptors;
	__le32 max_request_bytes;
	__le32 max_response_bytes;
} __attribute__((packed));

/* The start of every request. */
struct virtaccel_request_header {
	__le16 opcode;
	__le16 flags;
	__le32 payload_bytes;
	__le64 request_id;
} __attribute__((packed));

/* The start of every response. */
struct virtaccel_response_header {
	__le16 status;
	__le16 flags;
	__le32 payload_bytes;
	__le64 request_id;
} __attribute__((packed));

/* Who the device is, what it can do, and its limits. */
struct virtaccel_device_info {
	__u8 uuid[16];
	__le16 class;
	__le16 reserved;
	__le32 vendor_id;
	__le32 device_id;
	__le64 capabilities;
	__le32 max_contexts;
	__le32 max_buffers_per_context;
	__le32 max_programs_per_context;
	__le32 max_queues_per_context;
	__le32 max_events_per_context;
	__le32 max_bindings_per_submission;
	__le64 max_buffer_bytes;
	__le64 max_artifact_bytes;
} __attribute__((packed));

/* Asks for a new context. */
struct virtaccel_create_context {
	__le32 flags;
	__le32 reserved;
} __attribute__((packed));

/* One object's ID. */
struct virtaccel_object {
	__le64 object_id;
} __attribute__((packed));

/* Asks for a zeroed buffer in a context. */
struct virtaccel_allocate_buffer {
	__le64 context_id;
	__le64 bytes;
	__le64 alignment;
	__u8 memory_domain;
	__u8 reserved0[7];
	__le32 usage;
	__le32 reserved1;
} __attribute__((packed));

/* A range of a buffer to move. */
struct virtaccel_transfer_buffer {
	__le64 buffer_id;
	__le64 offset;
	__le64 bytes;
} __attribute__((packed));

/* Makes an artifact, which follows, resident. */
struct virtaccel_load_program {
	__le64 context_id;
	__le32 format;
	__le32 flags;
	__le32 target[12];
	__le64 payload_bytes;
	__le64 resident_bytes;
} __attribute__((packed));

/* Asks for an execution queue in a context. */
struct virtaccel_create_queue {
	__le64 context_id;
	__le32 flags;
	__le32 reserved;
} __attribute__((packed));

/* Submits a program with its bindings, which follow. */
struct virtaccel_submit {
	__le64 queue_id;
	__le64 program_id;
	__le32 binding_count;
	__le32 flags;
	__le64 timeout_ns;
} __attribute__((packed));

/* A program slot bound to a range of a buffer. */
struct virtaccel_binding {
	__le64 buffer_id;
	__le64 offset;
	__le64 bytes;
	__le32 slot;
	__u8 access;
	__u8 reserved[3];
} __attribute__((packed));

/* Where an event stands. */
struct virtaccel_event_state {
	__le16 state;
	__le16 error;
	__le32 reserved;
} __attribute__((packed));

#endif /* VIRTACCEL_WIRE_H */
