#!/usr/bin/env python3
"""Runs TOSA's official operator tests through the whole stack.

The one thing to know: every test is a process of its own, `virtaccel run` with the model and its
inputs, and the official verifier judges what it writes; a model that is refused is no pass. The
short suite takes minutes; --full takes hours, can be split, and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import multiprocessing
import os
import pathlib
import re
import sys
from collections.abc import Iterable

import cells
import plan
import produce
import report
import stack
import worker

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHORT_S_MAX = 120.0
FULL_S_MAX = 900.0
CHUNK = 4


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./run test tosa", description=__doc__.split("\n", maxsplit=1)[0]
    )
    parser.add_argument(
        "--binary", type=pathlib.Path, required=True, help="the virtaccel that is tested"
    )
    parser.add_argument(
        "--filter", default="", metavar="REGEX", help="only groups of such a name (conv2d|matmul)"
    )
    parser.add_argument(
        "--name", default="", metavar="REGEX", help="only tests with such a part in their names"
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    parser.add_argument("--isa", default="", help="oneDNN keeps to it: AVX2, SSE41")
    parser.add_argument("--keep", action="store_true", help="keep what the models' runs write")
    parser.add_argument("--cache", type=pathlib.Path, default=produce.cache_folder())
    parser.add_argument("--folder", type=pathlib.Path, help="where the reports go (build/tosa)")
    parser.add_argument(
        "--record", type=pathlib.Path, metavar="PROGRAM",
        help="virtaccel-operators: write what passed where docs/operators.md comes from",
    )  # fmt: skip
    parser.add_argument("--full", action="store_true", help="the whole official set")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="of the suite, a part")
    parser.add_argument(
        "--failed", action="store_true",
        help="of the whole set, only what has not passed, with whatever binary",
    )  # fmt: skip
    options = parser.parse_args()
    options.folder = options.folder or ROOT / "build" / ("tosa-full" if options.full else "tosa")
    options.binary = options.binary.resolve()
    return options


def digest_of(path: pathlib.Path) -> str:
    """Which program it is."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def chosen(batches: Iterable[plan.Batch], pattern: str) -> list[plan.Batch]:
    """Those of the groups that are asked for."""
    found = [b for b in batches if not pattern or re.fullmatch(pattern, b.group)]
    if not found:
        raise produce.ProduceError(f"No group of tests has a name like ({pattern}).")
    return found


def run_short(options: argparse.Namespace, setup: worker.Setup) -> list[stack.Result]:
    """Makes what is not in the cache, and runs it all."""
    batches = chosen(plan.short_suite(setup.tools.config), options.filter)
    batches = plan.shard(batches, options.shard)
    with pool(options.jobs, setup) as workers:
        made = [workers.submit(worker.produce_batch, batch) for batch in batches]
        progress = report.Progress("making", len(made))
        for _ in concurrent.futures.as_completed(made):
            progress.advance()
        progress.end()
        results = []
        tests = []
        for batch, future in zip(batches, made):
            try:
                tests += [t for t in future.result() if re.search(options.name, t.name)]
            except produce.ProduceError as error:
                results.append(stack.failure_of(batch, str(error)))
        progress = report.Progress("testing", len(tests))
        for result in workers.map(worker.examine, tests, chunksize=CHUNK):
            results.append(result)
            progress.advance()
        progress.end()
    return results


def run_full(options: argparse.Namespace, setup: worker.Setup) -> list[stack.Result]:
    """Makes and runs one batch after the other, as many at a time as there are workers."""
    batches = chosen(plan.full_suite(setup.tools.config), options.filter)
    batches = plan.shard(batches, options.shard)
    results = []
    with pool(options.jobs, setup) as workers:
        waiting = [workers.submit(worker.run_batch, batch, options.name) for batch in batches]
        progress = report.Progress("batches", len(waiting))
        for future in concurrent.futures.as_completed(waiting):
            results += future.result()
            progress.advance()
        progress.end()
    return results


def pool(jobs: int, setup: worker.Setup) -> concurrent.futures.ProcessPoolExecutor:
    """Processes that have the official tools loaded before they part."""
    worker.load_tools()
    return concurrent.futures.ProcessPoolExecutor(
        jobs, multiprocessing.get_context("fork"), worker.start, (setup,)
    )


def facts(options: argparse.Namespace, setup: worker.Setup) -> dict:
    """What a report says of the run itself."""
    return {
        "suite": "full" if options.full else "short",
        "shard": options.shard,
        "filter": options.filter,
        "isa": options.isa,
        "binary": setup.binary_digest,
        "tools": setup.tools.digest,
        "tosa": plan.VERSION,
    }


def main() -> int:
    options = parse()
    try:
        tools = produce.Tools()
        setup = worker.Setup(
            tools=tools,
            stack=stack.Stack(
                options.binary, options.isa, FULL_S_MAX if options.full else SHORT_S_MAX
            ),
            cache=options.folder / "work" if options.full else options.cache,
            folder=options.folder,
            keep=options.folder / "outputs" if options.keep else None,
            binary_digest=digest_of(options.binary),
            failed_only=options.failed,
        )
        options.folder.mkdir(parents=True, exist_ok=True)
        results = (run_full if options.full else run_short)(options, setup)
        if options.record:
            cells.record(options.record, results)
    except (produce.ProduceError, ValueError, OSError) as error:
        print(f"tosa: {error}", file=sys.stderr)
        return 1
    report.show(results, options.folder)
    report.write_json(options.folder / "report.json", results, facts(options, setup))
    report.write_junit(options.folder / "junit.xml", results)
    return 1 if report.not_passed(results) else 0


if __name__ == "__main__":
    sys.exit(main())
