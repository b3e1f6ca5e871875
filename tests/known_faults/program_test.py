#!/usr/bin/env python3
"""The program in a bad environment: full disks, closed pipes, endless files, clients that go.

The one thing to know: whatever happens, `virtaccel` ends by itself with an exit code, says what is
wrong in one line if anybody can read it, and leaves no half of a file. The environment names the
program and the writer of the model y = x.
"""

from __future__ import annotations

import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["VIRTACCEL_PROGRAM"])
MODEL_WRITER = pathlib.Path(os.environ["VIRTACCEL_MODEL_WRITER"])
FULL = pathlib.Path("/dev/full")
# An array of one FP32 and shape (1,), as NumPy writes it.
HEADER = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
ARRAY = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(HEADER)) + HEADER + struct.pack("<f", 7)
INFO = struct.pack("<II", 16, 4096) + struct.pack("<HHIQ", 1, 0, 0, 1)


def run(*arguments: str | pathlib.Path, **more: object) -> subprocess.CompletedProcess:
    """The program with these arguments, and nothing to read unless `more` says so."""
    return subprocess.run([PROGRAM, *arguments],
                          **{"stdin": subprocess.DEVNULL, "capture_output": True, "check": False,
                             "timeout": 120, **more})


class FolderTest(unittest.TestCase):
    """A folder with the model y = x of shape (1,) and an input for it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.folder / "m.tosa"
        self.source = self.folder / "x.npy"
        self.target = self.folder / "y.npy"
        subprocess.run([MODEL_WRITER, self.model, "FP32", "1"], check=True)
        self.source.write_bytes(ARRAY)

    def expect_complaint(self, done: subprocess.CompletedProcess, code: int, words: bytes) -> None:
        """The program has ended with `code` and one line that has these words."""
        self.assertEqual(done.returncode, code, done.stderr)
        said = [line for line in done.stderr.splitlines() if line.startswith(b"virtaccel: ")]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertIn(words, said[0])


@unittest.skipUnless(FULL.exists(), "this system has no /dev/full")
class OutputTest(FolderTest):
    """Standard output and standard error that cannot be written."""

    def test_results_that_are_lost_are_a_failure(self) -> None:
        for arguments in (["info"], ["info", "--json"], ["--help"], ["run", "--help"],
                          ["run", self.model, "--input", f"x={self.source}"],
                          ["conform", "--backend", "mock", "--list"],
                          ["conform", "--backend", "mock", "--case", "memory.host"],
                          ["replay", "--seed", "1", "--steps", "5"]):
            with FULL.open("wb") as full, self.subTest(arguments[0]):
                done = run(*arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
                self.expect_complaint(done, 1, b"cannot be written: No space left on device")

    def test_messages_that_are_lost_end_no_program(self) -> None:
        for arguments, code in ((["dance"], 2), (["info", "--backend", "abacus"], 2),
                                (["run", self.folder / "none.tosa"], 1),
                                (["run", self.model, "--backend", "null", "--input",
                                  f"x={self.source}"], 3)):
            with FULL.open("wb") as full:
                done = run(*arguments, capture_output=False, stdout=full, stderr=full)
            self.assertEqual(done.returncode, code, arguments)
            done = run(*arguments, preexec_fn=lambda: os.close(2))
            self.assertEqual(done.returncode, code, arguments)

    def test_ends_that_are_closed_never_become_a_file(self) -> None:
        arguments = ["run", self.model, "--input", f"x={self.source}", "--output",
                     f"y={self.target}"]
        for closed, code in ((0, 0), (1, 1), (2, 0)):
            done = run(*arguments, preexec_fn=lambda end=closed: os.close(end))
            self.assertEqual(done.returncode, code, (closed, done.stderr))
            self.assertEqual(self.target.read_bytes()[-4:], ARRAY[-4:])
            self.target.unlink()

    def test_a_device_whose_answers_are_lost_says_so(self) -> None:
        with FULL.open("wb") as full:
            done = run("device", "--stdio", capture_output=False, stdin=None, input=INFO,
                       stdout=full, stderr=subprocess.PIPE)
        self.expect_complaint(done, 1, b"cannot be written: No space left on device")


class FilesTest(FolderTest):
    """Files that are too large, endless, or cannot be written whole."""

    def test_no_half_of_a_file_is_left_on_a_full_disk(self) -> None:
        def no_space() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        before = {"m.tosa", "x.npy"}
        for option, path in (("--output", f"y={self.target}"), ("--record", self.folder / "r")):
            done = run("run", self.model, "--input", f"x={self.source}", option, path,
                       preexec_fn=no_space, restore_signals=False)
            self.expect_complaint(done, 1, b"cannot be written: ")
            self.assertEqual({file.name for file in self.folder.iterdir()}, before)

    def test_an_input_without_an_end_is_read_no_further_than_the_model_needs(self) -> None:
        done = run("run", self.model, "--input", "x=/dev/zero")
        self.expect_complaint(done, 1, b"(/dev/zero) holds more than the 1048596 bytes")

    def test_names_from_a_file_cannot_steer_a_terminal(self) -> None:
        model = self.model.read_bytes()
        escape = model.replace(b"\x01\0\0\0x\0", b"\x01\0\0\0\x1b\0")
        self.assertNotEqual(model, escape)
        self.model.write_bytes(escape)
        done = run("run", self.model)
        self.expect_complaint(done, 1, b"The input (?) of the model (")
        done = run("run", self.model, "--input", f"\x1b={self.source}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"\ninput    ? (FP32, shape (1,))\n", done.stdout)
        done = run("run", self.model, "--input", f"\x1b={self.source}", "--json")
        self.assertNotIn(b"\x1b", done.stdout)


class GoneClientsTest(unittest.TestCase):
    """Clients of `device --stdio` that go, one way or another."""

    def start(self) -> subprocess.Popen:
        """A device, which is ended at the end."""
        device = subprocess.Popen([PROGRAM, "device", "--stdio", "--complete", "never"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        self.addCleanup(device.kill)
        return device

    def test_a_client_that_never_reads_ends_its_device_with_a_sentence(self) -> None:
        device = self.start()
        device.stdout.close()
        device.stdin.write(INFO * 100)
        _, words = device.communicate(timeout=120)
        self.assertEqual(device.returncode, 1)
        self.assertTrue(words.endswith(
            b"cannot be written: Broken pipe; look at what is at its other end.\n"), words)

    def test_a_client_that_goes_in_the_middle_of_a_frame_ends_its_device_with_a_sentence(
            self) -> None:
        for size in (1, 8, 23):
            device = self.start()
            device.stdin.write(INFO[:size])
            _, words = device.communicate(timeout=120)
            self.assertEqual(device.returncode, 1)
            self.assertTrue(words.endswith(b"must send whole frames.\n"), words)

    def test_a_client_that_is_killed_ends_its_device_and_the_next_one_is_served(self) -> None:
        for _ in range(3):
            device = self.start()
            client = subprocess.Popen(["cat"], stdin=subprocess.PIPE,
                                      stdout=device.stdin, stderr=subprocess.DEVNULL)
            device.stdin.close()
            device.stdin = None
            client.stdin.write(INFO)
            client.stdin.flush()
            self.assertEqual(len(device.stdout.read(4 + 92)), 96)
            client.send_signal(signal.SIGKILL)
            client.stdin.close()
            client.wait(timeout=120)
            _, words = device.communicate(timeout=120)
            self.assertEqual(device.returncode, 0)
            self.assertNotIn(b"virtaccel: ", words)


if __name__ == "__main__":
    sys.exit(unittest.main())
