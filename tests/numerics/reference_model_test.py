#!/usr/bin/env python3
"""TOSA's own reference model computes the shared cases, and the oracles judge it.

The one thing to know: neither side has seen the other, so where they agree, each is a witness for
the other. The environment names the program that writes the cases and judges the results.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
import tosa_reference_model

CASE_FILES = os.environ["VIRTACCEL_CASE_FILES"]
TYPES = {
    "BOOL": numpy.bool_,
    "INT8": numpy.int8,
    "INT16": numpy.int16,
    "INT32": numpy.int32,
    "FP32": numpy.float32,
    "FP16": numpy.float16,
    # NumPy has none of these; the reference model takes any elements of their size.
    "BF16": numpy.uint16,
    "FP8E4M3": numpy.uint8,
    "FP8E5M2": numpy.uint8,
}


def read_tensor(path: pathlib.Path, words: str) -> numpy.ndarray:
    """An array out of the bytes of a case."""
    name, _, dims = words.partition(":")
    shape = tuple(map(int, dims.split(",")))
    return numpy.frombuffer(path.read_bytes(), TYPES[name]).reshape(shape)


class ReferenceModelTest(unittest.TestCase):
    """One run of everything."""

    def test_agrees_with_the_oracles(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([CASE_FILES, "export", folder], check=True)
            for line in (folder / "list").read_text().splitlines():
                case, _, *inputs = line.split()
                # Its inputs cannot be INT4, though its weights can.
                if not any(words.startswith("INT4") for words in inputs):
                    self.compute(folder, case, inputs)
            judged = subprocess.run([CASE_FILES, "judge", folder], check=False,
                                    stdout=subprocess.PIPE, text=True)
            sys.stderr.write(judged.stdout)
            self.assertEqual(judged.returncode, 0)

    def compute(self, folder: pathlib.Path, case: str, inputs: list[str]) -> None:
        """Leaves what the reference model makes of a case beside it."""
        arrays = [read_tensor(folder / f"{case}.{i}", words) for i, words in enumerate(inputs)]
        model = (folder / f"{case}.tosa").read_bytes()
        outputs, status = tosa_reference_model.run(model, arrays)
        self.assertEqual(status, tosa_reference_model.GraphStatus.TOSA_VALID, case)
        (folder / f"{case}.result").write_bytes(outputs[0].tobytes())


if __name__ == "__main__":
    unittest.main()
