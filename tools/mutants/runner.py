"""Builds the instrumented tree, finds out which test passes which mutant, and runs those.

The one thing to know: all mutants are in one build, so a mutant costs no more than the tests that
pass its place, the quickest first, until one of them fails.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable

import sites

TOOLS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOOLS), str(TOOLS / "tidy")]

from repetitive_tests import REPETITIVE_TESTS
from tree import Tree

ROOT = TOOLS.parent
HEADER = ROOT / "tools" / "mutants" / "mutant.h"
MODULES = ("wire", "device")
BUILD_ROUNDS_MAX = 12
QUICK_TESTS = 8
# Of the processor, so that a busy machine kills no mutant; and of the clock, for one that sleeps.
CPU_S = 10
CLOCK_S = 300.0
MEMORY_BYTES_MAX = 8 << 30
COMPLAINT = re.compile(r"^(\S+?):(\d+)(?::\d+)?:\s*(.*)$", re.M)
OF_MODULE = re.compile(r"virtaccel/\w+/[\w.]+$")


class MutantsError(Exception):
    """Holds one sentence for a person: what did not work and what to do."""


@dataclasses.dataclass(frozen=True)
class Test:
    """One test of one executable, and how long it takes."""

    executable: str
    name: str
    seconds: float


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a mutant: `killed` (by what), `survived`, or `unbuilt`."""

    outcome: str
    by: str = ""


