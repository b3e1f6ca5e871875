"""The reference artifact of spec §9, as a reader of its text alone would run it.

The one thing to know: a refusal is the protocol's name for it, raised, so that whoever serves the
command answers with it.
"""

from __future__ import annotations

from typing import NamedTuple

FORMAT = 0x56414D4B
TARGET = [0x56414D4B, 0x00010000, 0x54455354, 0x4F4E4C59] + [0] * 8
RESIDENT_BYTES = 64
ARTIFACT_BYTES = 24
NO_SLOT = 0xFFFFFFFF
BARRIER, COPY, FILL, XOR = range(4)
READ, WRITE, READ_WRITE = 1, 2, 3


class Refused(Exception):
    """Why a command is refused: the protocol's name of a status."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


def refuse_if(broken: bool, status: str) -> None:
    """Ends a command unless a condition holds."""
    if broken:
        raise Refused(status)


class Part(NamedTuple):
    """A bound range: the memory of a buffer, and where in it."""

    memory: bytearray
    start: int
    end: int
    access: int

    def load(self) -> bytes:
        """The bytes that are bound."""
        return bytes(self.memory[self.start : self.end])

    def store(self, data: bytes) -> None:
        """Puts as many bytes in their place."""
        self.memory[self.start : self.end] = data


class Program(NamedTuple):
    """What an artifact says."""

    operation: int
    first: int
    second: int
    operand: int

    def check(self, parts: dict[int, Part]) -> None:
        """INCOMPATIBLE unless these bindings, by slot, are what the program takes."""
        slots = {self.first, self.second} if self.operation == COPY else {self.first}
        refuse_if(set(parts) != slots, "INCOMPATIBLE")
        wanted = {FILL: WRITE, XOR: READ_WRITE, COPY: READ}.get(self.operation)
        first = parts[self.first]
        refuse_if(wanted is not None and first.access != wanted, "INCOMPATIBLE")
        if self.operation == COPY:
            second = parts[self.second]
            fits = first.end - first.start == second.end - second.start
            refuse_if(second.access != WRITE or not fits, "INCOMPATIBLE")

    def run(self, parts: dict[int, Part]) -> None:
        """Does the work, on bindings that were checked."""
        first = parts[self.first]
        if self.operation == COPY:
            parts[self.second].store(first.load())
        elif self.operation == FILL:
            first.store(bytes([self.operand]) * (first.end - first.start))
        elif self.operation == XOR:
            first.store(bytes(byte ^ self.operand for byte in first.load()))


def load(fields: dict, artifact: bytes) -> Program:
    """The program of a LOAD_PROGRAM, or why there is none."""
    refuse_if(fields["format"] != FORMAT, "UNSUPPORTED")
    refuse_if(fields["target"] != TARGET or fields["resident_bytes"] != RESIDENT_BYTES,
              "INCOMPATIBLE")
    refuse_if(len(artifact) != ARTIFACT_BYTES or artifact[:4] != b"VAMK", "INVALID_ARGUMENT")
    refuse_if(artifact[4:6] != b"\1\0" or artifact[7] != 1, "INCOMPATIBLE")
    program = Program(artifact[6], int.from_bytes(artifact[8:12], "little"),
                      int.from_bytes(artifact[12:16], "little"), artifact[16])
    refuse_if(program.operation > XOR, "UNSUPPORTED")
    refuse_if(program.first == NO_SLOT, "INVALID_ARGUMENT")
    if program.operation == COPY:
        refuse_if(program.second in (NO_SLOT, program.first), "INVALID_ARGUMENT")
    else:
        refuse_if(program.second != NO_SLOT, "INVALID_ARGUMENT")
    idle = program.operation in (BARRIER, COPY)
    refuse_if(any(artifact[17:]) or (idle and program.operand != 0), "INVALID_ARGUMENT")
    return program
