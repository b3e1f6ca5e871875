"""A device by another hand: what a reader of the protocol's text would build, in Python.

Steps 2 to 5 of spec §5 are the clean room's (`spec/clean_room`); the rest is here. The one thing
to know: nothing here may be taken from the C++. Where the two differ, the text decides.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys
import time
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "spec" / "clean_room"))

import decoder  # noqa: E402
from layouts import DOMAIN_CAPABILITY, STATUS_VALUES, encode  # noqa: E402

from program import Part, Program, Refused, load, refuse_if  # noqa: E402

CANCELLATION = 1 << 2
SOURCE, DESTINATION, INPUT, OUTPUT, STATE = (1 << bit for bit in range(5))
USAGE_FOR_ACCESS = {1: INPUT | STATE, 2: OUTPUT | STATE, 3: STATE}
PENDING, COMPLETE, FAILED, CANCELLED = range(4)
BUFFER_BUDGET = 1 << 20
PROGRAM_BUDGET = 1 << 12


@dataclasses.dataclass(frozen=True)
class Options:
    """What a device is started with."""

    max_request_bytes: int = 1 << 20
    max_response_bytes: int = 1 << 20
    cancels: bool = True
    domains: tuple[int, ...] = (1, 2, 3)
    pending_polls: int = 2

    def info(self) -> dict:
        """The fields of a DeviceInfo."""
        capabilities = CANCELLATION if self.cancels else 0
        for domain in self.domains:
            capabilities |= DOMAIN_CAPABILITY[domain]
        return {"uuid": b"by another hand!".hex(), "class": 0, "reserved": 0, "vendor_id": 7,
                "device_id": 11, "capabilities": capabilities, "max_contexts": 5,
                "max_buffers_per_context": 21, "max_programs_per_context": 3,
                "max_queues_per_context": 4, "max_events_per_context": 6,
                "max_bindings_per_submission": 64, "max_buffer_bytes": 1000,
                "max_artifact_bytes": 300}


@dataclasses.dataclass
class Thing:
    """An object: its kind, the context that owns it, and how many others stand on it."""

    kind: str
    context: Thing | None = None
    users: int = 0
    children: dict[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Buffer(Thing):
    """Memory of its own."""

    memory: bytearray = dataclasses.field(default_factory=bytearray)
    usage: int = 0


@dataclasses.dataclass
class Loaded(Thing):
    """A program that is resident."""

    program: Program | None = None
    resident_bytes: int = 0


@dataclasses.dataclass
class Event(Thing):
    """A submission: what it keeps, what it will do, and where it stands."""

    keeps: list[Thing] = dataclasses.field(default_factory=list)
    work: Callable[[], None] = lambda: None
    polls_left: int = 0
    deadline_ns: int | None = None
    state: int = PENDING
    error: str = "OK"

    def look(self) -> None:
        """One step of its life."""
        if self.state != PENDING:
            return
        if self.deadline_ns is not None and time.monotonic_ns() >= self.deadline_ns:
            self.state, self.error = FAILED, "DEADLINE_EXPIRED"
        elif self.polls_left > 0:
            self.polls_left -= 1
        else:
            self.work()
            self.state = COMPLETE


class Device:
    """One device instance. Methods named as a command serve it, from step 7 on."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.info = options.info()
        self.limits = decoder.Limits(
            max_request_bytes=options.max_request_bytes,
            max_response_bytes=options.max_response_bytes,
            max_bindings=self.info["max_bindings_per_submission"],
            max_buffer_bytes=self.info["max_buffer_bytes"],
            max_artifact_bytes=self.info["max_artifact_bytes"],
            capabilities=self.info["capabilities"])
        self.seed = 1
        self.last_number = 0
        self.objects: dict[int, Thing] = {}

    # ---- frames

    def serve(self, frame: bytes, capacity: int) -> bytes:
        """The bytes of the response, none of them if nothing is written."""
        verdict = decoder.judge_request(frame, self.limits, capacity)
        if verdict["outcome"] == "nothing":
            return b""
        if verdict["outcome"] == "error":
            return bytes.fromhex(verdict["response"])
        try:
            payload, status = getattr(self, verdict["command"].lower())(verdict) or b"", "OK"
        except Refused as refusal:
            payload, status = b"", refusal.status
        header = {"status": STATUS_VALUES[status], "flags": 0, "payload_bytes": len(payload),
                  "request_id": verdict["request_id"]}
        return encode("response_header", header) + payload

    def reset(self, seed: int) -> bool:
        """Gives everything up, into a new namespace; false if it is none."""
        if seed in (0, self.seed):
            return False
        self.seed = seed
        self.objects.clear()
        return True

    # ---- objects

    def find(self, kind: str, name: int) -> Thing:
        """The live object of that name and kind."""
        thing = self.objects.get(name)
        if thing is None or thing.kind != kind:
            raise Refused("STALE_OBJECT")
        return thing

    def new_name(self) -> int:
        """A name that nothing ever had: the namespace, and a number that no reset takes back."""
        self.last_number += 1
        return self.seed << 32 | self.last_number

    def check_quota(self, context: Thing, kind: str) -> None:
        """Whether the context may have one more child of a kind."""
        limit = self.info[f"max_{kind}s_per_context"]
        refuse_if(context.children.get(kind, 0) >= limit, "RESOURCE_LIMIT")

    def publish(self, thing: Thing) -> bytes:
        """Makes an object live; the payload that names it."""
        name = self.new_name()
        self.objects[name] = thing
        if thing.context is not None:
            thing.context.users += 1
            thing.context.children[thing.kind] = thing.context.children.get(thing.kind, 0) + 1
        return encode("object", {"object_id": name})

    def release(self, kind: str, verdict: dict) -> Thing:
        """Ends an object that nothing stands on."""
        name = verdict["fields"]["object_id"]
        thing = self.find(kind, name)
        refuse_if(thing.users != 0, "BUSY")
        if isinstance(thing, Event):
            refuse_if(thing.state == PENDING, "BUSY")
            for kept in thing.keeps:
                kept.users -= 1
        if thing.context is not None:
            thing.context.users -= 1
            thing.context.children[kind] -= 1
        del self.objects[name]
        return thing

    def used(self, kind: str, measure: Callable[[Thing], int]) -> int:
        """What all objects of a kind cost the host."""
        return sum(measure(thing) for thing in self.objects.values() if thing.kind == kind)

    # ---- commands

    def get_device_info(self, _verdict: dict) -> bytes:
        return encode("device_info", self.info)

    def create_context(self, _verdict: dict) -> bytes:
        count = self.used("context", lambda thing: 1)
        refuse_if(count >= self.info["max_contexts"], "RESOURCE_LIMIT")
        return self.publish(Thing("context"))

    def destroy_context(self, verdict: dict) -> None:
        self.release("context", verdict)

    def fresh_memory(self, size: int) -> bytearray:
        """A fresh buffer reads as zero."""
        return bytearray(size)

    def allocate_buffer(self, verdict: dict) -> bytes:
        fields = verdict["fields"]
        spent = self.used("buffer", lambda thing: len(thing.memory))
        refuse_if(spent + fields["bytes"] > BUFFER_BUDGET, "RESOURCE_LIMIT")
        context = self.find("context", fields["context_id"])
        self.check_quota(context, "buffer")
        memory = self.fresh_memory(fields["bytes"])
        return self.publish(Buffer("buffer", context, memory=memory, usage=fields["usage"]))

    def free_buffer(self, verdict: dict) -> None:
        self.release("buffer", verdict)

    def transfer(self, fields: dict, usage: int) -> tuple[Buffer, slice]:
        """The buffer and the range that may be moved now."""
        buffer = self.find("buffer", fields["buffer_id"])
        refuse_if(buffer.users != 0, "BUSY")
        end = fields["offset"] + fields["bytes"]
        refuse_if(end > len(buffer.memory), "OUT_OF_BOUNDS")
        refuse_if(not buffer.usage & usage, "PERMISSION_DENIED")
        return buffer, slice(fields["offset"], end)

    def write_buffer(self, verdict: dict) -> None:
        buffer, place = self.transfer(verdict["fields"], DESTINATION)
        buffer.memory[place] = bytes.fromhex(verdict["data"])

    def read_buffer(self, verdict: dict) -> bytes:
        buffer, place = self.transfer(verdict["fields"], SOURCE)
        return bytes(buffer.memory[place])

    def load_program(self, verdict: dict) -> bytes:
        fields = verdict["fields"]
        spent = self.used("program", lambda thing: thing.resident_bytes)
        refuse_if(spent + fields["resident_bytes"] > PROGRAM_BUDGET, "RESOURCE_LIMIT")
        context = self.find("context", fields["context_id"])
        self.check_quota(context, "program")
        program = load(fields, bytes.fromhex(verdict["data"]))
        return self.publish(Loaded("program", context, program=program,
                                   resident_bytes=fields["resident_bytes"]))

    def unload_program(self, verdict: dict) -> None:
        self.release("program", verdict)

    def create_queue(self, verdict: dict) -> bytes:
        context = self.find("context", verdict["fields"]["context_id"])
        self.check_quota(context, "queue")
        return self.publish(Thing("queue", context))

    def destroy_queue(self, verdict: dict) -> None:
        self.release("queue", verdict)

    def judging_order(self, bindings: list[dict]) -> list[dict]:
        """Bindings are judged in slot order; how they are given means nothing."""
        return sorted(bindings, key=lambda binding: binding["slot"])

    def submit(self, verdict: dict) -> bytes:
        fields = verdict["fields"]
        queue = self.find("queue", fields["queue_id"])
        loaded = self.find("program", fields["program_id"])
        bindings = self.judging_order(verdict["bindings"])
        buffers = [self.find("buffer", binding["buffer_id"]) for binding in bindings]
        context = queue.context
        alien = any(thing.context is not context for thing in [loaded, *buffers])
        refuse_if(alien, "STALE_OBJECT")
        self.check_quota(context, "event")
        parts = {}
        for binding, buffer in zip(bindings, buffers):
            end = binding["offset"] + binding["bytes"]
            refuse_if(end > len(buffer.memory), "OUT_OF_BOUNDS")
            refuse_if(not buffer.usage & USAGE_FOR_ACCESS[binding["access"]], "PERMISSION_DENIED")
            parts[binding["slot"]] = Part(buffer.memory, binding["offset"], end, binding["access"])
        program = loaded.program
        program.check(parts)
        timeout = fields["timeout_ns"]
        event = Event("event", context, keeps=[queue, loaded, *buffers],
                      work=lambda: program.run(parts), polls_left=self.options.pending_polls,
                      deadline_ns=time.monotonic_ns() + timeout if timeout else None)
        for kept in event.keeps:
            kept.users += 1
        return self.publish(event)

    def poll_event(self, verdict: dict) -> bytes:
        event = self.find("event", verdict["fields"]["object_id"])
        event.look()
        return encode("event_state", {"state": event.state, "error": STATUS_VALUES[event.error],
                                      "reserved": 0})

    def cancel_event(self, verdict: dict) -> None:
        refuse_if(not self.options.cancels, "UNSUPPORTED")
        event = self.find("event", verdict["fields"]["object_id"])
        refuse_if(event.state != PENDING, "BUSY")
        event.state = CANCELLED

    def destroy_event(self, verdict: dict) -> None:
        self.release("event", verdict)
