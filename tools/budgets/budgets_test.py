#!/usr/bin/env python3
"""Tests of the budgets' comparison, and of the reader of callgrind's files."""

from __future__ import annotations

import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import budgets
import callgrind

DUMP = """version: 1
part: 3
desc: Trigger: --dump-after=counted
positions: line
events: Ir

ob=/somewhere/program
fl=a.cpp
fn=work
10 7
12 5
cob=/lib/libc.so.6
cfn=strlen
calls=2 0
12 900
fi=inlined.h
3 4

fn=memcpy
1 100

ob=/lib/libc.so.6
fl=c.c
fn=strlen
5 900

ob=/somewhere/program
fn=more
8 1
"""


def measured(
    instructions: int = 1000, compiler: str = "g++ 12", **exact: int
) -> budgets.Measurement:
    """One operation."""
    counts = {"allocations": 0, "copied_bytes": 64, "cleared_bytes": 0, **exact}
    return budgets.Measurement(
        compiler, "x86_64", {"read": {**counts, "instructions": instructions}}
    )


class CallgrindTest(unittest.TestCase):
    def test_only_what_the_program_itself_executes_counts(self) -> None:
        self.assertEqual(7 + 5 + 4 + 1, callgrind.instructions(DUMP, "program"))

    def test_a_dump_says_where_it_stands(self) -> None:
        self.assertEqual(3, callgrind.part_number(DUMP))
        with self.assertRaises(callgrind.CallgrindError):
            callgrind.part_number("events: Ir\n")


class BudgetsTest(unittest.TestCase):
    def test_the_file_is_read_as_it_is_written(self) -> None:
        self.assertEqual(measured(), budgets.read_budgets(budgets.write_budgets(measured())))

    def test_what_is_printed_is_joined_with_what_is_counted(self) -> None:
        printed = (
            '{"compiler": "g++ 12", "processor": "x86_64"}\n'
            '{"case": "read", "allocations": 0, "copied_bytes": 64, "cleared_bytes": 0}\n'
        )
        self.assertEqual(measured(1000), budgets.read_measurement(printed, [1000]))
        with self.assertRaises(callgrind.CallgrindError):
            budgets.read_measurement(printed, [1000, 2000])

    def test_two_percent_of_instructions_are_no_growth(self) -> None:
        self.assertEqual([], list(budgets.findings(measured(1000), measured(1020))))
        found = list(budgets.findings(measured(1000), measured(1021)))
        self.assertEqual(
            ["read executes 2.1 % more instructions (1021) than its budget (1000)"], found
        )

    def test_one_allocation_or_one_byte_is_growth(self) -> None:
        for key in budgets.EXACT:
            grown = measured(**{key: 65})
            found = list(budgets.findings(measured(), grown))
            self.assertEqual(1, len(found), key)
            self.assertIn(key.replace("_", " "), found[0])

    def test_operations_come_and_go_with_their_budgets(self) -> None:
        none = budgets.Measurement("g++ 12", "x86_64", {})
        self.assertEqual(["read has no budget"], list(budgets.findings(none, measured())))
        gone = list(budgets.findings(measured(), none))
        self.assertEqual(["read has a budget and is measured no more"], gone)

    def test_another_compiler_is_held_to_all_but_the_instructions(self) -> None:
        other = measured(2000, compiler="g++ 13")
        self.assertEqual([], list(budgets.findings(measured(), other)))
        other = measured(2000, compiler="g++ 13", allocations=1)
        self.assertEqual(1, len(list(budgets.findings(measured(), other))))

    def test_a_budget_that_became_too_wide_is_named(self) -> None:
        self.assertEqual([], budgets.shrunk(measured(1000), measured(951)))
        self.assertEqual(["read"], budgets.shrunk(measured(1000), measured(949)))
        self.assertEqual(["read"], budgets.shrunk(measured(), measured(copied_bytes=63)))

    def test_the_report_says_what_to_do(self) -> None:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self.assertTrue(budgets.report(measured(1000), measured(1000)))
            self.assertFalse(budgets.report(measured(1000), measured(1100)))
        self.assertIn("--update", output.getvalue())
        self.assertIn("1.100", output.getvalue())


if __name__ == "__main__":
    unittest.main()
