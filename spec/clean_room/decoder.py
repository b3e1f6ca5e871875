"""Judges frames by protocol 1.0 as a reader of its text alone would, and knows no device's state.

A device's side (`judge_request`) does the steps 2 to 5 of spec §5 in their order; a driver's side
(`judge_response`, `judge_config`, `judge_device_info`) does what the text says that a driver
checks; the text gives those no order, so which of several failures is named is chosen here. The one
thing to know: nothing here may be taken from an implementation; where this file and one differ, the
text decides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from layouts import (ACCESSES, BINDINGS_MAX, CAPABILITIES_RESERVED, CHAIN_DESCRIPTORS, COMMANDS,
                     DOMAIN_CAPABILITY, EVENT_STATES, FEATURES_RESERVED, HEADER_BYTES,
                     REQUEST_BYTES, RESPONSE_BYTES, SIZES, STATUS_VALUES, STATUSES, U32_MAX,
                     U64_MAX, USAGE_KNOWN, Command, decode, encode)


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a device advertises, as far as a frame can break it."""

    max_request_bytes: int
    max_response_bytes: int
    max_bindings: int
    max_buffer_bytes: int
    max_artifact_bytes: int
    capabilities: int


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a driver remembers of the request that a response belongs to.

    `read_bytes` is the `bytes` of a READ_BUFFER, and None for every other command.
    """

    opcode: int
    request_id: int
    max_response_bytes: int
    read_bytes: int | None = None


class Refusal(Exception):
    """The first check that failed: its name, what it answers, and one sentence about the value."""

    def __init__(self, check: str, reason: str, status: str) -> None:
        super().__init__(reason)
        self.check = check
        self.reason = reason
        self.status = status


def _refuse_if(broken: bool, check: str, reason: str, status: str = "INVALID_ARGUMENT") -> None:
    if broken:
        raise Refusal(check, reason, status)


class _Record:
    """The fields of one record, and the checks that many records share.

    `foreign` collects the statuses that another reading of the text allows a device to answer.
    """

    def __init__(self, name: str, data: bytes, foreign: set[str]) -> None:
        self._name = name
        self._foreign = foreign
        self.fields = decode(name, data)

    def __getitem__(self, name: str) -> int:
        return self.fields[name]

    def sentence(self, name: str, problem: str) -> str:
        """What is wrong with a field."""
        return f"The field ({self._name}.{name}) is ({self.fields[name]}) {problem}."

    def flags(self) -> None:
        """Every flag word of 1.0 is zero."""
        _refuse_if(self["flags"] != 0, "flags", self.sentence("flags", "where 1.0 has no flag"),
                   "UNSUPPORTED")

    def reserved(self, *names: str) -> None:
        """Reserved fields are zero, those made of bytes in every byte."""
        for name in names:
            value = self.fields[name]
            broken = any(bytes.fromhex(value)) if isinstance(value, str) else value != 0
            _refuse_if(broken, name, self.sentence(name, "and has to be zero"))

    def nonzero(self, name: str) -> None:
        """A number that means nothing as zero."""
        _refuse_if(self[name] == 0, name, self.sentence(name, "and has to be nonzero"))

    def at_most(self, name: str, limit: int, check: str) -> None:
        """A number that a limit of the device bounds."""
        _refuse_if(self[name] > limit, check,
                   self.sentence(name, f"and the device allows ({limit})"), "RESOURCE_LIMIT")

    def object_id(self, name: str) -> None:
        """An ID is nonzero. One whose low half is zero may be refused here by a foreign device."""
        self.nonzero(name)
        if self[name] & U32_MAX == 0:
            self._foreign.add("INVALID_ARGUMENT")

    def range(self) -> None:
        """A range is nonempty, and its end can be written in 64 bits."""
        self.nonzero("bytes")
        end = self["offset"] + self["bytes"]
        _refuse_if(end > U64_MAX, "range",
                   self.sentence("offset", f"and the end ({end}) overflows"))


class _Payload:
    """The bytes after the request's header, and the limits that they may break."""

    def __init__(self, data: bytes, command: Command, limits: Limits, foreign: set[str]) -> None:
        self._data = data
        self._command = command
        self.limits = limits
        self.foreign = foreign

    def _check_length(self, broken: bool, wanted: str) -> None:
        reason = f"The payload of {self._command.name} has ({len(self._data)}) bytes, not {wanted}."
        _refuse_if(broken, "length", reason)

    def empty(self) -> None:
        """No payload at all."""
        self._check_length(len(self._data) != 0, "none")

    def exact(self) -> _Record:
        """The whole payload is the command's record."""
        size = SIZES[self._command.request]
        self._check_length(len(self._data) != size, f"exactly ({size})")
        return _Record(self._command.request, self._data, self.foreign)

    def prefix(self) -> tuple[_Record, bytes]:
        """The payload begins with the command's record; the rest comes with it."""
        size = SIZES[self._command.request]
        self._check_length(len(self._data) < size, f"at least ({size})")
        return _Record(self._command.request, self._data, self.foreign), self._data[size:]


