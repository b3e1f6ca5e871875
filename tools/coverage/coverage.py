#!/usr/bin/env python3
"""Runs the tests of the portable modules and compares the lines they reach with floors.json.

The one thing to know: a floor is in percent of a module's lines, never below 96, and is only
raised (`--raise`); a drop fails and names the lines.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import pathlib
import subprocess
import sys
from collections.abc import Iterable, Iterator

import gcov

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from repetitive_tests import REPETITIVE_TESTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOORS = ROOT / "tools" / "coverage" / "floors.json"
MODULES = ("base", "wire", "queue", "guest", "device", "backend", "mock")
FLOOR_MIN = 96.0
STEP = 0.5  # floors are multiples of it, so that a line more or less moves none
FLOOR_MAX = 99.5  # a race that one run in many does not meet must not fail it


@dataclasses.dataclass(frozen=True)
class Module:
    """The lines of a module: those that hold code, and of each file those that nothing reaches."""

    name: str
    lines: int
    missed: dict[str, list[int]]

    @property
    def percent(self) -> float:
        """The share of the lines that are reached."""
        missed = sum(map(len, self.missed.values()))
        return 100.0 * (self.lines - missed) / self.lines if self.lines else 0.0


def is_product(path: str) -> bool:
    """Whether a file is part of what is shipped, not of its tests."""
    return "/testing/" not in path and not path.endswith(("_test.cpp", "_fuzz.cpp"))


def measure(files: dict[str, gcov.Lines], name: str) -> Module:
    """What is known of one module."""
    own = {
        path: lines
        for path, lines in files.items()
        if path.startswith(f"virtaccel/{name}/") and is_product(path)
    }
    missed = {
        path: [number for number, reached in sorted(lines.items()) if not reached]
        for path, lines in sorted(own.items())
    }
    return Module(
        name, sum(map(len, own.values())), {path: rows for path, rows in missed.items() if rows}
    )


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as a person writes them: 3-5, 9."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)


def findings(modules: list[Module], floors: dict[str, float]) -> Iterator[str]:
    """Why the floors do not hold, one sentence each."""
    for module in modules:
        floor = floors.get(module.name, 0.0)
        if floor < FLOOR_MIN:
            yield (
                f"The floor of {module.name} ({floor} %) is below {FLOOR_MIN} %: raise it with "
                "./run coverage --raise once the tests reach that much."
            )
        elif module.percent < floor:
            yield (
                f"The tests of {module.name} reach ({module.percent:.2f} %) of its lines where "
                f"({floor} %) is the floor: write tests that reach the lines named above, or "
                "delete what nothing needs."
            )


def table(modules: list[Module], floors: dict[str, float]) -> Iterator[str]:
    """One line a module, and the lines that nothing reaches."""
    yield f"{'module':<9}{'lines':>6}{'reached':>9}{'floor':>8}"
    for module in modules:
        floor = floors.get(module.name, 0.0)
        yield f"{module.name:<9}{module.lines:>6}{module.percent:>8.2f}%{floor:>7.1f}%"
    for module in modules:
        for path, numbers in module.missed.items():
            yield f"{path}: {ranges(numbers)}"


def raised(modules: list[Module], floors: dict[str, float]) -> dict[str, float]:
    """The floors, none lower than it was."""
    return {
        module.name: max(
            floors.get(module.name, 0.0),
            min(math.floor(module.percent / STEP) * STEP, FLOOR_MAX),
        )
        for module in modules
    }


def run_tests(build: pathlib.Path) -> None:
    """Runs the tests of all modules; what earlier runs reached does not count."""
    for old in (build / "virtaccel").rglob("*.gcda"):
        old.unlink()
    for module in MODULES:
        program = build / "test_bin" / f"virtaccel_{module}_test"
        result = subprocess.run(
            [str(program), "--gtest_brief=1", f"--gtest_filter=-{':'.join(REPETITIVE_TESTS)}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            raise gcov.CoverageError(
                f"The tests of {module} fail (exit code {result.returncode}), so they reach "
                f"nothing that counts: {result.stdout[-2000:]}"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path, help="a build of the coverage preset")
    parser.add_argument("--raise", dest="is_raised", action="store_true", help="raise the floors")
    options = parser.parse_args()
    floors = json.loads(FLOORS.read_text(encoding="utf-8"))
    try:
        build = options.build.resolve()
        run_tests(build)
        files = gcov.collect(ROOT, build, MODULES)
    except gcov.CoverageError as error:
        print(f"coverage: {error}")
        return 1
    modules = [measure(files, name) for name in MODULES]
    if options.is_raised:
        floors = raised(modules, floors)
        FLOORS.write_text(json.dumps(floors, indent=2) + "\n", encoding="utf-8")
    print("\n".join(table(modules, floors)))
    wrong = list(findings(modules, floors))
    print("\n".join([*wrong, f"coverage: {len(modules)} modules, {len(wrong)} findings"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
