"""Compares docs/requirements.md with the protocol's text, the conformance cases and the tests.

The one thing to know: a name in the document's last column is a case of `virtaccel conform`, with
`*` for any characters, or else a test in the sources, `Suite.name`.
"""

from __future__ import annotations

import fnmatch
import pathlib
import re
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

HEADING = re.compile(r"^## (\d+)\. (.+)$")
ROW = re.compile(r"^\| (R\S+) \| (.+) \| (.+) \|$")
RULE = re.compile(r"R(\d+)\.(\d+)")
NAME = re.compile(r"`([^`]+)`")
GTEST = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", re.M)
PYTHON_CLASS = re.compile(r"^class (\w+)|^    def (test_\w+)", re.M)
# Where tests are.
FOLDERS = ("virtaccel", "backends", "adapters", "host", "tools", "tests", "spec")


class Rule(NamedTuple):
    """A row of the document."""

    name: str
    section: int
    text: str
    shown_by: list[str]


def headings(text: str) -> dict[int, str]:
    """The numbered sections of a document and their titles."""
    found = (HEADING.match(line) for line in text.splitlines())
    return {int(match[1]): match[2] for match in found if match}


def parse_rules(text: str) -> list[Rule]:
    """The rows of the document, each with the section that it stands in."""
    rules, section = [], 0
    for line in text.splitlines():
        if match := HEADING.match(line):
            section = int(match[1])
        elif match := ROW.match(line):
            rules.append(Rule(match[1], section, match[2], NAME.findall(match[3])))
    return rules


def gtest_names(text: str) -> Iterator[str]:
    """The tests of a C++ file."""
    for match in GTEST.finditer(text):
        yield f"{match[1]}.{match[2]}"


def unittest_names(text: str) -> Iterator[str]:
    """The tests of a Python file."""
    suite = ""
    for match in PYTHON_CLASS.finditer(text):
        suite = match[1] or suite
        if match[2]:
            yield f"{suite}.{match[2]}"


def source_tests(root: pathlib.Path) -> set[str]:
    """The tests of all sources."""
    names: set[str] = set()
    for folder in FOLDERS:
        for path in (root / folder).rglob("*_test.cpp"):
            names.update(gtest_names(path.read_text(encoding="utf-8")))
        for path in (root / folder).rglob("*_test.py"):
            names.update(unittest_names(path.read_text(encoding="utf-8")))
    return names


def listed_cases(program: str, *options: str) -> list[str]:
    """The names that `virtaccel conform --list` shows."""
    shown = subprocess.run([program, "conform", "--list", *options], capture_output=True, text=True,
                           check=True)
    return [line.split()[0] for line in shown.stdout.splitlines()]


class Known(NamedTuple):
    """What the document may name."""

    device_cases: list[str]
    backend_cases: list[str]
    tests: set[str]

    def has(self, name: str) -> bool:
        """Whether a name of the document is one of something."""
        cases = (*self.device_cases, *self.backend_cases, *self.tests)
        return any(fnmatch.fnmatchcase(case, name) for case in cases)


def check_numbers(rules: list[Rule]) -> Iterator[str]:
    """Rules are numbered by their section, from 1, without a gap."""
    last: dict[int, int] = {}
    for rule in rules:
        wanted = f"R{rule.section}.{last.get(rule.section, 0) + 1}"
        if rule.name != wanted:
            yield f"The rule ({rule.name}) stands where ({wanted}) does; number it so."
        last[rule.section] = last.get(rule.section, 0) + 1


def check_sections(document: str, protocol: str) -> Iterator[str]:
    """The document has the protocol's sections, and each has a rule."""
    wanted, found = headings(protocol), headings(document)
    for number, title in wanted.items():
        if found.get(number) != title:
            yield f"The protocol's section ({number}. {title}) is missing; add it."
    for number in sorted(set(found) - set(wanted)):
        yield f"The section ({number}. {found[number]}) is not in the protocol; take it out."
    empty = set(wanted) - {rule.section for rule in parse_rules(document)}
    for number in sorted(empty):
        yield f"The section ({number}. {wanted[number]}) has no rule; add one."


def check_names(rules: list[Rule], known: Known) -> Iterator[str]:
    """Every name is one of a case or a test, and every case of a device has a rule."""
    for rule in rules:
        if not rule.shown_by:
            yield f"The rule ({rule.name}) is shown by nothing; name a case or a test."
        if not rule.text.endswith("."):
            yield f"The rule ({rule.name}) is no sentence; end it with a full stop."
        for name in rule.shown_by:
            if not known.has(name):
                yield f"The rule ({rule.name}) names ({name}), which is no case and no test."
    patterns = {name for rule in rules for name in rule.shown_by}
    for case in known.device_cases:
        if not any(fnmatch.fnmatchcase(case, pattern) for pattern in patterns):
            yield f"The device case ({case}) belongs to no rule; name it in one."


def check(document: str, protocol: str, known: Known) -> list[str]:
    """Everything that is wrong with the document, one sentence each."""
    rules = parse_rules(document)
    return [*check_sections(document, protocol), *check_numbers(rules), *check_names(rules, known)]