def _get_device_info(payload: _Payload) -> dict:
    payload.empty()
    return {"fields": {}}


def _one_object(payload: _Payload) -> dict:
    record = payload.exact()
    record.object_id("object_id")
    return {"fields": record.fields}


def _create_context(payload: _Payload) -> dict:
    record = payload.exact()
    record.flags()
    record.reserved("reserved")
    return {"fields": record.fields}


def _create_queue(payload: _Payload) -> dict:
    record = payload.exact()
    record.flags()
    record.reserved("reserved")
    record.object_id("context_id")
    return {"fields": record.fields}


def _allocate_buffer(payload: _Payload) -> dict:
    record = payload.exact()
    record.object_id("context_id")
    record.reserved("reserved0", "reserved1")
    domain, usage, alignment = record["memory_domain"], record["usage"], record["alignment"]
    _refuse_if(domain not in DOMAIN_CAPABILITY, "memory_domain",
               record.sentence("memory_domain", "and has to be 1, 2 or 3"))
    _refuse_if(usage & ~USAGE_KNOWN != 0, "usage_unknown",
               record.sentence("usage", "and has a bit above bit 4"), "UNSUPPORTED")
    record.nonzero("usage")
    record.nonzero("bytes")
    _refuse_if(alignment.bit_count() != 1, "alignment",
               record.sentence("alignment", "and has to be a power of two"))
    record.at_most("bytes", payload.limits.max_buffer_bytes, "buffer_limit")
    _refuse_if(not payload.limits.capabilities & DOMAIN_CAPABILITY[domain], "domain_capability",
               record.sentence("memory_domain", "and the device lacks that domain's capability"),
               "UNSUPPORTED")
    return {"fields": record.fields}


def _read_buffer(payload: _Payload) -> dict:
    record = payload.exact()
    record.object_id("buffer_id")
    record.range()
    return {"fields": record.fields}


def _write_buffer(payload: _Payload) -> dict:
    record, tail = payload.prefix()
    record.object_id("buffer_id")
    record.range()
    _refuse_if(len(tail) != record["bytes"], "tail",
               record.sentence("bytes", f"and ({len(tail)}) bytes follow"))
    return {"fields": record.fields, "data": tail.hex()}


def _load_program(payload: _Payload) -> dict:
    record, tail = payload.prefix()
    record.flags()
    record.object_id("context_id")
    record.nonzero("format")
    record.nonzero("payload_bytes")
    record.nonzero("resident_bytes")
    if record["payload_bytes"] == U64_MAX:
        payload.foreign.add("RESOURCE_LIMIT")
    _refuse_if(len(tail) != record["payload_bytes"], "tail",
               record.sentence("payload_bytes", f"and ({len(tail)}) bytes follow"))
    record.at_most("payload_bytes", payload.limits.max_artifact_bytes, "artifact_limit")
    return {"fields": record.fields, "data": tail.hex()}


