"""A device by another hand is judged by our cases, and our guest gets along with it.

The one thing to know: VIRTACCEL_PROGRAM is the program, and everything is run as a user would.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True

from broken import BROKEN  # noqa: E402

SERVE = pathlib.Path(__file__).resolve().with_name("serve.py")
PROGRAM = os.environ["VIRTACCEL_PROGRAM"]
# What a stream cannot show, and what another program cannot be made to do.
BEYOND = ("VQ-0", "ring.", "loss.", "cancel-event.pending", "destroy-event.pending-is-busy",
          "submit.pending-keeps-everything", "tosa-artifact.", "parts.")


def device_command(*options: str) -> list[str]:
    """The foreign device as a program."""
    return [sys.executable, "-B", str(SERVE), *options]


def conform(*options: str, device: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    """`virtaccel conform` on the foreign device."""
    words = " ".join(f"'{word}'" for word in device_command(*device))
    return subprocess.run([PROGRAM, "conform", "--device", f"stdio:{words}", *options],
                          capture_output=True, text=True, check=False)


def outcomes(report: dict, outcome: str) -> list[str]:
    """The names of the cases that ended so."""
    return [case["name"] for case in report["cases"] if case["outcome"] == outcome]


class ForeignDevice(unittest.TestCase):
    def test_passes_and_is_reported_in_every_form(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            paths = {kind: os.path.join(folder, kind) for kind in ("json", "junit", "badge")}
            ended = conform(*(word for kind, path in paths.items() for word in (f"--{kind}", path)))
            texts = {kind: pathlib.Path(path).read_text(encoding="utf-8")
                     for kind, path in paths.items()}
        self.assertEqual(ended.returncode, 0, ended.stderr + ended.stdout)
        report = json.loads(texts["json"])
        counts = report["counts"]
        self.assertEqual(outcomes(report, "failed"), [])
        summary = (f": {counts['passed']} passed, {counts['skipped']} skipped, 0 failed.\n")
        self.assertTrue(ended.stdout.endswith(summary), ended.stdout)
        self.assertEqual(len(ended.stdout.splitlines()), len(report["cases"]) + 2)
        suite = ElementTree.fromstring(texts["junit"]).find("testsuite")
        self.assertEqual(suite.get("failures"), "0")
        self.assertEqual(len(suite.findall("testcase")), len(report["cases"]))
        self.assertIn(f"{counts['passed']} of {len(report['cases'])}", texts["badge"])

    def test_skips_only_what_a_stream_cannot_show(self) -> None:
        report = json.loads(conform("--json", "-").stdout)
        for name in outcomes(report, "skipped"):
            told = name.startswith(BEYOND) or name.endswith(("not-offered",))
            self.assertTrue(told, name)

    def test_passes_with_less_to_offer(self) -> None:
        ended = conform("--max-request-bytes", "16384", "--max-response-bytes", "4096",
                        device=("--no-cancel", "--host-only", "--pending-polls", "0",
                                "--max-request-bytes", "16384", "--max-response-bytes", "4096"))
        self.assertEqual(ended.returncode, 0, ended.stderr + ended.stdout)

    def test_is_named_when_it_breaks_a_rule(self) -> None:
        for name, fault in BROKEN.items():
            with self.subTest(name):
                ended = conform("--case", fault.case, "--case", "VQ-001", "--json", "-",
                                device=("--break", name))
                self.assertEqual(ended.returncode, 1, ended.stderr)
                self.assertEqual(outcomes(json.loads(ended.stdout), "failed"), [fault.case])
                self.assertIn(fault.case, ended.stderr)

    def test_gets_along_with_our_guest(self) -> None:
        to_guest, from_device = os.pipe()
        to_device, from_guest = os.pipe()
        with subprocess.Popen(device_command(), stdin=to_device, stdout=from_device) as device:
            for end in (to_device, from_device):
                os.close(end)
            guest = subprocess.run([PROGRAM, "guest", "--stdio"], stdin=to_guest,
                                   stdout=from_guest, stderr=subprocess.PIPE, text=True,
                                   check=False)
            for end in (to_guest, from_guest):
                os.close(end)
            self.assertEqual(guest.returncode, 0, guest.stderr)
            self.assertTrue(guest.stderr.endswith(" answers are right.\n"), guest.stderr)
            self.assertEqual(device.wait(), 0)


if __name__ == "__main__":
    unittest.main()
