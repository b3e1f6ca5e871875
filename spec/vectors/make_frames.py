#!/usr/bin/env python3
"""Writes frames.json: golden frames of every command, from the numbers of the protocol text alone.

Nothing here reads virtaccel's sources: layouts are spelled as struct formats, so that a mistake in
the C++ schema and a mistake here would have to agree to go unnoticed. Run it without arguments to
rewrite frames.json beside it, or with --check to compare.
"""

import json
import pathlib
import struct
import sys

OPCODES = {
    "GET_DEVICE_INFO": 0x0001,
    "CREATE_CONTEXT": 0x0100,
    "DESTROY_CONTEXT": 0x0101,
    "ALLOCATE_BUFFER": 0x0200,
    "FREE_BUFFER": 0x0201,
    "WRITE_BUFFER": 0x0202,
    "READ_BUFFER": 0x0203,
    "LOAD_PROGRAM": 0x0300,
    "UNLOAD_PROGRAM": 0x0301,
    "CREATE_QUEUE": 0x0400,
    "DESTROY_QUEUE": 0x0401,
    "SUBMIT": 0x0500,
    "POLL_EVENT": 0x0501,
    "CANCEL_EVENT": 0x0502,
    "DESTROY_EVENT": 0x0503,
}
STATUSES = {
    "OK": 0,
    "UNSUPPORTED": 1,
    "INCOMPATIBLE": 2,
    "INVALID_ARGUMENT": 3,
    "OUT_OF_BOUNDS": 4,
    "BUSY": 5,
    "OUT_OF_MEMORY": 6,
    "RESOURCE_LIMIT": 7,
    "DEADLINE_EXPIRED": 8,
    "DEVICE_LOST": 9,
    "PERMISSION_DENIED": 10,
    "STALE_OBJECT": 11,
    "INTERNAL_ERROR": 65535,
}
# What the canonical reference device says of itself: the limits the edge cases are judged under.
DEVICE = {
    "uuid": b"virtio-accelmock",
    "class": 1,
    "reserved": 0,
    "vendor_id": 0,
    "device_id": 0,
    "capabilities": 0x27,
    "max_contexts": 64,
    "max_buffers_per_context": 1024,
    "max_programs_per_context": 256,
    "max_queues_per_context": 16,
    "max_events_per_context": 4096,
    "max_bindings_per_submission": 256,
    "max_buffer_bytes": 4096,
    "max_artifact_bytes": 4000,
}
ID = 0x0000000100000001
MAX64 = 2**64 - 1

# Fixed payloads: name -> (struct format, field names). "x" is never used: reserved is a value.
LAYOUTS = {
    "config": (
        "<HHHHII",
        [
            "protocol_major",
            "protocol_minor",
            "command_queue_count",
            "max_chain_descriptors",
            "max_request_bytes",
            "max_response_bytes",
        ],
    ),
    "device_info": ("<16sHHIIQIIIIIIQQ", list(DEVICE)),
    "create_context": ("<II", ["flags", "reserved"]),
    "object": ("<Q", ["object_id"]),
    "allocate_buffer": (
        "<QQQB7sII",
        ["context_id", "bytes", "alignment", "memory_domain", "reserved0", "usage", "reserved1"],
    ),
    "transfer_buffer": ("<QQQ", ["buffer_id", "offset", "bytes"]),
    "load_program": (
        "<QII48sQQ",
        ["context_id", "format", "flags", "target", "payload_bytes", "resident_bytes"],
    ),
    "create_queue": ("<QII", ["context_id", "flags", "reserved"]),
    "submit": ("<QQIIQ", ["queue_id", "program_id", "binding_count", "flags", "timeout_ns"]),
    "binding": ("<QQQIB3s", ["buffer_id", "offset", "bytes", "slot", "access", "reserved"]),
    "event_state": ("<HHI", ["state", "error", "reserved"]),
}
REQUEST_OF = {
    "GET_DEVICE_INFO": None,
    "CREATE_CONTEXT": "create_context",
    "DESTROY_CONTEXT": "object",
    "ALLOCATE_BUFFER": "allocate_buffer",
    "FREE_BUFFER": "object",
    "WRITE_BUFFER": "transfer_buffer",
    "READ_BUFFER": "transfer_buffer",
    "LOAD_PROGRAM": "load_program",
    "UNLOAD_PROGRAM": "object",
    "CREATE_QUEUE": "create_queue",
    "DESTROY_QUEUE": "object",
    "SUBMIT": "submit",
    "POLL_EVENT": "object",
    "CANCEL_EVENT": "object",
    "DESTROY_EVENT": "object",
}
GOOD = {
    "create_context": {"flags": 0, "reserved": 0},
    "object": {"object_id": ID},
    "allocate_buffer": {
        "context_id": ID,
        "bytes": 100,
        "alignment": 64,
        "memory_domain": 1,
        "reserved0": bytes(7),
        "usage": 0x1F,
        "reserved1": 0,
    },
    "transfer_buffer": {"buffer_id": ID, "offset": 5, "bytes": 3},
    "load_program": {
        "context_id": ID,
        "format": 0x56414D4B,
        "flags": 0,
        "target": struct.pack("<12I", 0x56414D4B, 0x10000, 0x54455354, 0x4F4E4C59, *[0] * 8),
        "payload_bytes": 24,
        "resident_bytes": 64,
    },
    "create_queue": {"context_id": ID, "flags": 0, "reserved": 0},
    "submit": {
        "queue_id": ID,
        "program_id": ID + 1,
        "binding_count": 2,
        "flags": 0,
        "timeout_ns": 1000,
    },
}
ARTIFACT = b"VAMK" + struct.pack("<BBBBIIB7s", 1, 0, 1, 1, 0, 1, 0, bytes(7))
BINDINGS = [
    {"buffer_id": ID, "offset": 0, "bytes": 16, "slot": 0, "access": 1, "reserved": bytes(3)},
    {"buffer_id": ID + 2, "offset": 16, "bytes": 16, "slot": 1, "access": 2, "reserved": bytes(3)},
]


