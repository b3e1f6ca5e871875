"""Runs a program under callgrind and reads what one function cost, each time it was called.

The one thing to know: only what the program itself executes counts. The system's libraries choose
their code by the processor they find, so their share would differ from machine to machine.
"""

from __future__ import annotations

import pathlib
import subprocess
import tempfile

# What the counting program defines in order to count, and does not mean to pay for.
COUNTING = frozenset(
    "malloc calloc realloc aligned_alloc posix_memalign memcpy memmove memset".split()
)


class CallgrindError(Exception):
    """Holds one sentence for a person: what did not work and what to do."""


def instructions(dump: str, program: str) -> int:
    """The instructions in one dump that `program` executed itself, without its counting.

    A line of numbers is a cost of the function named last, except after a line `calls=`, where it
    is what the function that was called cost altogether.
    """
    total = 0
    counts = False
    is_of_program = False
    skips = False
    for line in dump.splitlines():
        key, _, value = line.partition("=")
        if key == "ob":
            is_of_program = pathlib.PurePath(value).name == program
        elif key == "fn":
            counts = is_of_program and value not in COUNTING
        elif key == "calls":
            skips = True
        elif line[:1].isdigit():
            if counts and not skips:
                total += int(line.split()[-1])
            skips = False
    return total


def part_number(dump: str) -> int:
    """Where a dump stands among those of one run."""
    for line in dump.splitlines():
        if line.startswith("part:"):
            return int(line.removeprefix("part:"))
    raise CallgrindError(
        "A file of callgrind has no line (part:): this version of valgrind writes "
        "something else; use Debian 12's."
    )


def run(program: pathlib.Path, function: str) -> tuple[str, list[int]]:
    """What the program printed, and the instructions of each call of `function`, in order."""
    with tempfile.TemporaryDirectory(prefix="virtaccel-callgrind-") as name:
        folder = pathlib.Path(name)
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={folder / 'dump'}",
            f"--toggle-collect={function}",
            f"--dump-after={function}",
            "--compress-strings=no",
            "--compress-pos=no",
            str(program),
        ]
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise CallgrindError(
                "There is no valgrind: install the package valgrind, or use ./run budgets."
            ) from None
        if result.returncode != 0:
            raise CallgrindError(
                f"The program ({program.name}) fails under valgrind (exit code "
                f"{result.returncode}): {result.stderr[-2000:]}"
            )
        dumps = [path.read_text(encoding="utf-8") for path in folder.iterdir()]
    triggered = [dump for dump in dumps if f"--dump-after={function}" in dump[:4000]]
    triggered.sort(key=part_number)
    return result.stdout, [instructions(dump, program.name) for dump in triggered]
