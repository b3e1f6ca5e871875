"""Says for each cell of the operator table how many official tests of it passed.

The one thing to know: which cell a test belongs to is not guessed from its name;
virtaccel-operators reads it out of the model.
"""

from __future__ import annotations

import collections
import pathlib
import subprocess
from collections.abc import Sequence

import produce
import stack
import wheels

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSED = ROOT / "tools" / "operators" / "passed.txt"
HEADER = """\
# How many official operator tests of the short suite passed, by operator and element types.
# Written by ./run test tosa --record; docs/operators.md is printed from it.
"""


def count(program: pathlib.Path, results: Sequence[stack.Result]) -> collections.Counter[str]:
    """How many tests of each cell passed, by what the program calls it."""
    passed = [r for r in results if not r.is_negative and r.verdict.outcome == "passed"]
    listed = "".join(f"{r.operator} {r.model}\n" for r in passed)
    ended = subprocess.run(
        [program, "cells"], input=listed, capture_output=True, text=True, check=False
    )
    lines = ended.stdout.splitlines()
    if ended.returncode != 0 or len(lines) != len(passed):
        raise produce.ProduceError(f"The program ({program}) fails: {ended.stderr.strip()}")
    return collections.Counter(lines)


def record(program: pathlib.Path, results: Sequence[stack.Result]) -> None:
    """Writes the counts that the documents are printed from."""
    rows = sorted(count(program, results).items())
    wheels.write_whole(PASSED, (HEADER + "".join(f"{c} {n}\n" for c, n in rows)).encode())