def _submit(payload: _Payload) -> dict:
    record, tail = payload.prefix()
    record.flags()
    record.nonzero("binding_count")
    record.at_most("binding_count", min(BINDINGS_MAX, payload.limits.max_bindings),
                   "binding_limit")
    size = SIZES["binding"]
    _refuse_if(len(tail) != record["binding_count"] * size, "tail",
               record.sentence("binding_count", f"and ({len(tail)}) bytes follow"))
    bindings = [_Record("binding", tail[at : at + size], payload.foreign)
                for at in range(0, len(tail), size)]
    for binding in bindings:
        binding.reserved("reserved")
        binding.range()
        _refuse_if(binding["access"] not in ACCESSES, "access",
                   binding.sentence("access", "and has to be 1, 2 or 3"))
        binding.object_id("buffer_id")
    slots = set()
    for binding in bindings:
        _refuse_if(binding["slot"] in slots, "slot",
                   binding.sentence("slot", "and another binding has the same slot"))
        slots.add(binding["slot"])
    record.object_id("queue_id")
    record.object_id("program_id")
    return {"fields": record.fields, "bindings": [binding.fields for binding in bindings]}


PayloadJudge = Callable[[_Payload], dict]
_JUDGES: dict[str, PayloadJudge] = {
    "GET_DEVICE_INFO": _get_device_info, "CREATE_CONTEXT": _create_context,
    "ALLOCATE_BUFFER": _allocate_buffer, "WRITE_BUFFER": _write_buffer,
    "READ_BUFFER": _read_buffer, "LOAD_PROGRAM": _load_program, "CREATE_QUEUE": _create_queue,
    "SUBMIT": _submit,
}


def _check_header(frame: bytes, header: dict, limits: Limits) -> Command:
    """Steps 3 and 4."""
    _refuse_if(len(frame) > limits.max_request_bytes, "frame_limit",
               f"The frame has ({len(frame)}) bytes and the device allows "
               f"({limits.max_request_bytes}).", "RESOURCE_LIMIT")
    rest = len(frame) - HEADER_BYTES
    _refuse_if(header["payload_bytes"] != rest, "frame_length",
               f"The header counts ({header['payload_bytes']}) bytes and ({rest}) follow.")
    _refuse_if(header["request_id"] == 0, "request_id", "The request ID is (0).")
    _refuse_if(header["flags"] != 0, "header_flags",
               f"The header's flags are ({header['flags']}) where 1.0 has no flag.", "UNSUPPORTED")
    _refuse_if(header["opcode"] not in COMMANDS, "opcode",
               f"There is no command with the opcode ({header['opcode']:#06x}).", "UNSUPPORTED")
    return COMMANDS[header["opcode"]]


def _response_bytes(command: Command, fields: dict) -> int:
    """The writable capacity that the command's success needs."""
    if command.name == "READ_BUFFER":
        return HEADER_BYTES + fields["bytes"]
    return HEADER_BYTES + SIZES.get(command.success, 0)


def _silence(check: str, reason: str) -> dict:
    return {"outcome": "nothing", "check": check, "reason": reason, "used": 0}


def _error(refusal: Refusal, request_id: int) -> dict:
    value = STATUS_VALUES[refusal.status]
    response = encode("response_header", {"status": value, "flags": 0, "payload_bytes": 0,
                                          "request_id": request_id})
    return {"outcome": "error", "status": refusal.status, "status_value": value,
            "check": refusal.check, "reason": refusal.reason, "request_id": request_id,
            "used": HEADER_BYTES, "response": response.hex()}


def judge_request(frame: bytes, limits: Limits, capacity: int) -> dict:
    """What a device makes of a request before it looks at its own state.

    `frame` is all readable bytes, `capacity` the count of writable ones. The outcome is `request`
    (decoded), `error` (16 bytes are answered) or `nothing` (used length 0). The key `foreign`, if
    it is there, names statuses that the text lets other devices answer instead.
    """
    if len(frame) < HEADER_BYTES:
        return _silence("header", f"The frame has ({len(frame)}) bytes and no whole header.")
    if capacity < HEADER_BYTES:
        return _silence("error_capacity", f"The chain takes ({capacity}) bytes, not even a header.")
    header = decode("request_header", frame)
    foreign: set[str] = set()
    try:
        command = _check_header(frame, header, limits)
        judge = _JUDGES.get(command.name, _one_object)
        decoded = judge(_Payload(frame[HEADER_BYTES:], command, limits, foreign))
        needed = _response_bytes(command, decoded["fields"])
        _refuse_if(needed > limits.max_response_bytes, "response_limit",
                   f"The response needs ({needed}) bytes and the device allows "
                   f"({limits.max_response_bytes}).", "RESOURCE_LIMIT")
        if capacity < needed:
            verdict = _silence("capacity", f"The response needs ({needed}) bytes and the chain "
                                           f"takes ({capacity}).")
        else:
            verdict = {"outcome": "request", "command": command.name, "opcode": header["opcode"],
                       "request_id": header["request_id"], **decoded, "needed": needed}
    except Refusal as refusal:
        verdict = _error(refusal, header["request_id"])
    foreign.discard(verdict.get("status", ""))
    return {**verdict, "foreign": sorted(foreign)} if foreign else verdict


