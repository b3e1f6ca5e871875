"""Measures what the protocol costs: the model on the backend alone and through the whole stack.

The one thing to know: the two are called in turns, in an order that swaps every round, so that a
machine that grows slower or faster while this runs does so for both.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence

import command

ROUNDS = 6  # an even number: each order comes up equally often
ROUND_MS = 250.0
REPEAT_MIN, REPEAT_MAX = 3, 500
COLUMNS = ("fastest", "median", "90 % within", "load")


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The times of both ways, over all rounds."""

    alone: command.Measurement
    stack: command.Measurement
    repeat: int


def repeat_count(latency_ms: float) -> int:
    """How many runs fill a round, from the latency of one; a slow model gets few."""
    return max(REPEAT_MIN, min(REPEAT_MAX, int(ROUND_MS / max(latency_ms, 1e-3))))


def summary(rounds: Sequence[command.Measurement]) -> command.Measurement:
    """The fastest run of all rounds, and of the other columns the rounds' median."""
    return command.Measurement(
        min(one.fastest for one in rounds),
        statistics.median(one.median for one in rounds),
        statistics.median(one.p90 for one in rounds),
        statistics.median(one.load for one in rounds))


def compare(run: Callable[[str, int], command.Measurement], repeat: int,
            progress: Callable[[int], None]) -> Comparison:
    """Calls `run(device, repeat)` in all rounds, and `progress` with the number of each round."""
    taken: dict[str, list[command.Measurement]] = {"direct": [], "loopback": []}
    for number in range(ROUNDS):
        progress(number + 1)
        for device in sorted(taken, reverse=number % 2 == 1):
            taken[device].append(run(device, repeat))
    return Comparison(summary(taken["direct"]), summary(taken["loopback"]), repeat)


def percent(part: float, whole: float) -> str:
    """The part in percent of the whole, with its sign."""
    return f"{100 * part / whole:+.1f} %" if whole > 0 else "-"


def table(result: Comparison) -> str:
    """The times for a person: one row for each way, then what the stack adds."""
    alone = dataclasses.astuple(result.alone)
    stack = dataclasses.astuple(result.stack)
    added = [b - a for a, b in zip(alone, stack, strict=True)]
    rows = [
        ("milliseconds", *COLUMNS),
        ("backend alone", *(f"{value:.3f}" for value in alone)),
        ("through the stack", *(f"{value:.3f}" for value in stack)),
        ("difference", *(f"{value:+.3f}" for value in added)),
        ("", *(percent(part, whole) for part, whole in zip(added, alone, strict=True))),
    ]
    return "\n".join(f"{row[0]:<19}" + "".join(f"{cell:>13}" for cell in row[1:])
                     for row in rows)
