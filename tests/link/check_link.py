#!/usr/bin/env python3
"""Checks that each portable module links with nothing but what allowed.txt lists.

Looks at the symbols that the archives and probes of a build without library hardening leave
undefined. The one thing to know: what a module's DEPS define counts as there, so that a finding
always names the module that really needs the symbol.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "tidy"))

from tree import Tree

MODULES = ("base", "wire", "queue", "backend", "guest", "device")
ALLOWED = ROOT / "tests" / "link" / "allowed.txt"


def objects(build: pathlib.Path, module: str) -> list[pathlib.Path]:
    """The archive of a module, and its probe if it has one."""
    archive = build / "virtaccel" / module / f"libvirtaccel_{module}.a"
    probe = build / "tests" / "link" / "CMakeFiles" / f"virtaccel_link_{module}.dir"
    return [path for path in (archive, *sorted(probe.glob("*.o"))) if path.exists()]


def symbols(paths: list[pathlib.Path], option: str) -> set[str]:
    """The names that nm gives for files under one option."""
    if not paths:
        return set()
    command = ["nm", "--format=just-symbols", option, *map(str, paths)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.strip() for line in output.splitlines() if line.strip() and line[-1] != ":"}


def read_allowed(text: str) -> set[tuple[str, str]]:
    """The rows of the list: module and symbol."""
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {(module, symbol) for module, symbol in rows}


def closure(tree: Tree, module: str) -> set[str]:
    """A module and all it depends on."""
    deps = {row.name: row.arguments["DEPS"] for row in tree.modules}
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += deps.get(name, ())
    return seen


def check_module(
    build: pathlib.Path, module: str, family: set[str], allowed: set[tuple[str, str]]
) -> list[str]:
    """One sentence per symbol that neither the family (a module and its dependencies) nor the list
    has, or one if there is nothing to look into."""
    own = objects(build, module)
    if not own:
        return [
            f"The module ({module}) has neither an archive nor a probe: write "
            f"tests/link/{module}_link.cpp."
        ]
    provided = symbols([path for name in family for path in objects(build, name)], "--defined-only")
    needed = symbols(own, "--undefined-only") - provided
    return [
        f"The module ({module}) needs the symbol ({symbol}): do without, or explain it in "
        "tests/link/allowed.txt."
        for symbol in sorted(needed)
        if not {("*", symbol), (module, symbol)} & allowed
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path, help="a build of the freestanding preset")
    build = parser.parse_args().build
    allowed = read_allowed(ALLOWED.read_text(encoding="utf-8"))
    tree = Tree(ROOT)
    present = {row.name for row in tree.modules}
    findings = [
        finding
        for module in MODULES
        if module in present
        for finding in check_module(build, module, closure(tree, module), allowed)
    ]
    print("\n".join(findings) or "link: the portable modules need nothing else")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
