"""Tests of the two doors: the stream of items, and the comparison with golden frames."""

import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import decoder
import stream
import vectors
from examples import LIMITS, NEEDED, OPCODES, REQUEST_ID, request

HERE = pathlib.Path(__file__).resolve().parent
FRAMES = HERE.parent / "vectors" / "frames.json"
META_LIMITS = {name: getattr(LIMITS, name) for name in stream.LIMIT_BOUNDS}
CONFIG = bytes.fromhex("01000000010010000000100000001000")


def item(kind: bytes, meta: object, data: bytes) -> bytes:
    """One item of the stream; meta data that are bytes already stay what they are."""
    text = meta if isinstance(meta, bytes) else json.dumps(meta).encode()
    return (kind + len(text).to_bytes(4, "little") + text + len(data).to_bytes(4, "little") + data)


def judged(data: bytes) -> list[dict]:
    """The verdicts on a whole stream."""
    return list(stream.verdicts(io.BytesIO(data)))


def run(*arguments: str, data: bytes = b"") -> subprocess.CompletedProcess:
    """The tool as a person calls it."""
    return subprocess.run([sys.executable, "-B", str(HERE), *arguments], input=data, timeout=60,
                          capture_output=True, check=False)


class Stream(unittest.TestCase):
    def refuses(self, data: bytes, words: str) -> None:
        with self.assertRaisesRegex(stream.InputError, words) as caught:
            judged(data)
        self.assertRegex(str(caught.exception), r"^The .*; .*\.$")

    def test_gives_each_item_the_verdict_of_its_judge(self) -> None:
        good, bad = request("SUBMIT"), request("SUBMIT", {"flags": 1})
        answer = bytes(8) + REQUEST_ID.to_bytes(8, "little")
        asked = {"opcode": OPCODES["FREE_BUFFER"], "request_id": REQUEST_ID,
                 "max_response_bytes": 1000}
        found = judged(
            item(b"q", {"limits": META_LIMITS, "capacity": 24}, good.frame)
            + item(b"q", {"limits": META_LIMITS, "capacity": 24}, bad.frame)
            + item(b"r", asked, answer)
            + item(b"r", {**asked, "used": 0}, answer)
            + item(b"c", {}, CONFIG)
            + item(b"c", {"queue_size": 15}, CONFIG)
            + item(b"c", {"features": 16}, CONFIG))
        self.assertEqual(found[:2], [good.verdict(), bad.verdict()])
        self.assertEqual([verdict["outcome"] for verdict in found],
                         ["request", "error", "success", "nothing", "config", "refused", "refused"])

    def test_passes_every_member_on(self) -> None:
        for name in OPCODES:
            frame, _, capacity = request(name)
            for short in (0, 1):
                found = judged(item(b"q", {"limits": META_LIMITS, "capacity": capacity - short},
                                    frame))
                self.assertEqual(found[0]["outcome"], "nothing" if short else "request")
        read = {"opcode": OPCODES["READ_BUFFER"], "request_id": 7, "max_response_bytes": 100,
                "read_bytes": 2}
        data = bytes.fromhex("00000000" "02000000" "0700000000000000" "aabb" "cc")
        self.assertEqual(judged(item(b"r", {**read, "used": 18}, data))[0]["data"], "aabb")
        self.assertEqual(judged(item(b"r", read, data))[0]["check"], "payload_bytes")

    def test_of_nothing_gives_nothing(self) -> None:
        self.assertEqual(judged(b""), [])

    def test_that_ends_early_is_a_mistake(self) -> None:
        whole = item(b"c", {}, CONFIG)
        for size in range(1, len(whole)):
            self.refuses(whole[:size], "stream ends")

    def test_of_an_unknown_kind_is_a_mistake(self) -> None:
        self.refuses(item(b"x", {}, b""), r"kind of an item is \(b'x'\); send one of q, r, c")

    def test_has_limits_of_its_own(self) -> None:
        self.refuses(b"c\xff\xff\xff\xff", r"meta data of a config is \(4294967295\)")
        self.refuses(b"c\2\0\0\0{}\xff\xff\xff\xff", r"bytes of a config is \(4294967295\)")

    def test_wants_meta_data_that_can_be_read(self) -> None:
        for meta in (b"", b"{", b"\xff", b"[" * 60000, b"1" * 5000):
            self.refuses(item(b"c", meta, CONFIG), "meta data of a config is no JSON")
        for meta in (b"7", b"[]", b"null", b'"a"'):
            self.refuses(item(b"c", meta, CONFIG), "give a JSON object")

    def test_wants_every_member_and_no_other(self) -> None:
        for gone in META_LIMITS:
            limits = {name: value for name, value in META_LIMITS.items() if name != gone}
            self.refuses(item(b"q", {"limits": limits, "capacity": 24}, b""), rf"\({gone}\)")
        self.refuses(item(b"q", {"limits": META_LIMITS}, b""), r"lack the member \(capacity\)")
        self.refuses(item(b"q", {"limits": {**META_LIMITS, "more": 1}, "capacity": 1}, b""),
                     r"limits\.more\) is unknown")
        self.refuses(item(b"c", {"limit": 1}, CONFIG), r"config\.limit\) is unknown")
        asked = {"opcode": 0x0203, "request_id": 7, "max_response_bytes": 1000}
        self.refuses(item(b"r", asked, b""), r"lack the member \(read_bytes\)")
        self.refuses(item(b"r", {**asked, "opcode": 1, "read_bytes": 1}, b""), "is unknown")

    def test_wants_numbers_within_their_bounds(self) -> None:
        for value in (-1, 2**32, 1.0, True, None, "1", [1]):
            self.refuses(item(b"q", {"limits": META_LIMITS, "capacity": value}, b""),
                         r"request\.capacity\) is")
        for name, (low, high) in stream.LIMIT_BOUNDS.items():
            for value in (low - 1, high + 1):
                limits = {**META_LIMITS, name: value}
                self.refuses(item(b"q", {"limits": limits, "capacity": 1}, b""), rf"limits\.{name}")
        asked = {"opcode": 0x0600, "request_id": 7, "max_response_bytes": 1000}
        self.refuses(item(b"r", asked, b""), r"response\.opcode\) is \(0x0600\)")
        self.refuses(item(b"r", {**asked, "opcode": 1, "request_id": 0}, b""), "request_id")