def pack(layout, values):
    form, names = LAYOUTS[layout]
    return struct.pack(form, *[values[name] for name in names])


def plain(values):
    """The fields as JSON: byte strings as hex."""
    return {
        name: value.hex() if isinstance(value, bytes) else value for name, value in values.items()
    }


def tail_of(command, bindings=None):
    if command == "WRITE_BUFFER":
        return b"\x01\x02\x03"
    if command == "LOAD_PROGRAM":
        return ARTIFACT
    if command == "SUBMIT":
        return b"".join(pack("binding", b) for b in (BINDINGS if bindings is None else bindings))
    return b""


def request(
    command,
    changes=None,
    *,
    flags=0,
    request_id=7,
    payload_bytes=None,
    opcode=None,
    tail=None,
    cut=None,
):
    layout = REQUEST_OF[command]
    values = {**GOOD.get(layout, {}), **(changes or {})}
    payload = (pack(layout, values) if layout else b"") + (
        tail_of(command) if tail is None else tail
    )
    payload = payload[:cut] if cut is not None else payload
    header = struct.pack(
        "<HHIQ",
        OPCODES[command] if opcode is None else opcode,
        flags,
        len(payload) if payload_bytes is None else payload_bytes,
        request_id,
    )
    return header + payload, values


def response(status, payload=b"", request_id=7):
    return struct.pack("<HHIQ", STATUSES[status], 0, len(payload), request_id) + payload


def golden():
    """One good request and one good response of each command."""
    replies = {
        "GET_DEVICE_INFO": ("device_info", DEVICE),
        "POLL_EVENT": ("event_state", {"state": 2, "error": 8, "reserved": 0}),
    }
    for creator in ("CREATE_CONTEXT", "ALLOCATE_BUFFER", "LOAD_PROGRAM", "CREATE_QUEUE", "SUBMIT"):
        replies[creator] = ("object", {"object_id": ID})
    for command in OPCODES:
        frame, values = request(command)
        yield {
            "name": f"{command} request",
            "kind": "request",
            "command": command,
            "status": "OK",
            "record": REQUEST_OF[command],
            "fields": plain(values),
            "hex": frame.hex(),
        }
        layout, values = replies.get(command, (None, {}))
        payload = pack(layout, values) if layout else b""
        if command == "READ_BUFFER":
            payload = b"\x0a\x0b\x0c"
        yield {
            "name": f"{command} response",
            "kind": "response",
            "command": command,
            "status": "OK",
            "record": layout,
            "fields": plain(values),
            "hex": response("OK", payload).hex(),
        }
    yield {
        "name": "SUBMIT indeterminate response",
        "kind": "response",
        "command": "SUBMIT",
        "status": "DEADLINE_EXPIRED",
        "record": "object",
        "fields": {"object_id": ID},
        "hex": response("DEADLINE_EXPIRED", pack("object", {"object_id": ID})).hex(),
    }
    for status in list(STATUSES)[1:]:
        yield {
            "name": f"{status} response",
            "kind": "response",
            "command": "CREATE_QUEUE",
            "status": status,
            "record": None,
            "fields": {},
            "hex": response(status).hex(),
        }
    config = {
        "protocol_major": 1,
        "protocol_minor": 0,
        "command_queue_count": 1,
        "max_chain_descriptors": 16,
        "max_request_bytes": 1 << 20,
        "max_response_bytes": 1 << 20,
    }
    yield {
        "name": "config",
        "kind": "config",
        "command": None,
        "status": "OK",
        "record": "config",
        "fields": plain(config),
        "hex": pack("config", config).hex(),
    }


