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


def check(build: pathlib.Path, allowed: set[tuple[str, str]]) -> list[str]:
    """One sentence per symbol that is not allowed, and per module with nothing to look into."""
    tree = Tree(ROOT)
    present = {row.name for row in tree.modules}
    findings = []
    for module in (name for name in MODULES if name in present):
        own = objects(build, module)
        if not own:
            findings.append(
                f"The module ({module}) has neither an archive nor a probe: write "
                f"tests/link/{module}_link.cpp."
            )
        there = {path for name in closure(tree, module) for path in objects(build, name)}
        provided = symbols(sorted(there), "--defined-only")
        for symbol in sorted(symbols(own, "--undefined-only") - provided):
            if not {("*", symbol), (module, symbol)} & allowed:
                findings.append(
                    f"The module ({module}) needs the symbol ({symbol}): do without, or explain "
                    "it in tests/link/allowed.txt."
                )
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path, help="a build of the freestanding preset")
    findings = check(parser.parse_args().build, read_allowed(ALLOWED.read_text(encoding="utf-8")))
    print("\n".join(findings) or "link: the portable modules need nothing else")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
