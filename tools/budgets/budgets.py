#!/usr/bin/env python3
"""Compares what each operation takes with what it may take (bench/budgets/budgets.json).

Instructions, heap allocations and bytes copied are counted, never timed, so the same program gives
the same numbers on any machine with the same compiler. The one thing to know: a budget is what the
operation took when it was written down; growth fails, and `--update` is how one agrees to it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import sys
from collections.abc import Iterable, Iterator

import callgrind

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUDGETS = ROOT / "bench" / "budgets" / "budgets.json"
FUNCTION = "virtaccel_counted"
EXACT = ("allocations", "copied_bytes", "cleared_bytes")
# Growth of instructions up to here is not worth a person's time; below the other, a budget is so
# generous that it no longer guards.
GROWTH_MAX = 1.02
SHRINKAGE_MIN = 0.95

Counts = dict[str, int]


@dataclasses.dataclass(frozen=True)
class Measurement:
    """What the operations took, by name, and what the numbers hold for."""

    compiler: str
    processor: str
    operations: dict[str, Counts]


def read_measurement(printed: str, instructions: list[int]) -> Measurement:
    """Joins what the program printed with what callgrind counted, in the same order."""
    about, *rows = (json.loads(line) for line in printed.splitlines())
    if len(rows) != len(instructions):
        raise callgrind.CallgrindError(
            f"The program printed ({len(rows)}) operations and callgrind counted "
            f"({len(instructions)}): see that {FUNCTION} is called once for each."
        )
    operations = {
        row.pop("case"): {**row, "instructions": count}
        for row, count in zip(rows, instructions, strict=True)
    }
    return Measurement(about["compiler"], about["processor"], operations)


def read_budgets(text: str) -> Measurement:
    """The budgets as the file has them."""
    return Measurement(**json.loads(text))


def write_budgets(measurement: Measurement) -> str:
    """The file of budgets: one operation a line, so that a change is a line in a diff."""
    rows = ",\n".join(
        f"    {json.dumps(name)}: {json.dumps(counts)}"
        for name, counts in measurement.operations.items()
    )
    head = (
        f'  "compiler": {json.dumps(measurement.compiler)},\n'
        f'  "processor": {json.dumps(measurement.processor)},\n'
    )
    return f'{{\n{head}  "operations": {{\n{rows}\n  }}\n}}\n'


def same_machine_code(budgets: Measurement, now: Measurement) -> bool:
    """Whether the budgets' instructions are comparable with those of now."""
    return (budgets.compiler, budgets.processor) == (now.compiler, now.processor)


def growth(name: str, budget: Counts, now: Counts, with_instructions: bool) -> Iterator[str]:
    """One sentence for each number of an operation that has grown."""
    for key in EXACT:
        if now[key] > budget[key]:
            words = key.replace("_", " ")
            yield f"{name} has more {words} ({now[key]}) than its budget ({budget[key]})"
    if with_instructions and now["instructions"] > budget["instructions"] * GROWTH_MAX:
        share = 100 * (now["instructions"] / budget["instructions"] - 1)
        yield (
            f"{name} executes {share:.1f} % more instructions ({now['instructions']}) than its "
            f"budget ({budget['instructions']})"
        )


def findings(budgets: Measurement, now: Measurement) -> Iterator[str]:
    """Why the budgets are not kept, one sentence each."""
    comparable = same_machine_code(budgets, now)
    for name, counts in now.operations.items():
        if name not in budgets.operations:
            yield f"{name} has no budget"
        else:
            yield from growth(name, budgets.operations[name], counts, comparable)
    for name in budgets.operations.keys() - now.operations.keys():
        yield f"{name} has a budget and is measured no more"


def shrunk(budgets: Measurement, now: Measurement) -> list[str]:
    """The operations that take so much less than they may that the budget should follow."""
    comparable = same_machine_code(budgets, now)
    names = []
    for name in now.operations.keys() & budgets.operations.keys():
        old, new = budgets.operations[name], now.operations[name]
        is_cheap = comparable and new["instructions"] < old["instructions"] * SHRINKAGE_MIN
        if is_cheap or any(new[key] < old[key] for key in EXACT):
            names.append(name)
    return sorted(names)


def table(budgets: Measurement, now: Measurement) -> Iterator[str]:
    """The operations, one a line: budget, now and ratio in instructions, and the rest of now."""
    width = max(map(len, now.operations), default=0)
    yield (
        f"{'operation':<{width}} {'budget':>10} {'now':>10} {'ratio':>6} "
        f"{'allocs':>6} {'copied':>9} {'cleared':>9}"
    )
    for name, counts in now.operations.items():
        budget = budgets.operations.get(name, {}).get("instructions")
        ratio = f"{counts['instructions'] / budget:.3f}" if budget else "-"
        yield (
            f"{name:<{width}} {budget or '-':>10} {counts['instructions']:>10} {ratio:>6} "
            f"{counts['allocations']:>6} {counts['copied_bytes']:>9} {counts['cleared_bytes']:>9}"
        )


def report(budgets: Measurement, now: Measurement) -> bool:
    """Prints the table and what is wrong; true if nothing is."""
    print("\n".join(table(budgets, now)))
    if not same_machine_code(budgets, now):
        print(
            f"The budgets are for ({budgets.compiler}, {budgets.processor}) and this is "
            f"({now.compiler}, {now.processor}): instructions are not compared."
        )
    if names := shrunk(budgets, now):
        print(
            f"These take much less than they may ({', '.join(names)}): lower their budgets with "
            "./run budgets --update."
        )
    wrong = list(findings(budgets, now))
    for sentence in wrong:
        print(
            f"{sentence}: make it as cheap as it was, or agree to the new price with ./run budgets "
            "--update and say in the commit what it buys."
        )
    print(f"budgets: {len(now.operations)} operations, {len(wrong)} findings")
    return not wrong


def parse(arguments: Iterable[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", type=pathlib.Path, help="the built counting program")
    parser.add_argument("--update", action="store_true", help="write the budgets anew")
    return parser.parse_args(arguments)


def main() -> int:
    options = parse()
    try:
        now = read_measurement(*callgrind.run(options.program, FUNCTION))
    except callgrind.CallgrindError as error:
        print(f"budgets: {error}")
        return 1
    if options.update:
        BUDGETS.write_text(write_budgets(now), encoding="utf-8")
        where = BUDGETS.relative_to(ROOT)
        print(f"budgets: {len(now.operations)} operations are written to {where}")
        return 0
    return 0 if report(read_budgets(BUDGETS.read_text(encoding="utf-8")), now) else 1


if __name__ == "__main__":
    sys.exit(main())
