#!/usr/bin/env python3
"""Checks who includes whom: DEPS against the arrow table, and every #include against DEPS.

The one thing to know: the arrow table is in cmake/Arrows.cmake and nowhere else; the build reads
the same rows when it is configured.
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterator

from tree import CPP, Finding, Module, Tree

ARROWS = "cmake/Arrows.cmake"
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
FOLDERS = re.compile(
    r"^(?:virtaccel/(?P<core>\w+)"
    r"|(?P<family>(?:backends|adapters|tools|tests|examples|bench)/\w+)"
    r"|(?P<top>host|capi|bench))/"
)


def read_arrows(text: str) -> dict[str, frozenset[str]]:
    """The rows of the table: who may include whom."""
    rows = re.findall(r"^\s*virtaccel_arrow\(([^)]*)\)", text, re.M)
    return {name: frozenset(targets) for name, *targets in map(str.split, rows)}


def owner(path: str) -> str | None:
    """The module whose folder a path (of a file or of an include) lies in."""
    match = FOLDERS.match(path)
    return match and (match["core"] or match["family"] or match["top"])


def check_arrows(module: Module, arrows: dict[str, frozenset[str]]) -> Iterator[Finding]:
    """DEPS of one module against its row."""
    row = module.name.split("/")[0]
    if row not in arrows:
        yield Finding(
            module.lists, 0, f"the module ({module.name}) has no row in {ARROWS}; add one"
        )
        return
    for dep in module.arguments["DEPS"]:
        if "ALL" not in arrows[row] and dep.split("/")[0] not in arrows[row]:
            allowed = " ".join(sorted(arrows[row])) or "nothing"
            yield Finding(
                module.lists,
                0,
                f"the module ({module.name}) names ({dep}) in DEPS; the "
                f"arrow table allows it {allowed}",
            )


def includes(tree: Tree, path: str) -> Iterator[tuple[int, str, str]]:
    """Every #include of a file: its line, its kind of quote, its path."""
    text = tree.text(path)
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match[1], match[2]


def check_includes(
    tree: Tree, module: Module, files: list[str], keyword: str, allowed: set[str]
) -> Iterator[Finding]:
    """The includes of some files of a module against the modules they may see, and back."""
    used = set()
    for path in files:
        if path not in tree.files:
            continue
        for line, quote, target in includes(tree, path):
            included = owner(target)
            if quote == '"' and included is None:
                yield Finding(
                    path,
                    line,
                    f"the include ({target}) does not start at the root of the "
                    "project; write its whole path",
                )
            elif quote == "<" and included is not None:
                yield Finding(path, line, f"the include ({target}) is ours; write it in quotes")
            elif included is not None and included not in allowed:
                yield Finding(
                    path,
                    line,
                    f"the module ({module.name}) includes a header of "
                    f"({included}), which its {keyword} do not name",
                )
            used.add(included)
    for dep in module.arguments[keyword]:
        if dep not in used:
            yield Finding(
                module.lists,
                0,
                f"the module ({module.name}) names ({dep}) in {keyword} and "
                "includes nothing of it; take it out",
            )


def folder_headers(tree: Tree, module: Module, testing: bool) -> list[str]:
    """The headers in a module's folder, named in its list or not; those of testing/ apart."""
    headers = [path for path in tree.named(".h") if path.startswith(module.folder + "/")]
    return [path for path in headers if ("/testing/" in path) == testing]


def check_module(
    tree: Tree, module: Module, arrows: dict[str, frozenset[str]]
) -> Iterator[Finding]:
    """All that can be said of one module."""
    yield from check_arrows(module, arrows)
    seen = {module.name, *module.arguments["DEPS"]}
    product = {*module.files("SOURCES", "MAIN"), *folder_headers(tree, module, testing=False)}
    yield from check_includes(tree, module, sorted(product), "DEPS", seen)
    tests = {
        *module.files("TESTS", "THREADED_TESTS", "FUZZERS"),
        *folder_headers(tree, module, testing=True),
    }
    seen.update(module.arguments["TEST_DEPS"])
    yield from check_includes(tree, module, sorted(tests), "TEST_DEPS", seen)


def names_file(tree: Tree, module: Module, path: str) -> bool:
    """Whether the list of a module names a file, in our call or in another one."""
    relative = re.escape(path.removeprefix(module.folder + "/"))
    return bool(re.search(rf'(?:[\s"(]|\}}/){relative}(?![\w.])', tree.text(module.lists)))


def check_members(tree: Tree) -> Iterator[Finding]:
    """Nothing lies dead: a source is named in its module's list, a header there or in a file."""
    used = {target for path in tree.named(*CPP) for _, _, target in includes(tree, path)}
    for path in tree.named(*CPP):
        lists = [module for module in tree.modules if path.startswith(module.folder + "/")]
        if lists and path not in used and not any(names_file(tree, m, path) for m in lists):
            yield Finding(path, 0, f"{lists[-1].lists} does not name this file; name or delete it")


def check_privacy(tree: Tree) -> Iterator[Finding]:
    """A header that is not in HEADERS is included by its own module only."""
    public = {path for module in tree.modules for path in module.files("HEADERS")}
    declared = {module.name for module in tree.modules}
    for path in tree.named(*CPP):
        for line, _, target in includes(tree, path):
            theirs = owner(target)
            if theirs in declared and theirs != owner(path) and target not in public:
                yield Finding(path, line, f"the header ({target}) is not in HEADERS of ({theirs})")


def check(tree: Tree) -> list[Finding]:
    """All findings about layers in a tree."""
    arrows = read_arrows(tree.text(ARROWS))
    findings = [
        finding for module in tree.modules for finding in check_module(tree, module, arrows)
    ]
    return [*findings, *check_members(tree), *check_privacy(tree)]


def main() -> int:
    findings = check(Tree(pathlib.Path(__file__).resolve().parents[2]))
    for finding in findings:
        print(finding)
    print(f"layers: {len(findings)} findings")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
