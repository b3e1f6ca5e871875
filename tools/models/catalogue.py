"""The models that the tests and the benchmark use: where each comes from and what it is fed.

The one thing to know: every model is one file of the wheel that the demo's model comes from, with
one input, an image; its quantised twin is made from it here and belongs to it.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "demo"))

import fetch  # noqa: E402 (the folders above must be on the path first)
import wheels  # noqa: E402

QUANTISED = "_int8"


@dataclasses.dataclass(frozen=True)
class Model:
    """One model: its place under mediapipe/modules, its hash, and its input."""

    member: str
    sha256: str
    side: int  # height and width of its input in pixels; three channels
    low: float  # what black and white pixels become
    high: float
    is_quantised: bool = False  # whether it has a twin in INT8

    @property
    def name(self) -> str:
        return pathlib.PurePath(self.member).stem

    @property
    def source(self) -> wheels.WheelFile:
        return dataclasses.replace(fetch.MODEL, member=f"mediapipe/modules/{self.member}",
                                   sha256=self.sha256)

    @property
    def artifacts(self) -> list[str]:
        """The names of its files, without their suffixes."""
        return [self.name, self.name + QUANTISED] if self.is_quantised else [self.name]


MODELS = (
    Model("face_detection/face_detection_short_range.tflite", fetch.MODEL.sha256,
          side=128, low=-1, high=1, is_quantised=True),
    Model("hand_landmark/hand_landmark_full.tflite",
          "11c272b891e1a99ab034208e23937a8008388cf11ed2a9d776ed3d01d0ba00e3",
          side=224, low=0, high=1, is_quantised=True),
    Model("palm_detection/palm_detection_lite.tflite",
          "e9a4aaddf90dda56a87235303cf00e4c2d3fb28725f68fd88772997dac905c18",
          side=192, low=0, high=1, is_quantised=True),
    Model("iris_landmark/iris_landmark.tflite",
          "d1744d2a09c25f501d39eba4faff47e53ecca8852c5ce19bce8eeac39357521f",
          side=64, low=0, high=1, is_quantised=True),
    Model("face_landmark/face_landmark.tflite",
          "1055cb9d4a9ca8b8c688902a3a5194311138ba256bcc94e336d8373a5f30c814",
          side=192, low=0, high=1),
    Model("pose_landmark/pose_landmark_full.tflite",
          "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f",
          side=256, low=0, high=1),
)


def chosen(names: list[str]) -> list[Model]:
    """The models of these names, in the catalogue's order; all of them for none."""
    known = {model.name: model for model in MODELS}
    for name in names:
        if name not in known:
            raise SystemExit(f"There is no model ({name}); choose among {', '.join(known)}.")
    return [model for model in MODELS if not names or model.name in names]
