#!/usr/bin/env python3
"""One runtime of ./run bench models: OpenVINO's CPU plugin, or LiteRT with XNNPACK.

The one thing to know: it does what bench.py tells it on standard input, as virtaccel_worker does,
and answers one line of JSON each time. Inputs are written once; a run computes and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
import time

import numpy


class OpenVino:
    """OpenVINO, told to favour the latency of one run at a time, in FP32 as the others compute."""

    def __init__(self) -> None:
        import openvino

        self._core = openvino.Core()

    def load(self, path: str, threads: int) -> None:
        compiled = self._core.compile_model(path, "CPU", {
            "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": str(threads)})
        self._request = compiled.create_infer_request()

    def write(self, array: numpy.ndarray) -> None:
        self._request.get_input_tensor(0).data[:] = array

    def run(self) -> int:
        """Nanoseconds, by its own clock: what Python adds to a call is nobody's."""
        # Of the compiled class below the one written in Python, which copies outputs.
        super(type(self._request), self._request).infer({}, True, False)
        return int(self._request.latency * 1e6)


class LiteRt:
    """LiteRT's interpreter, whose default delegate is XNNPACK."""

    def __init__(self) -> None:
        from ai_edge_litert import interpreter

        self._make = interpreter.Interpreter

    def load(self, path: str, threads: int) -> None:
        self._interpreter = self._make(model_path=path, num_threads=threads)
        self._interpreter.allocate_tensors()

    def write(self, array: numpy.ndarray) -> None:
        index = self._interpreter.get_input_details()[0]["index"]
        self._interpreter.set_tensor(index, array)

    def run(self) -> int:
        """Nanoseconds."""
        begin = time.perf_counter_ns()
        self._interpreter.invoke()
        return time.perf_counter_ns() - begin


RUNTIMES = {"openvino": OpenVino, "litert": LiteRt}


def answer(**values: object) -> None:
    print(json.dumps(values), flush=True)


def obey(runtime: OpenVino | LiteRt, model: str, array: numpy.ndarray, threads: int) -> None:
    """Loads and runs as standard input says, until it ends."""
    answer()
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "load":
            begin = time.perf_counter_ns()
            runtime.load(model, threads)
            end = time.perf_counter_ns()
            runtime.write(array)
            answer(load_ns=end - begin)
        else:
            answer(ns=[runtime.run() for _ in range(int(rest[0]))])


def main() -> int:
    name, model, source, threads = sys.argv[1:]
    # What the libraries print is for people.
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(answers, "w")
    obey(RUNTIMES[name](), model, numpy.load(source), int(threads))
    return 0


if __name__ == "__main__":
    sys.exit(main())
