"""Remembers which files were made from what, so that a second run makes nothing twice.

The one thing to know: a step counts as done only while its recipe is unchanged and every file it
made still holds the bytes it held then, so neither a new version nor a damaged file goes unseen.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Callable, Iterable

import wheels


def recipe(*parts: object) -> str:
    """A digest of all that decides what a step makes; a path stands for the bytes of its file."""
    state = hashlib.sha256()
    for part in parts:
        text = wheels.digest(part) if isinstance(part, pathlib.Path) else repr(part)
        state.update(f"{len(text)}:{text}".encode())
    return state.hexdigest()


class Stamps:
    """The record of finished steps, kept in one JSON file beside what they made."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._steps: dict[str, dict] = {}
        try:
            loaded = json.loads(path.read_text(encoding="utf-8"))
            self._steps = loaded if isinstance(loaded, dict) else {}
        except (OSError, ValueError):
            pass  # without a readable record every step is made again, which is always right

    def is_done(self, step: str, key: str) -> bool:
        """True if the step was made by this recipe and its files are untouched."""
        try:
            entry = self._steps[step]
            return entry["recipe"] == key and all(
                wheels.digest(self._path.parent / name) == found
                for name, found in entry["files"].items())
        except (TypeError, KeyError, AttributeError, OSError):
            return False

    def make(self, step: str, key: str, files: Iterable[pathlib.Path],
             action: Callable[[], None]) -> bool:
        """Runs the action unless the step is done; true if it ran. `files` is what it makes, in
        the folder of the record. An action that raises leaves the step undone."""
        if self.is_done(step, key):
            return False
        action()
        self._steps[step] = {"recipe": key,
                             "files": {path.name: wheels.digest(path) for path in files}}
        text = json.dumps(self._steps, indent=2, sort_keys=True) + "\n"
        wheels.write_whole(self._path, text.encode())
        return True