class GoldenFrames(unittest.TestCase):
    def test_all_agree(self) -> None:
        golden = vectors.Vectors(FRAMES)
        self.assertGreater(len(golden.frames), 100)
        self.assertEqual(list(golden.disagreements()), [])
        good = {frame["command"] for frame in golden.frames
                if (frame["kind"], frame["status"]) == ("request", "OK")}
        self.assertEqual(good, set(NEEDED))

    def changed(self, change: dict, name: str) -> list[str]:
        """The disagreements after one frame of the file is changed."""
        members = json.loads(FRAMES.read_bytes())
        for frame in members["frames"]:
            if frame["name"] == name:
                frame.update(change)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "frames.json"
            path.write_text(json.dumps(members), encoding="utf-8")
            return list(vectors.Vectors(path).disagreements())

    def test_that_lie_are_noticed(self) -> None:
        for name, change in (
                ("queue of no context", {"status": "BUSY"}),
                ("CREATE_QUEUE request", {"fields": {"context_id": 1}}),
                ("LOAD_PROGRAM response", {"fields": {"object_id": 1}}),
                ("BUSY response", {"status": "OK"}),
                ("BUSY response", {"record": "object"}),
                ("SUBMIT indeterminate response", {"record": None}),
                ("config", {"fields": {}}),
                ("config", {"status": "BUSY"}),
                ("zero request id", {"status": "OK"}),
                ("zero request id", {"status": "UNSUPPORTED"})):
            with self.subTest(name, change=change):
                found = self.changed(change, name)
                self.assertTrue(any(f"The vector ({name}) says" in line for line in found), found)

    def test_that_no_one_can_read_are_refused(self) -> None:
        for change, words in (({"hex": "0"}, r"member \(hex\)"), ({"hex": 7}, r"member \(hex\)"),
                              ({"kind": []}, r"member \(kind\)"), ({"record": []}, "record"),
                              ({"record": "none"}, "record"), ({"fields": 1}, "fields"),
                              ({"command": 1}, "command"), ({"status": 1}, "status")):
            with self.assertRaisesRegex(stream.InputError, words):
                self.changed(change, "config")
        for change, name in (({"command": "NONE"}, "BUSY response"),
                             ({"command": "SUBMIT"}, "CREATE_QUEUE request"),
                             ({"status": "BUSY"}, "CREATE_QUEUE request")):
            with self.assertRaisesRegex(stream.InputError, "whose good request the file lacks"):
                self.changed(change, name)

    def test_in_no_such_file_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "frames.json"
            for text, words in ((None, "cannot be read"), ("{", "is no JSON"),
                                ("[]", r"no list \(frames\)"), ('{"frames": 1}', "no list"),
                                ('{"frames": []}', r"meta data \(limits\)"),
                                (json.dumps({"limits": META_LIMITS, "frames": [1]}),
                                 r"vector \(0\) is no object")):
                if text is not None:
                    path.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(stream.InputError, words):
                    vectors.Vectors(path)

    def test_know_what_a_read_asked_for(self) -> None:
        golden = vectors.Vectors(FRAMES)
        answer = next(one for one in golden.frames if one["name"] == "READ_BUFFER response")
        self.assertEqual(golden.judge(answer)["data"], "0a0b0c")
        self.assertEqual(len(decoder.COMMANDS), 15)


