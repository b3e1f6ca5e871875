"""What became of the tests, for a person (a table), for programs (JSON) and for CI (JUnit)."""

from __future__ import annotations

import collections
import json
import pathlib
import sys
import time
import xml.etree.ElementTree
from collections.abc import Iterator, Sequence

import stack
import wheels

FAILURES_SHOWN = 40
OUTCOMES = ("passed", "failed", "refused")


class Progress:
    """How far a list of tasks has got: one line that changes on a terminal, else one for each
    tenth."""

    def __init__(self, doing: str, total: int) -> None:
        self._doing = doing
        self._total = total
        self._done = 0
        self._started = time.monotonic()

    def advance(self) -> None:
        """One more is done."""
        self._done += 1
        if sys.stderr.isatty():
            self._write("\r\033[K", "")
        elif self._done * 10 // self._total != (self._done - 1) * 10 // self._total:
            self._write("", "\n")

    def end(self) -> None:
        """All are done."""
        if sys.stderr.isatty():
            sys.stderr.write("\n")

    def _write(self, before: str, after: str) -> None:
        seconds = time.monotonic() - self._started
        line = f"tosa: {self._doing} {self._done} of {self._total} ({seconds:.0f} s)"
        sys.stderr.write(f"{before}{line}{after}")
        sys.stderr.flush()


def count(results: Sequence[stack.Result]) -> collections.Counter[tuple[str, bool, str]]:
    """How many tests of each group, kind and outcome."""
    return collections.Counter(
        (result.group, result.is_negative, result.verdict.outcome) for result in results
    )


def table(results: Sequence[stack.Result]) -> Iterator[str]:
    """A line for each group, and one for all."""
    counts = count(results)
    groups = sorted({result.group for result in results})
    yield f"{'':<24}{'models that have to run':>32}{'to be refused':>24}"
    yield f"{'group':<24}{'tests':>8}" + f"{'passed':>8}{'failed':>8}{'refused':>8}" + (
        f"{'tests':>8}{'passed':>8}{'failed':>8}"
    )
    for group in groups:
        yield row(group, {(negative, o): counts[group, negative, o] for negative, o in kinds()})
    if len(groups) > 1:
        yield row("all", {kind: sum(counts[group, *kind] for group in groups) for kind in kinds()})


def kinds() -> list[tuple[bool, str]]:
    """All kinds of test and outcome."""
    return [(negative, outcome) for negative in (False, True) for outcome in OUTCOMES]


def row(name: str, counts: dict[tuple[bool, str], int]) -> str:
    """One line of the table."""
    runs = [counts[False, outcome] for outcome in OUTCOMES]
    refusals = [counts[True, outcome] for outcome in OUTCOMES[:2]]
    cells = [sum(runs), *runs, sum(refusals), *refusals]
    return f"{name:<24}" + "".join(f"{cell or '-':>8}" for cell in cells)


def not_passed(results: Sequence[stack.Result]) -> list[stack.Result]:
    """What is left to do, in the order of the groups."""
    return sorted(
        (result for result in results if result.verdict.outcome != "passed"),
        key=lambda result: (result.group, result.name),
    )


def failures(results: Sequence[stack.Result]) -> list[str]:
    """One line for each test that did not pass."""
    return [
        f"{result.verdict.outcome}: {result.group}/{result.name}: {result.verdict.reason}"
        for result in not_passed(results)
    ]


def write_json(path: pathlib.Path, results: Sequence[stack.Result], facts: dict) -> None:
    """One object: `facts` about the run, and every test."""
    tests = [
        {
            "group": result.group,
            "name": result.name,
            "kind": "negative" if result.is_negative else "positive",
            "outcome": result.verdict.outcome,
            "reason": result.verdict.reason,
            "seconds": round(result.seconds, 3),
        }
        for result in results
    ]
    wheels.write_whole(path, json.dumps({**facts, "tests": tests}, indent=1).encode() + b"\n")


def write_junit(path: pathlib.Path, results: Sequence[stack.Result]) -> None:
    """One suite for each group."""
    root = xml.etree.ElementTree.Element("testsuites")
    by_group: dict[str, list[stack.Result]] = {}
    for result in results:
        by_group.setdefault(result.group, []).append(result)
    for group, rows in sorted(by_group.items()):
        suite = xml.etree.ElementTree.SubElement(
            root,
            "testsuite",
            name=f"tosa.{group}",
            tests=str(len(rows)),
            failures=str(len(not_passed(rows))),
        )
        for result in rows:
            case = xml.etree.ElementTree.SubElement(
                suite,
                "testcase",
                classname=f"tosa.{group}",
                name=result.name,
                time=f"{result.seconds:.3f}",
            )
            if result.verdict.outcome != "passed":
                failure = xml.etree.ElementTree.SubElement(
                    case, "failure", type=result.verdict.outcome
                )
                failure.text = printable(result.verdict.reason)
    data = xml.etree.ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    wheels.write_whole(path, data)


def printable(text: str) -> str:
    """A text without the characters that XML cannot hold."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def show(results: Sequence[stack.Result], folder: pathlib.Path) -> None:
    """Prints the table and the first of what did not pass; all of that is in a file too."""
    print("\n".join(table(results)))
    lines = failures(results)
    wheels.write_whole(folder / "failures.txt", "".join(f"{line}\n" for line in lines).encode())
    for line in lines[:FAILURES_SHOWN]:
        print(line)
    if len(lines) > FAILURES_SHOWN:
        print(f"... and {len(lines) - FAILURES_SHOWN} more in {folder / 'failures.txt'}")
