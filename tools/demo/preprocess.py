"""Turns a photograph into the input of the face detector.

The one thing to know: the photograph is squeezed to the model's square without keeping its
proportions, so a position in the model's output, a fraction of width or height, is the same
fraction of the photograph.
"""

from __future__ import annotations

import pathlib

import numpy
import PIL.Image
import PIL.ImageOps

SIDE = 128  # height and width of the model's input in pixels


class PhotoError(Exception):
    """Holds one sentence for a person about a photograph that cannot be used."""


def open_photo(path: pathlib.Path) -> PIL.Image.Image:
    """The photograph upright and in RGB."""
    try:
        with PIL.Image.open(path) as image:
            return PIL.ImageOps.exif_transpose(image).convert("RGB")
    except FileNotFoundError:
        raise PhotoError(f"The photograph ({path}) does not exist; give the path of a PNG or JPEG "
                         "file.") from None
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError) as error:
        raise PhotoError(f"The photograph ({path}) cannot be read ({error}); give the path of a "
                         "PNG or JPEG file.") from error


def model_input(photo: PIL.Image.Image) -> numpy.ndarray:
    """1 x 128 x 128 x 3 float32, NHWC, each value in [-1, 1]."""
    small = photo.resize((SIDE, SIDE), PIL.Image.Resampling.BILINEAR)
    pixels = numpy.asarray(small, dtype=numpy.float32)
    return (pixels / numpy.float32(127.5) - numpy.float32(1))[numpy.newaxis]
