#!/usr/bin/env python3
"""Compares this project's device and client with the clean room on frames that nobody wrote.

Each seed makes items: good frames, changed at random. The clean room (spec/clean_room) judges them
in this process, wire_judge on the other end of a pipe. The one thing to know: a seed says it all,
so a disagreement anywhere is one everywhere.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import pathlib
import random
import struct
import subprocess
import sys
import time
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "spec/clean_room"))

import decoder
import examples
import vectors
from layouts import COMMANDS, HEADER_BYTES, SIZES, U64_MAX

VECTORS = ROOT / "spec/vectors/frames.json"
ITEMS_OF_A_SEED = 400
# Eight items fit into a pipe.
FILE_BYTES_MAX = 4096
READ = 0x0203
RESPONSE_BYTES_MAX = 1024
NUMBERS = (0, 1, 2, 3, 4, 8, 16, 31, 32, 255, 256, 2**16 - 1, 2**31, 2**32 - 1, 2**32, 2**40,
           2**63, U64_MAX - 7, U64_MAX - 1, U64_MAX)


@dataclasses.dataclass(frozen=True)
class Item:
    """One frame, and all that its verdict depends on."""

    kind: str  # q request, r response, c configuration
    frame: bytes
    limits: decoder.Limits = examples.LIMITS
    capacity: int = 0
    asked: decoder.Asked | None = None
    used: int = 0

    def clean_verdict(self) -> dict:
        """What the clean room says."""
        if self.kind == "q":
            return decoder.judge_request(self.frame, self.limits, self.capacity)
        if self.kind == "r":
            return decoder.judge_response(self.frame, self.used, self.asked)
        return decoder.judge_config(self.frame)

    def packed(self) -> bytes:
        """The item as wire_judge reads it; all numbers are little-endian."""
        head = self.kind.encode()
        if self.kind == "q":
            limits = self.limits
            head += struct.pack("<IIIQQQI", limits.max_request_bytes, limits.max_response_bytes,
                                limits.max_bindings, limits.max_buffer_bytes,
                                limits.max_artifact_bytes, limits.capabilities, self.capacity)
        elif self.kind == "r":
            head += struct.pack("<HIII", self.asked.opcode, self.asked.max_response_bytes,
                                self.asked.read_bytes or 0, self.used)
        return head + struct.pack("<I", len(self.frame)) + self.frame


def opcode_of(frame: bytes) -> int:
    """The first two bytes of a request."""
    return int.from_bytes(frame[:2], "little")


def request_disagreement(verdict: dict, answer: dict) -> str | None:
    """Where a device's answer is not what the clean room's verdict on a request allows.

    The device has no objects. So what passes step 5 and names one is stale, except that a device
    may refuse CANCEL_EVENT for want of its capability first.
    """
    if verdict["outcome"] == "nothing":
        return None if answer["used"] == 0 else "the device answers what must be silent"
    if verdict["outcome"] == "error":
        if answer["response"] != verdict["response"]:
            return f"the device answers ({answer['response']}), not ({verdict['response']})"
        return None
    if answer["used"] < HEADER_BYTES:
        return "the device is silent to a good request"
    for part in ("fields", "bindings"):
        if verdict.get(part, answer.get(part)) != answer.get(part):
            return f"the {part} are ({answer.get(part)}), not ({verdict.get(part)})"
    status = opcode_of(bytes.fromhex(answer["response"]))
    name = decoder.STATUSES.get(status)
    if verdict["command"] in ("GET_DEVICE_INFO", "CREATE_CONTEXT"):
        good = name == "OK" and answer["used"] == verdict["needed"]
    else:
        good = name == "STALE_OBJECT" or (name, verdict["command"]) == ("UNSUPPORTED",
                                                                        "CANCEL_EVENT")
    return None if good else f"the device answers a good request with ({name}, {status})"


def response_disagreement(verdict: dict, answer: dict) -> str | None:
    """Where a client makes something else of a response than the clean room."""
    outcome = verdict["outcome"]
    if outcome in ("nothing", "malformed", "refused"):
        outcome = "recover"
    wanted = {"outcome": outcome}
    if outcome in ("failure", "indeterminate"):
        wanted["status_value"] = verdict["status_value"]
    if outcome in ("success", "indeterminate"):
        wanted["fields"] = verdict["fields"]
    if "data" in verdict:
        wanted["data"] = verdict["data"]
    if "object" in verdict:
        wanted["kept"] = verdict["object"] in ("retryable", "unknown")
    return None if wanted == answer else f"the client makes ({answer}) of it, not ({wanted})"


def config_disagreement(verdict: dict, answer: dict) -> str | None:
    """Where a client takes a configuration that the clean room refuses, or refuses it."""
    if verdict["outcome"] != answer["outcome"]:
        return f"the client says ({answer['outcome']}), not ({verdict['outcome']})"
    if verdict.get("fields", answer["fields"]) != answer["fields"]:
        return f"the fields are ({answer['fields']}), not ({verdict['fields']})"
    return None


DISAGREEMENTS = {"q": request_disagreement, "r": response_disagreement, "c": config_disagreement}


class Mutator:
    """Good frames, and changes to them."""

    def __init__(self, request_id: int) -> None:
        known = vectors.Vectors(VECTORS)
        self._request_id = request_id
        self._requests = [frame["bytes"] for frame in known.frames if frame["kind"] == "request"]
        self._requests += [examples.request(name).frame for name in examples.OPCODES]
        self._responses = [frame for frame in known.frames if frame["kind"] == "response"]
        self._configs = [frame["bytes"] for frame in known.frames if frame["kind"] == "config"]

    def item(self, rng: random.Random) -> Item:
        """The next item of a seed."""
        kind = rng.choices("qrc", (6, 4, 1))[0]
        if kind == "q":
            return self.request(rng, self._changed(rng, rng.choice(self._requests)))
        if kind == "r":
            frame = rng.choice(self._responses)
            opcode = examples.OPCODES[frame["command"]]
            data = frame["bytes"][:8] + self._request_id.to_bytes(8, "little")
            data += frame["bytes"][HEADER_BYTES:]
            return self.response(rng, self._changed(rng, data), opcode)
        return Item("c", self._changed(rng, rng.choice(self._configs))[:16].ljust(16, b"\0"))

    def request(self, rng: random.Random, frame: bytes) -> Item:
        """A request under limits of a seed."""
        limits = decoder.Limits(
            max_request_bytes=rng.choice((97, 128, 200, 2**20)),
            max_response_bytes=rng.choice((92, 120, 2**20)), max_bindings=rng.choice((1, 2, 256)),
            max_buffer_bytes=rng.choice((1, 64, 4096, 2**40)),
            max_artifact_bytes=rng.choice((1, 24, 4000)),
            capabilities=rng.choice((0b100111, 0b1, 0b10, 0b100000, 0b100101)))
        capacity = rng.choice((0, 15, 16, 19, 23, 24, 91, 92, 200, 5000))
        return Item("q", frame, limits=limits, capacity=capacity)

    def response(self, rng: random.Random, frame: bytes, opcode: int) -> Item:
        """The answer to such a request, in a buffer of the size that a client gives."""
        if rng.randrange(8) == 0:
            opcode = rng.choice(list(COMMANDS))
        read_bytes = rng.choice((1, 3, 100)) if opcode == READ else None
        room = HEADER_BYTES + (read_bytes or SIZES.get(COMMANDS[opcode].success, 0))
        used = len(frame)
        if rng.randrange(4) == 0:
            used = rng.choice((0, 15, 16, 17, 24, room, room + 1, 2**32 - 1))
        asked = decoder.Asked(opcode, self._request_id, RESPONSE_BYTES_MAX, read_bytes)
        return Item("r", frame[:room].ljust(room, b"\0"), asked=asked, used=used)

    def of_file(self, rng: random.Random, data: bytes) -> Iterator[Item]:
        """A fuzzer's input, as whatever it may be."""
        for start in (0, 5):  # records_fuzz.cpp has five bytes of limits in front
            frame = data[start : start + FILE_BYTES_MAX]
            yield self.request(rng, frame)
            opcode = rng.choice(list(COMMANDS))
            answer = frame[:8] + self._request_id.to_bytes(8, "little") + frame[16:]
            yield self.response(rng, answer, opcode)
            yield Item("c", frame[:16].ljust(16, b"\0"))

    def _changed(self, rng: random.Random, frame: bytes) -> bytes:
        data = bytearray(frame)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
            self._change(rng, data)
        if rng.randrange(2) == 0 and len(data) >= HEADER_BYTES:
            data[4:8] = (len(data) - HEADER_BYTES).to_bytes(4, "little")
        return bytes(data)

    @staticmethod
    def _change(rng: random.Random, data: bytearray) -> None:
        at = rng.randrange(len(data) + 1)
        choice = rng.randrange(8)
        if choice == 0:
            data[at:] = b""
        elif choice == 1:
            data[at:at] = bytes(rng.choice((0, 0, 1, 0xff)) for _ in range(rng.choice((1, 8, 32))))
        elif choice == 2:
            data[at : at + rng.choice((1, 4, 8, 32))] = b""
        elif choice == 3 and len(data) > at:
            data[at] ^= 1 << rng.randrange(8)
        elif choice == 4 and len(data) >= 48:
            data += data[-32:]  # one more binding, with the same slot
        elif choice == 5 and len(data) >= 2:
            data[0:2] = rng.choice(list(COMMANDS)).to_bytes(2, "little")
        else:
            width = rng.choice((1, 2, 4, 8))
            at -= at % width
            number = rng.choice(NUMBERS) % 2 ** (8 * width)
            data[at : at + width] = number.to_bytes(width, "little")


