"""Runs one test through the whole stack and says what became of it.

The one thing to know: a test that ought to be refused passes only if the model is refused for what
is wrong with it, by a sentence that names the operator; one that ought to run and is refused is no
pass either, but counted apart.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import judge
import plan
import produce

REFUSED = 3
# Distinct from all that the program itself ends with.
SANITIZER = 86
WORDS_MAX = 400
NO_MODEL = "is no model that can be taken"
# How the backend says that it has not got something; no reason to refuse a wrong model.
LACKING = "choose another backend"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a test: `passed`, `failed`, or `refused` (one that ought to run)."""

    outcome: str
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Result:
    """A test's verdict, the operator it is about, and where its model lies."""

    group: str
    name: str
    is_negative: bool
    verdict: Verdict
    seconds: float
    operator: str
    model: str


@dataclasses.dataclass(frozen=True)
class Ended:
    """How the program ended. `code` is null if it had to be stopped."""

    code: int | None
    words: str


class Stack:
    """The program under test and how to call it."""

    def __init__(self, binary: pathlib.Path, isa: str, limit_s: float) -> None:
        self.binary = binary
        self.limit_s = limit_s
        self.environment = dict(os.environ)
        if isa:
            self.environment["DNNL_MAX_CPU_ISA"] = isa
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            given = self.environment.get(name, "")
            self.environment[name] = f"{given}:exitcode={SANITIZER}"

    def run(self, test: produce.Test, outputs: list[pathlib.Path]) -> Ended:
        """Runs the model of a test on its inputs."""
        description = test.description
        command = [str(self.binary), "run", str(test.folder / description["tosa_file"]), "--json"]
        for name, file in zip(description["ifm_name"], description["ifm_file"], strict=True):
            command += ["--input", f"{name}={test.folder / file}"]
        if not test.is_negative:
            for name, output in zip(description["ofm_name"], outputs, strict=True):
                command += ["--output", f"{name}={output}"]
        try:
            ended = subprocess.run(
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                check=False,
                timeout=self.limit_s,
            )
        except subprocess.TimeoutExpired:
            return Ended(None, f"does not end within {self.limit_s:.0f} s")
        return Ended(ended.returncode, ended.stderr.decode(errors="replace").strip())


def examine(
    test: produce.Test,
    stack: Stack,
    verifier: judge.Verifier,
    keep: pathlib.Path | None = None,
) -> Result:
    """Runs a test and judges it. Its outputs stay in a folder of `keep`, if that is given."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="virtaccel-tosa-") as name:
        folder = pathlib.Path(name)
        if keep:
            folder = keep / test.group / test.name
            folder.mkdir(parents=True, exist_ok=True)
        outputs = [folder / file for file in test.description["ofm_file"]]
        ended = stack.run(test, outputs)
        if test.is_negative:
            verdict = verdict_on_negative(test, ended)
        else:
            verdict = verdict_on_positive(test, ended, outputs, verifier)
    return Result(
        test.group,
        test.name,
        test.is_negative,
        verdict,
        time.monotonic() - started,
        test.description["test_details"]["operator"],
        str(test.folder / test.description["tosa_file"]),
    )


def failure_of(batch: plan.Batch, reason: str) -> Result:
    """A batch whose tests cannot be made."""
    return Result(batch.group, batch.name, False, Verdict("failed", reason), 0.0, "", "")


def crash_of(ended: Ended) -> str:
    """How the program broke down, or nothing if it came to an end of its own."""
    if ended.code is None:
        return ended.words
    if ended.code < 0:
        return f"is ended by {signal.Signals(-ended.code).name}: {ended.words[-WORDS_MAX:]}"
    if ended.code == SANITIZER:
        at = max(ended.words.find("ERROR: "), ended.words.find("runtime error: "), 0)
        return f"is stopped by a sanitizer: {ended.words[at : at + WORDS_MAX]}"
    return ""


def sentence_of(words: str, operator: str) -> str:
    """The line that names the operator, or the first."""
    lines = words.splitlines() or ["(no words)"]
    named = [line for line in lines if f"({operator})" in line]
    return (named or lines)[0]


def names_fault(sentence: str, operator: str) -> bool:
    """Whether a refusal says what is at fault: the operator, or a tensor that no operator could
    have."""
    return f"({operator})" in sentence or "Tensor (" in sentence


def verdict_on_positive(
    test: produce.Test, ended: Ended, outputs: list[pathlib.Path], verifier: judge.Verifier
) -> Verdict:
    """The verdict on a model that has to run."""
    operator = test.description["test_details"]["operator"]
    if test.reference:
        return Verdict("failed", test.reference)
    if crash := crash_of(ended):
        return Verdict("failed", crash)
    if ended.code == REFUSED:
        return Verdict("refused", sentence_of(ended.words, operator)[:WORDS_MAX])
    if ended.code != 0:
        return Verdict("failed", f"ends with code {ended.code}: {ended.words[-WORDS_MAX:]}")
    wrong = verifier.judge(test, outputs)
    return Verdict("failed", wrong) if wrong else Verdict("passed")


def verdict_on_negative(test: produce.Test, ended: Ended) -> Verdict:
    """The verdict on a model that has to be refused."""
    operator = test.description["test_details"]["operator"]
    if crash := crash_of(ended):
        return Verdict("failed", crash)
    if ended.code == 0:
        return Verdict("failed", f"is accepted: {test.description['expected_failure_desc']}")
    sentence = sentence_of(ended.words, operator).replace(str(test.folder), "")[:WORDS_MAX]
    if ended.code != REFUSED and NO_MODEL not in ended.words:
        return Verdict("failed", f"ends with code {ended.code}: {sentence}")
    if LACKING in sentence:
        return Verdict("failed", f"is refused for want of the operator only: {sentence}")
    if not names_fault(sentence, operator):
        return Verdict("failed", f"is refused without the operator's name: {sentence}")
    return Verdict("passed", sentence)
