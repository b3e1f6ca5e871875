"""What the official reference model makes of an input: in FP32, in FP64, and the bounds that
`tosa_verify` judges by.

The one thing to know: a run takes up to seconds, so what came out is kept in files named by the
bytes that went in.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sysconfig
import tempfile
import zipfile

import numpy
import signature
import wheels

TIMEOUT_S = 600
VERSION = "tosa-tools 2026.8.0"


class ReferenceError(Exception):
    """Holds one sentence for a person: what the reference model did not do."""


@dataclasses.dataclass(frozen=True)
class Reference:
    """One array for each output. Integers have no second and third list."""

    result: list[numpy.ndarray]
    precise: list[numpy.ndarray]
    bounds: list[numpy.ndarray]


class Oracle:
    """The reference model on one TOSA file, with a folder for what it has said before."""

    def __init__(self, model: pathlib.Path, cache: pathlib.Path) -> None:
        self._model = model
        self._bytes = model.read_bytes()
        self._cache = cache
        self.signature = signature.read(self._bytes)

    def on(self, array: numpy.ndarray) -> Reference:
        """What the model makes of its one input."""
        key = hashlib.sha256(b"\0".join([VERSION.encode(), self._bytes, array.tobytes()]))
        path = self._cache / f"{key.hexdigest()}.npz"
        try:
            return self._load(path)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            pass
        made = self._compute(array)
        stream = io.BytesIO()
        numpy.savez_compressed(stream, **{f"{part}_{i}": one for part, several
                                          in dataclasses.asdict(made).items()
                                          for i, one in enumerate(several)})
        wheels.write_whole(path, stream.getvalue())
        return made

    def _parts(self) -> list[str]:
        return ["result", "precise", "bounds"] if self.signature.is_float else ["result"]

    def _load(self, path: pathlib.Path) -> Reference:
        with numpy.load(io.BytesIO(path.read_bytes())) as arrays:
            found = {part: [arrays[f"{part}_{i}"] for i in range(len(self.signature.outputs))]
                     for part in self._parts()}
        return Reference(found["result"], found.get("precise", []), found.get("bounds", []))

    def _compute(self, array: numpy.ndarray) -> Reference:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            numpy.save(folder / "input.npy", array)
            result, _ = self._run(folder, precise=False)
            if not self.signature.is_float:
                return Reference(result, [], [])
            return Reference(result, *self._run(folder, precise=True))

    def _run(self, folder: pathlib.Path,
             precise: bool) -> tuple[list[numpy.ndarray], list[numpy.ndarray]]:
        """The outputs, and the bounds of precise ones."""
        files = [f"output-{i}.npy" for i in range(len(self.signature.outputs))]
        description = {
            "tosa_file": str(self._model.resolve()),
            "ifm_name": [self.signature.inputs[0].name], "ifm_file": ["input.npy"],
            "ofm_name": [output.name for output in self.signature.outputs], "ofm_file": files,
            "expected_return_code": 0, "expected_failure": False,
            "test_requirements": {"bounds_file_required": precise},
        }
        (folder / "desc.json").write_text(json.dumps(description), encoding="utf-8")
        packages = pathlib.Path(sysconfig.get_path("purelib"))
        command = [str(packages / "bin" / "tosa_reference_model"),
                   "--test_desc", str(folder / "desc.json"),
                   "--operator_fbs", str(packages / "bin" / "tosa.fbs"),
                   f"--precise_mode={int(precise)}"]
        try:
            # Without a search path it finds no debugger to start where it fails.
            ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                                   env={**os.environ, "PATH": ""}, timeout=TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ReferenceError(f"The reference model does not run ({error}); install "
                                 "tools/demo/requirements.txt.") from error
        if ended.returncode != 0:
            raise ReferenceError(f"The reference model fails on ({self._model}, exit code "
                                 f"{ended.returncode}): {ended.stdout}{ended.stderr}")
        bounds = [numpy.load(folder / f"bounds_{file}") for file in files] if precise else []
        return [numpy.load(folder / file) for file in files], bounds