class Judge:
    """The program on the other end of the pipe."""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.request_id = self._line()["request_id"]

    def _line(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the judge ends ({self._process.wait()}) without a verdict")
        return json.loads(line)

    def answers(self, items: list[Item]) -> list[dict]:
        """Its verdicts on a few items, which fit into a pipe together."""
        self._process.stdin.write(b"".join(item.packed() for item in items))
        self._process.stdin.flush()
        return [self._line() for _ in items]

    def end(self) -> int:
        """Closes the pipe; the exit status."""
        self._process.stdin.close()
        return self._process.wait()


class Comparison:
    """Items one after the other, up to the first disagreement, and what was seen."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.outcomes: collections.Counter[tuple[str, str]] = collections.Counter()

    def run(self, items: list[Item], where: str) -> str | None:
        """A sentence about the first disagreement."""
        for start in range(0, len(items), 8):
            batch = items[start : start + 8]
            answers = self._judge.answers(batch)
            for number, (item, answer) in enumerate(zip(batch, answers), start):
                verdict = item.clean_verdict()
                self.outcomes[item.kind, verdict.get("check", verdict["outcome"])] += 1
                problem = DISAGREEMENTS[item.kind](verdict, answer)
                if problem:
                    return (f"Item {number} of {where} ({item.kind}): {problem}.\n  item: {item}\n"
                            f"  frame: {item.frame.hex()}\n  clean room: {verdict}")
        return None


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judge", help="the program wire_judge")
    parser.add_argument("--first-seed", type=int, default=1, metavar="N")
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="how many (10)")
    parser.add_argument("--seconds", type=float, metavar="S",
                        help="go on with further seeds for that long")
    parser.add_argument("--corpus", type=pathlib.Path, metavar="FOLDER",
                        help="judge the files in a folder, such as a fuzzer's corpus, first")
    return parser.parse_args()


def sources(options: argparse.Namespace, mutator: Mutator) -> Iterator[tuple[str, list[Item]]]:
    """What is to be judged, by name."""
    if options.corpus is not None:
        for path in sorted(options.corpus.rglob("*")):
            if path.is_file():
                yield str(path), list(mutator.of_file(random.Random(1), path.read_bytes()))
    end = time.monotonic() + (options.seconds or 0)
    seed = options.first_seed
    while seed < options.first_seed + options.seeds or time.monotonic() < end:
        rng = random.Random(seed)
        yield f"the seed {seed}", [mutator.item(rng) for _ in range(ITEMS_OF_A_SEED)]
        seed += 1


def main() -> int:
    options = parse_arguments()
    judge = Judge(options.judge)
    comparison = Comparison(judge)
    count = 0
    for where, items in sources(options, Mutator(judge.request_id)):
        problem = comparison.run(items, where)
        if problem:
            print(problem)
            return 1
        count += 1
    for (kind, outcome), times in sorted(comparison.outcomes.items()):
        print(f"{kind} {outcome}: {times}")
    print(f"wire_differential: {count} sources, {comparison.outcomes.total()} items, no "
          "disagreement")
    return judge.end()


if __name__ == "__main__":
    sys.exit(main())