class Tool(unittest.TestCase):
    def test_compares_a_file_and_says_so(self) -> None:
        done = run(str(FRAMES))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout.decode(),
                         r"^clean_room: (\d+) vectors, \1 agree, 0 disagree\n$")

    def test_exits_1_with_a_line_for_each_disagreement(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "frames.json"
            text = FRAMES.read_text(encoding="utf-8")
            path.write_text(text.replace('"status": "BUSY"', '"status": "DEVICE_LOST"'),
                            encoding="utf-8")
            done = run(str(path))
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("The vector (BUSY response) says", lines[0])
        self.assertRegex(lines[1], ", 1 disagree$")

    def test_prints_a_line_of_json_for_each_item(self) -> None:
        done = run(data=item(b"c", {}, CONFIG) * 2 + item(b"c", {}, b""))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        outcomes = [json.loads(line)["outcome"] for line in done.stdout.splitlines()]
        self.assertEqual(outcomes, ["config", "config", "refused"])

    def test_does_not_wait_for_the_end_of_the_stream(self) -> None:
        with subprocess.Popen([sys.executable, "-B", str(HERE)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            for _ in range(2):
                process.stdin.write(item(b"c", {}, CONFIG))
                process.stdin.flush()
                self.assertEqual(json.loads(process.stdout.readline())["outcome"], "config")
            process.stdin.close()
            self.assertEqual(process.wait(60), 0)

    def test_says_in_one_sentence_what_is_wrong(self) -> None:
        for done in (run("missing.json"), run(data=b"c"), run(data=b"x")):
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertRegex(done.stderr.decode(), r"^clean_room: The .*; .*\.\n$")

    def test_explains_itself_with_examples_that_work(self) -> None:
        text = run("--help").stdout.decode()
        self.assertIn("spec/clean_room spec/vectors/frames.json", text)
        example = text.split("printf '")[1].split("'")[0]
        sent = example.encode().decode("unicode_escape").encode("latin-1")
        self.assertEqual(judged(sent)[0]["outcome"], "config")


if __name__ == "__main__":
    unittest.main()
