"""Reads items from a stream and judges each: the door for a fuzzer or a test in another language.

An item is one byte for its kind, the length of its meta data and the meta data (JSON), the length
of its bytes and the bytes; both lengths are 32 bits, little-endian. The one thing to know: a bad
frame gets a verdict, but bad meta data are a mistake of the caller and end everything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

import decoder
from layouts import COMMANDS, REQUEST_BYTES, RESPONSE_BYTES, U16_MAX, U32_MAX, U64_MAX

META_BYTES_MAX = 2**16
DATA_BYTES_MAX = 2**25  # twice the largest frame, so that one that is too large fits
LIMIT_BOUNDS = {
    "max_request_bytes": REQUEST_BYTES,
    "max_response_bytes": RESPONSE_BYTES,
    "max_bindings": (1, U32_MAX),
    "max_buffer_bytes": (1, U64_MAX),
    "max_artifact_bytes": (1, U64_MAX),
    "capabilities": (0, U64_MAX),
}


class InputError(Exception):
    """Holds one sentence for a person about input that cannot be judged."""


class Meta:
    """A JSON object whose members are taken out one by one, so that none goes unread."""

    def __init__(self, what: str, members: object) -> None:
        if not isinstance(members, dict):
            raise InputError(f"The meta data ({what}) are ({members!r:.60}); give a JSON object.")
        self._what = what
        self._members = dict(members)

    def has(self, name: str) -> bool:
        """Whether a member is there and not yet taken."""
        return name in self._members

    def member(self, name: str) -> object:
        """A member of any type."""
        if name not in self._members:
            raise InputError(f"The meta data ({self._what}) lack the member ({name}); add it.")
        return self._members.pop(name)

    def number(self, name: str, low: int, high: int) -> int:
        """A member that is an integer within bounds."""
        value = self.member(name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InputError(f"The member ({self._what}.{name}) is ({value!r:.60}); give an "
                             f"integer from {low} to {high}.")
        return value

    def end(self) -> None:
        """All members are taken."""
        if self._members:
            raise InputError(f"The member ({self._what}.{min(self._members)}) is unknown; "
                             "take it out.")


def parse_limits(members: object) -> decoder.Limits:
    """The limits of a device, each within what the protocol allows."""
    meta = Meta("limits", members)
    limits = {name: meta.number(name, *bounds) for name, bounds in LIMIT_BOUNDS.items()}
    meta.end()
    return decoder.Limits(**limits)


def _judge_request(meta: Meta, data: bytes) -> dict:
    limits = parse_limits(meta.member("limits"))
    capacity = meta.number("capacity", 0, U32_MAX)
    meta.end()
    return decoder.judge_request(data, limits, capacity)


def _judge_response(meta: Meta, data: bytes) -> dict:
    opcode = meta.number("opcode", 0, U16_MAX)
    if opcode not in COMMANDS:
        raise InputError(f"The member (response.opcode) is ({opcode:#06x}); give the opcode of a "
                         "command.")
    is_read = COMMANDS[opcode].name == "READ_BUFFER"
    asked = decoder.Asked(
        opcode=opcode,
        request_id=meta.number("request_id", 1, U64_MAX),
        max_response_bytes=meta.number("max_response_bytes", *RESPONSE_BYTES),
        read_bytes=meta.number("read_bytes", 1, U64_MAX) if is_read else None)
    used = meta.number("used", 0, U32_MAX) if meta.has("used") else len(data)
    meta.end()
    return decoder.judge_response(data, used, asked)


def _judge_config(meta: Meta, data: bytes) -> dict:
    queue_size = meta.number("queue_size", 1, U16_MAX) if meta.has("queue_size") else None
    features = meta.number("features", 0, U64_MAX) if meta.has("features") else 0
    meta.end()
    return decoder.judge_config(data, queue_size, features)


KINDS = {
    b"q": ("request", _judge_request),
    b"r": ("response", _judge_response),
    b"c": ("config", _judge_config),
}


def parse_json(text: bytes, what: str) -> object:
    """A JSON value; whatever is wrong with it becomes one sentence."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The {what} is no JSON ({error}); write it as JSON.") from error


def _read(stream: BinaryIO, size: int, what: str) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise InputError(f"The stream ends ({len(data)} of {size} bytes) in {what}; "
                         "send whole items.")
    return data


def _read_counted(stream: BinaryIO, size_max: int, what: str) -> bytes:
    size = int.from_bytes(_read(stream, 4, f"the length of {what}"), "little")
    if size > size_max:
        raise InputError(f"The length of {what} is ({size}); send at most {size_max} bytes.")
    return _read(stream, size, what)


def verdicts(stream: BinaryIO) -> Iterator[dict]:
    """The verdict on each item, as soon as the item is there, until the stream ends."""
    while kind := stream.read(1):
        if kind not in KINDS:
            raise InputError(f"The kind of an item is ({kind!r}); send one of "
                             f"{', '.join(known.decode() for known in KINDS)}.")
        name, judge = KINDS[kind]
        meta = _read_counted(stream, META_BYTES_MAX, f"the meta data of a {name}")
        data = _read_counted(stream, DATA_BYTES_MAX, f"the bytes of a {name}")
        yield judge(Meta(name, parse_json(meta, f"meta data of a {name}")), data)
