#!/usr/bin/env python3
"""Checks the rules of STYLE.md that a machine can check and no other tool does.

Prints one line per finding, `path:line: what is wrong and what to do (rule)`, and exits 1 if there
are any. The one thing to know: a rule is a function from the tree to findings, and its docstring is
the rule. A line with a better reason says so, on itself or above: `NOTIDY(rule): reason`.
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Callable, Iterable

import rules_cpp
import rules_python
import rules_tests
import rules_text
from tree import Finding, Tree

Rule = Callable[[Tree], Iterable[Finding]]
RULES: tuple[Rule, ...] = (
    *rules_text.RULES,
    *rules_cpp.RULES,
    *rules_tests.RULES,
    *rules_python.RULES,
)


def is_excused(tree: Tree, rule: Rule, finding: Finding) -> bool:
    """Whether the line of a finding, or the one above, gives a reason for breaking the rule."""
    excuse = re.compile(rf"NOTIDY\({rule.__name__}\): \S")
    near = tree.lines(finding.path)[max(finding.line - 2, 0) : finding.line]
    return any(excuse.search(line) for line in near)


def findings_of(tree: Tree, rule: Rule) -> list[Finding]:
    """What a rule finds and nobody has excused."""
    return [finding for finding in rule(tree) if not is_excused(tree, rule, finding)]


def main() -> int:
    tree = Tree(pathlib.Path(__file__).resolve().parents[2])
    count = 0
    for rule in RULES:
        for finding in findings_of(tree, rule):
            print(f"{finding} ({rule.__name__})")
            count += 1
    print(f"tidy: {len(RULES)} rules, {len(tree.files)} files, {count} findings")
    return bool(count)


if __name__ == "__main__":
    sys.exit(main())