def _in_range(record: str, fields: dict, name: str, bounds: tuple[int, int]) -> None:
    low, high = bounds
    _refuse_if(not low <= fields[name] <= high, name,
               f"The field ({record}.{name}) is ({fields[name]}), not from {low} to {high}.")


def _refused(refusal: Refusal, outcome: str, **more: object) -> dict:
    return {"outcome": outcome, "check": refusal.check, "reason": refusal.reason, **more}


def judge_config(data: bytes, queue_size: int | None = None, features: int = 0) -> dict:
    """What a driver makes of the configuration space; it reads the first 16 bytes only.

    `queue_size` is the configured size of the command queue, if that is known; `features` holds
    the transport features that were accepted.
    """
    size = SIZES["config"]
    try:
        _refuse_if(len(data) < size, "length",
                   f"The configuration space has ({len(data)}) bytes, not at least ({size}).")
        fields = decode("config", data)
        _in_range("config", fields, "protocol_major", (1, 1))
        _in_range("config", fields, "command_queue_count", (1, 1))
        _in_range("config", fields, "max_chain_descriptors", CHAIN_DESCRIPTORS)
        chain = fields["max_chain_descriptors"]
        _refuse_if(queue_size is not None and chain > queue_size, "queue_size",
                   f"A chain may have ({chain}) descriptors and the queue has ({queue_size}).")
        _in_range("config", fields, "max_request_bytes", REQUEST_BYTES)
        _in_range("config", fields, "max_response_bytes", RESPONSE_BYTES)
        _refuse_if(features & FEATURES_RESERVED != 0, "features",
                   f"The accepted features ({features:#x}) include a reserved one.")
    except Refusal as refusal:
        return _refused(refusal, "refused")
    return {"outcome": "config", "fields": fields}


def judge_device_info(data: bytes) -> dict:
    """What a driver makes of the 76 bytes of a DeviceInfo."""
    size = SIZES["device_info"]
    try:
        _refuse_if(len(data) != size, "length",
                   f"A DeviceInfo has ({size}) bytes, not ({len(data)}).")
        fields = decode("device_info", data)
        for name in fields:
            if name.startswith("max_"):
                high = BINDINGS_MAX if name == "max_bindings_per_submission" else U64_MAX
                _in_range("device_info", fields, name, (1, high))
        _in_range("device_info", fields, "reserved", (0, 0))
        capabilities = fields["capabilities"]
        _refuse_if(capabilities & CAPABILITIES_RESERVED != 0, "capabilities",
                   f"The capabilities ({capabilities:#x}) include a reserved one.")
        _refuse_if(not any(capabilities & bit for bit in DOMAIN_CAPABILITY.values()), "domain",
                   f"The capabilities ({capabilities:#x}) include no memory domain.")
    except Refusal as refusal:
        return _refused(refusal, "refused")
    return {"outcome": "success", "fields": fields}


def _judge_event(payload: bytes) -> dict:
    """A state that cannot be: the driver keeps the event and has to recover."""
    fields = decode("event_state", payload)
    state, error = fields["state"], fields["error"]
    try:
        _refuse_if(state not in EVENT_STATES, "state", f"There is no event state ({state}).")
        failed = EVENT_STATES[state] == "failed"
        _refuse_if(failed != (error != STATUS_VALUES["OK"]), "error",
                   f"An event that is {EVENT_STATES[state]} cannot have the error ({error}).")
        _refuse_if(fields["reserved"] != 0, "reserved",
                   f"The field (event_state.reserved) is ({fields['reserved']}), not zero.")
    except Refusal as refusal:
        return _refused(refusal, "recover", fields=fields)
    return {"outcome": "success", "fields": fields, "state": EVENT_STATES[state]}


