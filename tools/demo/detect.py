"""Reads faces out of the two output tensors of the face_detection_short_range model.

The model looks at 896 fixed places, the anchors, and says of each how sure it is to see a face
and where the face lies relative to the anchor. The one thing to know: everything here is a
fraction of the picture's width or height until `Detection.scaled` turns it into pixels.
"""

from __future__ import annotations

import dataclasses
import pathlib

import numpy

SIDE = 128.0  # the model counts offsets and sizes in pixels of its own input
GRIDS = ((16, 2), (8, 6))  # (cells per side, anchors per cell), in the order of the outputs
ANCHOR_COUNT = sum(side * side * per_cell for side, per_cell in GRIDS)
VALUE_COUNT = 16  # centre x and y, width, height, then x and y of six keypoints
KEYPOINTS = ("right eye", "left eye", "nose", "mouth", "right ear", "left ear")
SCORE_MIN = 0.5
OVERLAP_MAX = 0.3  # above this intersection over union, two boxes are of the same face


class OutputError(Exception):
    """Holds one sentence for a person about output tensors that are not this model's."""


@dataclasses.dataclass(frozen=True)
class Detection:
    """One face: a score in [0, 1], a box (left, top, right, bottom), and 6 keypoints (x, y)."""

    score: float
    box: tuple[float, float, float, float]
    keypoints: tuple[tuple[float, float], ...]

    def scaled(self, width: int, height: int) -> Detection:
        """The same face in the pixels of a picture of this size."""
        left, top, right, bottom = self.box
        return Detection(self.score, (left * width, top * height, right * width, bottom * height),
                         tuple((x * width, y * height) for x, y in self.keypoints))

    def clipped(self, width: int, height: int) -> Detection:
        """The same face, in pixels, with its box cut off at the edges of the picture."""
        left, right = (min(max(value, 0.0), width - 1.0) for value in self.box[0::2])
        top, bottom = (min(max(value, 0.0), height - 1.0) for value in self.box[1::2])
        return Detection(self.score, (left, top, max(left, right), max(top, bottom)),
                         self.keypoints)


def anchors() -> numpy.ndarray:
    """896 x 2: the centre (x, y) of each anchor, which is the centre of its grid cell."""
    rows = []
    for side, per_cell in GRIDS:
        centres = (numpy.arange(side) + 0.5) / side
        y, x = numpy.meshgrid(centres, centres, indexing="ij")
        cells = numpy.stack([x, y], axis=-1).reshape(-1, 2)
        rows.append(numpy.repeat(cells, per_cell, axis=0))
    return numpy.concatenate(rows)


def read_output(path: pathlib.Path, values: int) -> numpy.ndarray:
    """896 x `values` float64 from a .npy file of 1 x 896 x `values` float32."""
    try:
        tensor = numpy.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise OutputError(f"The output file ({path}) cannot be read ({error}); "
                          "run the model again.") from error
    expected = (1, ANCHOR_COUNT, values)
    if tensor.shape != expected or tensor.dtype != numpy.float32:
        raise OutputError(f"The output file ({path}) holds {tensor.dtype} of shape "
                          f"{tensor.shape} where float32 of shape {expected} is expected; "
                          "run the face detection model.")
    if not numpy.isfinite(tensor).all():
        raise OutputError(f"The output file ({path}) holds values that are not finite; "
                          "the backend has computed them wrongly.")
    return tensor[0].astype(numpy.float64)


def scores(logits: numpy.ndarray) -> numpy.ndarray:
    """The sigmoid of the logits; they are clipped first, where the sigmoid is flat anyway."""
    return 1.0 / (1.0 + numpy.exp(-numpy.clip(logits, -100.0, 100.0)))


def decode(values: numpy.ndarray) -> numpy.ndarray:
    """896 x 16: left, top, right, bottom and the keypoints, from the model's 896 x 16 values."""
    fractions = values / SIDE
    centre = fractions[:, 0:2] + anchors()
    half = fractions[:, 2:4] / 2
    points = fractions[:, 4:].reshape(-1, len(KEYPOINTS), 2) + anchors()[:, numpy.newaxis]
    return numpy.concatenate([centre - half, centre + half, points.reshape(len(values), -1)],
                             axis=1)


def overlap(box: numpy.ndarray, others: numpy.ndarray) -> numpy.ndarray:
    """Intersection over union of one box (4) with each of the others (n x 4)."""
    corner_low = numpy.maximum(box[0:2], others[:, 0:2])
    corner_high = numpy.minimum(box[2:4], others[:, 2:4])
    common = numpy.prod(numpy.clip(corner_high - corner_low, 0.0, None), axis=1)
    area = numpy.prod(numpy.clip(box[2:4] - box[0:2], 0.0, None))
    areas = numpy.prod(numpy.clip(others[:, 2:4] - others[:, 0:2], 0.0, None), axis=1)
    union = area + areas - common
    return numpy.divide(common, union, out=numpy.zeros_like(common), where=union > 0)


def best_of_each_face(rows: numpy.ndarray, row_scores: numpy.ndarray) -> list[Detection]:
    """One detection a face, best first: a box that overlaps a better one too much is dropped."""
    order = numpy.argsort(-row_scores, kind="stable")
    rows, row_scores = rows[order], row_scores[order]
    found = []
    while len(rows):
        best = rows[0].tolist()
        points = tuple(zip(best[4::2], best[5::2], strict=True))
        found.append(Detection(float(row_scores[0]), tuple(best[0:4]), points))
        other = overlap(rows[0, 0:4], rows[:, 0:4]) <= OVERLAP_MAX
        other[0] = False  # a box without area overlaps nothing, not even itself
        rows, row_scores = rows[other], row_scores[other]
    return found


def detections(values: numpy.ndarray, logits: numpy.ndarray) -> tuple[list[Detection], float]:
    """The faces, best first, and the best score of any anchor, face or not."""
    all_scores = scores(logits[:, 0])
    sure = all_scores >= SCORE_MIN
    return best_of_each_face(decode(values)[sure], all_scores[sure]), float(all_scores.max())


def sentence(number: int, face: Detection) -> str:
    """What a person wants to read about a face whose places are in pixels."""
    left, top, right, bottom = (round(value) for value in face.box)
    points = ", ".join(f"{name} {round(x)},{round(y)}"
                       for name, (x, y) in zip(KEYPOINTS, face.keypoints, strict=True))
    return (f"Face {number}: score {face.score:.2f}, box x {left} to {right}, y {top} to {bottom}\n"
            f"        {points}")
