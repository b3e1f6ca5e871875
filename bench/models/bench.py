#!/usr/bin/env python3
"""Times real models on this project's CPU backend, on OpenVINO and on LiteRT with XNNPACK.

Every model runs on all three in turns, in rounds whose order changes, so that a machine that grows
slower or faster does so for all. Prints a table, and writes one line of JSON per row into OUTPUT.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools" / "models"))

import catalogue  # noqa: E402 (the folder above must be on the path first)
import fetch  # noqa: E402
import inputs  # noqa: E402
import make  # noqa: E402
import numpy  # noqa: E402

OURS = "virtaccel"
RIVALS = ("openvino", "litert")
WARM_UP_RUNS = 10
MEBIBYTE = 1024 * 1024


class WorkerError(Exception):
    """Holds one sentence for a person: which runtime did not do what."""


@dataclasses.dataclass
class Times:
    """What one runtime took for one model."""

    load_ms: float
    rounds: list[list[float]]  # of single runs, in ms
    peak_bytes: int = 0  # how far loading and running made the process grow

    @property
    def p50(self) -> float:
        return statistics.median(time for one in self.rounds for time in one)

    @property
    def fastest(self) -> float:
        return min(time for one in self.rounds for time in one)

    def row(self) -> dict[str, float]:
        return {"p50_ms": self.p50, "min_ms": self.fastest, "load_ms": self.load_ms,
                "peak_bytes": self.peak_bytes}


class Worker:
    """One runtime in a process of its own, that waits between its rounds."""

    def __init__(self, name: str, command: list[str]) -> None:
        self._name = name
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True)
        self._answer()
        self._before = self._memory("VmRSS")
        self._forget_peak()

    def load(self) -> float:
        """Milliseconds from a file to a model that can run."""
        return self._order("load")["load_ns"] / 1e6

    def run(self, count: int) -> list[float]:
        """Milliseconds of each run."""
        return [ns / 1e6 for ns in self._order(f"run {count}")["ns"]]

    def close(self) -> int:
        """Ends the process; by how many bytes it had grown at most."""
        peak = self._memory("VmHWM")
        self._process.stdin.close()
        self._process.wait(timeout=60)
        return max(peak - self._before, 0)

    def _order(self, words: str) -> dict:
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise WorkerError(f"The runtime ({self._name}) has ended (exit code "
                              f"{self._process.wait(timeout=60)}); see its words above.")
        return json.loads(line)

    def _memory(self, key: str) -> int:
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return int(fields[key].split()[0]) * 1024

    def _forget_peak(self) -> None:
        # What imports took at most is nobody's model.
        pathlib.Path(f"/proc/{self._process.pid}/clear_refs").write_text("5", encoding="ascii")


class Bench:
    """All models, one after the other."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options

    def compare(self, model: catalogue.Model, name: str, threads: int) -> dict[str, Times]:
        """The times of all runtimes for one file."""
        array = inputs.photograph(model, self._options.models_folder / fetch.PHOTO_NAME)
        if name.endswith(catalogue.QUANTISED):
            array = inputs.quantised(model, array)
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            numpy.save(file, array)
            file.flush()
            workers = {runtime: Worker(runtime, self._command(runtime, name, file.name, threads))
                       for runtime in (OURS, *RIVALS)}
            times = {runtime: Times(worker.load(), []) for runtime, worker in workers.items()}
            self._run_rounds(workers, times)
            for runtime, worker in workers.items():
                times[runtime].peak_bytes = worker.close()
        return times

    def _command(self, runtime: str, name: str, source: str, threads: int) -> list[str]:
        stem = self._options.models_folder / name
        if runtime == OURS:
            return [str(self._options.worker), f"{stem}.tosa", source, str(threads)]
        return [str(self._options.rivals), str(HERE / "worker.py"), runtime, f"{stem}.tflite",
                source, str(threads)]

    def _run_rounds(self, workers: dict[str, Worker], times: dict[str, Times]) -> None:
        counts = {}
        for runtime, worker in workers.items():
            warm = statistics.median(worker.run(WARM_UP_RUNS))
            counts[runtime] = max(3, int(self._options.round_ms / max(warm, 1e-3)))
        names = list(workers)
        for number in range(self._options.rounds):
            turn = number % len(names)
            for runtime in names[turn:] + names[:turn]:
                # The first runs of a turn find other programs' data in the caches.
                workers[runtime].run(2)
                times[runtime].rounds.append(workers[runtime].run(counts[runtime]))


def ratio(times: dict[str, Times], key: str) -> float:
    """Our time in times of the faster of the others'."""
    return getattr(times[OURS], key) / min(getattr(times[rival], key) for rival in RIVALS)


def record(name: str, threads: int, times: dict[str, Times]) -> dict:
    """One line of JSON."""
    return {"model": name, "threads": threads, "p50_ratio": ratio(times, "p50"),
            "min_ratio": ratio(times, "fastest"),
            "runtimes": {runtime: one.row() for runtime, one in times.items()}}


def heading() -> str:
    groups = " | ".join(f"{runtime:^34}" for runtime in (OURS, *RIVALS))
    columns = " | ".join(f"{'p50 ms':>8}{'min ms':>8}{'load ms':>9}{'MiB':>9}" for _ in range(3))
    return (f"{'':<36} | {groups} |\n"
            f"{'model':<32}{'thr':>4} | {columns} | {'p50 ratio':>9}{'min':>6}")


def line(row: dict) -> str:
    """One row for a person."""
    cells = " | ".join(f"{one['p50_ms']:>8.3f}{one['min_ms']:>8.3f}{one['load_ms']:>9.1f}"
                       f"{one['peak_bytes'] / MEBIBYTE:>9.1f}"
                       for one in row["runtimes"].values())
    return (f"{row['model']:<32}{row['threads']:>4} | {cells} | {row['p50_ratio']:>9.2f}"
            f"{row['min_ratio']:>6.2f}")


def parse() -> argparse.Namespace:
    parser = make.parser(__doc__, "./run bench models face_detection_short_range --threads 1")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2], metavar="N",
                        help="how many threads (1 2)")
    parser.add_argument("--rounds", type=int, default=15, metavar="N",
                        help="how many turns each runtime takes (15)")
    parser.add_argument("--round-ms", type=float, default=100, metavar="MS",
                        help="about how long a turn is (100)")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE",
                        default=pathlib.Path("build/bench/models.jsonl"),
                        help="where the lines of JSON go (build/bench/models.jsonl)")
    parser.add_argument("--worker", type=pathlib.Path, metavar="FILE",
                        default=pathlib.Path("build/release/bench_worker/virtaccel_worker"),
                        help="this project's runtime")
    parser.add_argument("--rivals", type=pathlib.Path, metavar="FILE",
                        default=pathlib.Path("build/models-venv/bin/python"),
                        help="the Python that has the others")
    return parser.parse_args()


def main() -> int:
    options = parse()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    try:
        models = make.chosen(options, options.rivals)
        print(heading(), flush=True)
        with options.output.open("w", encoding="utf-8") as stream:
            for model in models:
                for name in model.artifacts:
                    for threads in options.threads:
                        row = record(name, threads, bench.compare(model, name, threads))
                        print(line(row), flush=True)
                        print(json.dumps(row), file=stream, flush=True)
    except (WorkerError, *make.FAILURES) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
