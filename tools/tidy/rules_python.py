"""House rules about Python: a file says what it is for and imports no more than it uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tree import Finding, Tree

FUNCTION_LINES_MAX = 70


def parsed(tree: Tree) -> Iterator[tuple[str, ast.Module]]:
    """Every Python file and its syntax tree."""
    for path in tree.named(".py"):
        yield path, ast.parse(tree.text(path), path)


def docstrings(tree: Tree) -> Iterator[Finding]:
    """A module opens by saying what it is for."""
    for path, module in parsed(tree):
        if not ast.get_docstring(module):
            yield Finding(path, 1, "the module has no docstring that says what it is for")


def unused_imports(tree: Tree) -> Iterator[Finding]:
    """What is imported is used."""
    for path, module in parsed(tree):
        used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
        for node in ast.walk(module):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                if name not in used:
                    yield Finding(
                        path, node.lineno, f"the import ({name}) is not used; take it out"
                    )


def function_length(tree: Tree) -> Iterator[Finding]:
    """A function has at most 70 lines."""
    for path, module in parsed(tree):
        for node in ast.walk(module):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_LINES_MAX:
                    yield Finding(
                        path,
                        node.lineno,
                        f"the function ({node.name}) has {length} lines; "
                        f"{FUNCTION_LINES_MAX} are allowed",
                    )


RULES = (docstrings, unused_imports, function_length)
