"""Tests of what a device makes of requests: every check, every edge, and which check is first."""

import itertools
import random
import unittest
from typing import NamedTuple

import examples
import layouts
from decoder import judge_request
from examples import LIMITS, NEEDED, OPCODES, REQUEST_ID, request

INVALID, UNSUPPORTED, LIMIT = "INVALID_ARGUMENT", "UNSUPPORTED", "RESOURCE_LIMIT"
NOTHING = None
U64_MAX = 2**64 - 1
SUBMIT_BYTES = 32 + 2 * 32


class Row(NamedTuple):
    """A check, what it answers, and a change that breaks it alone."""

    check: str
    status: str | None
    change: dict


FIRST = (
    Row("header", NOTHING, {"frame": 15}),
    Row("error_capacity", NOTHING, {"capacity": 15}),
    Row("frame_limit", LIMIT, {"limits.max_request_bytes": 15}),
    Row("frame_length", INVALID, {"header.payload_bytes": 1000}),
    Row("request_id", INVALID, {"header.request_id": 0}),
    Row("header_flags", UNSUPPORTED, {"header.flags": 1}),
    Row("opcode", UNSUPPORTED, {"header.opcode": 0x0600}),
)
PAYLOAD = {
    "GET_DEVICE_INFO": (Row("length", INVALID, {"payload": 1}),),
    "CREATE_CONTEXT": (
        Row("length", INVALID, {"payload": 9}),
        Row("flags", UNSUPPORTED, {"flags": 1}),
        Row("reserved", INVALID, {"reserved": 1})),
    "ALLOCATE_BUFFER": (
        Row("length", INVALID, {"payload": 41}),
        Row("context_id", INVALID, {"context_id": 0}),
        Row("reserved0", INVALID, {"reserved0": "00000000000001"}),
        Row("reserved1", INVALID, {"reserved1": 1}),
        Row("memory_domain", INVALID, {"memory_domain": 4}),
        Row("usage_unknown", UNSUPPORTED, {"usage": 0b100001}),
        Row("usage", INVALID, {"usage": 0}),
        Row("bytes", INVALID, {"bytes": 0}),
        Row("alignment", INVALID, {"alignment": 3}),
        Row("buffer_limit", LIMIT, {"limits.max_buffer_bytes": 99}),
        Row("domain_capability", UNSUPPORTED, {"limits.capabilities": 0})),
    "WRITE_BUFFER": (
        Row("length", INVALID, {"payload": 23}),
        Row("buffer_id", INVALID, {"buffer_id": 0}),
        Row("bytes", INVALID, {"bytes": 0}),
        Row("range", INVALID, {"offset": U64_MAX}),
        Row("tail", INVALID, {"payload": 26})),
    "READ_BUFFER": (
        Row("length", INVALID, {"payload": 25}),
        Row("buffer_id", INVALID, {"buffer_id": 0}),
        Row("bytes", INVALID, {"bytes": 0}),
        Row("range", INVALID, {"offset": U64_MAX})),
    "LOAD_PROGRAM": (
        Row("length", INVALID, {"payload": 79}),
        Row("flags", UNSUPPORTED, {"flags": 1}),
        Row("context_id", INVALID, {"context_id": 0}),
        Row("format", INVALID, {"format": 0}),
        Row("payload_bytes", INVALID, {"payload_bytes": 0}),
        Row("resident_bytes", INVALID, {"resident_bytes": 0}),
        Row("tail", INVALID, {"payload": 84}),
        Row("artifact_limit", LIMIT, {"limits.max_artifact_bytes": 4})),
    "CREATE_QUEUE": (
        Row("length", INVALID, {"payload": 17}),
        Row("flags", UNSUPPORTED, {"flags": 1}),
        Row("reserved", INVALID, {"reserved": 1}),
        Row("context_id", INVALID, {"context_id": 0})),
    "SUBMIT": (
        Row("length", INVALID, {"payload": 31}),
        Row("flags", UNSUPPORTED, {"flags": 1}),
        Row("binding_count", INVALID, {"binding_count": 0}),
        Row("binding_limit", LIMIT, {"limits.max_bindings": 1}),
        Row("tail", INVALID, {"payload": SUBMIT_BYTES + 1}),
        Row("reserved", INVALID, {"0.reserved": "000001"}),
        Row("bytes", INVALID, {"0.bytes": 0}),
        Row("range", INVALID, {"0.offset": U64_MAX}),
        Row("access", INVALID, {"0.access": 4}),
        Row("buffer_id", INVALID, {"0.buffer_id": 0}),
        Row("slot", INVALID, {"1.slot": 0}),
        Row("queue_id", INVALID, {"queue_id": 0}),
        Row("program_id", INVALID, {"program_id": 0})),
}
ONE_OBJECT = (Row("length", INVALID, {"payload": 9}), Row("object_id", INVALID, {"object_id": 0}))
# Neighbours that no frame can break together, and why.
IMPOSSIBLE = {
    ("usage_unknown", "usage"): "a usage with an unknown bit is not empty",
    ("bytes", "range"): "a range of no bytes does not overflow",
    ("binding_count", "binding_limit"): "zero is within every limit",
}


