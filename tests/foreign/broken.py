"""The same device with one rule broken, to show that a run of the cases finds it.

The one thing to know: each breaks what its docstring says and nothing else, and the row in `BROKEN`
names the case that has to say so.
"""

from __future__ import annotations

from typing import NamedTuple

from device import Device

HEADER_BYTES = 16


class DirtyBuffers(Device):
    """A fresh buffer holds what was there."""

    def fresh_memory(self, size: int) -> bytearray:
        return bytearray(b"\xa7" * size)


class AnyOrder(Device):
    """Bindings are judged as they come."""

    def judging_order(self, bindings: list[dict]) -> list[dict]:
        return bindings


class OldNames(Device):
    """A reset starts over with the same names."""

    def reset(self, seed: int) -> bool:
        done = super().reset(seed)
        self.seed, self.last_number = 1, 0
        return done


class ShortEcho(Device):
    """A response names 32 bits of its request."""

    def serve(self, frame: bytes, capacity: int) -> bytes:
        response = super().serve(frame, capacity)
        return response[:12] + bytes(4) + response[HEADER_BYTES:] if response else response


class OpenContexts(Device):
    """A quota holds for the device and not for each context."""

    def check_quota(self, context: object, kind: str) -> None:
        super().check_quota(context, kind)
        for thing in self.objects.values():
            if thing.kind == "context":
                super().check_quota(thing, kind)


class Fault(NamedTuple):
    """A broken device, and the case that names it."""

    device: type[Device]
    case: str


BROKEN = {
    "dirty-buffers": Fault(DirtyBuffers, "allocate-buffer.fresh-is-zero"),
    "any-order": Fault(AnyOrder, "submit.judged-in-slot-order"),
    "old-names": Fault(OldNames, "reset.new-ids-are-new"),
    "short-echo": Fault(ShortEcho, "frame.request-id-is-echoed"),
    "open-contexts": Fault(OpenContexts, "create-queue.quota"),
}