class Work:
    """The folder of one build with all mutants, and what is known of it."""

    def __init__(self, folder: pathlib.Path, modules: tuple[str, ...], jobs: int) -> None:
        self.folder = folder
        self.modules = modules
        self.jobs = jobs
        self.source = folder / "source"
        self.build = folder / "build"
        self.mutants: list[sites.Mutant] = []
        self.originals: dict[str, str] = {}
        self.dropped: dict[str, str] = self._load("dropped.json", {})
        self.passing: dict[int, list[Test]] = {}

    def _load(self, name: str, otherwise: dict[str, str]) -> dict[str, str]:
        path = self.folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else otherwise

    # The build.

    def prepare(self) -> None:
        """Copies the tree and writes the mutants into it, touching only what has changed."""
        tree = Tree(ROOT)
        self.mutants = []
        first = 1
        for name in tree.files:
            text = None
            if is_mutated(name):
                self.originals[name] = tree.text(name)
                text, mutants = sites.instrument(
                    name, tree.text(name), first, frozenset(self.dropped)
                )
                self.mutants += mutants
                first += len(mutants)
            copy_changed(ROOT / name, self.source / name, text)
        keep_only(self.source, set(tree.files))

    def make(self) -> None:
        """Builds the tests; a mutant that cannot be compiled in is taken out, and said to be."""
        for _ in range(BUILD_ROUNDS_MAX):
            self.prepare()
            self._configure()
            targets = [f"virtaccel_{module}_test" for module in self.modules]
            command = ["ninja", "-C", str(self.build), "-k", "0", f"-j{self.jobs}", *targets]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode == 0:
                return
            bad = self._at_fault(result.stdout)
            if not bad:
                raise MutantsError(
                    f"The instrumented tree does not build: {result.stdout[-3000:]}"
                )
            self.dropped |= dict.fromkeys(bad, "cannot be compiled in")
            write_json(self.folder / "dropped.json", self.dropped)
        raise MutantsError("The instrumented tree does not build after many rounds.")

    def _configure(self) -> None:
        if (self.build / "build.ninja").exists():
            return
        flags = f"-O1 -w -include {HEADER}"
        command = [
            "cmake", "-G", "Ninja", "-S", str(self.source), "-B", str(self.build),
            "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={flags}",
            "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DVIRTACCEL_WERROR=OFF", "-DCMAKE_CXX_COMPILER=g++",
            "-DCMAKE_C_COMPILER=gcc", f"-DVIRTACCEL_PYTHON={sys.executable}",
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise MutantsError(f"The copy of the tree cannot be set up: {result.stderr[-2000:]}")

    def _at_fault(self, output: str) -> list[str]:
        """The keys of the mutants on the lines that the compiler complains about."""
        places = {(m.file, m.line) for m in self.mutants}
        bad = set(places_at_fault(output, places))
        return [m.key for m in self.mutants if (m.file, m.line) in bad]

    # The tests.

    def trace(self) -> None:
        """Runs each test by itself and learns which mutants it passes."""
        rows = [
            (executable, name)
            for executable in self._executables()
            for name in list_tests(executable)
            if name not in REPETITIVE_TESTS
        ]
        path = self.folder / "trace.json"
        digest = self._digest()
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if kept.get("digest") != digest:
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                traced = list(pool.map(lambda row: self._trace_test(*row), rows))
            kept = {"digest": digest, "tests": traced}
            write_json(path, kept)
        for executable, name, seconds, numbers in kept["tests"]:
            for number in numbers:
                self.passing.setdefault(number, []).append(Test(executable, name, seconds))
        for tests in self.passing.values():
            tests.sort(key=lambda test: test.seconds)

    def _executables(self) -> list[str]:
        return [
            str(self.build / "test_bin" / f"virtaccel_{module}_test") for module in self.modules
        ]

    def _digest(self) -> str:
        """What a trace holds for."""
        parts = [pathlib.Path(path).read_bytes() for path in self._executables()]
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def _trace_test(self, executable: str, name: str) -> tuple[str, str, float, list[int]]:
        path = self.folder / "traces" / name.replace("/", "-")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        started = time.monotonic()
        result = run_tests(executable, [name], {"VIRTACCEL_MUTANT_TRACE": str(path)}, 120)
        seconds = time.monotonic() - started
        if result.outcome == "killed":
            raise MutantsError(f"The test ({name}) fails without any mutant on: mend it first.")
        passed = path.read_text(encoding="utf-8").split() if path.exists() else []
        return executable, name, seconds, [int(number) for number in passed]

    def judge(self, mutant: sites.Mutant) -> Verdict:
        """What becomes of one mutant."""
        tests = self.passing.get(mutant.number, [])
        if not tests:
            return self._judge_by_compiler(mutant)
        environment = {"VIRTACCEL_MUTANT": str(mutant.number)}
        for group in groups(tests):
            verdict = run_tests(
                group[0].executable, [t.name for t in group], environment,
                CPU_S + 10 * math.ceil(sum(t.seconds for t in group)),
            )
            if verdict.outcome == "killed":
                return verdict
        return Verdict("survived", f"{len(tests)} tests pass it")

    def _judge_by_compiler(self, mutant: sites.Mutant) -> Verdict:
        """No test passes the place while it runs: the compiler may notice."""
        folder = self.folder / "alone" / str(mutant.number)
        path = folder / mutant.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sites.mutate(self.originals[mutant.file], mutant), encoding="utf-8")
        unit = path
        if path.suffix == ".h":
            unit = folder / "unit.cpp"
            tests = ROOT / "virtaccel" / "wire" / "wire_test.cpp"
            is_wire = mutant.file.startswith("virtaccel/wire/")
            unit.write_text(
                f'#include "{mutant.file}"\n' + (f'#include "{tests}"\n' if is_wire else ""),
                encoding="utf-8",
            )
        command = [
            "g++", "-std=c++23", "-w", "-fsyntax-only", f"-I{folder}", f"-I{ROOT}",
            f'-DVIRTACCEL_VECTORS="{ROOT}/spec/vectors"', str(unit),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            return Verdict("killed", "the compiler")
        return Verdict("survived", "no test passes it")


def places_at_fault(
    output: str, places: set[tuple[str, int]]
) -> Iterable[tuple[str, int]]:
    """Of `places`, the one of each error, or the nearest one that the error was required from."""
    chain: list[tuple[str, int]] = []
    for file, line, words in COMPLAINT.findall(output):
        own = OF_MODULE.search(file)
        place = (own[0] if own else file, int(line))
        if "required from" in words or "expansion of" in words:
            chain.append(place)
        elif words.startswith(("error:", "fatal error:")):
            yield from [p for p in [place, *chain] if p in places][:1]
            chain = []


def is_mutated(name: str) -> bool:
    """Whether a file is one of those that get mutants. The numbers are those of all modules."""
    path = pathlib.PurePosixPath(name)
    return (
        path.parent.as_posix() in {f"virtaccel/{module}" for module in MODULES}
        and path.suffix in (".h", ".cpp")
        and not path.stem.endswith(("_test", "_fuzz"))
    )


def copy_changed(source: pathlib.Path, target: pathlib.Path, text: str | None) -> None:
    """Copies a file, or writes `text` in its place, if the target is not that already."""
    data = source.read_bytes() if text is None else text.encode()
    if target.exists() and target.read_bytes() == data:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    shutil.copymode(source, target)


def keep_only(folder: pathlib.Path, names: set[str]) -> None:
    """Removes the files of a copy that the tree no longer has."""
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in names:
            path.unlink()


def write_json(path: pathlib.Path, value: object) -> None:
    """Writes a file whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def list_tests(executable: str) -> list[str]:
    """The names of all tests of an executable."""
    result = subprocess.run(
        [executable, "--gtest_list_tests"], capture_output=True, text=True, check=True
    )
    names = []
    suite = ""
    for line in result.stdout.splitlines():
        word = line.split("#")[0].rstrip()
        if line.startswith(" "):
            names.append(suite + word.strip())
        elif word.endswith("."):
            suite = word
    return names


def groups(tests: Iterable[Test]) -> list[list[Test]]:
    """Tests of one executable each: the quickest few, then all others, so that most mutants cost
    one short run."""
    by_executable: dict[str, list[Test]] = {}
    for test in tests:
        by_executable.setdefault(test.executable, []).append(test)
    result = []
    for rows in by_executable.values():
        result += [rows[:QUICK_TESTS], rows[QUICK_TESTS:]]
    return [rows for rows in result if rows]


def limit(cpu_s: int) -> None:
    """What a mutant may take before it is as good as dead."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_tests(
    executable: str, names: list[str], environment: dict[str, str], cpu_s: int
) -> Verdict:
    """Runs some tests until one fails."""
    chosen = f"--gtest_filter={':'.join(names)}"
    command = [executable, chosen, "--gtest_fail_fast", "--gtest_brief=1"]
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=CLOCK_S,
            env={**os.environ, **environment}, preexec_fn=lambda: limit(cpu_s), errors="replace",
        )
    except subprocess.TimeoutExpired:
        return Verdict("killed", f"{names[0]} or a later one, which does not end")
    if result.returncode == 0:
        return Verdict("survived")
    failed = re.search(r"^\[  FAILED  \] ([\w./]+)", result.stdout, re.M)
    return Verdict("killed", failed[1] if failed else f"a crash in {names[0]} or a later one")
