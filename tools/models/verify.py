#!/usr/bin/env python3
"""Runs real models through the whole stack and has the official `tosa_verify` judge what comes out.

Each model is fed the demo's photograph and random images. Floats have to stay within the bounds
that the specification sets for all the sums of the model together, and near the reference model's
own distance from exact arithmetic; integers have to be the reference model's, bit for bit.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import sys
import sysconfig
import tempfile
import time

import catalogue
import command
import fetch
import inputs
import make
import numpy
import reference
from checker.verifier import VerifierLibrary

# How far from exact arithmetic an output may be, in distances of the reference model's own FP32,
# and in parts of the largest value, which is for outputs where the reference model happens to be
# exact.
# Both distances are the largest over all inputs: for one input a scalar may be exact by chance.
DISTANCE_MAX = 4.0
RELATIVE_DISTANCE_MAX = 2.0 ** -19


class WrongResult(Exception):
    """Holds one sentence for a person: which output of what is wrong, and how."""


@dataclasses.dataclass
class Distances:
    """How far one output was from exact arithmetic at most, over all inputs."""

    ours: float = 0.0
    own: float = 0.0  # the reference model's
    largest: float = 0.0  # value

    def add(self, found: numpy.ndarray, result: numpy.ndarray, precise: numpy.ndarray) -> None:
        self.ours = max(self.ours, float(numpy.abs(found - precise).max()))
        self.own = max(self.own, float(numpy.abs(result - precise).max()))
        self.largest = max(self.largest, float(numpy.abs(precise).max()))

    @property
    def is_near(self) -> bool:
        return self.ours <= max(DISTANCE_MAX * self.own, RELATIVE_DISTANCE_MAX * self.largest)

    @property
    def ratio(self) -> float:
        return self.ours / self.own if self.own > 0 else 0.0


@dataclasses.dataclass
class Tally:
    """What was seen of one model."""

    runs: int = 0
    outputs: int = 0
    distances: dict[str, Distances] = dataclasses.field(default_factory=dict)  # by output


class Judge:
    """The official verifier."""

    def __init__(self) -> None:
        packages = pathlib.Path(sysconfig.get_path("purelib"))
        self._library = VerifierLibrary(packages / "tosa_reference_model" /
                                        "libtosa_reference_verify_lib.so")

    def integers(self, name: str, found: numpy.ndarray, expected: numpy.ndarray) -> None:
        if found.dtype != expected.dtype or not numpy.array_equal(found, expected):
            wrong = int((found != expected).sum()) if found.shape == expected.shape else found.size
            raise WrongResult(f"the output ({name}) has {wrong} of {found.size} values that are "
                              "not the reference model's")

    def floats(self, name: str, depth: int, found: numpy.ndarray, precise: numpy.ndarray,
               bounds: numpy.ndarray) -> None:
        # "s" is one of the specification's test sets; -1 is other data.
        config = {"version": "0.1", "tensors": {name: {
            "mode": "DOT_PRODUCT", "data_type": "FP32", "shape": list(found.shape),
            "dot_product_info": {"s": -1, "ksb": depth, "abs_bound": 2 * 3 * depth,
                                 "variance_error_bound": 4 * 0.4 * depth}}}}
        if found.dtype != numpy.float32 or not self._library.verify_data(
                name, config, found, precise, bounds):
            raise WrongResult(f"the output ({name}) is outside the bounds of tosa_verify")


class Verification:
    """All inputs of one model file."""

    def __init__(self, model: catalogue.Model, name: str, options: argparse.Namespace) -> None:
        self._model = model
        self._path = options.models_folder / f"{name}.tosa"
        self._options = options
        self._oracle = reference.Oracle(self._path, options.models_folder / "reference")
        self._judge = Judge()

    def run(self) -> Tally:
        tally = Tally()
        photo = inputs.photograph(self._model, self._options.models_folder / fetch.PHOTO_NAME)
        self._check("the photograph", photo, tally)
        for seed in range(self._options.inputs):
            self._check(f"the random image {seed}", inputs.random_input(self._model, seed), tally)
        for name, distances in tally.distances.items():
            if not distances.is_near:
                raise WrongResult(f"Over all inputs, the output ({name}) is up to "
                                  f"{distances.ours:.3g} from exact arithmetic, and the reference "
                                  f"model's own FP32 {distances.own:.3g}.")
        return tally

    def _check(self, what: str, array: numpy.ndarray, tally: Tally) -> None:
        if not self._oracle.signature.is_float:
            array = inputs.quantised(self._model, array)
        expected = self._oracle.on(array)
        # Both ways of working through a step are seen.
        threads = 1 + tally.runs % 2
        try:
            for i, found in enumerate(self._compute(array, threads)):
                self._compare(i, found, expected, tally)
                tally.outputs += 1
        except WrongResult as error:
            raise WrongResult(f"On {what}, with threads ({threads}), {error}.") from None
        tally.runs += 1

    def _compute(self, array: numpy.ndarray, threads: int) -> list[numpy.ndarray]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            numpy.save(folder / "input.npy", array)
            files = {output.name: folder / f"{output.name}.npy"
                     for output in self._oracle.signature.outputs}
            command.Command(self._options.virtaccel, self._path, folder / "input.npy", "cpu",
                            threads).run("loopback", 1, files)
            return [numpy.load(path) for path in files.values()]

    def _compare(self, i: int, found: numpy.ndarray, expected: reference.Reference,
                 tally: Tally) -> None:
        name = self._oracle.signature.outputs[i].name
        if not self._oracle.signature.is_float:
            self._judge.integers(name, found, expected.result[i])
            return
        self._judge.floats(name, self._oracle.signature.depths[i], found, expected.precise[i],
                           expected.bounds[i])
        tally.distances.setdefault(name, Distances()).add(found, expected.result[i],
                                                          expected.precise[i])


def verify(model: catalogue.Model, name: str, options: argparse.Namespace) -> bool:
    """One line about one model file."""
    begin = time.monotonic()
    try:
        tally = Verification(model, name, options).run()
    except (WrongResult, reference.ReferenceError) as error:
        print(f"{name}: {error}", flush=True)
        return False
    except command.RunError as error:
        print(f"{name}: {error}", flush=True)
        return False
    judged = "bit for bit the reference model's"
    if tally.distances:
        ratio = max(distances.ratio for distances in tally.distances.values())
        judged = (f"at most {ratio:.2f} times the reference model's own distance from exact "
                  "arithmetic")
    print(f"{name}: {tally.runs} inputs, {tally.outputs} outputs, {judged} "
          f"({time.monotonic() - begin:.1f} s)", flush=True)
    return True


def parse() -> argparse.Namespace:
    parser = make.parser(__doc__, "./run test models iris_landmark")
    parser.add_argument("--inputs", type=int, default=20, metavar="N",
                        help="how many random images each model is fed (20)")
    parser.add_argument("--virtaccel", type=pathlib.Path, metavar="FILE",
                        default=pathlib.Path("build/release/bin/virtaccel"),
                        help="the program (build/release/bin/virtaccel)")
    parser.add_argument("--quantizer", type=pathlib.Path, metavar="FILE",
                        help="the Python that quantises; without it the INT8 twins are left out")
    return parser.parse_args()


def main() -> int:
    options = parse()
    has_twins = options.quantizer is not None
    try:
        models = make.chosen(options, options.quantizer)
    except make.FAILURES as error:
        print(f"verify: {error}", file=sys.stderr)
        return 1
    good = [verify(model, name, options) for model in models
            for name in (model.artifacts if has_twins else [model.name])]
    print(f"{sum(good)} of {len(good)} models are right.")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
