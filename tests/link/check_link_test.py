#!/usr/bin/env python3
"""Tests of the link check on small archives made by the compiler of the day."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import check_link

ALLOWED = {("*", "memcpy"), ("queue", "strlen")}


def archive(folder: pathlib.Path, module: str, code: str) -> None:
    """Compiles C code into the archive of a module of a build."""
    target = folder / "virtaccel" / module
    target.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-x", "c", "-O2", "-fno-builtin", "-c", "-", "-o", str(target / "a.o")]
    subprocess.run(command, check=True, input=code, text=True)
    subprocess.run(
        ["ar", "rcs", str(target / f"libvirtaccel_{module}.a"), str(target / "a.o")], check=True
    )


class LinkTest(unittest.TestCase):
    """The check on one module, `queue`, which depends on `base`."""

    def findings(self, base: str, queue: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            archive(build, "base", base)
            archive(build, "queue", queue)
            return check_link.check_module(build, "queue", {"base", "queue"}, ALLOWED)

    def test_what_is_allowed_or_in_a_dependency_is_no_finding(self) -> None:
        queue = "int memcpy(); int strlen(); int f(); int g() { return memcpy() + strlen() + f(); }"
        self.assertEqual([], self.findings("int f() { return 1; }", queue))

    def test_any_other_symbol_is_a_finding(self) -> None:
        found = self.findings("int f() { return 1; }", "int malloc(); int g() { return malloc(); }")
        self.assertEqual(1, len(found))
        self.assertIn("(malloc)", found[0])

    def test_a_module_with_nothing_to_look_into_is_a_finding(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            found = check_link.check_module(pathlib.Path(folder), "queue", {"queue"}, ALLOWED)
        self.assertIn("probe", found[0])


if __name__ == "__main__":
    unittest.main()
