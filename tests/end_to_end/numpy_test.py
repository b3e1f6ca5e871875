#!/usr/bin/env python3
"""Arrays that NumPy saves go through `virtaccel run` and come back as NumPy loads them.

The one thing to know: the model is y = x, so whatever NumPy sees in the input file it has to see in
the output file. The environment names the program and the writer of the model.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
from numpy.lib import format as npy

PROGRAM = pathlib.Path(os.environ["VIRTACCEL_PROGRAM"])
MODEL_WRITER = pathlib.Path(os.environ["VIRTACCEL_MODEL_WRITER"])
VALUES = numpy.array([[0, 1, 2], [3, 4, 5]], "<f4")


class RunTest(unittest.TestCase):
    """One folder for each test."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.source = self.folder / "x.npy"
        self.target = self.folder / "y.npy"

    def run_file(self, shape: tuple[int, ...], dtype: str = "FP32") -> subprocess.CompletedProcess:
        """Runs y = x of the shape and type on the file in place."""
        model = self.folder / "m.tosa"
        subprocess.run([MODEL_WRITER, model, dtype, *map(str, shape)], check=True)
        return subprocess.run([PROGRAM, "run", model, "--input", f"x={self.source}",
                               "--output", f"y={self.target}"],
                              capture_output=True, text=True, check=False)

    def expect_same(self, expected: numpy.ndarray) -> None:
        """The file in place comes back as `expected`, in plain FP32."""
        self.expect_same_bytes(expected.astype("<f4"), "FP32")

    def expect_same_bytes(self, expected: numpy.ndarray, dtype: str) -> None:
        """The file in place comes back as `expected`, through a model of type `dtype`."""
        done = self.run_file(expected.shape, dtype)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = numpy.load(self.target)
        self.assertEqual(result.dtype, expected.dtype)
        self.assertEqual(result.shape, expected.shape)
        self.assertEqual(result.tobytes(), expected.tobytes())

    def expect_refusal(self, words: str) -> None:
        """The file in place is refused for a model of shape (2, 3), in one line saying so."""
        done = self.run_file((2, 3))
        self.assertEqual(done.returncode, 1)
        self.assertIn(words, done.stderr)
        self.assertIn("(x)" if "where" in words else str(self.source), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse(self.target.exists())

    def test_orders_and_byte_orders_come_back_as_numpy_sees_them(self) -> None:
        wide = numpy.zeros((4, 6), "<f4")
        wide[::2, ::2] = VALUES
        for array in (VALUES, numpy.asfortranarray(VALUES), VALUES.astype(">f4"),
                      numpy.asfortranarray(VALUES.astype(">f4")), wide[::2, ::2]):
            numpy.save(self.source, array)
            self.expect_same(VALUES)

    def test_ranks_stay_what_they_are(self) -> None:
        for array in (numpy.array(7, "<f4"), numpy.array([1, 2, 3], "<f4"),
                      numpy.arange(120, dtype="<f4").reshape(2, 3, 4, 5),
                      numpy.asfortranarray(numpy.arange(120, dtype="<f4").reshape(2, 3, 4, 5))):
            numpy.save(self.source, array)
            self.expect_same(array)

    def test_every_version_of_the_format_is_read(self) -> None:
        for version in ((1, 0), (2, 0), (3, 0)):
            with self.source.open("wb") as file:
                npy.write_array(file, VALUES, version=version)
            self.expect_same(VALUES)

    def test_headers_may_be_long_and_in_any_order(self) -> None:
        text = b"{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}"
        for header in (text.ljust(117) + b"\n", text.ljust(4989) + b"\n"):
            length = len(header).to_bytes(2, "little")
            self.source.write_bytes(b"\x93NUMPY\x01\x00" + length + header + VALUES.tobytes())
            self.assertEqual(numpy.load(self.source).tobytes(), VALUES.tobytes())
            self.expect_same(VALUES)

    def test_every_type_comes_back_as_it_went(self) -> None:
        # NumPy has no BF16; the reference model's files hold it as two raw bytes.
        for dtype, array in (("BOOL", numpy.array([[True, False, True], [False, False, True]])),
                             ("FP16", VALUES.astype("<f2")), ("INT8", VALUES.astype("|i1")),
                             ("INT16", VALUES.astype("<i2")), ("INT32", VALUES.astype("<i4")),
                             ("BF16", (VALUES.view("<u4") >> 16).astype("<u2").view("|V2"))):
            numpy.save(self.source, array)
            self.expect_same_bytes(array, dtype)

    def test_files_one_byte_short_or_long_are_refused(self) -> None:
        numpy.save(self.source, VALUES)
        whole = self.source.read_bytes()
        self.source.write_bytes(whole[:-1])
        self.expect_refusal("fewer bytes of data (23) than the 24 its header promises")
        self.source.write_bytes(whole + b"\0")
        self.expect_refusal("more bytes of data (25) than the 24 its header promises")

    def test_nothing_that_numpy_cannot_mean_is_taken(self) -> None:
        numpy.save(self.source, VALUES.astype("<f8"))
        self.expect_refusal("(<f8) where (<f4, FP32) is expected")
        numpy.save(self.source, VALUES.astype(object))
        self.expect_refusal("a Python object and no number")
        numpy.save(self.source, VALUES.T)
        self.expect_refusal("has shape (3, 2) where (2, 3) is expected")
        numpy.save(self.source, numpy.zeros((0, 3), "<f4"))
        self.expect_refusal("has shape (0, 3) where (2, 3) is expected")
        numpy.save(self.source, numpy.zeros(6, [("a", "<f4")]))
        self.expect_refusal("is not a dictionary of a plain descr")
        numpy.savez(self.source.with_suffix(".npz"), VALUES)
        self.source.with_suffix(".npz").rename(self.source)
        self.expect_refusal("is no .npy file")


if __name__ == "__main__":
    sys.exit(unittest.main())