def rows(name: str) -> tuple[Row, ...]:
    """All checks of a command, in the order of the text."""
    needed = NEEDED[name]
    last = [Row("response_limit", LIMIT, {"limits.max_response_bytes": needed - 1})]
    if needed > 16:
        last.append(Row("capacity", NOTHING, {"capacity": needed - 1}))
    return (*FIRST, *PAYLOAD.get(name, ONE_OBJECT), *last)


class Requests(unittest.TestCase):
    """What the tests below share."""

    def judged(self, name: str, **changes: object) -> dict:
        """The verdict on a changed request; a dot in a name is written as two underscores."""
        return request(name, {key.replace("__", "."): value
                              for key, value in changes.items()}).verdict()

    def expect(self, verdict: dict, check: str, status: str | None) -> None:
        self.assertEqual((verdict.get("check"), verdict.get("status")), (check, status), verdict)
        self.assertEqual(verdict["outcome"], "error" if status else "nothing")
        self.assertEqual(verdict["used"], 16 if status else 0)

    def expect_good(self, verdict: dict) -> None:
        self.assertEqual(verdict["outcome"], "request", verdict)


class GoodRequests(Requests):
    def test_of_every_command_are_decoded(self) -> None:
        for name, opcode in OPCODES.items():
            with self.subTest(name):
                verdict = request(name).verdict()
                wanted = {"outcome": "request", "command": name, "opcode": opcode,
                          "request_id": REQUEST_ID, "fields": examples.record_of(name),
                          "needed": NEEDED[name]}
                if name == "SUBMIT":
                    wanted["bindings"] = list(examples.BINDINGS)
                if name in examples.TAILS:
                    wanted["data"] = examples.TAILS[name].hex()
                self.assertEqual(verdict, wanted)

    def test_are_read_byte_by_byte(self) -> None:
        frame = bytes.fromhex("0005" "0000" "40000000" "0807060504030201"
                              "1112131415161718" "2122232425262728" "01000000" "00000000"
                              "3132333435363738"
                              "4142434445464748" "5152535455565758" "6162636465666768"
                              "71727374" "03" "000000")
        verdict = judge_request(frame, LIMITS, 24)
        self.assertEqual(verdict["fields"], {
            "queue_id": 0x1817161514131211, "program_id": 0x2827262524232221,
            "binding_count": 1, "flags": 0, "timeout_ns": 0x3837363534333231})
        self.assertEqual(verdict["bindings"], [{
            "buffer_id": 0x4847464544434241, "offset": 0x5857565554535251,
            "bytes": 0x6867666564636261, "slot": 0x74737271, "access": 3, "reserved": "000000"}])

    def test_exist_for_fifteen_opcodes_only(self) -> None:
        good = [opcode for opcode in (*range(0x0700), 0x8101, 0xffff)
                if self.judged("GET_DEVICE_INFO", header__opcode=opcode).get("check") != "opcode"]
        self.assertEqual(good, [0x0001, 0x0100, 0x0101, 0x0200, 0x0201, 0x0202, 0x0203, 0x0300,
                                0x0301, 0x0400, 0x0401, 0x0500, 0x0501, 0x0502, 0x0503])


