#!/usr/bin/env python3
"""Runs clang-tidy over every file of the compile database, and remembers what was clean.

The one thing to know: a file's clean run is kept in the user's cache with the contents of all of
ours that it read (sources, headers, .clang-tidy, command) and the versions of the tools, so that it
is run again only when one of them has changed, in whichever clone. The headers of the system count
as part of the compiler's version. A run with findings is never kept.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

# From the private environment that this runs in.
TIDY = str(pathlib.Path(sys.executable).with_name("clang-tidy"))
ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGURATION = ROOT / ".clang-tidy"
# Tests are judged by what makes a test wrong or hard to read; the slow analyses are left out. Both
# lists are changes to the one in .clang-tidy.
TEST_CHECKS = (
    "-cert-*,-clang-analyzer-*,-cppcoreguidelines-*,-modernize-*,"
    "-performance-inefficient-vector-operation,-portability-*,"
    "-readability-*,readability-identifier-naming"
)
HEADER_CHECKS = "-*,misc-include-cleaner"
# The analyzer looks into no calls that it would have to inline deeply: half its price.
SHALLOW = ("-Xclang", "-analyzer-config", "-Xclang", "mode=shallow")
INCLUDE = re.compile(r'^ *# *include "([^"]+)"', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Unit:
    """One file to look at, with the compiler's arguments and the checks that differ from ours."""

    path: pathlib.Path
    arguments: tuple[str, ...]
    checks: str | None

    @property
    def name(self) -> str:
        """The path as a person knows it."""
        return str(self.path.relative_to(ROOT))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a unit's run said; nothing where it was clean."""

    unit: Unit
    text: str
    cached: bool


def cache_folder() -> pathlib.Path:
    """Where clean runs are kept."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    base = pathlib.Path(configured) if os.path.isabs(configured) else pathlib.Path.home() / ".cache"
    return base / "virtaccel" / "clang-tidy"


def compiler_arguments(entry: dict[str, str]) -> tuple[str, ...]:
    """The flags of one compile command: no compiler, no launcher, no input, no output."""
    words = iter(shlex.split(entry["command"]))
    flags: list[str] = []
    for word in words:
        if word in ("-o", "-c", "-MF", "-MT"):
            next(words)
        elif word.startswith(("-I", "-D", "-W", "-f", "-std", "-O", "-U")):
            flags.append(word)
        elif word in ("-isystem", "-include"):
            flags += [word, next(words)]
    return tuple(flags)


def checks_of(path: pathlib.Path) -> str | None:
    """The reduced list for a test, nothing for the rest."""
    return TEST_CHECKS if path.name.endswith(("_test.cpp", "_fuzz.cpp")) else None


def units(build: pathlib.Path) -> list[Unit]:
    """Every source of ours in the compile database, and every header beside one of them."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found: dict[pathlib.Path, Unit] = {}
    for entry in entries:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
            language = ("-x", "c") if path.suffix == ".c" else ()
            flags = (*language, *compiler_arguments(entry))
            found.setdefault(path, Unit(path, flags, checks_of(path)))
    return [*found.values(), *header_units(list(found.values()))]


def header_units(sources: list[Unit]) -> list[Unit]:
    """The headers in the folders of the sources, each with the flags of its nearest neighbour.

    Only includes are checked: for the rest a header is seen through the sources that include it.
    """
    headers = []
    for folder in sorted({unit.path.parent for unit in sources}):
        near = [unit for unit in sources if unit.path.parent == folder and unit.path.suffix != ".c"]
        for path in sorted(folder.glob("*.h")) if near else []:
            best = max(
                near, key=lambda unit: len(os.path.commonprefix([unit.path.stem, path.stem]))
            )
            flags = ("-x", "c++", *best.arguments, "-Wno-pragma-once-outside-header")
            headers.append(Unit(path, flags, HEADER_CHECKS))
    return headers


@functools.cache
def digest(path: str) -> str:
    """The hash of a file, nothing where it cannot be read."""
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


@functools.cache
def tool_versions() -> str:
    """What clang-tidy and the compiler, whose library it reads, say of themselves."""
    commands = ([TIDY, "--version"], ["g++", "--version"])
    return "".join(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for command in commands
    )


def portable(text: str) -> str:
    """A path or flag with the root of this clone taken out of it."""
    return text.replace(str(ROOT), "{root}")


def record_path(unit: Unit) -> pathlib.Path:
    """The record of a unit's last clean run, by everything but the contents of what it includes."""
    recipe = [tool_versions(), digest(str(CONFIGURATION)), unit.checks, unit.name]
    recipe += [portable(argument) for argument in (*unit.arguments, *SHALLOW)]
    return cache_folder() / hashlib.sha256(json.dumps(recipe).encode()).hexdigest()


def is_clean(record: pathlib.Path) -> bool:
    """Whether every file the last clean run read is what it was."""
    try:
        read = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return all(digest(path.replace("{root}", str(ROOT))) == was for path, was in read.items())


@functools.cache
def included(path: pathlib.Path) -> tuple[pathlib.Path, ...]:
    """The files of ours that a file names in its includes."""
    names = INCLUDE.findall(path.read_text(encoding="utf-8"))
    places = [place for name in names for place in (ROOT / name, path.parent / name)]
    return tuple(place.resolve() for place in places if place.is_file())


def files_read(unit: Unit) -> list[str]:
    """Every file of ours that is seen when a unit is compiled."""
    seen: set[pathlib.Path] = set()
    waiting = [unit.path]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += included(path)
    return sorted(map(str, seen))


def keep(unit: Unit, record: pathlib.Path) -> None:
    """Writes the record of a clean run. A cache that cannot be written only costs time."""
    read = {portable(path): digest(path) for path in files_read(unit)}
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        temporary = record.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(read), encoding="utf-8")
        temporary.replace(record)
    except OSError as error:
        print(f"The cache ({record.parent}) cannot be written ({error.strerror}).")


def run(unit: Unit) -> Outcome:
    """Runs one unit, or finds that it need not run."""
    record = record_path(unit)
    if is_clean(record):
        return Outcome(unit, "", True)
    command = [TIDY, "--quiet", *([f"--checks={unit.checks}"] if unit.checks else [])]
    command += [str(unit.path), "--", *unit.arguments, *SHALLOW]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    if result.returncode == 0 and not result.stdout.strip():
        keep(unit, record)
        return Outcome(unit, "", False)
    return Outcome(unit, result.stdout.strip() or result.stderr.strip(), False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path, help="the folder with compile_commands.json")
    parser.add_argument("part", nargs="*", help="only files with one of these parts in their path")
    options = parser.parse_args()
    chosen = [
        unit
        for unit in units(options.build)
        if not options.part or any(part in unit.name for part in options.part)
    ]
    failed: list[Outcome] = []
    cached = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, outcome in enumerate(pool.map(run, chosen), 1):
            cached += outcome.cached
            print(f"[{number}/{len(chosen)}] {outcome.unit.name}", flush=True)
            if outcome.text:
                failed.append(outcome)
    for outcome in failed:
        print(f"\n{outcome.unit.name}:\n{outcome.text}")
    print(f"clang-tidy: {len(chosen)} files, {cached} unchanged, {len(failed)} with findings")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
