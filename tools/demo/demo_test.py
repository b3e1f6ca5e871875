"""Tests of the whole demo and of its calls of the program, with stand-ins for the program."""

import contextlib
import io
import json
import math
import pathlib
import shlex
import stat
import sys
import tempfile
import unittest
import unittest.mock

import command
import demo
import fetch
import numpy
import PIL.Image
import timing
import wheels

REPORT = {"model": "m", "backend": "cpu", "load_ms": 12.5,
          "latency_ms": {"min": 100.0, "p50": 200.0, "p90": 300.0, "p99": 400.0}}

# Answers like the program: notes its arguments, writes the outputs it is asked for, and reports.
STAND_IN = """
import json, pathlib, shutil, sys
folder = pathlib.Path(sys.argv[1])
arguments = sys.argv[2:]
with open(folder / "calls", "a") as calls:
    print(json.dumps(arguments), file=calls)
device = arguments[arguments.index("--device") + 1]
for option, value in zip(arguments, arguments[1:]):
    if option == "--output":
        name, path = value.split("=", 1)
        shutil.copy(folder / f"{device}_{name}.npy", path)
print((folder / "report").read_text())
"""


class Program(unittest.TestCase):
    """A folder with a stand-in for the program; `script` is what a shell runs in its place."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "virtaccel"

    def install(self, script: str) -> None:
        self.program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]


class Command(Program):
    def call(self, threads: int | None = None) -> command.Measurement:
        one = command.Command(self.program, pathlib.Path("m.tosa"), pathlib.Path("in.npy"), "cpu",
                              threads)
        return one.run("direct", 3, {})

    def fails_with(self, words: str) -> int:
        with self.assertRaisesRegex(command.RunError, words) as caught:
            self.call()
        return caught.exception.exit_code

    def test_reads_the_report(self) -> None:
        self.install(f"echo {shlex.quote(json.dumps(REPORT))}")
        self.assertEqual(self.call(), command.Measurement(100.0, 200.0, 300.0, 12.5))

    def test_keeps_the_exit_code_and_tells_its_meaning(self) -> None:
        for code, words in ((1, "could not do its work"), (2, "wrong options"),
                            (3, "the backend refuses the graph"), (9, "exit code 9")):
            self.install(f"echo why >&2; exit {code}")
            self.assertEqual(self.fails_with(words), code)

    def test_names_a_signal(self) -> None:
        self.install("kill -9 $$")
        self.assertEqual(self.fails_with(r"signal \(9\)"), 1)

    def test_names_a_program_that_is_missing(self) -> None:
        self.fails_with("cannot be started")

    def test_ends_a_program_that_hangs(self) -> None:
        self.install("exec sleep 60")
        with unittest.mock.patch.object(command, "TIMEOUT_S", 0.2):
            self.fails_with("has not ended")

    def test_refuses_reports_without_usable_times(self) -> None:
        for report in ("", "[]", "{}", "null", '{"latency_ms": 3, "load_ms": 1}',
                       json.dumps(REPORT | {"load_ms": None}),
                       json.dumps(REPORT | {"latency_ms": {"min": 1}})):
            self.install(f"echo {shlex.quote(report)}")
            self.fails_with("lacks the times")
        self.install(f"echo {shlex.quote(json.dumps(REPORT | {'load_ms': -1}))}")
        self.fails_with("impossible times")
        self.install(f"echo {shlex.quote(json.dumps(REPORT | {'load_ms': math.nan}))}")
        self.fails_with("impossible times")


class Demo(Program):
    """The whole way; the stand-in's outputs put one face in the middle of the photograph."""

    def setUp(self) -> None:
        super().setUp()
        self.output = self.folder / "output"
        self.photo = self.folder / "photo.png"
        PIL.Image.new("RGB", (320, 160)).save(self.photo)
        (self.folder / "stand_in.py").write_text(STAND_IN, encoding="utf-8")
        (self.folder / "report").write_text(json.dumps(REPORT), encoding="utf-8")
        words = (sys.executable, self.folder / "stand_in.py", self.folder)
        self.install("exec " + shlex.join(map(str, words)) + ' "$@"')
        for device in ("direct", "loopback"):
            self.save_outputs(device, 2.0)
        self.enterContext(unittest.mock.patch.object(fetch, "convert", self.convert))
        self.enterContext(unittest.mock.patch.object(timing, "ROUNDS", 2))
        self.read = self.enterContext(unittest.mock.patch.object(
            wheels, "read", return_value=self.photo.read_bytes()))

    def convert(self, _tflite: bytes, target: pathlib.Path) -> None:
        target.write_bytes(b"model")

    def save_outputs(self, device: str, logit: float) -> None:
        values = numpy.zeros((1, 896, 16), numpy.float32)
        logits = numpy.full((1, 896, 1), -9, numpy.float32)
        anchor = 2 * (8 * 16 + 8)  # its centre is half a cell right of and below the middle
        values[0, anchor, 0:4] = [-4, -4, 64, 32]
        logits[0, anchor] = logit
        numpy.save(self.folder / f"{device}_TosaOutput_0.npy", values)
        numpy.save(self.folder / f"{device}_TosaOutput_1.npy", logits)

    def run_demo(self, *options: str) -> tuple[int, str, str]:
        arguments = ["demo", "--virtaccel", str(self.program), "--output", str(self.output),
                     *options]
        with (unittest.mock.patch.object(sys, "argv", arguments),
              contextlib.redirect_stdout(io.StringIO()) as said,
              contextlib.redirect_stderr(io.StringIO()) as warned):
            code = demo.main()
        return code, said.getvalue(), warned.getvalue()

    def test_finds_the_face_and_tells_the_times(self) -> None:
        code, said, warned = self.run_demo("--photo", str(self.photo))
        self.assertEqual((code, warned), (0, ""))
        self.assertIn("Face 1: score 0.88, box x 80 to 240, y 60 to 100", said)
        self.assertIn("1 face in 320 x 160", said)
        self.assertIn("through the stack", said)
        drawn = PIL.Image.open(self.output / "face.png")
        self.assertNotEqual(drawn.getpixel((80, 80)), (0, 0, 0))
        self.assertEqual(drawn.getpixel((160, 90)), (0, 0, 0))

    def test_starts_a_program_in_the_folder_it_is_called_in(self) -> None:
        with contextlib.chdir(self.folder):
            self.program = pathlib.Path("virtaccel")
            self.assertEqual(self.run_demo()[0], 0)

    def test_makes_model_and_input_once(self) -> None:
        first, second = self.run_demo()[1], self.run_demo()[1]
        self.assertEqual((first.count(": made"), first.count(": already there")), (2, 0))
        self.assertEqual((second.count(": made"), second.count(": already there")), (0, 2))
        self.assertEqual(self.read.call_count, 2)

    def test_makes_the_input_again_for_another_photograph(self) -> None:
        self.run_demo("--photo", str(self.photo))
        before = (self.output / "input.npy").read_bytes()
        PIL.Image.new("RGB", (320, 160), (9, 9, 9)).save(self.photo)
        self.run_demo("--photo", str(self.photo))
        self.assertNotEqual((self.output / "input.npy").read_bytes(), before)

    def test_calls_the_program_as_its_help_says(self) -> None:
        self.run_demo("--backend", "cpu:0", "--threads", "2")
        first = self.calls()[0]
        self.assertEqual(first, [
            "run", str(self.output / "face_detection_short_range.tosa"),
            "--input", f"TosaInput_0={self.output / 'input.npy'}",
            "--backend", "cpu:0", "--device", "loopback", "--repeat", "5", "--json",
            "--output", f"TosaOutput_0={self.output / 'loopback_TosaOutput_0.npy'}",
            "--output", f"TosaOutput_1={self.output / 'loopback_TosaOutput_1.npy'}",
            "--threads", "2"])
        devices = [call[call.index("--device") + 1] for call in self.calls()]
        self.assertEqual(devices.count("direct"), devices.count("loopback"))

    def test_ends_when_the_stack_changes_the_result(self) -> None:
        self.save_outputs("direct", 2.5)
        code, _, warned = self.run_demo()
        self.assertEqual(code, 1)
        self.assertIn("(TosaOutput_1) differs", warned)

    def test_ends_when_its_own_photograph_shows_no_face(self) -> None:
        for device in ("direct", "loopback"):
            self.save_outputs(device, -1.0)
        code, _, warned = self.run_demo()
        self.assertEqual(code, 1)
        self.assertIn("finds no face", warned)

    def test_takes_a_photograph_of_yours_without_a_face(self) -> None:
        for device in ("direct", "loopback"):
            self.save_outputs(device, -1.0)
        code, said, _ = self.run_demo("--photo", str(self.photo))
        self.assertEqual(code, 0)
        self.assertIn("0 faces in 320 x 160; the best score is 0.27 of 0.5", said)

    def test_ends_with_the_exit_code_of_the_program(self) -> None:
        self.install("echo 'CONV2D is not there' >&2; exit 3")
        code, _, warned = self.run_demo()
        self.assertEqual(code, 3)
        self.assertIn("the backend refuses the graph", warned)

    def test_names_a_program_or_photograph_that_is_missing(self) -> None:
        code, _, warned = self.run_demo("--photo", str(self.folder / "none.png"))
        self.assertEqual(code, 1)
        self.assertIn("none.png) does not exist", warned)
        self.program.unlink()
        code, _, warned = self.run_demo()
        self.assertEqual(code, 1)
        self.assertIn("build it with ./run build", warned)


if __name__ == "__main__":
    unittest.main()