class Order(Requests):
    def test_every_check_alone_gives_its_answer(self) -> None:
        for name in OPCODES:
            for row in rows(name):
                with self.subTest(name, check=row.check):
                    self.expect(request(name, row.change).verdict(), row.check, row.status)

    def test_of_two_broken_checks_the_first_one_answers(self) -> None:
        for name in OPCODES:
            for first, second in itertools.combinations(rows(name), 2):
                if not first.change.keys() & second.change.keys():
                    with self.subTest(name, first=first.check, second=second.check):
                        verdict = request(name, {**first.change, **second.change}).verdict()
                        self.expect(verdict, first.check, first.status)

    def test_no_two_neighbours_were_left_out(self) -> None:
        for name in OPCODES:
            for first, second in itertools.pairwise(rows(name)):
                if first.change.keys() & second.change.keys():
                    self.assertIn((first.check, second.check), IMPOSSIBLE, name)

    def test_of_usage_without_a_known_bit_asks_for_the_unknown_one_first(self) -> None:
        self.expect(self.judged("ALLOCATE_BUFFER", usage=0b100000), "usage_unknown", UNSUPPORTED)

    def test_of_a_size_asks_for_the_alignment_before_the_limit(self) -> None:
        self.expect(self.judged("ALLOCATE_BUFFER", bytes=U64_MAX, alignment=0), "alignment",
                    INVALID)

    def test_of_a_domain_asks_for_its_value_long_before_its_capability(self) -> None:
        self.expect(self.judged("ALLOCATE_BUFFER", memory_domain=3, usage=0,
                                limits__capabilities=1), "usage", INVALID)

    def test_of_bindings_goes_through_one_after_the_other(self) -> None:
        verdict = self.judged("SUBMIT", **{"0__buffer_id": 0, "1__reserved": "010000"})
        self.expect(verdict, "buffer_id", INVALID)
        verdict = self.judged("SUBMIT", **{"1__buffer_id": 0, "1__slot": 0})
        self.expect(verdict, "buffer_id", INVALID)

    def test_of_a_read_asks_for_overflow_before_the_response(self) -> None:
        self.expect(self.judged("READ_BUFFER", offset=1, bytes=U64_MAX), "range", INVALID)
        self.expect(self.judged("READ_BUFFER", offset=0, bytes=U64_MAX), "response_limit", LIMIT)

    def test_lets_a_response_past_the_limit_win_over_a_short_capacity(self) -> None:
        self.expect(self.judged("READ_BUFFER", bytes=2033, capacity=16), "response_limit", LIMIT)