# Requests that the frame checks (spec, section 5, steps 3 to 5) refuse: name, status, command,
# changed fields, and how else the request differs.
BAD, UNSUPPORTED, LIMIT = "INVALID_ARGUMENT", "UNSUPPORTED", "RESOURCE_LIMIT"


def frame_edges():
    """Headers, and records of a word or two."""
    yield "zero request id", BAD, "GET_DEVICE_INFO", {}, {"request_id": 0}
    yield "payload count too small", BAD, "CREATE_CONTEXT", {}, {"payload_bytes": 7}
    yield "payload count too large", BAD, "CREATE_CONTEXT", {}, {"payload_bytes": 9}
    yield "reserved flag bit 0", UNSUPPORTED, "GET_DEVICE_INFO", {}, {"flags": 1}
    yield "flag before opcode and payload", UNSUPPORTED, "CREATE_CONTEXT", {"reserved": 1}, {
        "flags": 0x8000
    }
    yield "count before flags", BAD, "GET_DEVICE_INFO", {}, {"flags": 1, "payload_bytes": 1}
    for opcode in (0, 2, 0x0102, 0x0204, 0x0302, 0x0402, 0x0504, 0x0600, 0xFFFF):
        yield f"opcode {opcode:#06x}", UNSUPPORTED, "GET_DEVICE_INFO", {}, {"opcode": opcode}
    yield "trailing byte", BAD, "GET_DEVICE_INFO", {}, {"tail": b"\0"}
    yield "context payload too short", BAD, "CREATE_CONTEXT", {}, {"cut": 7}
    yield "context payload too long", BAD, "CREATE_CONTEXT", {}, {"tail": b"\0"}
    yield "context flags before reserved", UNSUPPORTED, "CREATE_CONTEXT", {
        "flags": 1,
        "reserved": 1,
    }, {}
    yield "context reserved", BAD, "CREATE_CONTEXT", {"reserved": 1}, {}
    yield "queue flags before context", UNSUPPORTED, "CREATE_QUEUE", {
        "flags": 1,
        "context_id": 0,
    }, {}
    yield "queue reserved before context", BAD, "CREATE_QUEUE", {"reserved": 1, "context_id": 0}, {}
    yield "queue of no context", BAD, "CREATE_QUEUE", {"context_id": 0}, {}
    for command in (
        "DESTROY_CONTEXT",
        "FREE_BUFFER",
        "UNLOAD_PROGRAM",
        "DESTROY_QUEUE",
        "POLL_EVENT",
        "CANCEL_EVENT",
        "DESTROY_EVENT",
    ):
        yield f"{command} of no object", BAD, command, {"object_id": 0}, {}
        yield f"{command} too long", BAD, command, {}, {"tail": b"\0"}
        yield f"{command} too short", BAD, command, {}, {"cut": 7}


def buffer_edges():
    """ALLOCATE_BUFFER, WRITE_BUFFER, READ_BUFFER."""
    alloc = "ALLOCATE_BUFFER"
    yield "buffer of no context before usage", BAD, alloc, {"context_id": 0, "usage": 0x20}, {}
    yield "buffer reserved0 before usage", BAD, alloc, {
        "reserved0": b"\0" * 6 + b"\1",
        "usage": 0x20,
    }, {}
    yield "buffer reserved1 before usage", BAD, alloc, {"reserved1": 1, "usage": 0x20}, {}
    yield "buffer domain 0", BAD, alloc, {"memory_domain": 0, "usage": 0x20}, {}
    yield "buffer domain 4", BAD, alloc, {"memory_domain": 4, "usage": 0x20}, {}
    yield "buffer unknown usage before empty sizes", UNSUPPORTED, alloc, {
        "usage": 0x3F,
        "bytes": 0,
    }, {}
    yield "buffer no usage before too large", BAD, alloc, {"usage": 0, "bytes": 4097}, {}
    yield "buffer of no bytes", BAD, alloc, {"bytes": 0}, {}
    yield "buffer alignment 0", BAD, alloc, {"alignment": 0}, {}
    yield "buffer alignment 3", BAD, alloc, {"alignment": 3}, {}
    yield "buffer alignment before size", BAD, alloc, {"alignment": 3, "bytes": MAX64}, {}
    yield "buffer too large", LIMIT, alloc, {"bytes": 4097}, {}
    yield "buffer of 2^62 bytes", LIMIT, alloc, {"bytes": 2**62}, {}
    for command, past in (("WRITE_BUFFER", BAD), ("READ_BUFFER", LIMIT)):
        yield f"{command} of no buffer", BAD, command, {"buffer_id": 0}, {}
        yield f"{command} of no bytes", BAD, command, {"bytes": 0}, {"tail": b""}
        yield f"{command} range overflows", BAD, command, {"offset": MAX64, "bytes": 2}, {}
        yield f"{command} of 2^64-1 bytes", past, command, {"offset": 0, "bytes": MAX64}, {}
        yield f"{command} prefix too short", BAD, command, {}, {"cut": 23}
    yield "WRITE_BUFFER tail too short", BAD, "WRITE_BUFFER", {}, {"tail": b"\1\2"}
    yield "WRITE_BUFFER tail too long", BAD, "WRITE_BUFFER", {}, {"tail": b"\1\2\3\4"}
    yield "READ_BUFFER trailing byte", BAD, "READ_BUFFER", {}, {"tail": b"\0"}
    yield "READ_BUFFER past the largest response", LIMIT, "READ_BUFFER", {
        "bytes": (1 << 20) - 15
    }, {}


