#!/usr/bin/env python3
"""Finds the face in a photograph with a real model, through the whole virtaccel stack.

Fetches and converts the model, runs it with the virtaccel program (guest client, virtqueue,
device, backend), draws what it found into OUTPUT/face.png, and prints what the stack costs.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

try:
    import command
    import detect
    import fetch
    import numpy
    import picture
    import preprocess
    import stamps
    import timing
    import wheels
except ImportError as missing:
    sys.exit(f"demo: The Python ({sys.executable}) lacks a module ({missing.name}); use "
             "./run demo, or install tools/demo/requirements.txt into a virtual environment.")

FAILURES = (command.RunError, detect.OutputError, fetch.ConversionError, preprocess.PhotoError,
            wheels.FetchError, OSError)
VALUES_PER_ANCHOR = {"TosaOutput_0": detect.VALUE_COUNT, "TosaOutput_1": 1}
STEPS = 6


class Demo:
    """The steps in their order; each prints a line when it begins and one when it ends."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._folder = options.output
        self._photo_given = options.photo is not None
        self._photo = options.photo or self._folder / fetch.PHOTO_NAME
        self._done = stamps.Stamps(self._folder / "stamps.json")
        self._step = 0
        self._command = command.Command(
            program=options.virtaccel.absolute(), model=self._folder / fetch.MODEL_NAME,
            source=self._folder / "input.npy", backend=options.backend, threads=options.threads)

    def run(self) -> None:
        """All steps; raises one of FAILURES."""
        with self._progress("Model: fetch face detection and convert it to TOSA") as say:
            made = fetch.fetch_model(self._folder, self._done)
            say(self._made(self._command.model, made))
        with self._progress("Photograph: squeeze it to the model's 128 x 128 pixels") as say:
            say(self._made(self._photo, self._prepare_photo()))
        with self._progress("Run: guest client, virtqueue, device, backend") as say:
            first = self._command.run("loopback", 5, self._outputs("loopback"))
            say(f"loaded in {first.load:.1f} ms, one run {first.median:.2f} ms")
        with self._progress("Check: the same on the backend alone") as say:
            self._command.run("direct", 1, self._outputs("direct"))
            self._compare_outputs()
            say("both give the same outputs, byte for byte")
        with self._progress("Faces: read the outputs and draw") as say:
            say(self._draw())
        with self._progress("Time: both ways in turns") as say:
            result = timing.compare(lambda device, repeat: self._command.run(device, repeat, {}),
                                    timing.repeat_count(first.median), self._show_round)
            say(f"{timing.ROUNDS} rounds of {result.repeat} runs each")
        print(f"\n{timing.table(result)}\n\nThe picture is {self._folder / 'face.png'}.")

    @contextmanager
    def _progress(self, title: str) -> Iterator:
        self._step += 1
        print(f"[{self._step}/{STEPS}] {title}", flush=True)
        begin = time.monotonic()
        yield lambda text: print(f"      {text} ({time.monotonic() - begin:.1f} s)", flush=True)

    @staticmethod
    def _made(path: pathlib.Path, made: bool) -> str:
        return f"{path}: {'made' if made else 'already there'}"

    @staticmethod
    def _show_round(number: int) -> None:
        if sys.stdout.isatty():
            end = "\r" if number < timing.ROUNDS else "\r\033[K"
            print(f"      round {number} of {timing.ROUNDS}", end=end, flush=True)

    def _outputs(self, device: str) -> dict[str, pathlib.Path]:
        return {name: self._folder / f"{device}_{name}.npy" for name in VALUES_PER_ANCHOR}

    def _prepare_photo(self) -> bool:
        if not self._photo_given:
            fetch.fetch_photo(self._folder, self._done)
        if not self._photo.is_file():
            raise preprocess.PhotoError(f"The photograph ({self._photo}) does not exist; give the "
                                        "path of a PNG or JPEG file.")
        target = self._command.source
        key = stamps.recipe(self._photo, pathlib.Path(preprocess.__file__))

        def save() -> None:
            numpy.save(target, preprocess.model_input(preprocess.open_photo(self._photo)))

        return self._done.make("input", key, [target], save)

    def _compare_outputs(self) -> None:
        for name, path in self._outputs("loopback").items():
            alone = self._outputs("direct")[name]
            if path.read_bytes() != alone.read_bytes():
                raise detect.OutputError(f"The output ({name}) differs between the stack ({path}) "
                                         f"and the backend alone ({alone}); please report this.")

    def _draw(self) -> str:
        values, logits = (detect.read_output(path, VALUES_PER_ANCHOR[name])
                          for name, path in self._outputs("loopback").items())
        photo = preprocess.open_photo(self._photo)
        found, best = detect.detections(values, logits)
        faces = [face.scaled(*photo.size) for face in found]
        picture.with_faces(photo, faces).save(self._folder / "face.png")
        for number, face in enumerate(faces, start=1):
            print(f"      {detect.sentence(number, face)}")
        if not faces and not self._photo_given:
            raise detect.OutputError(f"The model finds no face in the demo's own photograph (best "
                                     f"score {best:.2f}); the backend computes it wrongly.")
        noun = "face" if len(faces) == 1 else "faces"
        count = f"{len(faces)} {noun} in {photo.width} x {photo.height}"
        return count if faces else f"{count}; the best score is {best:.2f} of {detect.SCORE_MIN}"


def positive(text: str) -> int:
    """An argument that counts something."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"the count ({text}) must be at least 1")
    return value


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0],
        epilog="example: ./run demo, or with a photograph of your own: "
               "./run demo --photo group.jpg --threads 2")
    parser.add_argument("--virtaccel", type=pathlib.Path, metavar="FILE",
                        default=pathlib.Path("build/release/bin/virtaccel"),
                        help="the program (build/release/bin/virtaccel)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/demo"),
                        metavar="DIR", help="the folder to write into (build/demo)")
    parser.add_argument("--photo", type=pathlib.Path, metavar="FILE",
                        help="a PNG or JPEG file of your own")
    parser.add_argument("--backend", default="cpu", metavar="NAME", help="the backend (cpu)")
    parser.add_argument("--threads", type=positive, metavar="N",
                        help="threads of the backend (its own choice)")
    return parser.parse_args()


def main() -> int:
    options = parse()
    if not os.access(options.virtaccel, os.X_OK) or not options.virtaccel.is_file():
        print(f"demo: The program ({options.virtaccel}) does not exist or cannot be started; "
              "build it with ./run build.", file=sys.stderr)
        return 1
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        Demo(options).run()
    except FAILURES as error:
        print(f"demo: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 1)
    except KeyboardInterrupt:
        print("demo: stopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
