"""What the worker processes do: make a batch, run a test, or, of the full suite, both.

The one thing to know: a worker's own output goes to a log, because the official tools talk a lot.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil

import full
import judge
import plan
import produce
import stack


@dataclasses.dataclass(frozen=True)
class Setup:
    """What all workers have in common. `keep` is where outputs stay, or null; `failed_only` takes
    what any binary has passed for passed."""

    tools: produce.Tools
    stack: stack.Stack
    cache: pathlib.Path
    folder: pathlib.Path
    keep: pathlib.Path | None
    binary_digest: str
    failed_only: bool


class State:
    """What one worker has."""

    setup: Setup
    verifier: judge.Verifier


def load_tools() -> None:
    """Loads the official generator, so that the workers share it."""
    import generator.tosa_verif_build_tests as official

    official.logger.setLevel("ERROR")


def start(setup: Setup) -> None:
    """The beginning of a worker."""
    State.setup = setup
    State.verifier = judge.Verifier(setup.tools)
    log = os.open(setup.folder / "tools.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def produce_batch(batch: plan.Batch) -> list[produce.Test]:
    """The tests of a batch of the short suite."""
    return produce.produce(batch, State.setup.tools, State.setup.cache)


def examine(test: produce.Test) -> stack.Result:
    """Runs and judges one test."""
    return stack.examine(test, State.setup.stack, State.verifier, State.setup.keep)


def run_batch(batch: plan.Batch, pattern: str) -> list[stack.Result]:
    """Makes, runs and judges a batch of the full suite, as far as that has not been done; what was
    made is deleted, as all of it would take tens of gigabytes."""
    setup = State.setup
    record = full.Record(
        setup.folder / "results" / f"{batch.name}-{batch.digest(setup.tools.digest)}.jsonl",
        setup.binary_digest,
        setup.failed_only,
    )
    if record.is_complete:
        return record.results
    try:
        tests = produce_batch(batch)
    except produce.ProduceError as error:
        return [stack.failure_of(batch, str(error))]
    record.expect(test.name for test in tests)
    for test in tests:
        if record.wants(test.name) and re.search(pattern, test.name):
            record.add(examine(test))
    if setup.keep is None:
        shutil.rmtree(produce.folder_of(batch, setup.tools, setup.cache), ignore_errors=True)
    return record.results
