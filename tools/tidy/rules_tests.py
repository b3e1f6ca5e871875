"""House rules about C++ tests: suite and name are a sentence, and every test can fail.

The one thing to know: a test asserts if its body does, or if it calls a function of the same file
that does, at any depth, or a helper from elsewhere named expect_... or check_...
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cpp_text import blanked, body_at, line_of
from tree import Finding, Tree

TEST = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*\{", re.M)
FUNCTION = re.compile(r"\b(\w+)\([^;{}]*\)[^;{}()=]*\{")
LAMBDA = re.compile(r"\b(\w+) = \[[^\]]*\][^;{}]*\{")
KEYWORDS = frozenset({"if", "for", "while", "switch", "catch"})
SENTENCE = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
ASSERTION = re.compile(
    r"\b(?:EXPECT|ASSERT)_\w+\(|\bADD_FAILURE\(|\bFAIL\(|\b(?:expect|check)_\w+[(<]"
    r"|\bstatic_assert\("
)
EMPTY_ASSERTION = re.compile(
    r"(?:EXPECT|ASSERT)_TRUE\(\s*true\s*\)|(?:EXPECT|ASSERT)_FALSE\(\s*false\s*\)|\bSUCCEED\("
)
BARE_SKIP = re.compile(r"\bGTEST_SKIP\(\)\s*;")


def asserting_functions(code: str) -> set[str]:
    """The functions and named lambdas of a file that assert, by themselves or by what they call."""
    bodies: dict[str, str] = {}
    for pattern in (FUNCTION, LAMBDA):
        for match in pattern.finditer(code):
            if match[1] not in KEYWORDS:
                bodies[match[1]] = bodies.get(match[1], "") + body_at(code, match.end())
    found = {name for name, body in bodies.items() if ASSERTION.search(body)}
    while True:
        more = {name for name, body in bodies.items() if calls_one_of(body, found)} - found
        if not more:
            return found
        found |= more


def calls_one_of(body: str, names: set[str]) -> bool:
    """Whether a body mentions one of the names."""
    return not names.isdisjoint(re.findall(r"\w+", body))


def tests(code: str) -> Iterator[tuple[int, str, str]]:
    """Every test of blanked code: its line, its name, its body."""
    for match in TEST.finditer(code):
        yield line_of(code, match.start(2)), match[2], body_at(code, match.end())


def test_names(tree: Tree) -> Iterator[Finding]:
    """A test's name goes on where its suite, the subject, stops."""
    for path in tree.named("_test.cpp"):
        for line, name, _ in tests(blanked(tree.text(path))):
            if not SENTENCE.fullmatch(name):
                message = f"the test's name ({name}) has fewer than two words in snake_case"
                yield Finding(path, line, message)


def test_assertions(tree: Tree) -> Iterator[Finding]:
    """A test can fail."""
    for path in tree.named("_test.cpp"):
        code = blanked(tree.text(path))
        helpers = asserting_functions(code)
        for line, name, body in tests(code):
            if not ASSERTION.search(body) and not calls_one_of(body, helpers):
                yield Finding(path, line, f"the test ({name}) asserts nothing; use EXPECT_...")
        for match in EMPTY_ASSERTION.finditer(code):
            yield Finding(path, line_of(code, match.start()), f"({match[0]}) cannot fail")
        for match in BARE_SKIP.finditer(code):
            yield Finding(
                path, line_of(code, match.start()), "the skip gives no reason; stream one"
            )


RULES = (test_names, test_assertions)
