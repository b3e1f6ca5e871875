#!/usr/bin/env python3
"""Tests of how official tests are chosen, judged and reported: a wrong result has to be noticed."""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import full
import judge
import numpy
import plan
import precise
import produce
import report
import stack

# In place of virtaccel: writes what the environment names to every output, or ends as it says.
PROGRAM = """#!/bin/sh
[ -n "$ENDS" ] && { echo "$SAYS" >&2; exit "$ENDS"; }
for argument in "$@"; do
    [ "$last" = --output ] && cp "$RESULT" "${argument#*=}"
    last=$argument
done
"""


def description(**changes: object) -> dict:
    """The words on a test of ADD with one FP32 input and output of two elements."""
    tensor = {"mode": "EXACT", "data_type": "FP32", "shape": [2]}
    words = {
        "tosa_file": "test.tosa",
        "ifm_name": ["x"],
        "ifm_file": ["x.npy"],
        "ofm_name": ["y"],
        "ofm_file": ["y.npy"],
        "expected_failure_desc": "Broadcast shape calculation failed",
        "meta": {"compliance": {"version": "1.2", "tensors": {"y": tensor}}},
        "test_requirements": {"bounds_file_required": False},
        "test_details": {"operator": "ADD"},
    }
    return words | changes


class Case(unittest.TestCase):
    """A folder with one test, and a program that does as it is told."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "virtaccel"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)
        self.describe(description())
        numpy.save(self.folder / "y.npy", numpy.array([1, 2], numpy.float64))
        self.verifier = judge.Verifier(produce.Tools())

    def describe(self, words: dict) -> None:
        """Gives the test other words."""
        (self.folder / "desc.json").write_text(json.dumps(words), encoding="utf-8")

    def examine(self, is_negative: bool = False, **environment: str) -> stack.Verdict:
        """The verdict on a program with such an environment."""
        program = stack.Stack(self.program, "", 20)
        program.environment.update(environment)
        test = produce.Test("add", "add_2_f32", self.folder, is_negative)
        return stack.examine(test, program, self.verifier).verdict

    def examine_result(self, values: list[float], dtype: str = "<f4") -> stack.Verdict:
        """The verdict on a program that writes these values."""
        path = self.folder / "result.npy"
        numpy.save(path, numpy.array(values, dtype))
        return self.examine(RESULT=str(path))


class PositiveTest(Case):
    """Models that have to run."""

    def test_right_numbers_pass(self) -> None:
        self.assertEqual(self.examine_result([1, 2]), stack.Verdict("passed"))

    def test_wrong_numbers_shapes_and_types_fail(self) -> None:
        for values, dtype, words in (
            ([1, 3], "<f4", "is not compliant"),
            ([1, 2, 3], "<f4", "has shape (3,)"),
            ([1, 2], "<f2", "of <f2 where"),
        ):
            verdict = self.examine_result(values, dtype)
            self.assertEqual(verdict.outcome, "failed", verdict)
            self.assertIn(words, verdict.reason)

    def test_a_refusal_is_no_pass_and_a_crash_is_a_failure(self) -> None:
        refused = self.examine(ENDS="3", SAYS="first\nThe operator 2 (ADD) is not there yet")
        self.assertEqual(refused, stack.Verdict("refused", "The operator 2 (ADD) is not there yet"))
        self.assertEqual(self.examine(ENDS="1", SAYS="no").outcome, "failed")
        crash = self.examine(ENDS=str(stack.SANITIZER), SAYS="x ERROR: AddressSanitizer: heap")
        self.assertEqual(crash.outcome, "failed")
        self.assertIn("sanitizer: ERROR: AddressSanitizer: heap", crash.reason)

    def test_functions_are_held_against_the_true_value(self) -> None:
        words = description(test_details={"operator": "SIN"})
        words["meta"]["compliance"]["tensors"]["y"]["mode"] = precise.MODE
        self.describe(words)
        self.assertEqual(self.examine_result([1, 2]).outcome, "passed")
        verdict = self.examine_result([1, 2.00001])
        self.assertIn("ULP from the true value (2.0) at element 1", verdict.reason)


class NegativeTest(Case):
    """Models that have to be refused."""

    def test_a_refusal_that_names_the_operator_or_a_tensor_passes(self) -> None:
        for code, says in (
            ("3", "Operator 2 (ADD) that makes (y) is refused: its shape is wrong."),
            ("1", "The file (x) is no model that can be taken: Operator 2 (ADD) has 1 input."),
            ("3", "Tensor (x) has (7) dimensions, which is more than the level allows."),
        ):
            self.assertEqual(self.examine(True, ENDS=code, SAYS=says).outcome, "passed")

    def test_anything_else_fails(self) -> None:
        numpy.save(self.folder / "result.npy", numpy.zeros(2, numpy.float32))
        for environment, words in (
            ({"RESULT": str(self.folder / "result.npy")}, "is accepted: Broadcast"),
            ({"ENDS": "3", "SAYS": "no"}, "without the operator's name"),
            ({"ENDS": "3", "SAYS": "(ADD) is not there: choose another backend."}, "for want of"),
            ({"ENDS": "1", "SAYS": "the file for (ADD) is missing"}, "ends with code 1"),
            ({"ENDS": str(stack.SANITIZER), "SAYS": "runtime error: x"}, "sanitizer"),
        ):
            verdict = self.examine(True, **environment)
            self.assertEqual(verdict.outcome, "failed", verdict)
            self.assertIn(words, verdict.reason)


class PreciseTest(unittest.TestCase):
    """How far a result is from the true one."""

    def errors(self, name: str, found: list[float], true: list[float]) -> list[float]:
        form = precise.FORMATS[name]
        return list(precise.ulps(numpy.array(found, form.dtype), numpy.array(true), form))

    def test_ulps_are_those_of_the_type(self) -> None:
        self.assertEqual(self.errors("FP32", [1, 1 + 2**-23], [1, 1]), [0, 1])
        self.assertEqual(self.errors("FP16", [1 + 2**-10], [1]), [1])
        self.assertEqual(self.errors("BF16", [1 + 2**-7], [1]), [1])

    def test_infinities_and_nans_have_to_be_some(self) -> None:
        inf, nan = numpy.inf, numpy.nan
        self.assertEqual(self.errors("FP32", [inf, nan, inf], [inf, nan, 1e300]), [0, 0, 0])
        self.assertEqual(self.errors("FP32", [-inf, 1, nan], [inf, nan, 1]), [inf] * 3)

    def test_numbers_below_the_normal_ones_may_be_zeros(self) -> None:
        self.assertEqual(self.errors("FP32", [0, 2**-149], [2**-127, 2**-149]), [0, 0])
        self.assertGreater(self.errors("FP32", [0], [2**-126])[0], 1000)

    def test_inputs_of_narrow_types_are_all_there_are(self) -> None:
        given = precise.inputs(precise.FUNCTIONS["EXP"], precise.FORMATS["BF16"].dtype)
        self.assertEqual(len(numpy.unique(given.view(numpy.uint16))), precise.COUNT)
        wide = precise.inputs(precise.FUNCTIONS["SIN"], precise.FORMATS["FP32"].dtype)
        self.assertEqual(wide.shape, (precise.COUNT,))
        self.assertLessEqual(numpy.nanmax(numpy.abs(wide[numpy.isfinite(wide)])), 65536)


class PlanTest(unittest.TestCase):
    """What the generators are asked for."""

    def setUp(self) -> None:
        self.config = produce.Tools().config

    def test_every_operator_of_the_version_and_none_of_a_later_one(self) -> None:
        groups = plan.groups(self.config)
        self.assertEqual(len(groups), 70)
        self.assertNotIn("matmul_t", groups)
        for suite in (plan.short_suite, plan.full_suite):
            self.assertEqual({batch.group for batch in suite(self.config)}, set(groups))

    def test_batches_have_names_and_digests_of_their_own(self) -> None:
        for suite in (plan.short_suite, plan.full_suite):
            batches = list(suite(self.config))
            self.assertEqual(len({batch.name for batch in batches}), len(batches))
            self.assertEqual(len({batch.digest("tools") for batch in batches}), len(batches))
            self.assertNotEqual(batches[0].digest("tools"), batches[0].digest("others"))

    def test_shards_are_all_of_it_and_no_batch_twice(self) -> None:
        batches = list(plan.full_suite(self.config))
        parts = [batch for i in range(1, 8) for batch in plan.shard(batches, f"{i}/7")]
        self.assertCountEqual(parts, batches)
        for wrong in ("0/7", "8/7", "1", "a/b", ""):
            self.assertRaises(ValueError, plan.shard, batches, wrong)


class ProduceTest(unittest.TestCase):
    """How the generator is called."""

    def kernels(self, kernel: str) -> set[str]:
        """Of the INT8 convolutions that come of asking for one."""
        arguments = ("--tensor-dim-range", "4,5", "--target-dtype", "int8", "--conv-kernel", kernel)
        with tempfile.TemporaryDirectory() as folder:
            batch = plan.make("conv2d", "small", *plan.SMALL, *arguments)
            produce.generate(batch, produce.Tools(), pathlib.Path(folder))
            return {path.parent.parent.name for path in pathlib.Path(folder).rglob("desc.json")}

    def test_a_batch_does_not_depend_on_the_one_before(self) -> None:
        self.assertEqual(self.kernels("2,2"), {"conv2d_2x2"})
        self.assertEqual(self.kernels("3,3"), {"conv2d_3x3"})

    def test_a_generator_that_fails_or_dies_ends_its_batch_only(self) -> None:
        wrong = plan.Batch("add", "add-small", ("--no-such-argument",), "")
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(produce.ProduceError, r"ends with code 2 \(add-small\)"):
                produce.generate(wrong, produce.Tools(), pathlib.Path(folder))
            missing = pathlib.Path(folder) / "missing"
            with self.assertRaisesRegex(produce.ProduceError, r"dies \(add-small\)"):
                produce.generate(wrong, produce.Tools(), missing)


class RecordTest(unittest.TestCase):
    """What the full suite keeps."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "results" / "add.jsonl"

    def record(self, binary: str, failed_only: bool = False) -> full.Record:
        return full.Record(self.path, binary, failed_only)

    def result(self, name: str, outcome: str) -> stack.Result:
        return stack.Result("add", name, False, stack.Verdict(outcome), 0.5, "ADD", "test.tosa")

    def test_a_stopped_run_goes_on(self) -> None:
        first = self.record("one")
        first.expect(["a", "b"])
        first.add(self.result("a", "passed"))
        with self.path.open("a", encoding="utf-8") as file:
            file.write('{"name": "b", "outc')
        second = self.record("one")
        self.assertFalse(second.is_complete)
        self.assertEqual((second.wants("a"), second.wants("b")), (False, True))
        second.add(self.result("b", "failed"))
        self.assertTrue(self.record("one").is_complete)
        self.assertEqual(
            [r.verdict.outcome for r in self.record("one").results], ["passed", "failed"]
        )

    def test_another_binary_is_judged_anew_unless_only_failures_are(self) -> None:
        first = self.record("one")
        first.expect(["a", "b"])
        first.add(self.result("a", "passed"))
        first.add(self.result("b", "failed"))
        self.assertEqual([self.record("two").wants(name) for name in "ab"], [True, True])
        self.assertEqual([self.record("two", True).wants(name) for name in "ab"], [False, True])
        self.assertEqual(self.record("two").results, [])


