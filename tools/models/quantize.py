#!/usr/bin/env python3
"""Makes the INT8 twin of a TensorFlow Lite model of floats: weights with one scale for each output
channel, activations with one scale each, taken from what they were on some inputs.

The one thing to know: it works on the flatbuffer itself, so that all runtimes that are compared run
the very same integers. Runs in the environment of tools/models/requirements.txt.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import graphs
import numpy
import ranges
from ai_edge_litert import schema_py_generated as schema

Op = schema.BuiltinOperator

# The axis of an operator's weights that its output channels lie along.
CHANNEL_AXES = {Op.CONV_2D: 0, Op.DEPTHWISE_CONV_2D: 3, Op.FULLY_CONNECTED: 0}
# Which version of an operator takes INT8, where it is not the first.
VERSIONS = {Op.ADD: 2, Op.CONCATENATION: 2, Op.CONV_2D: 3, Op.DEPTHWISE_CONV_2D: 3,
            Op.FULLY_CONNECTED: 4, Op.LOGISTIC: 2, Op.MAX_POOL_2D: 2, Op.MEAN: 2, Op.PAD: 2,
            Op.RELU: 2, Op.RESIZE_BILINEAR: 2}
TAKEN = {*CHANNEL_AXES, *VERSIONS, Op.PRELU, Op.RESHAPE}
# A bias must fit INT32 with room for the sum it is added to.
BIAS_MAX = float(2 ** 29)


def parameters(scale: numpy.ndarray, zero_point: numpy.ndarray, axis: int = 0):
    """The quantisation of a tensor as the flatbuffer has it."""
    made = schema.QuantizationParametersT()
    made.scale = numpy.asarray(scale, numpy.float32)
    made.zeroPoint = numpy.asarray(zero_point, numpy.int64)
    made.quantizedDimension = axis
    return made


def activation(low: float, high: float):
    """The quantisation of a tensor whose values lie between two numbers, and perhaps are zero,
    which is always a value of its own."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = max(high - low, 1e-6) / 255
    zero_point = numpy.clip(numpy.rint(-128 - low / scale), -128, 127)
    return parameters([scale], [zero_point])


class Quantizer:
    """One model on its way; the model is changed in place."""

    def __init__(self, model: graphs.Model, bounds: dict[int, ranges.Range]) -> None:
        self._model = model
        self._bounds = bounds

    def run(self) -> None:
        for index, bounds in self._bounds.items():
            tensor = self._model.tensors[index]
            tensor.type = schema.TensorType.INT8
            tensor.quantization = activation(bounds.low, bounds.high)
        for op in self._model.operators:
            kind = self._model.kind(op)
            if kind not in TAKEN:
                raise SystemExit(f"quantize: The operator ({self._model.kind_name(op)}) has no "
                                 "rule here; add one.")
            if kind in CHANNEL_AXES:
                self._weights(op, CHANNEL_AXES[kind])
            elif kind == Op.PRELU:
                self._slopes(op)
        for code in self._model.codes:
            code.version = VERSIONS.get(code.builtinCode, 1)

    def _scale(self, index: int) -> float:
        return float(self._model.tensors[index].quantization.scale[0])

    def _weights(self, op, axis: int) -> None:
        weights = self._model.constant(op.inputs[1])
        others = tuple(i for i in range(weights.ndim) if i != axis)
        largest = numpy.abs(weights).max(axis=others).astype(numpy.float64)
        source_scale = self._scale(op.inputs[0])
        scale = numpy.maximum(largest / 127, 1e-9)
        has_bias = len(op.inputs) > 2 and op.inputs[2] >= 0
        if has_bias:
            bias = self._model.constant(op.inputs[2]).astype(numpy.float64)
            scale = numpy.maximum(scale, numpy.abs(bias) / (source_scale * BIAS_MAX))
        # The scales that runtimes compute with are the ones that are written down.
        scale = scale.astype(numpy.float32)
        shape = [-1 if i == axis else 1 for i in range(weights.ndim)]
        zeros = numpy.zeros(len(scale))
        self._model.replace(
            op, 1, numpy.clip(numpy.rint(weights / scale.reshape(shape)), -127, 127)
            .astype(numpy.int8), parameters(scale, zeros, axis))
        if has_bias:
            bias_scale = (numpy.float32(source_scale) * scale).astype(numpy.float32)
            self._model.replace(op, 2, numpy.rint(bias / bias_scale).astype(numpy.int32),
                                parameters(bias_scale, zeros))

    def _slopes(self, op) -> None:
        slopes = self._model.constant(op.inputs[1])
        scale = max(float(numpy.abs(slopes).max()) / 127, 1e-9)
        self._model.replace(op, 1, numpy.rint(slopes / scale).astype(numpy.int8),
                            parameters([scale], [0]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("source", type=pathlib.Path, metavar="SOURCE.tflite")
    parser.add_argument("inputs", type=pathlib.Path, metavar="INPUTS.npy",
                        help="what it is calibrated on: one input after the other")
    parser.add_argument("target", type=pathlib.Path, metavar="TARGET.tflite")
    parser.add_argument("--range", type=float, nargs=2, required=True, metavar=("LOW", "HIGH"),
                        help="what the input's values lie between")
    options = parser.parse_args()
    model = graphs.Model(options.source.read_bytes())
    model.fold_half_floats()
    model.fuse_activations()
    bounds = ranges.of_activations(model, numpy.load(options.inputs), ranges.Range(*options.range))
    Quantizer(model, bounds).run()
    options.target.write_bytes(model.pack())
    return 0


if __name__ == "__main__":
    sys.exit(main())
