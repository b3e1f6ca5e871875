#!/usr/bin/env python3
"""Tests of check_names.py, and the check of the documents as they are."""

from __future__ import annotations

import pathlib
import sys
import tempfile
import unittest

import check_names

ROOT = pathlib.Path(__file__).resolve().parents[2]


class NamesTest(unittest.TestCase):
    """What is read out of documents and sources."""

    def test_tests_are_found_in_both_languages(self) -> None:
        text = "TEST(Ring, stops) {\nTEST_F(Rig,\n       goes_on) {\nTYPED_TEST(Kind, ends) {"
        self.assertEqual(list(check_names.cpp_tests(text)),
                         ["Ring.stops", "Rig.goes_on", "Kind.ends"])
        text = "class FileTest(T):\n    def setUp(self): pass\n    def test_ends(self): pass\n"
        self.assertEqual(list(check_names.python_tests(text)), ["FileTest.test_ends"])

    def test_a_test_that_is_not_there_is_found(self) -> None:
        self.assertEqual(list(check_names.check_tests("`Ring.stops`, `Ring.goes`, `README.md`",
                                                      {"Ring.stops"})),
                         ["the test (Ring.goes) is not there"])

    def test_numbers_are_read_as_the_compiler_reads_them(self) -> None:
        for text, value in (("16", 16), ("1'000'000", 1_000_000), ("1U << 17U", 1 << 17),
                            ("256 << 20U", 256 << 20), ("0xffffffff", 0xffffffff),
                            ("(1U << 20U) - 1", (1 << 20) - 1), ("other + 1", None)):
            self.assertEqual(check_names.value_of(text), value, text)

    def test_a_bound_of_another_value_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "limits.h").write_text("constexpr int depth_max = 16;  // 17\n"
                                          "{.bytes = std::uint64_t{1} << 10U};\n")
            for stated, count in (("depth_max` = 16", 0), ("depth_max` = 17", 1),
                                  ("depth_max` = 16 KiB", 1), ("bytes` = 1 KiB", 0)):
                text = f"`tosa::{stated} (`limits.h`)"
                self.assertEqual(len(list(check_names.check_bounds(text, root))), count, stated)
            self.assertEqual(list(check_names.check_files("`a/limits.h`", root)),
                             ["the file (a/limits.h) is not there"])

    def test_a_row_without_a_test_is_found(self) -> None:
        text = "| what | shown by |\n|---|---|\n| a ring | `Ring.stops` |\n| a file | hope |\n"
        self.assertEqual(list(check_names.check_rows(text)), ["the row (a file) names no test"])


class DocumentsTest(unittest.TestCase):
    """The documents of this project."""

    def test_claim_nothing_that_is_not_there(self) -> None:
        self.assertEqual(check_names.findings(ROOT), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
