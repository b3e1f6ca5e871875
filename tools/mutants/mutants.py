#!/usr/bin/env python3
"""Mutates virtaccel/wire and virtaccel/device and sees whether the tests notice.

The one thing to know: a mutant that survives is a missing test, or an equivalent that
equivalent.json explains; anything else makes the run fail. Results are kept in build/mutants, so a
run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import random
import sys
from collections.abc import Iterable

import runner
import sites

EQUIVALENT = runner.ROOT / "tools" / "mutants" / "equivalent.json"


def load_equivalents() -> dict[str, str]:
    """Why a surviving mutant is the same program, by its key."""
    return json.loads(EQUIVALENT.read_text(encoding="utf-8"))


def choose(
    mutants: list[sites.Mutant], module: str | None, count: int | None, seed: int
) -> list[sites.Mutant]:
    """A sample, the same for the same seed and sources, in the order of the sources."""
    rows = [m for m in mutants if module is None or m.file.startswith(f"virtaccel/{module}/")]
    if count is None or count >= len(rows):
        return rows
    return sorted(random.Random(seed).sample(rows, count), key=lambda m: m.number)


def digest_of(mutant: sites.Mutant, originals: dict[str, str]) -> str:
    """What a kept result holds for: a killed mutant stays killed while its file is the same."""
    return hashlib.sha256((mutant.key + originals[mutant.file]).encode()).hexdigest()[:16]


def run(work: runner.Work, chosen: list[sites.Mutant], path: pathlib.Path) -> dict[str, dict]:
    """Judges the chosen mutants; results are written as they come."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    digests = {mutant.key: digest_of(mutant, work.originals) for mutant in chosen}
    waiting = [
        mutant
        for mutant in chosen
        if known.get(mutant.key, {}).get("digest") != digests[mutant.key]
        or known[mutant.key]["outcome"] != "killed"
    ]
    with concurrent.futures.ThreadPoolExecutor(work.jobs) as pool:
        verdicts = pool.map(work.judge, waiting)
        for index, (mutant, verdict) in enumerate(zip(waiting, verdicts), 1):
            known[mutant.key] = {
                "digest": digests[mutant.key],
                "kind": mutant.kind,
                "line": mutant.line,
                "outcome": verdict.outcome,
                "by": verdict.by,
            }
            runner.write_json(path, known)
            if index % 25 == 0:
                print(f"mutants: {index} of {len(waiting)}", file=sys.stderr, flush=True)
    return {mutant.key: known[mutant.key] for mutant in chosen}


def table(results: dict[str, dict], equivalents: dict[str, str]) -> Iterable[str]:
    """One line for each module and kind: tried, killed, equivalent, surviving."""
    counts: dict[tuple[str, str], collections.Counter[str]] = collections.defaultdict(
        collections.Counter
    )
    for key, result in results.items():
        module = key.split("/")[1]
        outcome = result["outcome"]
        if outcome == "survived" and key in equivalents:
            outcome = "equivalent"
        for kind in (result["kind"], "all"):
            counts[module, kind][outcome] += 1
    yield f"{'module':<8}{'kind':<12}{'tried':>7}{'killed':>8}{'equivalent':>12}{'surviving':>11}"
    for (module, kind), row in sorted(counts.items()):
        yield (
            f"{module:<8}{kind:<12}{row.total():>7}{row['killed']:>8}{row['equivalent']:>12}"
            f"{row['survived']:>11}"
        )


def surviving(results: dict[str, dict], equivalents: dict[str, str]) -> list[str]:
    """What nobody has explained."""
    return [
        f"{key}: line {result['line']}, {result['by']}"
        for key, result in results.items()
        if result["outcome"] == "survived" and key not in equivalents
    ]


def report(results: dict[str, dict], equivalents: dict[str, str], work: runner.Work) -> bool:
    """Prints what became of all; true if nothing is left to do."""
    print("\n".join(table(results, equivalents)))
    print(f"{len(work.dropped)} more cannot be compiled in and are not tried.")
    for key in sorted(equivalents.keys() & results.keys()):
        if results[key]["outcome"] == "killed":
            print(f"{key}: equivalent.json explains it, and it is killed: take the entry out.")
    known = {mutant.key for mutant in work.mutants} | work.dropped.keys()
    for key in sorted(equivalents.keys() - known):
        print(f"{key}: equivalent.json explains it, and it is no more: take the entry out.")
    left = surviving(results, equivalents)
    for line in left:
        print(f"survives: {line}")
    if left:
        print(
            f"mutants: {len(left)} survive: write the test that kills each, or explain in "
            "tools/mutants/equivalent.json why it is the same program."
        )
    return not left


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sample", type=int, metavar="N", help="try N of them, not all")
    parser.add_argument("--seed", type=int, default=1, help="which N (1)")
    parser.add_argument("--module", choices=runner.MODULES, help="one module, not both")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (1)")
    parser.add_argument("--folder", type=pathlib.Path, default=runner.ROOT / "build" / "mutants")
    options = parser.parse_args()
    work = runner.Work(options.folder.resolve(), runner.MODULES, options.jobs)
    try:
        print("mutants: building", file=sys.stderr, flush=True)
        work.make()
        print("mutants: finding out which test passes which", file=sys.stderr, flush=True)
        work.trace()
        chosen = choose(work.mutants, options.module, options.sample, options.seed)
        results = run(work, chosen, work.folder / "results.json")
    except runner.MutantsError as error:
        print(f"mutants: {error}")
        return 1
    return 0 if report(results, load_equivalents(), work) else 1


if __name__ == "__main__":
    sys.exit(main())