class ReportTest(unittest.TestCase):
    """What is said of it all."""

    def setUp(self) -> None:
        self.results = [
            stack.Result(group, name, negative, stack.Verdict(outcome, "why\x1b"), 0.1, "X", "m")
            for group, name, negative, outcome in (
                ("add", "a", False, "passed"),
                ("add", "b", False, "refused"),
                ("add", "c", True, "passed"),
                ("sub", "d", True, "failed"),
            )
        ]

    def test_the_table_counts(self) -> None:
        lines = [line.split() for line in report.table(self.results)]
        self.assertEqual(lines[2], ["add", "2", "1", "-", "1", "1", "1", "-"])
        self.assertEqual(lines[3], ["sub", "-", "-", "-", "-", "1", "-", "1"])
        self.assertEqual(lines[4], ["all", "2", "1", "-", "1", "2", "1", "1"])

    def test_files_hold_every_test(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            report.write_json(folder / "report.json", self.results, {"isa": "AVX2"})
            report.write_junit(folder / "junit.xml", self.results)
            read = json.loads((folder / "report.json").read_text(encoding="utf-8"))
            junit = (folder / "junit.xml").read_text(encoding="utf-8")
        self.assertEqual([test["name"] for test in read["tests"]], list("abcd"))
        self.assertEqual(read["isa"], "AVX2")
        self.assertEqual(junit.count("<testcase"), 4)
        self.assertEqual(junit.count("<failure"), 2)
        self.assertNotIn("\x1b", junit)


if __name__ == "__main__":
    unittest.main()
