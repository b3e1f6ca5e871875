"""Runs gcov over a build and joins what it says about each line of each of our files.

The one thing to know: a header is compiled into many objects, and a template many times in one; a
line counts as reached if any of them reached it.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import subprocess
from collections.abc import Iterable

# Of a file, whether each line that holds code was reached.
Lines = dict[int, bool]
NOTES_PER_RUN = 8


class CoverageError(Exception):
    """Holds one sentence for a person: what did not work and what to do."""


def notes(build: pathlib.Path, modules: Iterable[str]) -> list[pathlib.Path]:
    """What the compiler wrote about the objects of some modules and of their tests."""
    return [
        path
        for module in modules
        for path in sorted((build / "virtaccel" / module).rglob("*.gcno"))
    ]


def run_gcov(build: pathlib.Path, paths: list[pathlib.Path]) -> list[dict]:
    """What gcov says of some objects, one after the other."""
    command = ["gcov", "--json-format", "--stdout", *map(str, paths)]
    result = subprocess.run(command, cwd=build, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise CoverageError(f"gcov fails (exit code {result.returncode}): {result.stderr[-2000:]}")
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


def join(root: pathlib.Path, reports: Iterable[dict]) -> dict[str, Lines]:
    """The lines of each file under `root`, by its path there."""
    joined: dict[str, Lines] = {}
    names: dict[str, str | None] = {}
    for report in reports:
        folder = pathlib.Path(report["current_working_directory"])
        for file in report["files"]:
            written = str(folder / file["file"])
            if written not in names:
                names[written] = name_under(root, written)
            if (name := names[written]) is None:
                continue
            lines = joined.setdefault(name, {})
            for line in file["lines"]:
                number = line["line_number"]
                lines[number] = lines.get(number, False) or line["count"] > 0
    return joined


def name_under(root: pathlib.Path, written: str) -> str | None:
    """A file's path under `root`, through whatever links it was included by; none if outside."""
    real = pathlib.Path(os.path.realpath(written))
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else None


def collect(root: pathlib.Path, build: pathlib.Path, modules: Iterable[str]) -> dict[str, Lines]:
    """All that is known of the lines that the tests of some modules reach."""
    paths = notes(build, modules)
    if not paths:
        raise CoverageError(
            f"The build ({build}) holds no notes of the compiler: build it with ./run coverage."
        )
    parts = [paths[at : at + NOTES_PER_RUN] for at in range(0, len(paths), NOTES_PER_RUN)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        reports = pool.map(lambda part: run_gcov(build, part), parts)
        return join(root.resolve(), (report for part in reports for report in part))
