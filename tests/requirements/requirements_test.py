"""Tests that docs/requirements.md is true, and that a false one would be noticed.

The one thing to know: VIRTACCEL_PROGRAM is the program that lists the cases.
"""

from __future__ import annotations

import os
import pathlib
import unittest

import requirements

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
PROTOCOL = (ROOT / "spec" / "protocol.md").read_text(encoding="utf-8")
PROGRAM = os.environ["VIRTACCEL_PROGRAM"]


def known() -> requirements.Known:
    """What there is to be named."""
    device = requirements.listed_cases(PROGRAM, "--device", "loopback")
    everything = requirements.listed_cases(PROGRAM)
    return requirements.Known(device, [name for name in everything if name not in device],
                              requirements.source_tests(ROOT))


class Requirements(unittest.TestCase):
    def test_are_shown_by_cases_and_tests_that_exist(self) -> None:
        there = known()
        self.assertEqual(requirements.check(DOCUMENT, PROTOCOL, there), [])
        rules = requirements.parse_rules(DOCUMENT)
        names = {name for rule in rules for name in rule.shown_by}
        tests = [name for name in names if name in there.tests]
        print(f"requirements: {len(rules)} rules, {len(there.device_cases)} device cases, "
              f"{len(there.backend_cases)} backend cases, {len(tests)} tests named")
        self.assertGreater(len(rules), 150)
        self.assertGreater(len(there.device_cases), 200)


SECTIONS = "## 1. Objects\n\n## 2. Words\n"
KNOWN = requirements.Known(["a.one", "a.two"], ["b.one"], {"Suite.does_it"})
GOOD = ("## 1. Objects\n| R1.1 | A. | `a.*` |\n| R1.2 | B. | `b.one`, `Suite.does_it` |\n"
        "## 2. Words\n| R2.1 | C. | `a.one` |\n")


class FalseDocuments(unittest.TestCase):
    def expect(self, document: str, *parts: str) -> None:
        sentences = requirements.check(document, SECTIONS, KNOWN)
        self.assertEqual(len(sentences), len(parts), sentences)
        for sentence, part in zip(sentences, parts):
            self.assertIn(part, sentence)

    def test_are_none_if_nothing_is_wrong(self) -> None:
        self.expect(GOOD)

    def test_name_a_case_or_a_test_that_is_not_there(self) -> None:
        self.expect(GOOD.replace("b.one", "b.two"), "(b.two)")
        self.expect(GOOD.replace("Suite.does_it", "Suite.is_it"), "(Suite.is_it)")
        self.expect(GOOD.replace("`a.one`", "`c.*`"), "(c.*)")

    def test_leave_a_case_out(self) -> None:
        self.expect(GOOD.replace("a.*", "a.one"), "(a.two)")

    def test_count_wrongly(self) -> None:
        self.expect(GOOD.replace("R1.2", "R1.1"), "(R1.2)")
        self.expect(GOOD.replace("R2.1", "R1.3"), "(R2.1)")

    def test_leave_a_section_out(self) -> None:
        self.expect(GOOD.split("## 2")[0], "2. Words", "2. Words")
        self.expect(GOOD.replace("2. Words", "2. Ideas"), "2. Words")
        self.expect(GOOD + "## 3. More\n", "3. More")

    def test_show_nothing_or_say_nothing(self) -> None:
        self.expect(GOOD.replace("`b.one`, `Suite.does_it`", "nobody"), "shown by nothing")
        self.expect(GOOD.replace("| B. |", "| B |"), "no sentence")


class Sources(unittest.TestCase):
    def test_are_searched_for_tests_of_both_languages(self) -> None:
        cpp = "TEST(A, is_b) {}\nTYPED_TEST(C, is_d) {\nTEST_F(E,\n       is_f) {\n// TEST(G, h)\n"
        self.assertEqual(list(requirements.gtest_names(cpp)), ["A.is_b", "C.is_d", "E.is_f"])
        python = "class A(Base):\n    def test_b(self):\n    def other(self):\nclass C:\n" \
                 "    def test_d(self):\n"
        self.assertEqual(list(requirements.unittest_names(python)), ["A.test_b", "C.test_d"])


if __name__ == "__main__":
    unittest.main()