class Edges(Requests):
    def test_of_capacity_are_exact(self) -> None:
        for name, needed in NEEDED.items():
            for capacity in range(needed + 2):
                with self.subTest(name, capacity=capacity):
                    verdict = self.judged(name, capacity=capacity)
                    if capacity < 16:
                        self.expect(verdict, "error_capacity", NOTHING)
                    elif capacity < needed:
                        self.expect(verdict, "capacity", NOTHING)
                    else:
                        self.expect_good(verdict)

    def test_of_the_largest_frame_and_response_are_exact(self) -> None:
        for name, needed in NEEDED.items():
            with self.subTest(name):
                size = len(request(name).frame)
                self.expect_good(self.judged(name, limits__max_request_bytes=size))
                self.expect(self.judged(name, limits__max_request_bytes=size - 1), "frame_limit",
                            LIMIT)
                self.expect_good(self.judged(name, limits__max_response_bytes=needed))
                self.expect(self.judged(name, limits__max_response_bytes=needed - 1),
                            "response_limit", LIMIT)

    def test_of_buffers_and_artifacts_are_exact(self) -> None:
        self.expect_good(self.judged("ALLOCATE_BUFFER", bytes=1))
        self.expect_good(self.judged("ALLOCATE_BUFFER", bytes=4096))
        self.expect(self.judged("ALLOCATE_BUFFER", bytes=4097), "buffer_limit", LIMIT)
        self.expect_good(self.judged("LOAD_PROGRAM", payload=80 + 100, payload_bytes=100))
        self.expect(self.judged("LOAD_PROGRAM", payload=80 + 101, payload_bytes=101),
                    "artifact_limit", LIMIT)

    def test_of_ranges_are_exact(self) -> None:
        self.expect_good(self.judged("WRITE_BUFFER", offset=U64_MAX - 3))
        self.expect(self.judged("WRITE_BUFFER", offset=U64_MAX - 2), "range", INVALID)
        self.expect_good(self.judged("READ_BUFFER", offset=U64_MAX - 3))
        self.expect(self.judged("READ_BUFFER", offset=U64_MAX - 2), "range", INVALID)
        for number in "01":
            self.expect_good(self.judged("SUBMIT", **{f"{number}__offset": U64_MAX - 16}))
            self.expect(self.judged("SUBMIT", **{f"{number}__offset": U64_MAX - 15}), "range",
                        INVALID)

    def test_of_what_a_read_may_return_are_exact(self) -> None:
        self.expect_good(self.judged("READ_BUFFER", bytes=2048 - 16, capacity=2048))
        self.expect(self.judged("READ_BUFFER", bytes=2048 - 15, capacity=2**32), "response_limit",
                    LIMIT)
        self.expect(self.judged("READ_BUFFER", bytes=2048 - 16, capacity=2047), "capacity", NOTHING)

    def test_of_the_count_of_bindings_are_exact(self) -> None:
        self.expect_good(self.judged("SUBMIT", limits__max_bindings=2))
        self.expect(self.judged("SUBMIT", limits__max_bindings=1), "binding_limit", LIMIT)
        for count, check, status in ((1, "tail", INVALID), (3, "tail", INVALID),
                                     (4, "tail", INVALID), (5, "binding_limit", LIMIT),
                                     (2**32 - 1, "binding_limit", LIMIT)):
            self.expect(self.judged("SUBMIT", binding_count=count), check, status)

    def test_of_bindings_end_at_4096_whatever_is_advertised(self) -> None:
        for advertised in (4096, 4097, 2**32 - 1):
            for count, check, status in ((4096, "tail", INVALID), (4097, "binding_limit", LIMIT)):
                verdict = self.judged("SUBMIT", limits__max_bindings=advertised,
                                      binding_count=count)
                self.expect(verdict, check, status)

    def test_of_4096_bindings_fit(self) -> None:
        tail = b"".join(layouts.encode("binding", {**examples.BINDINGS[0], "slot": slot})
                        for slot in range(4096))
        submit = layouts.encode("submit", {**examples.RECORDS["SUBMIT"], "binding_count": 4096})
        header = layouts.encode("request_header", {
            "opcode": 0x0500, "flags": 0, "payload_bytes": len(submit + tail), "request_id": 1})
        limits = examples.request("SUBMIT", {"limits.max_bindings": 4096,
                                             "limits.max_request_bytes": 2**24}).limits
        self.expect_good(judge_request(header + submit + tail, limits, 24))


