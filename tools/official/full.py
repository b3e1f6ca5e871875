"""The results of the full suite, kept test by test, so that a stopped run goes on.

The one thing to know: a result holds for one batch of one version of the official tools (the file's
name says which) and for one binary (each line says which).
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterable

import stack


class Record:
    """The results of one batch. Lines are only ever added; the last of a name counts."""

    def __init__(self, path: pathlib.Path, binary: str, any_binary_passes: bool) -> None:
        self._path = path
        self._binary = binary
        self._any_binary_passes = any_binary_passes
        self._expected: list[str] | None = None
        self._rows: dict[str, dict] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._take(line)

    def _take(self, line: str) -> None:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            return  # the run was stopped while it wrote this
        if "expected" in row:
            self._expected = row["expected"]
        else:
            self._rows[row["name"]] = row

    def _write(self, row: dict) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(row)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
        self._take(line)

    def expect(self, names: Iterable[str]) -> None:
        """Says which tests the batch has."""
        self._write({"expected": list(names)})

    def wants(self, name: str) -> bool:
        """Whether a test has no result that still holds."""
        row = self._rows.get(name)
        if row is None:
            return True
        if self._any_binary_passes and row["outcome"] == "passed":
            return False
        return row["binary"] != self._binary

    @property
    def is_complete(self) -> bool:
        """Whether every test of the batch has a result that holds."""
        return self._expected is not None and not any(map(self.wants, self._expected))

    def add(self, result: stack.Result) -> None:
        """Keeps a result."""
        row = dataclasses.asdict(result) | {
            "outcome": result.verdict.outcome,
            "reason": result.verdict.reason,
            "binary": self._binary,
        }
        del row["verdict"]
        self._write(row)

    @property
    def results(self) -> list[stack.Result]:
        """All that is known and holds."""
        return [
            stack.Result(
                row["group"],
                row["name"],
                row["is_negative"],
                stack.Verdict(row["outcome"], row["reason"]),
                row["seconds"],
                row["operator"],
                row["model"],
            )
            for name, row in self._rows.items()
            if not self.wants(name)
        ]
