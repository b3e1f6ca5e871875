"""What the activations of a model are between, measured on inputs with LiteRT's plain kernels.

The one thing to know: operators that only move values, or choose among them, keep the scale of what
they read, so the tensors around them share one range.
"""

from __future__ import annotations

import dataclasses

import graphs
import numpy
from ai_edge_litert import interpreter

Op = graphs.Op

# Whose outputs have the scale of their inputs.
KEEPERS = {Op.CONCATENATION, Op.MAX_POOL_2D, Op.PAD, Op.RELU, Op.RESHAPE, Op.RESIZE_BILINEAR}


@dataclasses.dataclass(frozen=True)
class Range:
    """From the smallest to the largest value."""

    low: float
    high: float

    def joined(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))


# A sigmoid has a scale of its own, 1/256, in every runtime.
SIGMOID = Range(0.0, 255 / 256)


def measured(model: graphs.Model, inputs: numpy.ndarray) -> dict[int, Range]:
    """The range of each activation over all inputs."""
    watched = model.activations()
    runner = interpreter.Interpreter(
        model_content=model.pack(), experimental_preserve_all_tensors=True,
        experimental_op_resolver_type=interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    runner.allocate_tensors()
    found: dict[int, Range] = {}
    for one in inputs:
        runner.set_tensor(runner.get_input_details()[0]["index"], one[numpy.newaxis])
        runner.invoke()
        for index in watched:
            values = runner.get_tensor(index)
            here = Range(float(values.min()), float(values.max()))
            found[index] = found[index].joined(here) if index in found else here
    return found


def of_activations(model: graphs.Model, inputs: numpy.ndarray, source: Range) -> dict[int, Range]:
    """The range that each activation is quantised with; `source` is the model's input's."""
    model.pack()  # numbers the tensors anew, so that all that follows means the same ones
    found = measured(model, inputs)
    found[model.inputs[0]] = source
    leaders = {index: index for index in found}

    def leader(index: int) -> int:
        while leaders[index] != index:
            index = leaders[index]
        return index

    for op in model.operators:
        output = int(op.outputs[0])
        if model.kind(op) == Op.LOGISTIC:
            found[output] = SIGMOID
        if model.kind(op) in KEEPERS:
            for index in map(int, op.inputs):
                if index in found:
                    leaders[leader(index)] = leader(output)
    shared: dict[int, Range] = {}
    for index, bounds in found.items():
        top = leader(index)
        shared[top] = shared[top].joined(bounds) if top in shared else bounds
    return {index: shared[leader(index)] for index in found}