class Fields(Requests):
    def test_that_are_flags_refuse_every_bit(self) -> None:
        for bit in range(16):
            self.expect(self.judged("POLL_EVENT", header__flags=1 << bit), "header_flags",
                        UNSUPPORTED)
        for name in ("CREATE_CONTEXT", "CREATE_QUEUE", "LOAD_PROGRAM", "SUBMIT"):
            for bit in range(32):
                self.expect(self.judged(name, flags=1 << bit), "flags", UNSUPPORTED)

    def test_that_are_reserved_refuse_every_byte(self) -> None:
        for name, field, size in (
                ("CREATE_CONTEXT", "reserved", 4), ("CREATE_QUEUE", "reserved", 4),
                ("ALLOCATE_BUFFER", "reserved1", 4), ("ALLOCATE_BUFFER", "reserved0", 7),
                ("SUBMIT", "0.reserved", 3), ("SUBMIT", "1.reserved", 3)):
            for at in range(size):
                value = 1 << 8 * at
                if size != 4:
                    value = value.to_bytes(size, "little").hex()
                with self.subTest(name, field=field, byte=at):
                    self.expect(request(name, {field: value}).verdict(), field.split(".")[-1],
                                INVALID)

    def test_that_are_ids_are_nonzero_in_any_byte(self) -> None:
        for name, field in (("CREATE_QUEUE", "context_id"), ("FREE_BUFFER", "object_id"),
                            ("SUBMIT", "1.buffer_id"), ("SUBMIT", "program_id")):
            for at in range(8):
                self.expect_good(request(name, {field: 1 << 8 * at}).verdict())

    def test_domain_needs_its_own_capability(self) -> None:
        for domain, bit in ((1, 0), (2, 1), (3, 5)):
            for offered in range(64):
                verdict = self.judged("ALLOCATE_BUFFER", memory_domain=domain,
                                      limits__capabilities=1 << offered)
                if offered == bit:
                    self.expect_good(verdict)
                else:
                    self.expect(verdict, "domain_capability", UNSUPPORTED)
        for domain in (0, *range(4, 256)):
            self.expect(self.judged("ALLOCATE_BUFFER", memory_domain=domain), "memory_domain",
                        INVALID)

    def test_usage_takes_any_of_its_five_bits(self) -> None:
        for usage in range(1, 32):
            self.expect_good(self.judged("ALLOCATE_BUFFER", usage=usage))
        for bit in range(5, 32):
            self.expect(self.judged("ALLOCATE_BUFFER", usage=1 << bit | 1), "usage_unknown",
                        UNSUPPORTED)

    def test_alignment_is_any_power_of_two(self) -> None:
        for bit in range(64):
            self.expect_good(self.judged("ALLOCATE_BUFFER", alignment=1 << bit))
        for alignment in (0, 3, 6, 2**63 + 1, U64_MAX):
            self.expect(self.judged("ALLOCATE_BUFFER", alignment=alignment), "alignment", INVALID)

    def test_access_is_one_of_three(self) -> None:
        for access in range(256):
            verdict = self.judged("SUBMIT", **{"1__access": access})
            if access in (1, 2, 3):
                self.expect_good(verdict)
            else:
                self.expect(verdict, "access", INVALID)

    def test_slots_and_timeouts_may_be_anything(self) -> None:
        self.expect_good(self.judged("SUBMIT", **{"0__slot": 2**32 - 1}, timeout_ns=0))
        self.expect_good(self.judged("SUBMIT", **{"0__slot": 8}, timeout_ns=U64_MAX))

    def test_one_buffer_may_be_bound_twice_and_overlap(self) -> None:
        self.expect_good(self.judged("SUBMIT", **{"1__buffer_id": 9, "1__offset": 0}))


class CutFrames(Requests):
    def test_at_every_byte_are_refused(self) -> None:
        for name in OPCODES:
            for size in range(len(request(name).frame)):
                with self.subTest(name, size=size):
                    verdict = self.judged(name, frame=size)
                    if size < 16:
                        self.expect(verdict, "header", NOTHING)
                    else:
                        self.expect(verdict, "frame_length", INVALID)

    def test_at_every_byte_with_a_true_count_are_refused(self) -> None:
        for name in OPCODES:
            size_good = len(request(name).frame) - 16
            size_fixed = layouts.SIZES.get(layouts.COMMANDS[OPCODES[name]].request, 0)
            for size in range(size_good):
                with self.subTest(name, size=size):
                    self.expect(self.judged(name, payload=size),
                                "length" if size < size_fixed else "tail", INVALID)

    def test_with_bytes_too_many_are_refused(self) -> None:
        for name in OPCODES:
            frame, limits, capacity = request(name)
            self.expect(judge_request(frame + b"\0", limits, capacity), "frame_length", INVALID)
            verdict = self.judged(name, payload=len(frame) - 16 + 1)
            self.expect(verdict, "tail" if layouts.COMMANDS[OPCODES[name]].tail else "length",
                        INVALID)


