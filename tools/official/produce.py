"""Has the official tools make the tests of a batch, and the results that ours are judged by.

The one thing to know: what is made is kept in the user's cache under the digest of all that it
depends on, whole or not at all, so that no clone makes it twice. Runs in the private environment
that has the official tools.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.util
import json
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import plan
import precise
import wheels

REFERENCE_S_MAX = 1800.0
LIST = "list.json"
# Picks one negative test for each rule of an operator, whatever its shape and type.
NO_SELECTION = "no-selection.json"


class ProduceError(Exception):
    """Holds one sentence for a person: what could not be made and what to do."""


@dataclasses.dataclass(frozen=True)
class Test:
    """One test in its folder. `reference` is what the reference model says where it fails."""

    group: str
    name: str
    folder: pathlib.Path
    is_negative: bool
    reference: str = ""

    @functools.cached_property
    def description(self) -> dict:
        """The official words on it: its files, tensors and accuracy."""
        return json.loads((self.folder / "desc.json").read_text(encoding="utf-8"))


class Tools:
    """Where the official tools lie, and which they are."""

    def __init__(self) -> None:
        found = importlib.util.find_spec("tosa_reference_model")
        if found is None or found.origin is None:
            raise ProduceError(
                f"The Python ({sys.executable}) has no TOSA tools; run ./run test tosa, which "
                "installs them."
            )
        self.site = pathlib.Path(found.origin).parents[1]
        self.generate_library = (
            self.site / "tosa_reference_model" / "libtosa_reference_generate_lib.so"
        )
        self.verify_library = self.site / "tosa_reference_model" / "libtosa_reference_verify_lib.so"
        self.config_path = self.site / "conformance" / "cts-config_v1.0.json"

    def program(self, name: str) -> str:
        """One of the tools' programs, or a file beside them."""
        return str(self.site / "bin" / name)

    @functools.cached_property
    def config(self) -> dict:
        """The official list of operators and of what to generate for them."""
        return json.loads(self.config_path.read_text(encoding="utf-8"))

    @functools.cached_property
    def digest(self) -> str:
        """Stands for the contents of every file of theirs, and for how we use them."""
        records = sorted(self.site.glob("tosa_tools-*.dist-info/RECORD"))
        ours = (pathlib.Path(__file__), pathlib.Path(precise.__file__))
        parts = [path.read_bytes() for path in (*records, *ours)]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()


def cache_folder() -> pathlib.Path:
    """Where all batches are kept, unless the user says otherwise."""
    return wheels.cache_root() / "tosa-tests"


def folder_of(batch: plan.Batch, tools: Tools, cache: pathlib.Path) -> pathlib.Path:
    """Where a batch is kept."""
    return cache / f"{batch.name}-{batch.digest(tools.digest)}"


def produce(batch: plan.Batch, tools: Tools, cache: pathlib.Path) -> list[Test]:
    """The tests of a batch, out of the cache or made now."""
    kept = folder_of(batch, tools, cache)
    if not (kept / LIST).exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{batch.name}-", dir=cache) as name:
            made = pathlib.Path(name) / "made"
            made.mkdir()
            make(batch, tools, made)
            publish(made, kept)
    return read_list(batch, kept)


def publish(made: pathlib.Path, kept: pathlib.Path) -> None:
    """Puts a whole folder in its place, where another process may have been faster."""
    try:
        made.rename(kept)
    except OSError:
        if not (kept / LIST).exists():
            shutil.rmtree(kept, ignore_errors=True)
            made.rename(kept)


def read_list(batch: plan.Batch, kept: pathlib.Path) -> list[Test]:
    """The tests in a batch's folder."""
    rows = json.loads((kept / LIST).read_text(encoding="utf-8"))
    return [
        Test(
            batch.group,
            row["name"],
            kept / row["folder"],
            batch.is_negative,
            row["reference"],
        )
        for row in rows
    ]


def make(batch: plan.Batch, tools: Tools, made: pathlib.Path) -> None:
    """Fills a folder with the tests, the reference model's results, and the list of both."""
    generate(batch, tools, made)
    rows = []
    for path in sorted(made.rglob("desc.json")):
        folder = path.parent
        reference = ""
        if batch.is_precise:
            precise.prepare(folder)
        elif not batch.is_negative:
            reference = compute_reference(tools, folder)
        rows.append(
            {
                "name": folder.name,
                "folder": folder.relative_to(made).as_posix(),
                "reference": reference,
            }
        )
    wheels.write_whole(made / LIST, json.dumps(rows, indent=1).encode())


def generate(batch: plan.Batch, tools: Tools, made: pathlib.Path) -> None:
    """Calls the official generator, in a copy of this process: starting it takes longer than most
    batches, and it holds on to what it was first asked for (the kernels of a convolution)."""
    context = multiprocessing.get_context("fork")
    answer, end = context.Pipe(duplex=False)
    copy = context.Process(target=call_generator, args=(batch, tools, made, end))
    copy.start()
    end.close()
    try:
        fault = answer.recv()
    except EOFError:
        fault = "dies"
    copy.join()
    if fault:
        raise ProduceError(f"The generator {fault} ({batch.name}).")


def call_generator(
    batch: plan.Batch, tools: Tools, made: pathlib.Path, end: multiprocessing.connection.Connection
) -> None:
    """What the copy does; sends what went wrong, or nothing."""
    import generator.tosa_verif_build_tests as official

    config = tools.config_path
    if not batch.selection:
        config = made / NO_SELECTION
        config.write_text("{}", encoding="utf-8")
    arguments = [
        *batch.arguments,
        *("--generate-lib-path", str(tools.generate_library)),
        *("--test-selection-config", str(config)),
        *("--test-selection-criteria", batch.selection or "default"),
        *("-o", str(made)),
    ]
    try:
        code = official.main(arguments)
    except SystemExit as error:
        code = error.code
    except Exception as error:  # whatever the generator raises ends this batch only
        end.send(f"fails with {error!r}")
        return
    end.send(f"ends with code {code}" if code else "")


def compute_reference(tools: Tools, folder: pathlib.Path) -> str:
    """Has the reference model compute a test in FP64, with its bounds; its words if it fails."""
    command = [
        tools.program("tosa_reference_model"),
        *("--test_desc", str(folder / "desc.json")),
        *("--operator_fbs", tools.program("tosa.fbs")),
        *("--tosa_level", "EIGHTK", "--precise_mode=1"),
    ]
    try:
        # When it aborts it starts a debugger, if it finds one.
        ended = subprocess.run(
            command,
            env={**os.environ, "PATH": ""},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            timeout=REFERENCE_S_MAX,
        )
    except subprocess.TimeoutExpired:
        return f"the reference model does not end within {REFERENCE_S_MAX:.0f} s"
    if ended.returncode == 0:
        return ""
    words = ended.stderr.decode(errors="replace").strip().splitlines()
    return f"the reference model ends with code {ended.returncode}: {' '.join(words[-2:])}"
