"""The numbers, layouts and commands of protocol 1.0, copied by hand from the protocol's text.

The one thing to know: a row repeats its line of the text (spec §2 to §4), the offset included, so
that it can be proofread against it; a test shows that the fields of each record lie end to end.
"""

from __future__ import annotations

from typing import NamedTuple

U16_MAX = 2**16 - 1
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1

HEADER_BYTES = 16
CHAIN_DESCRIPTORS = (2, 256)
REQUEST_BYTES = (97, 16 * 2**20)
RESPONSE_BYTES = (92, 16 * 2**20)
BINDINGS_MAX = 4096
USAGE_KNOWN = 0b11111
FEATURES_RESERVED = 0b11111
CAPABILITIES_RESERVED = 1 << 3 | 1 << 4
DOMAIN_CAPABILITY = {1: 1 << 0, 2: 1 << 1, 3: 1 << 5}  # host, device, shared
ACCESSES = (1, 2, 3)
EVENT_STATES = {0: "pending", 1: "complete", 2: "failed", 3: "cancelled"}

STATUSES = {
    0: "OK", 1: "UNSUPPORTED", 2: "INCOMPATIBLE", 3: "INVALID_ARGUMENT", 4: "OUT_OF_BOUNDS",
    5: "BUSY", 6: "OUT_OF_MEMORY", 7: "RESOURCE_LIMIT", 8: "DEADLINE_EXPIRED", 9: "DEVICE_LOST",
    10: "PERMISSION_DENIED", 11: "STALE_OBJECT", 65535: "INTERNAL_ERROR",
}
STATUS_VALUES = {name: value for value, name in STATUSES.items()}


class Field(NamedTuple):
    """One field: `count` little-endian integers of `width` bytes each."""

    offset: int
    name: str
    width: int
    count: int = 1

    def read(self, data: bytes) -> int | str | list[int]:
        """An integer; of an array of bytes its hex digits, of an array of words a list."""
        end = self.offset + self.width * self.count
        if self.count > 1 and self.width == 1:
            return data[self.offset : end].hex()
        values = [int.from_bytes(data[at : at + self.width], "little")
                  for at in range(self.offset, end, self.width)]
        return values if self.count > 1 else values[0]

    def write(self, value: int | str | list[int]) -> bytes:
        """The bytes of what `read` gives."""
        if isinstance(value, str):
            return bytes.fromhex(value)
        values = value if isinstance(value, list) else [value]
        return b"".join(one.to_bytes(self.width, "little") for one in values)


RECORDS = {
    "config": (
        Field(0, "protocol_major", 2), Field(2, "protocol_minor", 2),
        Field(4, "command_queue_count", 2), Field(6, "max_chain_descriptors", 2),
        Field(8, "max_request_bytes", 4), Field(12, "max_response_bytes", 4)),
    "request_header": (
        Field(0, "opcode", 2), Field(2, "flags", 2), Field(4, "payload_bytes", 4),
        Field(8, "request_id", 8)),
    "response_header": (
        Field(0, "status", 2), Field(2, "flags", 2), Field(4, "payload_bytes", 4),
        Field(8, "request_id", 8)),
    "device_info": (
        Field(0, "uuid", 1, 16), Field(16, "class", 2), Field(18, "reserved", 2),
        Field(20, "vendor_id", 4), Field(24, "device_id", 4), Field(28, "capabilities", 8),
        Field(36, "max_contexts", 4), Field(40, "max_buffers_per_context", 4),
        Field(44, "max_programs_per_context", 4), Field(48, "max_queues_per_context", 4),
        Field(52, "max_events_per_context", 4), Field(56, "max_bindings_per_submission", 4),
        Field(60, "max_buffer_bytes", 8), Field(68, "max_artifact_bytes", 8)),
    "create_context": (Field(0, "flags", 4), Field(4, "reserved", 4)),
    "object": (Field(0, "object_id", 8),),
    "allocate_buffer": (
        Field(0, "context_id", 8), Field(8, "bytes", 8), Field(16, "alignment", 8),
        Field(24, "memory_domain", 1), Field(25, "reserved0", 1, 7), Field(32, "usage", 4),
        Field(36, "reserved1", 4)),
    "transfer_buffer": (
        Field(0, "buffer_id", 8), Field(8, "offset", 8), Field(16, "bytes", 8)),
    "load_program": (
        Field(0, "context_id", 8), Field(8, "format", 4), Field(12, "flags", 4),
        Field(16, "target", 4, 12), Field(64, "payload_bytes", 8),
        Field(72, "resident_bytes", 8)),
    "create_queue": (
        Field(0, "context_id", 8), Field(8, "flags", 4), Field(12, "reserved", 4)),
    "submit": (
        Field(0, "queue_id", 8), Field(8, "program_id", 8), Field(16, "binding_count", 4),
        Field(20, "flags", 4), Field(24, "timeout_ns", 8)),
    "binding": (
        Field(0, "buffer_id", 8), Field(8, "offset", 8), Field(16, "bytes", 8),
        Field(24, "slot", 4), Field(28, "access", 1), Field(29, "reserved", 1, 3)),
    "event_state": (Field(0, "state", 2), Field(2, "error", 2), Field(4, "reserved", 4)),
}
SIZES = {
    "config": 16, "request_header": 16, "response_header": 16, "device_info": 76,
    "create_context": 8, "object": 8, "allocate_buffer": 40, "transfer_buffer": 24,
    "load_program": 80, "create_queue": 16, "submit": 32, "binding": 32, "event_state": 8,
}


def decode(record: str, data: bytes) -> dict:
    """The fields of a record by name; `data` holds at least its size."""
    return {field.name: field.read(data) for field in RECORDS[record]}


def encode(record: str, fields: dict) -> bytes:
    """The bytes of a record, from what `decode` gives."""
    return b"".join(field.write(fields[field.name]) for field in RECORDS[record])


class Command(NamedTuple):
    """One row of the table of commands. A record of None is an empty payload.

    `tail` says what follows the record in the request. A success carries the record `success`, or,
    of READ_BUFFER alone, as many bytes as were asked for.
    """

    name: str
    request: str | None
    tail: str | None
    success: str | None
    is_release: bool = False


COMMANDS = {
    0x0001: Command("GET_DEVICE_INFO", None, None, "device_info"),
    0x0100: Command("CREATE_CONTEXT", "create_context", None, "object"),
    0x0101: Command("DESTROY_CONTEXT", "object", None, None, is_release=True),
    0x0200: Command("ALLOCATE_BUFFER", "allocate_buffer", None, "object"),
    0x0201: Command("FREE_BUFFER", "object", None, None, is_release=True),
    0x0202: Command("WRITE_BUFFER", "transfer_buffer", "data", None),
    0x0203: Command("READ_BUFFER", "transfer_buffer", None, None),
    0x0300: Command("LOAD_PROGRAM", "load_program", "artifact", "object"),
    0x0301: Command("UNLOAD_PROGRAM", "object", None, None, is_release=True),
    0x0400: Command("CREATE_QUEUE", "create_queue", None, "object"),
    0x0401: Command("DESTROY_QUEUE", "object", None, None, is_release=True),
    0x0500: Command("SUBMIT", "submit", "bindings", "object"),
    0x0501: Command("POLL_EVENT", "object", None, "event_state"),
    0x0502: Command("CANCEL_EVENT", "object", None, None),
    0x0503: Command("DESTROY_EVENT", "object", None, None, is_release=True),
}
