"""House rules about any file of text: lengths, traces of one machine, words for unfinished work.

The one thing to know: a pattern is put together from halves where writing it whole would make this
file break its own rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree import Finding, Tree

CODE = (".h", ".cpp", ".c", ".py", ".sh", ".cmake", "CMakeLists.txt", "run")
TEXT = (
    *CODE,
    ".md",
    ".txt",
    ".json",
    ".yml",
    ".toml",
    ".clang-tidy",
    ".clang-format",
    ".gitignore",
)
PRINTED = "spec/printed/"
LINE_MAX = 100
FILE_LINES_MAX = 600
LONG_FILES = "tools/tidy/long_files.txt"

MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:home|root|work|Users|mnt)/\w")
REGISTRY = re.compile(
    r"https?://[\w.-]*(?:pypi|pythonhosted|npm|crates|debian|maven|golang|docker)" r"[\w.-]*"
)
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|not implemented " r"yet)\b")


def code_files(tree: Tree) -> list[str]:
    """Files written by hand in a language."""
    return [name for name in tree.named(*CODE) if not name.startswith(PRINTED)]


def line_length(tree: Tree) -> Iterator[Finding]:
    """A line has at most 100 columns."""
    for path in code_files(tree):
        for number, line in enumerate(tree.lines(path), 1):
            if len(line) > LINE_MAX:
                yield Finding(
                    path, number, f"the line has {len(line)} columns; {LINE_MAX} are allowed"
                )


def blanks(tree: Tree) -> Iterator[Finding]:
    """No tabs, no blanks at the end of a line, one line end at the end of a file."""
    for path in code_files(tree):
        for number, line in enumerate(tree.lines(path), 1):
            if "\t" in line:
                yield Finding(path, number, "the line holds a tab; write blanks")
            if line != line.rstrip():
                yield Finding(path, number, "the line ends in blanks; take them out")
        text = tree.text(path)
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield Finding(path, 0, "the file does not end in exactly one line end")


def read_long_files(text: str) -> dict[str, int]:
    """The list of files that may be long, and how long each was when it was entered."""
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {path: int(count) for count, path in rows}


def file_length(tree: Tree) -> Iterator[Finding]:
    """A file has at most 600 lines; the list of exceptions only shrinks."""
    allowed = read_long_files(tree.text(LONG_FILES)) if LONG_FILES in tree.files else {}
    lengths = {path: len(tree.lines(path)) for path in code_files(tree)}
    for path, length in lengths.items():
        if length > allowed.get(path, FILE_LINES_MAX):
            yield Finding(
                path,
                0,
                f"the file has {length} lines; {allowed.get(path, FILE_LINES_MAX)} are "
                "allowed; split it by what it does",
            )
    for path, length in allowed.items():
        if lengths.get(path, 0) < length:
            yield Finding(
                LONG_FILES,
                0,
                f"the file ({path}) has {lengths.get(path, 0)} lines, fewer than "
                f"its entry ({length}); lower the entry, or drop it at {FILE_LINES_MAX}",
            )


def matches(tree: Tree, pattern: re.Pattern[str], message: str) -> Iterator[Finding]:
    """A finding for every match of a pattern in any text."""
    for path in tree.named(*TEXT):
        for number, line in enumerate(tree.lines(path), 1):
            for match in pattern.finditer(line):
                yield Finding(path, number, message.format(match[0]))


def machine_paths(tree: Tree) -> Iterator[Finding]:
    """Nothing depends on where one machine keeps its files."""
    yield from matches(
        tree, MACHINE_PATH, "the path ({}...) is one machine's; make it relative or a parameter"
    )


def registry_hosts(tree: Tree) -> Iterator[Finding]:
    """Packages come from where the machine's own settings say."""
    yield from matches(
        tree,
        REGISTRY,
        "the address ({}) is a registry's; leave the choice to the machine's settings",
    )


def unfinished(tree: Tree) -> Iterator[Finding]:
    """Work that is left over stands in the issues, not in the code."""
    yield from matches(
        tree, UNFINISHED, "the word ({}) marks unfinished work; finish it or file it"
    )


RULES = (line_length, blanks, file_length, machine_paths, registry_hosts, unfinished)
