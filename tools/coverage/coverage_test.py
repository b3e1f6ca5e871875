#!/usr/bin/env python3
"""Tests of the coverage floors, on reports as gcov writes them."""

from __future__ import annotations

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import coverage
import gcov


def report(folder: pathlib.Path, file: str, counts: dict[int, int]) -> dict:
    """What gcov says of an object that holds one file."""
    lines = [{"line_number": number, "count": count} for number, count in counts.items()]
    return {
        "current_working_directory": str(folder),
        "files": [{"file": file, "lines": lines}, {"file": "/outside/vector", "lines": lines}],
    }


def module(lines: int, *missed: int) -> coverage.Module:
    """A module `wire` of one file."""
    return coverage.Module("wire", lines, {"virtaccel/wire/a.h": list(missed)} if missed else {})


class GcovTest(unittest.TestCase):
    def test_a_line_is_reached_if_any_object_reached_it(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name).resolve()
            (root / "virtaccel" / "wire").mkdir(parents=True)
            (root / "build").mkdir()
            (root / "build" / "link").symlink_to(root / "virtaccel")
            joined = gcov.join(
                root,
                [
                    report(root, "virtaccel/wire/a.h", {1: 0, 2: 0, 3: 1}),
                    report(root / "build", "link/wire/a.h", {1: 0, 2: 5}),
                ],
            )
        self.assertEqual({"virtaccel/wire/a.h": {1: False, 2: True, 3: True}}, joined)


class CoverageTest(unittest.TestCase):
    def test_tests_and_what_helps_them_do_not_count(self) -> None:
        files = {
            "virtaccel/wire/a.h": {1: True, 2: False},
            "virtaccel/wire/a_test.cpp": {1: False},
            "virtaccel/wire/testing/b.h": {1: False},
            "virtaccel/queue/c.h": {1: False},
        }
        measured = coverage.measure(files, "wire")
        self.assertEqual((2, {"virtaccel/wire/a.h": [2]}), (measured.lines, measured.missed))
        self.assertEqual(50.0, measured.percent)

    def test_a_drop_is_a_finding(self) -> None:
        self.assertEqual([], list(coverage.findings([module(100, 7, 8)], {"wire": 98.0})))
        found = list(coverage.findings([module(100, 7, 8, 9)], {"wire": 98.0}))
        self.assertEqual(1, len(found))
        self.assertIn("(97.00 %)", found[0])

    def test_no_floor_is_below_96(self) -> None:
        found = list(coverage.findings([module(100)], {"wire": 95.9}))
        self.assertEqual(1, len(found))
        self.assertEqual(1, len(list(coverage.findings([module(100)], {}))))

    def test_a_module_without_lines_reaches_nothing(self) -> None:
        self.assertEqual(1, len(list(coverage.findings([module(0)], {"wire": 96.0}))))

    def test_floors_are_only_raised(self) -> None:
        self.assertEqual({"wire": 98.5}, coverage.raised([module(80, 1)], {"wire": 96.0}))
        self.assertEqual({"wire": 99.0}, coverage.raised([module(80, 1)], {"wire": 99.0}))

    def test_the_lines_that_are_missed_are_named(self) -> None:
        printed = "\n".join(coverage.table([module(100, 3, 4, 5, 9)], {"wire": 96.0}))
        self.assertIn("virtaccel/wire/a.h: 3-5, 9", printed)


if __name__ == "__main__":
    unittest.main()
