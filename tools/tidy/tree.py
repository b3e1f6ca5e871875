"""The files of the project as the rules see them, and what the module lists say about them.

The one thing to know: git decides which files count (those it tracks and those it would add), so
nothing under build/ is ever looked at.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re
import subprocess
from collections.abc import Iterable, Iterator

CALL = re.compile(
    r"^(virtaccel_(?:module|backend|adapter|program|tests|benchmark))\(([^)]*)\)", re.M
)
KEYWORDS = (
    "DEPS",
    "HEADERS",
    "SOURCES",
    "TESTS",
    "THREADED_TESTS",
    "FUZZERS",
    "TEST_DEPS",
    "LIBS",
    "PRIVATE_LIBS",
    "TEST_LIBS",
    "MAIN",
)
CPP = (".h", ".cpp", ".c")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One place that breaks a rule. `line` counts from 1; 0 speaks of the whole file."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Module:
    """One call in a CMakeLists.txt. Paths are relative to the root of the project."""

    name: str
    lists: str
    folder: str
    arguments: dict[str, tuple[str, ...]]

    def files(self, *keywords: str) -> list[str]:
        """The files under these keywords."""
        return [f"{self.folder}/{file}" for keyword in keywords for file in self.arguments[keyword]]


def module_name(folder: str, function: str, first: str) -> str:
    """What the arrow table calls the thing built: `wire`, `backends/null`, `tests/end_to_end`."""
    if function in ("virtaccel_tests", "virtaccel_benchmark"):
        return folder
    return {
        "virtaccel_backend": f"backends/{first}",
        "virtaccel_adapter": f"adapters/{first}",
        "virtaccel_program": folder,
    }.get(function, first)


def parse_calls(lists: str, text: str) -> Iterator[Module]:
    """The modules that one CMakeLists.txt declares."""
    folder = str(pathlib.PurePosixPath(lists).parent)
    for function, body in CALL.findall(re.sub(r"#.*", "", text)):
        first, *words = body.split()
        arguments: dict[str, list[str]] = {keyword: [] for keyword in KEYWORDS}
        current: list[str] = []
        for word in words:
            current = arguments.get(word, current)
            if word not in arguments:
                current.append(word)
        yield Module(
            module_name(folder, function, first),
            lists,
            folder,
            {keyword: tuple(values) for keyword, values in arguments.items()},
        )


class Tree:
    """All files under a root, by their path relative to it."""

    def __init__(self, root: pathlib.Path, files: Iterable[str] | None = None) -> None:
        self.root = root
        self.files = sorted(self._files_of_git() if files is None else files)

    def _files_of_git(self) -> list[str]:
        command = [
            "git",
            "-C",
            str(self.root),
            "-c",
            f"safe.directory={self.root.resolve()}",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--deduplicate",
        ]
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [name for name in names.split("\0") if name and (self.root / name).is_file()]

    @functools.cache
    def text(self, name: str) -> str:
        """The contents of a file; bytes that are not UTF-8 become marks."""
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def lines(self, name: str) -> list[str]:
        """The lines of a file without their ends."""
        return self.text(name).splitlines()

    def named(self, *suffixes: str) -> list[str]:
        """The files with one of these endings; a whole name counts as an ending."""
        return [name for name in self.files if name.endswith(suffixes)]

    @functools.cached_property
    def modules(self) -> list[Module]:
        """Every module, in the order of its path."""
        return [
            module
            for name in self.named("CMakeLists.txt")
            for module in parse_calls(name, self.text(name))
        ]
