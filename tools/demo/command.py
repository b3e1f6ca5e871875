"""Calls `virtaccel run` and returns its measurements.

The one thing to know: whatever the program writes to standard error is passed on, and a failure
keeps its exit code, so the demo says no less and nothing else than the program did.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
import subprocess
import sys

TIMEOUT_S = 300
MEANINGS = {
    2: "it was called with wrong options",
    3: "the backend refuses the graph",
}


class RunError(Exception):
    """Holds one sentence for a person, and the exit code that the demo should end with."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclasses.dataclass(frozen=True)
class Measurement:
    """Times in milliseconds of one call: of single runs of the model, and of loading it."""

    fastest: float
    median: float
    p90: float
    load: float


@dataclasses.dataclass(frozen=True)
class Command:
    """How to call the program: all that stays the same from call to call."""

    program: pathlib.Path
    model: pathlib.Path
    source: pathlib.Path  # the .npy file of the model's input
    backend: str
    threads: int | None

    def run(self, device: str, repeat: int, outputs: dict[str, pathlib.Path]) -> Measurement:
        """Runs the model `repeat` times on a device: `loopback`, the stack, or `direct`, without.

        `outputs` says which output tensors go into which .npy files.
        """
        arguments = [str(self.program), "run", str(self.model),
                     "--input", f"TosaInput_0={self.source}",
                     "--backend", self.backend, "--device", device,
                     "--repeat", str(repeat), "--json"]
        for name, path in outputs.items():
            arguments += ["--output", f"{name}={path}"]
        if self.threads is not None:
            arguments += ["--threads", str(self.threads)]
        return measurement(self._call(arguments))

    def _call(self, arguments: list[str]) -> str:
        try:
            result = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    text=True, errors="replace", timeout=TIMEOUT_S, check=False)
        except OSError as error:
            raise RunError(f"The program ({self.program}) cannot be started ({error.strerror}); "
                           "build it with ./run build.") from error
        except subprocess.TimeoutExpired:
            raise RunError(f"The program ({self.program}) has not ended within {TIMEOUT_S} s; "
                           "try another backend with --backend.") from None
        code = result.returncode
        if code == 0:
            return result.stdout
        if code < 0:
            raise RunError(f"The program ({self.program}) was ended by a signal ({-code}); "
                           "please report this.")
        meaning = MEANINGS.get(code, "it could not do its work")
        print(result.stdout, end="", file=sys.stderr)
        raise RunError(f"The program ({self.program}) has failed (exit code {code}: {meaning}); "
                       "see its words above.", code)


def measurement(text: str) -> Measurement:
    """Reads the object that `virtaccel run --json` prints."""
    try:
        report = json.loads(text)
        latency = report["latency_ms"]
        times = [float(value) for value in (latency["min"], latency["p50"], latency["p90"],
                                            report["load_ms"])]
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"The report of virtaccel run --json ({text[:60].strip()!r}) lacks the "
                       f"times ({error!r}); build both from one version.") from error
    if not all(math.isfinite(value) and value >= 0 for value in times):
        raise RunError(f"The report of virtaccel run --json holds impossible times ({times}); "
                       "please report this.")
    return Measurement(*times)