class Answers(Requests):
    def test_are_sixteen_bytes_that_echo_the_id(self) -> None:
        for change, response in (
                ({"reserved": 1}, "0300" "0000" "00000000" "0807060504030201"),
                ({"flags": 1}, "0100" "0000" "00000000" "0807060504030201"),
                ({"limits.max_request_bytes": 23}, "0700" "0000" "00000000" "0807060504030201"),
                ({"header.request_id": 0}, "0300" "0000" "00000000" "0000000000000000")):
            verdict = request("CREATE_CONTEXT", change).verdict()
            self.assertEqual(verdict["response"], response)

    def test_of_other_devices_may_differ_for_an_artifact_of_2_to_the_64(self) -> None:
        verdict = self.judged("LOAD_PROGRAM", payload_bytes=U64_MAX)
        self.expect(verdict, "tail", INVALID)
        self.assertEqual(verdict["foreign"], [LIMIT])
        self.assertNotIn("foreign", self.judged("LOAD_PROGRAM", payload_bytes=U64_MAX - 1))
        verdict = self.judged("LOAD_PROGRAM", payload_bytes=U64_MAX, resident_bytes=0)
        self.assertNotIn("foreign", verdict)

    def test_of_other_devices_may_differ_for_an_id_with_a_zero_low_half(self) -> None:
        for name, field in (("CREATE_QUEUE", "context_id"), ("POLL_EVENT", "object_id"),
                            ("READ_BUFFER", "buffer_id"), ("SUBMIT", "1.buffer_id"),
                            ("SUBMIT", "queue_id"), ("LOAD_PROGRAM", "context_id")):
            verdict = request(name, {field: 1 << 32}).verdict()
            self.expect_good(verdict)
            self.assertEqual(verdict["foreign"], [INVALID])
            self.assertNotIn("foreign", request(name, {field: 1 << 31}).verdict())

    def test_of_other_devices_never_repeat_our_own(self) -> None:
        self.assertNotIn("foreign", self.judged("READ_BUFFER", buffer_id=1 << 32, bytes=0))
        verdict = self.judged("READ_BUFFER", buffer_id=1 << 32, bytes=2033)
        self.expect(verdict, "response_limit", LIMIT)
        self.assertEqual(verdict["foreign"], [INVALID])


class AnyFrame(Requests):
    def encoded(self, verdict: dict) -> bytes:
        """The frame that a decoded request came from."""
        record = layouts.COMMANDS[verdict["opcode"]].request
        payload = layouts.encode(record, verdict["fields"]) if record else b""
        payload += b"".join(layouts.encode("binding", one) for one in verdict.get("bindings", ()))
        payload += bytes.fromhex(verdict.get("data", ""))
        return layouts.encode("request_header", {
            "opcode": verdict["opcode"], "flags": 0, "payload_bytes": len(payload),
            "request_id": verdict["request_id"]}) + payload

    def test_has_one_verdict_and_a_decoded_one_comes_back_whole(self) -> None:
        chance = random.Random(1)
        outcomes = dict.fromkeys(("request", "error", "nothing"), 0)
        for _ in range(3000):
            frame, limits, capacity = request(chance.choice(list(OPCODES)))
            changed = bytearray(frame)
            for _ in range(chance.choice((1, 1, 2))):
                changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
            verdict = judge_request(bytes(changed), limits, chance.choice((capacity, 20, 1)))
            outcomes[verdict["outcome"]] += 1
            if verdict["outcome"] == "request":
                self.assertEqual(self.encoded(verdict), changed)
        self.assertGreater(min(outcomes.values()), 300)

    def test_of_noise_has_a_verdict(self) -> None:
        chance = random.Random(2)
        for size in range(300):
            verdict = judge_request(chance.randbytes(size), LIMITS, 92)
            self.assertIn(verdict["outcome"], ("error", "nothing"))


class Layouts(unittest.TestCase):
    def test_lie_end_to_end(self) -> None:
        self.assertEqual(layouts.RECORDS.keys(), layouts.SIZES.keys())
        for name, fields in layouts.RECORDS.items():
            end = 0
            for field in fields:
                self.assertEqual(field.offset, end, (name, field.name))
                end += field.width * field.count
            self.assertEqual(end, layouts.SIZES[name], name)

    def test_write_what_they_read(self) -> None:
        chance = random.Random(3)
        for name, size in layouts.SIZES.items():
            data = chance.randbytes(size)
            self.assertEqual(layouts.encode(name, layouts.decode(name, data)), data)


if __name__ == "__main__":
    unittest.main()
