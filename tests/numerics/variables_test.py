#!/usr/bin/env python3
"""A model that keeps state gives, run after run, what TOSA's own reference model makes of it.

The one thing to know: the reference model (tosa-tools 2026.8.0) has no VARIABLE, VARIABLE_READ and
VARIABLE_WRITE ("OpFactory could not allocate op VARIABLE"), writes a variable once in a run
("Tensor::setProducer: producer node already set") and forgets it after that ("Fail accessing test
descriptor: [json.exception.type_error.302] type must be string, but is array"). It does keep state
in tensors that the file calls variables, so it is given the same model with IDENTITY for reads and
writes, and what it leaves is the first value of its next run. The environment names the program and
the writer of the models.
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

PROGRAM = pathlib.Path(os.environ["VIRTACCEL_PROGRAM"])
MODEL_WRITER = pathlib.Path(os.environ["VIRTACCEL_MODEL_WRITER"])
TYPES = {"INT8": numpy.int8, "FP16": numpy.float16, "FP32": numpy.float32}
ROWS, COLUMNS = 6, 8
# What `virtaccel run` does for each --repeat, the runs before the first that is measured included.
RUNS = {1: 1, 2: 4}
REFERENCE_ALONE = """
import pathlib, sys, numpy, tosa_reference_model
x = numpy.zeros((1, int(sys.argv[2])), numpy.int8)
tosa_reference_model.run(pathlib.Path(sys.argv[1]).read_bytes(), [x])
"""


def patterns(dtype: type, rows: int, seed: int) -> numpy.ndarray:
    """Bit patterns of all kinds. Of NaN only the plain one, as TOSA does not say that others
    last."""
    size = rows * COLUMNS * numpy.dtype(dtype).itemsize
    array = numpy.random.default_rng(seed).bytes(size)
    array = numpy.frombuffer(array, dtype).reshape(rows, COLUMNS).copy()
    if dtype is not numpy.int8:
        # Both zeros, a subnormal, both infinities.
        tiny = numpy.finfo(dtype).smallest_subnormal
        array[0, :6] = [0.0, -0.0, tiny, numpy.inf, -numpy.inf, numpy.nan]
        array[numpy.isnan(array)] = numpy.nan
    return array


class VariablesTest(unittest.TestCase):
    """One folder for each test."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_models(self, name: str, first: numpy.ndarray) -> None:
        """Leaves the models whose state begins with `first` in the folder."""
        (self.folder / "first").write_bytes(first.tobytes())
        subprocess.run([MODEL_WRITER, self.folder, name], check=True)

    def reference(self, name: str, state: numpy.ndarray, x: numpy.ndarray,
                  runs: int) -> list[numpy.ndarray]:
        """What the reference model reads before and after its write in the last of the runs."""
        outputs = [state, state]
        for _ in range(runs):
            self.write_models(name, outputs[1])
            model = (self.folder / "identities.tosa").read_bytes()
            outputs, status = tosa_reference_model.run(model, [x])
            self.assertEqual(status, tosa_reference_model.GraphStatus.TOSA_VALID)
        return outputs

    def ours(self, x: numpy.ndarray, device: str, repeat: int) -> list[numpy.ndarray]:
        """The same of the program, which keeps the state itself."""
        numpy.save(self.folder / "x.npy", x)
        outputs = [self.folder / "before.npy", self.folder / "after.npy"]
        subprocess.run([PROGRAM, "run", self.folder / "variables.tosa", "--device", device,
                        "--repeat", str(repeat), "--input", f"x={self.folder / 'x.npy'}",
                        "--output", f"before={outputs[0]}", "--output", f"after={outputs[1]}"],
                       check=True, stdout=subprocess.DEVNULL)
        return [numpy.load(output) for output in outputs]

    def test_every_type_agrees_bit_by_bit_run_after_run(self) -> None:
        names = subprocess.run([MODEL_WRITER], check=True, capture_output=True, text=True).stdout
        self.assertEqual(set(names.split()), set(TYPES))
        for name, dtype in TYPES.items():
            first, x = patterns(dtype, ROWS, 1), patterns(dtype, 1, 2)
            for repeat, runs in RUNS.items():
                expected = self.reference(name, first, x, runs)
                self.write_models(name, first)
                for device in ("loopback", "direct"):
                    with self.subTest(type=name, runs=runs, device=device):
                        for ours, theirs in zip(self.ours(x, device, repeat), expected,
                                                strict=True):
                            self.assertEqual(ours.dtype, theirs.dtype)
                            self.assertEqual(ours.tobytes(), theirs.tobytes())

    def test_the_reference_model_has_no_such_operators(self) -> None:
        # When it learns them, it can be given the model as it is.
        self.write_models("INT8", patterns(numpy.int8, ROWS, 1))
        # Without a search path it finds no debugger to start where it fails.
        ended = subprocess.run([sys.executable, "-c", REFERENCE_ALONE,
                                self.folder / "variables.tosa", str(COLUMNS)],
                               env={**os.environ, "PATH": ""}, capture_output=True, text=True,
                               check=False)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("OpFactory could not allocate op VARIABLE", ended.stdout + ended.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