def _judge_object(payload: bytes, outcome: str) -> dict:
    fields = decode("object", payload)
    _refuse_if(fields["object_id"] == 0, "object_id", "The response names the object (0).")
    return {"outcome": outcome, "fields": fields}


def _check_payload_size(size: int, wanted: int, what: str) -> None:
    _refuse_if(size != wanted, "payload_size",
               f"The payload of {what} has ({size}) bytes, not ({wanted}).")


def _judge_success(command: Command, payload: bytes, asked: Asked) -> dict:
    if command.name == "READ_BUFFER":
        _check_payload_size(len(payload), asked.read_bytes, "a read")
        return {"outcome": "success", "fields": {}, "data": payload.hex()}
    _check_payload_size(len(payload), SIZES.get(command.success, 0), f"a good {command.name}")
    if command.success == "device_info":
        return judge_device_info(payload)
    if command.success == "event_state":
        return _judge_event(payload)
    if command.success == "object":
        return _judge_object(payload, "success")
    return {"outcome": "success", "fields": {}}


def _release_effect(status: str | None) -> str:
    """What a failed release says about its object."""
    if status is None:
        return "unknown"
    return {"STALE_OBJECT": "invalidated", "DEVICE_LOST": "indeterminate"}.get(status, "retryable")


def _judge_failure(command: Command, payload: bytes, status: str | None) -> dict:
    """A failure is empty, but for a SUBMIT that names the event which owns what was retained."""
    if command.name == "SUBMIT" and len(payload) == SIZES["object"]:
        return _judge_object(payload, "indeterminate")
    _check_payload_size(len(payload), 0, f"a failed {command.name}")
    verdict = {"outcome": "failure", "fields": {}}
    return {**verdict, "object": _release_effect(status)} if command.is_release else verdict


def _check_response(buffer: bytes, used: int, asked: Asked) -> dict:
    """The header of a response, once all that every response keeps is checked."""
    _refuse_if(used < HEADER_BYTES, "used_header", f"The used length ({used}) has no whole header.")
    _refuse_if(used > len(buffer), "used_buffer",
               f"The used length ({used}) is larger than the buffer ({len(buffer)}).")
    _refuse_if(used > asked.max_response_bytes, "used_limit",
               f"The used length ({used}) is larger than the device allows "
               f"({asked.max_response_bytes}).")
    header = decode("response_header", buffer)
    _refuse_if(used != HEADER_BYTES + header["payload_bytes"], "payload_bytes",
               f"The used length is ({used}) and the header counts ({header['payload_bytes']}).")
    _refuse_if(header["flags"] != 0, "flags",
               f"The response's flags are ({header['flags']}) where 1.0 has no flag.")
    _refuse_if(header["request_id"] != asked.request_id, "request_id",
               f"The response is for the request ({header['request_id']}), not for "
               f"({asked.request_id}).")
    return header


def judge_response(buffer: bytes, used: int, asked: Asked) -> dict:
    """What a driver makes of a response of `used` bytes in the buffer that it gave.

    The outcome is `success`, `failure`, `indeterminate` (a SUBMIT that failed and returned an
    event), `recover` (an event state that cannot be; the event is kept), `refused` (a DeviceInfo
    that cannot be), `malformed`, or `nothing` (used length 0). The name of an unknown status is
    None.
    """
    if used == 0:
        return _silence("used", "The device wrote nothing.")
    command = COMMANDS[asked.opcode]
    try:
        header = _check_response(buffer, used, asked)
        payload = buffer[HEADER_BYTES:used]
        status = STATUSES.get(header["status"])
        if status == "OK":
            verdict = _judge_success(command, payload, asked)
        else:
            verdict = _judge_failure(command, payload, status)
    except Refusal as refusal:
        return _refused(refusal, "malformed")
    return {**verdict, "command": command.name, "status": status, "status_value": header["status"]}
