"""What goes into a TOSA file and comes out, and how deep its sums are, by the schema's own reader.

The one thing to know: names are those that `virtaccel run` takes, in the order of the file.
"""

from __future__ import annotations

import dataclasses
import math

from tosa.DType import DType
from tosa.Op import Op
from tosa.TosaGraph import TosaGraph

# What rounds once for each element that it makes.
ROUNDING = {Op.ADD, Op.CAST, Op.MUL, Op.RESIZE, Op.SIGMOID, Op.SUB, Op.TANH}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """One input, output, or value between them."""

    name: str
    shape: tuple[int, ...]
    is_float: bool


@dataclasses.dataclass(frozen=True)
class Signature:
    """A graph's inputs and outputs, and how many roundings may add up on the way to each output."""

    inputs: list[Tensor]
    outputs: list[Tensor]
    depths: list[int]

    @property
    def is_float(self) -> bool:
        return self.outputs[0].is_float


def roundings(op: int, inputs: list[Tensor], output: Tensor) -> int:
    """How many terms the sums of an operator have, bias included, as the specification counts
    them; 1 where it rounds without summing."""
    if op in (Op.CONV2D, Op.CONV3D):
        return math.prod(inputs[1].shape[1:]) + 1
    if op == Op.DEPTHWISE_CONV2D:
        return math.prod(inputs[1].shape[:2]) + 1
    if op == Op.MATMUL:
        return inputs[0].shape[2]
    if op in (Op.AVG_POOL2D, Op.REDUCE_SUM):
        return max(math.prod(inputs[0].shape) // max(math.prod(output.shape), 1), 1)
    return int(op in ROUNDING)


def read(data: bytes) -> Signature:
    """The signature of a file with one block."""
    block = TosaGraph.GetRootAs(data, 0).Regions(0).Blocks(0)
    tensors: dict[bytes, Tensor] = {}
    for i in range(block.TensorsLength()):
        one = block.Tensors(i)
        shape = tuple(one.Shape(k) for k in range(one.ShapeLength()))
        tensors[one.Name()] = Tensor(one.Name().decode(), shape,
                                     one.Type() in (DType.FP32, DType.FP16, DType.BF16))
    for i in range(block.ShapesLength()):
        name = block.Shapes(i).Name()
        tensors[name] = Tensor(name.decode(), (), is_float=False)
    depth = dict.fromkeys(tensors, 0)
    for i in range(block.OperatorsLength()):
        op = block.Operators(i)
        names = [op.Inputs(k) for k in range(op.InputsLength())]
        for k in range(op.OutputsLength()):
            output = op.Outputs(k)
            before = max((depth[name] for name in names), default=0)
            depth[output] = before + roundings(op.Op(), [tensors[name] for name in names],
                                               tensors[output])
    outputs = [block.Outputs(i) for i in range(block.OutputsLength())]
    return Signature([tensors[block.Inputs(i)] for i in range(block.InputsLength())],
                     [tensors[name] for name in outputs], [depth[name] for name in outputs])
