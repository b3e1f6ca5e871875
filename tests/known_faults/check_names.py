#!/usr/bin/env python3
"""Whether what the documents claim is there: the tests, files and numbers that they name.

    check_names.py [ROOT]

The one thing to know: in the documents a test is `Suite.name_of_it` or `Class.test_name`, and a
bound is `name` = NUMBER UNIT (`file that sets it`), which has to be the value there. Every row of a
table whose last column is `shown by` names a test.
"""

from __future__ import annotations

import ast
import pathlib
import re
import sys
from collections.abc import Iterator

DOCUMENTS = ("docs/known-faults.md", "spec/threat-model.md")
SOURCES = ("adapters", "backends", "examples", "host", "spec", "tests", "tools", "virtaccel")
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
         "s": 1_000_000_000}
CPP_TEST = re.compile(r"\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")
NAMED_TEST = re.compile(r"`([A-Z]\w*\.[a-z]\w{2,})`")
NAMED_FILE = re.compile(r"`((?:[\w-]+/)+[\w.-]+\.\w+)`")
BOUND = re.compile(r"`([\w:]+)` = ([\d,]+)(?: (KiB|MiB|GiB|TiB|s)\b)?(?: [a-z]+)? \(`([\w/.]+)`\)")
LAST_COLUMN = "shown by"


def cpp_tests(text: str) -> Iterator[str]:
    """The tests that a C++ file defines."""
    for suite, name in CPP_TEST.findall(text):
        yield f"{suite}.{name}"


def python_tests(text: str) -> Iterator[str]:
    """The tests that a Python file defines."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name.startswith("test_"):
                    yield f"{node.name}.{member.name}"


def all_tests(root: pathlib.Path) -> set[str]:
    """Every test of the sources below `root`."""
    tests: set[str] = set()
    for folder in SOURCES:
        for path in (root / folder).rglob("*.cpp"):
            tests.update(cpp_tests(path.read_text("utf-8")))
        for path in (root / folder).rglob("*.py"):
            tests.update(python_tests(path.read_text("utf-8")))
    return tests


def value_of(expression: str) -> int | None:
    """The value of a C++ constant expression of numbers, or nothing if it is more than that."""
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]*\b", r"\1", expression.replace("'", ""))
    if not re.fullmatch(r"[0-9a-fA-Fx\s()<*+-]+", text):
        return None
    try:
        return int(eval(text, {"__builtins__": {}}))  # noqa: S307 (numbers and operators alone)
    except (SyntaxError, TypeError, ValueError):
        return None


def values_of(name: str, source: str) -> set[int]:
    """What `name` is set to in a C++ file."""
    last = name.rsplit("::", 1)[-1]
    plain = re.sub(r"std::\w+\{(\w+)\}", r"\1", source)
    found = re.findall(rf"\b{last}\s*=\s*([^;,}}]+)[;,}}]", plain)
    return {value for value in map(value_of, found) if value is not None}


def check_bounds(text: str, root: pathlib.Path) -> Iterator[str]:
    """What is wrong with the bounds that a document states."""
    for name, number, unit, file in BOUND.findall(text):
        stated = int(number.replace(",", "")) * UNITS[unit]
        path = root / file
        if not path.is_file():
            continue  # check_files says so
        values = values_of(name, path.read_text("utf-8"))
        if stated not in values:
            yield f"the bound ({name}) is not ({stated}) in ({file}) but one of ({sorted(values)})"


def check_files(text: str, root: pathlib.Path) -> Iterator[str]:
    """Which files that a document names are not there."""
    for file in sorted(set(NAMED_FILE.findall(text))):
        if not (root / file).is_file():
            yield f"the file ({file}) is not there"


def check_tests(text: str, tests: set[str]) -> Iterator[str]:
    """Which tests that a document names are not there."""
    for test in sorted(set(NAMED_TEST.findall(text)) - tests):
        yield f"the test ({test}) is not there"


def check_rows(text: str) -> Iterator[str]:
    """Which rows of a table say nothing of what shows them."""
    watched = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            watched = False
        elif cells[-1] == LAST_COLUMN:
            watched = True
        elif watched and set(line) - set("|- ") and not NAMED_TEST.search(cells[-1]):
            yield f"the row ({cells[0]}) names no test"


def findings(root: pathlib.Path) -> list[str]:
    """Everything that is wrong with the documents."""
    tests = all_tests(root)
    found: list[str] = []
    for name in DOCUMENTS:
        text = (root / name).read_text("utf-8")
        if not NAMED_TEST.search(text):
            found.append(f"{name}: it names no test at all")
        for finding in (*check_tests(text, tests), *check_files(text, root),
                        *check_bounds(text, root), *check_rows(text)):
            found.append(f"{name}: {finding}")
    return found


def main() -> int:
    """Prints what is wrong."""
    here = pathlib.Path(__file__).resolve()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[2]
    found = findings(root)
    for finding in found:
        print(finding, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
