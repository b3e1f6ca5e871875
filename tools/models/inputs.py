"""What models are fed: images of random pixels, and a photograph squeezed to the model's size.

The one thing to know: an input is a function of its seed, so a result that was computed for it once
holds wherever it is made again.
"""

from __future__ import annotations

import pathlib

import catalogue
import numpy
import PIL.Image


def scaled(model: catalogue.Model, pixels: numpy.ndarray) -> numpy.ndarray:
    """1 x side x side x 3 float32 from pixels between 0 and 1."""
    low, high = numpy.float32(model.low), numpy.float32(model.high)
    return (low + numpy.float32(high - low) * pixels.astype(numpy.float32))[numpy.newaxis]


def random_input(model: catalogue.Model, seed: int) -> numpy.ndarray:
    """Random pixels. Odd seeds make noise; even ones areas of one colour each, of 2 to 16 pixels a
    side, which reach deeper into a model than noise does."""
    generator = numpy.random.default_rng(seed)
    side = model.side
    if seed % 2 == 1:
        return scaled(model, generator.random((side, side, 3), dtype=numpy.float32))
    area = 2 ** (1 + (seed // 2) % 4)
    count = -(-side // area)
    coarse = generator.random((count, count, 3), dtype=numpy.float32)
    return scaled(model, coarse.repeat(area, axis=0).repeat(area, axis=1)[:side, :side])


def photograph(model: catalogue.Model, path: pathlib.Path) -> numpy.ndarray:
    """The photograph, squeezed to the model's square."""
    with PIL.Image.open(path) as image:
        small = image.convert("RGB").resize((model.side, model.side),
                                            PIL.Image.Resampling.BILINEAR)
    return scaled(model, numpy.asarray(small, dtype=numpy.float32) / numpy.float32(255))


def quantised(model: catalogue.Model, array: numpy.ndarray) -> numpy.ndarray:
    """What the model's twin in INT8 is fed in place of the array: black is -128, white 127."""
    share = (array.astype(numpy.float64) - model.low) / (model.high - model.low)
    return numpy.clip(numpy.rint(share * 255) - 128, -128, 127).astype(numpy.int8)
