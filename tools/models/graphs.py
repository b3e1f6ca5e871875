"""A TensorFlow Lite model as the quantiser sees it: operators, tensors, constants.

The one thing to know: tensors and operators are the flatbuffer's own objects, changed in place;
whatever is no longer used goes when the model is packed.
"""

from __future__ import annotations

import collections

import flatbuffers
import numpy
from ai_edge_litert import schema_py_generated as schema

Op = schema.BuiltinOperator
Type = schema.TensorType
Activation = schema.ActivationFunctionType

DTYPES = {Type.FLOAT32: numpy.float32, Type.FLOAT16: numpy.float16, Type.INT32: numpy.int32,
          Type.INT8: numpy.int8}
TYPES = {numpy.dtype(dtype): number for number, dtype in DTYPES.items()}
NAMES = {number: name for name, number in vars(Op).items() if not name.startswith("_")}
IDENTIFIER = b"TFL3"


class Model:
    """The first and only subgraph of a model."""

    def __init__(self, data: bytes) -> None:
        self._model = schema.ModelT.InitFromPackedBuf(data, 0)
        if len(self._model.subgraphs) != 1:
            raise SystemExit("quantize: The model has more than one subgraph; choose another.")
        self._graph = self._model.subgraphs[0]
        for code in self.codes:
            code.builtinCode = max(code.builtinCode, code.deprecatedBuiltinCode)

    @property
    def codes(self) -> list:
        return self._model.operatorCodes

    @property
    def operators(self) -> list:
        return self._graph.operators

    @property
    def tensors(self) -> list:
        return self._graph.tensors

    @property
    def inputs(self) -> list[int]:
        return [int(index) for index in self._graph.inputs]

    def kind(self, op) -> int:
        """The operator's number in the schema."""
        return self.codes[op.opcodeIndex].builtinCode

    def kind_name(self, op) -> str:
        return NAMES[self.kind(op)]

    def is_constant(self, index: int) -> bool:
        data = self._model.buffers[self.tensors[index].buffer].data
        return data is not None and len(data) > 0

    def constant(self, index: int) -> numpy.ndarray:
        tensor = self.tensors[index]
        data = numpy.asarray(self._model.buffers[tensor.buffer].data, numpy.uint8)
        return data.view(DTYPES[tensor.type]).reshape(tensor.shape)

    def replace(self, op, position: int, values: numpy.ndarray, quantization) -> None:
        """Gives an operator another constant in a tensor of its own."""
        old = self.tensors[op.inputs[position]]
        tensor = schema.TensorT()
        tensor.name = old.name
        tensor.shape = old.shape
        tensor.quantization = quantization
        self._set(tensor, values)
        op.inputs[position] = len(self.tensors)
        self.tensors.append(tensor)

    def _set(self, tensor, values: numpy.ndarray) -> None:
        buffer = schema.BufferT()
        buffer.data = numpy.frombuffer(values.tobytes(), numpy.uint8)
        tensor.type = TYPES[values.dtype]
        tensor.buffer = len(self._model.buffers)
        self._model.buffers.append(buffer)

    def activations(self) -> list[int]:
        """The tensors of floats that are computed, or put in."""
        made = [int(index) for op in self.operators for index in op.outputs]
        return [index for index in self.inputs + made
                if self.tensors[index].type == Type.FLOAT32]

    def readers(self) -> collections.Counter[int]:
        """How often each tensor is read; being an output counts."""
        return collections.Counter([*(int(index) for op in self.operators for index in op.inputs),
                                    *(int(index) for index in self._graph.outputs)])

    def fold_half_floats(self) -> None:
        """Weights of half precision become floats, and their DEQUANTIZE operators go."""
        kept = []
        for op in self.operators:
            if self.kind(op) == Op.DEQUANTIZE and self.is_constant(op.inputs[0]):
                self._set(self.tensors[op.outputs[0]],
                          self.constant(op.inputs[0]).astype(numpy.float32))
            else:
                kept.append(op)
        self._graph.operators = kept

    def fuse_activations(self) -> None:
        """A RELU that alone reads a convolution or a sum becomes part of it."""
        readers = self.readers()
        makers = {int(index): op for op in self.operators for index in op.outputs}
        kept = []
        for op in self.operators:
            source = int(op.inputs[0])
            maker = makers.get(source)
            options = getattr(maker, "builtinOptions", None)
            can_fuse = (self.kind(op) == Op.RELU and readers[source] == 1 and
                        getattr(options, "fusedActivationFunction", None) == Activation.NONE)
            if can_fuse:
                options.fusedActivationFunction = Activation.RELU
                maker.outputs = op.outputs
                makers[int(op.outputs[0])] = maker
            else:
                kept.append(op)
        self._graph.operators = kept

    def pack(self) -> bytes:
        """The flatbuffer, without what no operator uses."""
        self._drop_unused()
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(self._model.Pack(builder), file_identifier=IDENTIFIER)
        return bytes(builder.Output())

    def _drop_unused(self) -> None:
        graph = self._graph
        used = sorted({int(index) for op in self.operators for index in [*op.inputs, *op.outputs]
                       if index >= 0} | {*self.inputs, *(int(i) for i in graph.outputs)})
        place = {old: new for new, old in enumerate(used)}
        place[-1] = -1
        graph.tensors = [graph.tensors[old] for old in used]
        graph.inputs = [place[int(index)] for index in graph.inputs]
        graph.outputs = [place[int(index)] for index in graph.outputs]
        for op in self.operators:
            op.inputs = [place[int(index)] for index in op.inputs]
            op.outputs = [place[int(index)] for index in op.outputs]
        # The first buffer is the empty one by the format's convention.
        buffers = [self._model.buffers[0]]
        for tensor in graph.tensors:
            if tensor.buffer != 0 and self._model.buffers[tensor.buffer].data is not None:
                buffers.append(self._model.buffers[tensor.buffer])
                tensor.buffer = len(buffers) - 1
            else:
                tensor.buffer = 0
        self._model.buffers = buffers
        self._model.metadata = None
        self._model.metadataBuffer = None
        codes = sorted({op.opcodeIndex for op in self.operators})
        numbers = {old: new for new, old in enumerate(codes)}
        self._model.operatorCodes = [self._model.operatorCodes[old] for old in codes]
        for op in self.operators:
            op.opcodeIndex = numbers[op.opcodeIndex]