def program_edges():
    """LOAD_PROGRAM."""
    load = "LOAD_PROGRAM"
    yield "program prefix too short", BAD, load, {}, {"cut": 79}
    yield "program flags before context", UNSUPPORTED, load, {"flags": 1, "context_id": 0}, {}
    yield "program of no context", BAD, load, {"context_id": 0}, {}
    yield "program of no format", BAD, load, {"format": 0}, {}
    yield "program of no bytes", BAD, load, {"payload_bytes": 0}, {"tail": b""}
    yield "program without residence", BAD, load, {"resident_bytes": 0}, {}
    yield "program tail too short", BAD, load, {}, {"tail": ARTIFACT[:-1]}
    yield "program of 2^40 bytes in four", BAD, load, {"payload_bytes": 2**40}, {"tail": bytes(4)}
    yield "program too large", LIMIT, load, {"payload_bytes": 4001}, {"tail": bytes(4001)}


def submit_edges():
    """SUBMIT and its bindings."""

    def binding(**changes):
        return tail_of("SUBMIT", [{**BINDINGS[0], **changes}, BINDINGS[1]])

    yield "submit prefix too short", BAD, "SUBMIT", {}, {"cut": 31}
    yield "submit flags before count", UNSUPPORTED, "SUBMIT", {"flags": 1, "binding_count": 0}, {}
    yield "submit of no bindings", BAD, "SUBMIT", {"binding_count": 0}, {"tail": b""}
    yield "submit over the limit, length disagreeing", LIMIT, "SUBMIT", {"binding_count": 257}, {}
    yield "submit count too small", BAD, "SUBMIT", {"binding_count": 1}, {}
    yield "submit count too large", BAD, "SUBMIT", {"binding_count": 3}, {}
    yield "binding reserved", BAD, "SUBMIT", {}, {"tail": binding(reserved=b"\0\0\1")}
    yield "binding of no bytes", BAD, "SUBMIT", {}, {"tail": binding(bytes=0)}
    yield "binding range overflows", BAD, "SUBMIT", {}, {"tail": binding(offset=MAX64, bytes=16)}
    yield "binding access 0", BAD, "SUBMIT", {}, {"tail": binding(access=0)}
    yield "binding access 4", BAD, "SUBMIT", {}, {"tail": binding(access=4)}
    yield "binding of no buffer", BAD, "SUBMIT", {}, {"tail": binding(buffer_id=0)}
    yield "bindings of one slot", BAD, "SUBMIT", {}, {"tail": binding(slot=1)}
    yield "submit to no queue", BAD, "SUBMIT", {"queue_id": 0}, {}
    yield "submit of no program", BAD, "SUBMIT", {"program_id": 0}, {}


def document():
    frames = list(golden())
    edges = (*frame_edges(), *buffer_edges(), *program_edges(), *submit_edges())
    for name, status, command, changes, how in edges:
        frame, _ = request(command, changes, **how)
        frames.append(
            {
                "name": name,
                "kind": "request",
                "command": command,
                "status": status,
                "record": None,
                "fields": {},
                "hex": frame.hex(),
            }
        )
    limits = {
        "max_request_bytes": 1 << 20,
        "max_response_bytes": 1 << 20,
        "capabilities": 0x27,
        "max_bindings": 256,
        "max_buffer_bytes": 4096,
        "max_artifact_bytes": 4000,
    }
    lines = ",\n".join("    " + json.dumps(frame) for frame in frames)
    return f'{{\n  "limits": {json.dumps(limits)},\n  "frames": [\n{lines}\n  ]\n}}\n'


if __name__ == "__main__":
    path = pathlib.Path(__file__).with_name("frames.json")
    if sys.argv[1:] == ["--check"]:
        sys.exit(
            0 if path.read_text() == document() else f"{path} is not current: run {sys.argv[0]}."
        )
    path.write_text(document())
