"""House rules about C++ that clang-tidy has no check for.

The one thing to know: a rule looks at code with its comments and string literals blanked out, so
that prose may use any word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cpp_text import blanked, line_of
from tree import CPP, Finding, Tree

# What stands on the left has a better form, on the right.
BANNED = {
    r"\b(?:src|dst)\b": "source, target",
    r"\bassert\(": "VIRTACCEL_CHECK (virtaccel/base/panic.h), which is on in every build",
    r"\b(?:strcpy|strcat|sprintf|gets|strtok|atoi|atof)\(": "a function that knows the size",
    r"\b(?:rand|srand)\(": "a seeded std::mt19937_64",
    r"\bstd::(?:has_single_bit|popcount)\b": "is_power_of_two (base/checked.h); no library call",
    r"\bstd::endl\b": r"'\n'",
    r"\bstd::(?:bind|auto_ptr|regex)\b": "a lambda, std::unique_ptr, a parser",
    r"\busing namespace\b(?! std::\w*literals)": "the qualified name, or one using declaration",
    r"\bvolatile\b": "std::atomic_ref",
    r"\b(?:malloc|calloc|realloc)\(": "virtaccel::Memory or a container",
    r"\bstatic (?!(?:const|constexpr|inline) )[\w:<>]+ \w+ *[=;{]": "a member: no globals",
    r"\bthread_local\b": "a parameter",
    r"\bgoto\b": "a function",
}
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)
# Threads, locks, clocks, streams and operating systems.
NOT_PORTABLE = frozenset(
    "thread mutex shared_mutex condition_variable future semaphore latch barrier stop_token "
    "chrono ctime time.h iostream fstream ostream istream filesystem cstdio stdio.h locale regex "
    "csignal signal.h unistd.h fcntl.h pthread.h dlfcn.h windows.h".split()
)
SYSTEM_FOLDERS = ("sys/", "linux/", "asm/")
# What throws when it cannot grow, and what asks for a type's name.
NOT_FREESTANDING = frozenset(
    "vector string map set unordered_map unordered_set deque list forward_list queue stack "
    "functional sstream any stdexcept typeinfo typeindex exception memory_resource".split()
)
FREESTANDING = ("base", "wire", "queue", "guest", "device", "backend", "mock")

SUPPRESSION = re.compile(r"NOLINT\w*")
GOOD_SUPPRESSION = re.compile(
    r"NOLINT(?:NEXTLINE|BEGIN)?\([a-z][\w.,* -]*\): \S|NOLINTEND\([a-z][\w.,* -]*\)"
)


def own_cpp(tree: Tree) -> list[str]:
    """C and C++ written by hand."""
    return [name for name in tree.named(*CPP) if not name.startswith("spec/")]


def is_product(path: str) -> bool:
    """Whether a file is part of what is shipped, not of its tests."""
    return "/testing/" not in path and not path.endswith(("_test.cpp", "_fuzz.cpp"))


def header_opening(tree: Tree) -> Iterator[Finding]:
    """A header opens with #pragma once and a paragraph that says what it is for."""
    for path in own_cpp(tree):
        if path.endswith(".h") and not re.match(r"#pragma once\n\n?// \S", tree.text(path)):
            yield Finding(
                path,
                1,
                "the header does not open with #pragma once and, on the next line, a "
                "paragraph (// ...) that says what it is for",
            )


def banned_words(tree: Tree) -> Iterator[Finding]:
    """Words with a better form."""
    for path in own_cpp(tree):
        code = blanked(tree.text(path))
        for pattern, better in BANNED.items():
            for match in re.finditer(pattern, code):
                yield Finding(
                    path,
                    line_of(code, match.start()),
                    f"the code says ({match[0].strip()}); write {better}",
                )


def portable_includes(tree: Tree) -> Iterator[Finding]:
    """virtaccel/ knows no thread, lock, clock, stream or operating system."""
    for path in own_cpp(tree):
        if not path.startswith("virtaccel/") or not is_product(path):
            continue
        freestanding = path.split("/")[1] in FREESTANDING
        text = tree.text(path)
        for match in INCLUDE.finditer(text):
            name = match[1]
            if name in NOT_PORTABLE or name.startswith(SYSTEM_FOLDERS):
                better = "such a thing lives in host/, a backend or an adapter"
            elif freestanding and name in NOT_FREESTANDING:
                better = "growth is nothrow, through virtaccel::Memory"
            else:
                continue
            yield Finding(path, line_of(text, match.start(1)), f"no <{name}> here; {better}")


def suppressions(tree: Tree) -> Iterator[Finding]:
    """A suppressed check is named, and the reason is given."""
    for path in own_cpp(tree):
        for number, line in enumerate(tree.lines(path), 1):
            if SUPPRESSION.search(line) and not GOOD_SUPPRESSION.search(line):
                yield Finding(
                    path, number, "the suppression does not read NOLINT(check-name): reason"
                )


RULES = (header_opening, banned_words, portable_includes, suppressions)
