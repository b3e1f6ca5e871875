"""Good requests of every command, and how a test breaks them.

The one thing to know: a change is named by where it is made. `limits.X` is a limit of the device,
`header.X` a field of the header, `0.X` a field of the first binding, `capacity` the writable bytes,
and a bare name a field of the command's record. `payload` cuts the payload to a length, or fills it
up with zeros, before the header counts it; `frame` cuts the whole frame after that.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import decoder
from layouts import COMMANDS, HEADER_BYTES, encode

LIMITS = decoder.Limits(max_request_bytes=8192, max_response_bytes=2048, max_bindings=4,
                        max_buffer_bytes=4096, max_artifact_bytes=100, capabilities=0b100111)
OPCODES = {command.name: opcode for opcode, command in COMMANDS.items()}
REQUEST_ID = 0x0102030405060708
OBJECT = {"object_id": 0x0000000700000005}
ZEROS = "00" * 7
TRANSFER = {"buffer_id": 9, "offset": 5, "bytes": 3}
RECORDS = {
    "GET_DEVICE_INFO": {},
    "CREATE_CONTEXT": {"flags": 0, "reserved": 0},
    "ALLOCATE_BUFFER": {"context_id": 1, "bytes": 100, "alignment": 64, "memory_domain": 1,
                        "reserved0": ZEROS, "usage": 0b11111, "reserved1": 0},
    "WRITE_BUFFER": TRANSFER,
    "READ_BUFFER": TRANSFER,
    "LOAD_PROGRAM": {"context_id": 1, "format": 2, "flags": 0, "target": list(range(12)),
                     "payload_bytes": 5, "resident_bytes": 64},
    "CREATE_QUEUE": {"context_id": 1, "flags": 0, "reserved": 0},
    "SUBMIT": {"queue_id": 3, "program_id": 4, "binding_count": 2, "flags": 0,
               "timeout_ns": 1000},
}
BINDINGS = (
    {"buffer_id": 9, "offset": 0, "bytes": 16, "slot": 0, "access": 1, "reserved": "000000"},
    {"buffer_id": 10, "offset": 16, "bytes": 16, "slot": 7, "access": 2, "reserved": "000000"},
)
TAILS = {"WRITE_BUFFER": b"\x0a\x0b\x0c", "LOAD_PROGRAM": b"model"}
NEEDED = {
    "GET_DEVICE_INFO": 92, "CREATE_CONTEXT": 24, "DESTROY_CONTEXT": 16, "ALLOCATE_BUFFER": 24,
    "FREE_BUFFER": 16, "WRITE_BUFFER": 16, "READ_BUFFER": 16 + 3, "LOAD_PROGRAM": 24,
    "UNLOAD_PROGRAM": 16, "CREATE_QUEUE": 24, "DESTROY_QUEUE": 16, "SUBMIT": 24, "POLL_EVENT": 24,
    "CANCEL_EVENT": 16, "DESTROY_EVENT": 16,
}


class Request(NamedTuple):
    """What the judge of requests takes."""

    frame: bytes
    limits: decoder.Limits
    capacity: int

    def verdict(self) -> dict:
        """What the judge says."""
        return decoder.judge_request(self.frame, self.limits, self.capacity)


def record_of(name: str) -> dict:
    """The fields of the command's good record."""
    return RECORDS.get(name, OBJECT)


def _part(changes: dict, prefix: str) -> dict:
    """The changes under one prefix, without it."""
    return {key.removeprefix(prefix): value for key, value in changes.items()
            if key.startswith(prefix)}


def _payload(name: str, changes: dict) -> bytes:
    record = {**record_of(name), **{key: value for key, value in changes.items() if "." not in key}}
    command = COMMANDS[OPCODES[name]]
    payload = encode(command.request, record) if command.request else b""
    if name == "SUBMIT":
        for number, binding in enumerate(BINDINGS):
            payload += encode("binding", {**binding, **_part(changes, f"{number}.")})
    payload += TAILS.get(name, b"")
    length = changes.get("payload", len(payload))
    return payload[:length].ljust(length, b"\0")


def request(name: str, changes: dict | None = None) -> Request:
    """A good request of a command, with some changes."""
    changes = changes or {}
    payload = _payload(name, changes)
    header = encode("request_header", {
        "opcode": OPCODES[name], "flags": 0, "payload_bytes": len(payload),
        "request_id": REQUEST_ID, **_part(changes, "header.")})
    frame = (header + payload)[: changes.get("frame", HEADER_BYTES + len(payload))]
    limits = dataclasses.replace(LIMITS, **_part(changes, "limits."))
    return Request(frame, limits, changes.get("capacity", NEEDED[name]))
