#!/usr/bin/env python3
"""Fetches what the demo works on: a face detection model, as TOSA 1.0, and a photograph.

Writes face_detection_short_range.tosa and astronaut.png into the output folder; what is already
there and unchanged is left alone. The model's weights stay 16-bit floats, as its authors ship it.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import sysconfig

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import stamps  # noqa: E402 (the folder above must be on the path first)
import wheels  # noqa: E402

MODEL = wheels.WheelFile(
    package="mediapipe",
    version="0.10.21",
    platform="manylinux_2_28_x86_64",
    wheel_sha256="05dc4a9e593655a79558d05d6227d31018c2537a4bd3362b51e230cf22aecfe3",
    wheel_megabytes=36,
    member="mediapipe/modules/face_detection/face_detection_short_range.tflite",
    sha256="bbff11cebd1eb27a1e004cae0b0e63ec8c551cbf34a4451148b4908b8db3eca8",
)
PHOTO = wheels.WheelFile(
    package="scikit-image",
    version="0.26.0",
    platform="manylinux_2_28_x86_64",
    wheel_sha256="74aa5518ccea28121f57a95374581d3b979839adc25bb03f289b1bc9b99c58af",
    wheel_megabytes=14,
    member="skimage/data/astronaut.png",
    sha256="88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
)
TARGET = "specification_version=1.0 profiles=pro_int,pro_fp level=8k"
MODEL_NAME = "face_detection_short_range.tosa"
PHOTO_NAME = "astronaut.png"
TOOL_TIMEOUT_S = 300


class ConversionError(Exception):
    """Holds one sentence for a person: which tool failed and what to do."""


def run_tool(name: str, arguments: list[str], folder: pathlib.Path) -> None:
    """Runs a program of this Python's environment in a folder; its words are shown if it fails."""
    program = pathlib.Path(sysconfig.get_path("scripts")) / name
    try:
        result = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True,
                                errors="replace", timeout=TOOL_TIMEOUT_S, check=False)
    except OSError as error:
        raise ConversionError(f"The program ({program}) cannot be started ({error.strerror}); "
                              "install tools/demo/requirements.txt into this Python's "
                              "environment.") from error
    except subprocess.TimeoutExpired:
        raise ConversionError(f"The program ({program}) has not ended within {TOOL_TIMEOUT_S} s; "
                              "try again on a less busy machine.") from None
    if result.returncode != 0:
        print(result.stdout + result.stderr, end="", file=sys.stderr)
        raise ConversionError(f"The program ({program}) has failed (exit code "
                              f"{result.returncode}); see its words above.")


def convert(tflite: bytes, target: pathlib.Path, tosa_target: str = TARGET) -> None:
    """Writes a TensorFlow Lite model as a TOSA flatbuffer for a target in tosa-opt's words.

    The tools run inside the target's folder on bare file names because the flatbuffer records the
    name of the file it was made from.
    """
    source = target.with_suffix(".tflite")
    middle = target.with_suffix(".mlir")
    try:
        wheels.write_whole(source, tflite)
        run_tool("tosa-converter-for-tflite", [source.name, "--text", "-o", middle.name],
                 target.parent)
        run_tool("tosa-opt", [middle.name, f"--tosa-attach-target={tosa_target}",
                              "--tosa-serialize", f"--tosa-flatbuffer-filename={target.name}",
                              "-o", "/dev/null"], target.parent)
    finally:
        source.unlink(missing_ok=True)
        middle.unlink(missing_ok=True)
    if not target.is_file() or target.read_bytes()[4:8] != b"TOSA":
        raise ConversionError(f"The converted model ({target}) is no TOSA flatbuffer; check the "
                              "versions in tools/demo/requirements.txt.")


def fetch_model(folder: pathlib.Path, done: stamps.Stamps) -> bool:
    """Makes the .tosa file in the folder; true if it had to be made."""
    target = folder / MODEL_NAME
    requirements = pathlib.Path(__file__).with_name("requirements.txt")
    key = stamps.recipe(MODEL, TARGET, requirements)
    return done.make("model", key, [target], lambda: convert(wheels.read(MODEL), target))


def fetch_photo(folder: pathlib.Path, done: stamps.Stamps) -> bool:
    """Puts the photograph into the folder; true if it had to be put there."""
    target = folder / PHOTO_NAME
    return done.make("photo", stamps.recipe(PHOTO), [target],
                     lambda: wheels.write_whole(target, wheels.read(PHOTO)))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0],
        epilog="example: build/venv/bin/python tools/demo/fetch.py --output build/demo")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/demo"),
                        metavar="DIR", help="the folder to write into (build/demo)")
    folder = parser.parse_args().output
    try:
        folder.mkdir(parents=True, exist_ok=True)
        done = stamps.Stamps(folder / "stamps.json")
        fetch_model(folder, done)
        fetch_photo(folder, done)
    except (wheels.FetchError, ConversionError, OSError) as error:
        print(f"fetch: {error}", file=sys.stderr)
        return 1
    print(folder / MODEL_NAME, folder / PHOTO_NAME, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
