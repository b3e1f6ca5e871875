"""Our own inputs for what is computed by series: nearly every kind of number, judged ULP by ULP.

The one thing to know: the official bounds for these functions let half a result pass, and the
official inputs lie between zero and one. FP16 and BF16 are tried on every bit pattern.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib

import ml_dtypes
import numpy

COUNT = 65536
MODE = "VIRTACCEL_ULP"
SEED = 42


@dataclasses.dataclass(frozen=True)
class Format:
    """A floating-point type: how NumPy knows it, the bits behind its point, its smallest normal
    number, and how many ULPs a result may be off. Narrow results are rounded once, from FP32."""

    dtype: numpy.dtype
    fraction: int
    smallest_normal: float
    limit: float


FORMATS = {
    "FP32": Format(numpy.dtype(numpy.float32), 23, 2.0**-126, 4),
    "FP16": Format(numpy.dtype(numpy.float16), 10, 2.0**-14, 0.51),
    "BF16": Format(numpy.dtype(ml_dtypes.bfloat16), 7, 2.0**-126, 0.51),
}


@dataclasses.dataclass(frozen=True)
class Function:
    """What an operator computes, in FP64; the inputs at which its result changes; and how large an
    input is where the result still means something."""

    true: object
    low: float
    high: float
    input_max: float = math.inf


def sigmoid(x: numpy.ndarray) -> numpy.ndarray:
    """Without loss where the result is close to zero."""
    e = numpy.exp(-numpy.abs(x))
    return numpy.where(x < 0, e, 1.0) / (1.0 + e)


FUNCTIONS = {
    "COS": Function(numpy.cos, -100.0, 100.0, 65536.0),
    "ERF": Function(numpy.vectorize(math.erf), -5.0, 5.0),
    "EXP": Function(numpy.exp, -104.0, 89.0),
    "LOG": Function(numpy.log, 0.0, 4.0),
    "SIGMOID": Function(sigmoid, -104.0, 20.0),
    "SIN": Function(numpy.sin, -100.0, 100.0, 65536.0),
    "TANH": Function(numpy.tanh, -10.0, 10.0),
}


def inputs(function: Function, dtype: numpy.dtype) -> numpy.ndarray:
    """Every bit pattern of a narrow type; of FP32, half where the result changes, and half over all
    magnitudes and signs, with what is special in front."""
    if dtype.itemsize == 2:
        values = numpy.arange(COUNT, dtype=numpy.uint16).view(dtype)
    else:
        random = numpy.random.default_rng(SEED)
        near = random.uniform(function.low, function.high, COUNT // 2)
        far = random.choice([-1.0, 1.0], COUNT // 2) * 2.0 ** random.uniform(-149, 128, COUNT // 2)
        special = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1.0, -1.0, 2.0**-126, 2.0**-149]
        values = numpy.concatenate([special, near[: -len(special)], far]).astype(dtype)
    with numpy.errstate(invalid="ignore"):
        wide = values.astype(numpy.float64)
    too_large = numpy.isfinite(wide) & (numpy.abs(wide) > function.input_max)
    return numpy.where(too_large, numpy.zeros(1, dtype), values)


def prepare(folder: pathlib.Path) -> None:
    """Gives an official test of one of these operators our inputs, and our judge."""
    path = folder / "desc.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    function = FUNCTIONS[description["test_details"]["operator"]]
    (tensor,) = description["meta"]["compliance"]["tensors"].values()
    given = inputs(function, FORMATS[tensor["data_type"]].dtype)
    with numpy.errstate(all="ignore"):
        true = function.true(given.astype(numpy.float64))
    numpy.save(folder / description["ifm_file"][0], storable(given))
    numpy.save(folder / description["ofm_file"][0], true)
    tensor["mode"] = MODE
    description["test_requirements"]["bounds_file_required"] = False
    path.write_text(json.dumps(description, indent=1), encoding="utf-8")


def storable(values: numpy.ndarray) -> numpy.ndarray:
    """NumPy's files have no BF16; raw bytes stand for it."""
    return values.view("V2") if values.dtype == ml_dtypes.bfloat16 else values


def judge(data_type: str, found: numpy.ndarray, true: numpy.ndarray) -> str:
    """What is wrong with a result that has to be as close to the FP64 one as a format demands."""
    form = FORMATS[data_type]
    errors = ulps(found.view(form.dtype), true, form)
    if not errors.size or errors.max() <= form.limit:
        return ""
    worst = int(errors.argmax())
    value = float(found.view(form.dtype).flat[worst])
    return (
        f"is {errors.flat[worst]:.2f} ULP from the true value ({float(true.flat[worst])!r}) at "
        f"element {worst} ({value!r}), and more than {form.limit} at {(errors > form.limit).sum()} "
        f"of {errors.size} elements"
    )


def ulps(found: numpy.ndarray, true: numpy.ndarray, form: Format) -> numpy.ndarray:
    """How far each result is from the true value, in units of its last place there. Numbers below
    the smallest normal one may be taken for zeros; an infinity or NaN has to be one."""
    with numpy.errstate(all="ignore"):
        rounded = true.astype(form.dtype).astype(numpy.float64)
        got = found.astype(numpy.float64)
        magnitude = numpy.maximum(numpy.abs(true), form.smallest_normal)
        unit = numpy.exp2(numpy.floor(numpy.log2(magnitude)) - form.fraction)
        errors = numpy.abs(got - true) / unit
        flushed = (numpy.abs(true) < form.smallest_normal) & (got == 0)
    same = (got == rounded) | (numpy.isnan(got) & numpy.isnan(rounded))
    errors = numpy.where(numpy.isfinite(rounded), errors, numpy.where(same, 0.0, numpy.inf))
    return numpy.where(flushed, 0.0, numpy.where(numpy.isnan(errors), numpy.inf, errors))
