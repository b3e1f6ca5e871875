"""Judges what came out of the stack: by the official verifier's library, and more tightly by ULPs.

The one thing to know: the official bounds for some functions are so wide that half a result passes,
so what those compute is also held against the FP64 result, ULP by ULP.
"""

from __future__ import annotations

import ctypes
import json
import pathlib
import subprocess

import numpy
import precise
import produce

# The numbers of tosa_datatype_t, and the elements of the files that hold such a tensor.
TYPES = {
    "BF16": (0, "|V2"),
    "BOOL": (1, "|b1"),
    "FP16": (2, "<f2"),
    "FP32": (3, "<f4"),
    "INT16": (4, "<i2"),
    "INT32": (5, "<i4"),
    "INT48": (6, "<i8"),
    "INT4": (7, "|i1"),
    "INT8": (8, "|i1"),
    "SHAPE": (11, "<i8"),
    "FP8E4M3": (12, "|V1"),
    "FP8E5M2": (13, "|u1"),
}
FP64 = 99


class Tensor(ctypes.Structure):
    """tosa_tensor_t."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int32)),
        ("num_dims", ctypes.c_int32),
        ("data_type", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
    ]


class Verifier:
    """The official verifier in this process."""

    def __init__(self, tools: produce.Tools) -> None:
        self._tools = tools
        self._verify = ctypes.CDLL(str(tools.verify_library)).tvf_verify_data
        self._verify.argtypes = [ctypes.POINTER(Tensor)] * 3 + [ctypes.c_char_p]
        self._verify.restype = ctypes.c_bool

    def judge(self, test: produce.Test, outputs: list[pathlib.Path]) -> str:
        """What is wrong with the outputs of a test, or nothing."""
        for name, file, output in zip(
            test.description["ofm_name"], test.description["ofm_file"], outputs, strict=True
        ):
            if wrong := self._judge_one(test, name, test.folder / file, output):
                return f"the output ({name}) {wrong}"
        return ""

    def _judge_one(
        self, test: produce.Test, name: str, reference: pathlib.Path, output: pathlib.Path
    ) -> str:
        compliance = test.description["meta"]["compliance"]
        declared = compliance["tensors"][name]
        number, elements = TYPES[declared["data_type"]]
        found = numpy.load(output)
        if found.dtype.str != elements or list(found.shape) != declared["shape"]:
            return (
                f"has shape {found.shape} of {found.dtype.str} where {declared['shape']} of "
                f"{elements} is expected"
            )
        arrays = [numpy.load(reference), found]
        if test.description["test_details"]["operator"] in precise.FUNCTIONS:
            if wrong := precise.judge(declared["data_type"], found, arrays[0]):
                return wrong
        if declared["mode"] == precise.MODE:
            return ""
        if test.description["test_requirements"]["bounds_file_required"]:
            arrays.append(numpy.load(reference.with_name(f"bounds_{reference.name}")))
        wanted, got, *bound = (tensor_of(name, array, number) for array in arrays)
        pointer = ctypes.byref(bound[0]) if bound else None
        config = json.dumps(compliance).encode()
        if self._verify(ctypes.byref(wanted), pointer, ctypes.byref(got), config):
            return ""
        return f"is not compliant: {self._words(test, name, reference, output)}"

    def _words(
        self, test: produce.Test, name: str, reference: pathlib.Path, output: pathlib.Path
    ) -> str:
        """The official program's reason; the library gives none."""
        command = [
            self._tools.program("tosa_verify"),
            *("--test_desc", str(test.folder / "desc.json"), "--ofm_name", name),
            *("--imp_result_file", str(output), "--ref_result_file", str(reference)),
        ]
        if test.description["test_requirements"]["bounds_file_required"]:
            command += ["--bnd_result_file", str(reference.with_name(f"bounds_{reference.name}"))]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        words = " ".join((ended.stdout + ended.stderr).split())
        return words[:300] or f"tosa_verify ends with code {ended.returncode}"


def tensor_of(name: str, array: numpy.ndarray, number: int) -> Tensor:
    """A tensor of the verifier's that points into the array."""
    array = numpy.ascontiguousarray(array)
    tensor = Tensor(
        name.encode(),
        (ctypes.c_int32 * array.ndim)(*array.shape),
        array.ndim,
        FP64 if array.dtype == numpy.float64 else number,
        array.ctypes.data,
        array.nbytes,
    )
    tensor.array = array  # what it points into lives as long
    return tensor
