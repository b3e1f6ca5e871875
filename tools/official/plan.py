"""Which official operator tests there are: what the generators are asked for, batch by batch.

The one thing to know: a batch is one call of the official generator, and its name and arguments are
all that its tests depend on besides the tools' own version.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator

VERSION = "1.0.2"
PROFILES = ("tosa-pro-int", "tosa-pro-fp")
# The eleven of TOSA 1.0; the generators know ten more of 1.1.
EXTENSIONS = (
    "tosa-ext-bf16",
    "tosa-ext-controlflow",
    "tosa-ext-doubleround",
    "tosa-ext-dynamic",
    "tosa-ext-fft",
    "tosa-ext-fp8e4m3",
    "tosa-ext-fp8e5m2",
    "tosa-ext-inexactround",
    "tosa-ext-int16",
    "tosa-ext-int4",
    "tosa-ext-variable",
)
COMMON = (
    "--tosa-version", VERSION, "--seed", "42", "--profile", *PROFILES, "--extension", *EXTENSIONS,
)  # fmt: skip
# The short suite: every operator and type, on tensors of some hundred elements.
SMALL = (
    "--max-batch-size", "1", "--max-conv-padding", "1", "--max-conv-stride", "2",
    "--max-conv-dilation", "1", "--max-pooling-padding", "1", "--max-pooling-stride", "2",
    "--max-resize-output-dim", "32", "--num-rand-permutations", "1", "--no-special-tests",
)  # fmt: skip
DIMENSIONS = (
    "--tensor-dim-range", "4,9", "--conv-kernel", "2,2", "3,3", "2,1,2",
    "--max-pooling-kernel", "3",
)  # fmt: skip
TYPES = (
    "--target-dtype", "bool", "int4", "int8", "int16", "int32", "int48", "fp32", "fp16", "bf16",
    "fp8e4m3", "fp8e5m2", "shape",
)  # fmt: skip
FLOATS = ("--target-dtype", "fp32", "fp16", "bf16", "fp8e4m3", "fp8e5m2")
# Dot products of floating-point numbers are judged by their statistics: the generator makes no test
# of fewer than a thousand of them. Convolutions in three dimensions are never that small.
LARGER = {
    "avg_pool2d": ("--tensor-dim-range", "10,19", "--max-pooling-kernel", "2"),
    "conv2d": ("--tensor-dim-range", "10,19", "--conv-kernel", "2,2"),
    "depthwise_conv2d": ("--tensor-dim-range", "10,19", "--conv-kernel", "2,2"),
    "matmul": ("--tensor-dim-range", "10,19"),
    "reduce_sum": ("--tensor-dim-range", "10,13", "--target-rank", "4"),
    "transpose_conv2d": ("--tensor-dim-range", "10,19", "--conv-kernel", "2,2"),
}
# Where one choice at random does not meet every type.
MORE = {"resize": ("--num-rand-permutations", "4")}
# Sizes of a transform are powers of two, which no range gives by chance.
TRANSFORMS = ("fft2d", "rfft2d")
TRANSFORM_SHAPES = ("--target-shape", "1,32,32", "2,16,64")
# What precise.py has inputs of its own for, one batch of every type.
PRECISE = ("cos", "erf", "exp", "log", "sigmoid", "sin", "tanh")
PRECISE_INPUTS = (
    "--no-special-tests", "--target-shape", "65536", "--target-dtype", "fp32", "fp16", "bf16",
)  # fmt: skip
# Whose wrong shapes would come out with nothing in them.
SHRINKING = ("concat",)
NEGATIVE = (
    "--max-batch-size", "1", "--max-conv-padding", "0",
    "--max-conv-stride", "1", "--max-conv-dilation", "1", "--conv-kernel", "2,2",
    "--max-pooling-kernel", "2", "--max-pooling-padding", "0", "--max-pooling-stride", "1",
    "--max-resize-output-dim", "16", "--num-rand-permutations", "1",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Batch:
    """One call of the generator. `selection` names the criteria of the official configuration by
    which it picks among all tests that it could make; empty picks one negative test a rule."""

    group: str
    name: str
    arguments: tuple[str, ...]
    selection: str = "default"

    @property
    def is_negative(self) -> bool:
        """Whether its models break a rule each."""
        return self.arguments[-2:] == ("--test-type", "negative")

    @property
    def is_precise(self) -> bool:
        """Whether its tests get our own inputs and judge."""
        return self.name == f"{self.group}-precise"

    def digest(self, tools: str) -> str:
        """What its tests depend on; `tools` stands for the contents of the official tools."""
        text = "\0".join((tools, self.group, self.name, self.selection, *self.arguments))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def numbers(version: str) -> tuple[int, ...]:
    """1.0.2 as (1, 0, 2); a v in front is the older spelling."""
    return tuple(int(part) for part in version.removeprefix("v").split("."))


def is_in_version(entry: dict) -> bool:
    """Whether an operator or one of its generation groups belongs to our version of TOSA."""
    chosen = numbers(VERSION)
    return numbers(entry.get("from_version", VERSION)) <= chosen and chosen <= numbers(
        entry.get("to_version", VERSION)
    )


def groups(config: dict) -> list[str]:
    """The operators of our version, in the order of their names."""
    return sorted(name for name, entry in config.items() if name[0] != "$" and is_in_version(entry))


def make(group: str, kind: str, *arguments: str) -> Batch:
    """A batch of the short suite, for one operator."""
    test_type = "negative" if kind == "negative" else "positive"
    rest = ("--filter", f"^{group}$", "--test-type", test_type)
    selection = "" if kind == "negative" else "default"
    return Batch(group, f"{group}-{kind}", (*COMMON, *arguments, *rest), selection)


def short_suite(config: dict) -> Iterator[Batch]:
    """Some two thousand positive tests of all operators and types, our own inputs for some of them,
    and one negative test for each rule that an operator has."""
    for group in groups(config):
        if group in TRANSFORMS:
            yield make(group, "small", *SMALL, "--target-dtype", "fp32", *TRANSFORM_SHAPES)
        else:
            yield make(group, "small", *SMALL, *DIMENSIONS, *TYPES, *MORE.get(group, ()))
        if group in LARGER:
            yield make(group, "larger", *SMALL, *FLOATS, *LARGER[group])
        if group in PRECISE:
            yield make(group, "precise", *PRECISE_INPUTS)
        dimensions = "8,16" if group in SHRINKING else "4,8"
        yield make(group, "negative", *NEGATIVE, *TYPES, "--tensor-dim-range", dimensions)


def full_suite(config: dict) -> Iterator[Batch]:
    """The official conformance tests of our version with all profiles and extensions: what the
    official generator asks for, operator by operator."""
    chosen = {*PROFILES, *EXTENSIONS}
    for group in groups(config):
        entry = config[group]
        for name, generation in entry["generation"].items():
            any_of = generation.get("supports_any", [])
            all_of = generation.get("supports_all", [])
            if not is_in_version(generation) or not chosen.issuperset(all_of):
                continue
            if chosen.isdisjoint([*any_of, *all_of]):
                continue
            random = "random_const_inputs" in entry.get("support_for", [])
            for index, arguments in enumerate(generation["generator_args"], 1):
                yield Batch(
                    group,
                    f"{group}-{name}-{index}",
                    (
                        *("--filter", entry.get("gen_filter", f"^{group}$")),
                        *(("--random-const-inputs",) if random else ()),
                        *COMMON,
                        *("--test-type", "positive"),
                        *arguments,
                    ),
                    generation.get("selector", "default"),
                )


def shard(batches: list[Batch], text: str) -> list[Batch]:
    """Every Nth batch from the Ith on; `text` is I/N, from 1/N to N/N."""
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise ValueError(f"The shard ({text}) is not of the form I/N with I from 1 to N.")
    return batches[int(index) - 1 :: int(count)]
