"""Tests of what a driver makes of responses, of the configuration space and of a DeviceInfo."""

import random
import unittest

import decoder
from examples import OPCODES
from layouts import STATUSES, encode

ID = 0x0102030405060708
LIMIT = 1000
EVENT = bytes.fromhex("0500000007000000")
INFO = {"uuid": "00112233445566778899aabbccddeeff", "class": 1, "reserved": 0, "vendor_id": 0,
        "device_id": 0, "capabilities": 0b100111, "max_contexts": 64,
        "max_buffers_per_context": 1024, "max_programs_per_context": 256,
        "max_queues_per_context": 16, "max_events_per_context": 4096,
        "max_bindings_per_submission": 256, "max_buffer_bytes": 4096, "max_artifact_bytes": 4000}
CONFIG = {"protocol_major": 1, "protocol_minor": 0, "command_queue_count": 1,
          "max_chain_descriptors": 16, "max_request_bytes": 2**20, "max_response_bytes": 2**20}
GOOD = {
    "GET_DEVICE_INFO": encode("device_info", INFO), "CREATE_CONTEXT": EVENT,
    "DESTROY_CONTEXT": b"", "ALLOCATE_BUFFER": EVENT, "FREE_BUFFER": b"", "WRITE_BUFFER": b"",
    "READ_BUFFER": b"abc", "LOAD_PROGRAM": EVENT, "UNLOAD_PROGRAM": b"", "CREATE_QUEUE": EVENT,
    "DESTROY_QUEUE": b"", "SUBMIT": EVENT, "POLL_EVENT": bytes(8), "CANCEL_EVENT": b"",
    "DESTROY_EVENT": b"",
}
CREATES = [name for name, payload in GOOD.items() if payload == EVENT]
RELEASES = ("DESTROY_CONTEXT", "FREE_BUFFER", "UNLOAD_PROGRAM", "DESTROY_QUEUE", "DESTROY_EVENT")
FAILURES = [status for status in STATUSES if status != 0]
UNKNOWN = (12, 100, 0x7fff, 65534)


def response(name: str, status: int = 0, payload: bytes | None = None, *, used: int | None = None,
             spare: int = 0, **header: int) -> dict:
    """The verdict on a response; without more words it is a good one of the command."""
    if payload is None:
        payload = GOOD[name] if status == 0 else b""
    head = {"status": status, "flags": 0, "payload_bytes": len(payload), "request_id": ID}
    data = encode("response_header", {**head, **header}) + payload
    asked = decoder.Asked(OPCODES[name], ID, LIMIT, 3 if name == "READ_BUFFER" else None)
    return decoder.judge_response(data + bytes(spare), len(data) if used is None else used, asked)


class Responses(unittest.TestCase):
    """What the tests below share."""

    def expect(self, verdict: dict, outcome: str, check: str | None = None) -> None:
        self.assertEqual((verdict["outcome"], verdict.get("check")), (outcome, check), verdict)


class Successes(Responses):
    def test_of_every_command_are_taken(self) -> None:
        for name in OPCODES:
            with self.subTest(name):
                verdict = response(name)
                self.expect(verdict, "success")
                self.assertEqual((verdict["command"], verdict["status"]), (name, "OK"))

    def test_carry_what_was_asked_for(self) -> None:
        for name in CREATES:
            self.assertEqual(response(name)["fields"], {"object_id": 0x0000000700000005})
        self.assertEqual(response("READ_BUFFER")["data"], b"abc".hex())
        self.assertEqual(response("GET_DEVICE_INFO")["fields"], INFO)

    def test_have_the_payload_of_their_command_and_no_other(self) -> None:
        for name, good in GOOD.items():
            for size in (0, 2, 3, 4, 7, 8, 9, 75, 76, 77):
                if size != len(good):
                    with self.subTest(name, size=size):
                        self.expect(response(name, payload=b"\1" * size), "malformed",
                                    "payload_size")

    def test_name_no_object_zero(self) -> None:
        for name in CREATES:
            self.expect(response(name, payload=bytes(8)), "malformed", "object_id")

    def test_may_leave_the_rest_of_the_buffer_alone(self) -> None:
        for name in OPCODES:
            self.expect(response(name, spare=5), "success")


class Headers(Responses):
    def test_of_no_used_byte_are_no_response(self) -> None:
        self.expect(response("SUBMIT", used=0), "nothing", "used")

    def test_are_whole(self) -> None:
        for used in range(1, 16):
            self.expect(response("FREE_BUFFER", used=used), "malformed", "used_header")

    def test_count_the_used_bytes_exactly(self) -> None:
        for name in OPCODES:
            size = 16 + len(GOOD[name])
            for used in range(16, size + 3):
                if used != size:
                    self.expect(response(name, used=used, spare=5), "malformed", "payload_bytes")
        for count in (0, 7, 9, 2**32 - 1):
            self.expect(response("SUBMIT", payload_bytes=count), "malformed", "payload_bytes")

    def test_stay_within_the_buffer_and_the_limit(self) -> None:
        self.expect(response("SUBMIT", used=25), "malformed", "used_buffer")
        asked = decoder.Asked(OPCODES["SUBMIT"], ID, 24)
        head = {"status": 0, "flags": 0, "payload_bytes": 8, "request_id": ID}
        data = encode("response_header", head) + EVENT
        self.expect(decoder.judge_response(data, 24, asked), "success")
        data = encode("response_header", {**head, "payload_bytes": 9}) + EVENT + b"\0"
        self.expect(decoder.judge_response(data, 25, asked), "malformed", "used_limit")

    def test_have_no_flags_and_the_id_of_the_request(self) -> None:
        for bit in range(16):
            self.expect(response("SUBMIT", flags=1 << bit), "malformed", "flags")
            self.expect(response("SUBMIT", 5, flags=1 << bit), "malformed", "flags")
        for wrong in (0, ID - 1, ID ^ 1 << 63):
            self.expect(response("SUBMIT", request_id=wrong), "malformed", "request_id")
            self.expect(response("SUBMIT", 5, request_id=wrong), "malformed", "request_id")


class Failures(Responses):
    def test_of_every_command_are_empty(self) -> None:
        for name in OPCODES:
            for status in (*FAILURES, *UNKNOWN):
                with self.subTest(name, status=status):
                    verdict = response(name, status)
                    self.expect(verdict, "failure")
                    self.assertEqual((verdict["status"], verdict["status_value"]),
                                     (STATUSES.get(status), status))
                    for size in (1, 7, 9, 3, 76):
                        self.expect(response(name, status, b"\1" * size), "malformed",
                                    "payload_size")
                    if name != "SUBMIT":
                        self.expect(response(name, status, EVENT), "malformed", "payload_size")

    def test_of_a_submission_may_return_an_event(self) -> None:
        for status in (*FAILURES, *UNKNOWN):
            verdict = response("SUBMIT", status, EVENT)
            self.expect(verdict, "indeterminate")
            self.assertEqual(verdict["fields"], {"object_id": 0x0000000700000005})
            self.expect(response("SUBMIT", status, bytes(8)), "malformed", "object_id")

    def test_of_a_release_say_what_became_of_the_object(self) -> None:
        for name in RELEASES:
            effects = {status: response(name, status)["object"] for status in (*FAILURES, *UNKNOWN)}
            self.assertEqual(effects.pop(11), "invalidated")
            self.assertEqual(effects.pop(9), "indeterminate")
            self.assertEqual({effects.pop(status) for status in UNKNOWN}, {"unknown"})
            self.assertEqual(set(effects.values()), {"retryable"})

    def test_of_other_commands_say_nothing_of_an_object(self) -> None:
        for name in OPCODES.keys() - set(RELEASES):
            self.assertNotIn("object", response(name, 11))


class EventStates(Responses):
    def poll(self, state: int, error: int, reserved: int = 0) -> dict:
        fields = {"state": state, "error": error, "reserved": reserved}
        return response("POLL_EVENT", payload=encode("event_state", fields))

    def test_carry_an_error_exactly_if_the_event_failed(self) -> None:
        for state, name in ((0, "pending"), (1, "complete"), (2, "failed"), (3, "cancelled")):
            for error in (*STATUSES, *UNKNOWN):
                with self.subTest(name, error=error):
                    verdict = self.poll(state, error)
                    if (error != 0) == (name == "failed"):
                        self.expect(verdict, "success")
                        self.assertEqual(verdict["state"], name)
                    else:
                        self.expect(verdict, "recover", "error")

    def test_that_are_unknown_or_have_reserved_bits_ask_for_recovery(self) -> None:
        for state in (4, 5, 256, 65535):
            self.expect(self.poll(state, 0), "recover", "state")
        for bit in range(32):
            self.expect(self.poll(1, 0, 1 << bit), "recover", "reserved")

    def test_of_a_wrong_size_are_malformed(self) -> None:
        self.expect(response("POLL_EVENT", payload=bytes(7)), "malformed", "payload_size")


class DeviceInfos(Responses):
    def info(self, **fields: object) -> dict:
        return decoder.judge_device_info(encode("device_info", {**INFO, **fields}))

    def test_are_read_byte_by_byte(self) -> None:
        data = bytes.fromhex("000102030405060708090a0b0c0d0e0f" "1011" "0000" "14151617" "18191a1b"
                             "0700000000000080" "24252627" "28292a2b" "2c2d2e2f" "30313233"
                             "34353637" "00100000" "3c3d3e3f40414243" "4445464748494a4b")
        self.assertEqual(decoder.judge_device_info(data), {"outcome": "success", "fields": {
            "uuid": "000102030405060708090a0b0c0d0e0f", "class": 0x1110, "reserved": 0,
            "vendor_id": 0x17161514, "device_id": 0x1b1a1918, "capabilities": 7 | 1 << 63,
            "max_contexts": 0x27262524, "max_buffers_per_context": 0x2b2a2928,
            "max_programs_per_context": 0x2f2e2d2c, "max_queues_per_context": 0x33323130,
            "max_events_per_context": 0x37363534, "max_bindings_per_submission": 4096,
            "max_buffer_bytes": 0x434241403f3e3d3c, "max_artifact_bytes": 0x4b4a494847464544}})

    def test_have_no_limit_of_zero(self) -> None:
        limits = [name for name in INFO if name.startswith("max_")]
        self.assertEqual(len(limits), 8)
        for name in limits:
            self.expect(self.info(**{name: 0}), "refused", name)
            self.expect(self.info(**{name: 1}), "success")

    def test_allow_at_most_4096_bindings(self) -> None:
        self.expect(self.info(max_bindings_per_submission=4096), "success")
        self.expect(self.info(max_bindings_per_submission=4097), "refused",
                    "max_bindings_per_submission")

    def test_have_zero_in_the_reserved_field(self) -> None:
        for bit in range(16):
            self.expect(self.info(reserved=1 << bit), "refused", "reserved")

    def test_have_a_domain_and_no_reserved_capability(self) -> None:
        for bit in range(64):
            outcome = ("success", None) if bit in (0, 1, 5) else ("refused", "domain")
            if bit in (3, 4):
                outcome = ("refused", "capabilities")
                self.expect(self.info(capabilities=1 << bit | 1), *outcome)
            self.expect(self.info(capabilities=1 << bit), *outcome)
        self.expect(self.info(capabilities=0), "refused", "domain")

    def test_may_be_of_any_class(self) -> None:
        for number in (0, 1, 2, 3, 4, 65535):
            self.expect(self.info(**{"class": number}), "success")

    def test_are_76_bytes(self) -> None:
        good = encode("device_info", INFO)
        for size in (0, 16, 75):
            self.expect(decoder.judge_device_info(good[:size]), "refused", "length")
        self.expect(decoder.judge_device_info(good + b"\0"), "refused", "length")

    def test_that_cannot_be_are_refused_in_a_response(self) -> None:
        payload = encode("device_info", {**INFO, "max_contexts": 0})
        verdict = response("GET_DEVICE_INFO", payload=payload)
        self.expect(verdict, "refused", "max_contexts")
        self.assertEqual(verdict["command"], "GET_DEVICE_INFO")


class Configs(Responses):
    def config(self, queue_size: int | None = None, features: int = 0, **fields: int) -> dict:
        return decoder.judge_config(encode("config", {**CONFIG, **fields}), queue_size, features)

    def test_are_read_byte_by_byte(self) -> None:
        data = bytes.fromhex("0100" "3412" "0100" "0001" "00000001" "5c000000")
        self.assertEqual(decoder.judge_config(data), {"outcome": "config", "fields": {
            "protocol_major": 1, "protocol_minor": 0x1234, "command_queue_count": 1,
            "max_chain_descriptors": 256, "max_request_bytes": 2**24, "max_response_bytes": 92}})

    def test_keep_each_number_within_its_bounds(self) -> None:
        for name, low, high in (("protocol_major", 1, 1), ("command_queue_count", 1, 1),
                                ("max_chain_descriptors", 2, 256),
                                ("max_request_bytes", 97, 2**24),
                                ("max_response_bytes", 92, 2**24)):
            for value, outcome in ((0, "refused"), (low - 1, "refused"), (low, "config"),
                                   (high, "config"), (high + 1, "refused")):
                with self.subTest(name, value=value):
                    self.expect(self.config(**{name: value}), outcome,
                                name if outcome == "refused" else None)

    def test_may_have_any_minor_version(self) -> None:
        for minor in (0, 1, 65535):
            self.expect(self.config(protocol_minor=minor), "config")

    def test_are_read_no_further_than_their_prefix(self) -> None:
        good = encode("config", CONFIG)
        self.expect(decoder.judge_config(good + b"\xff" * 100), "config")
        for size in range(16):
            self.expect(decoder.judge_config(good[:size]), "refused", "length")

    def test_let_a_chain_be_as_long_as_the_queue(self) -> None:
        self.expect(self.config(queue_size=16), "config")
        self.expect(self.config(queue_size=15), "refused", "queue_size")

    def test_go_with_no_reserved_feature(self) -> None:
        for bit in range(64):
            if bit < 5:
                self.expect(self.config(features=1 << bit), "refused", "features")
            else:
                self.expect(self.config(features=1 << bit), "config")


class AnyResponse(Responses):
    def test_of_noise_has_a_verdict(self) -> None:
        chance = random.Random(4)
        for size in range(200):
            for opcode in OPCODES.values():
                asked = decoder.Asked(opcode, ID, LIMIT, 3)
                data = chance.randbytes(size)
                verdict = decoder.judge_response(data, chance.randrange(size + 2), asked)
                self.assertIn(verdict["outcome"], ("malformed", "nothing"))
            decoder.judge_config(data)
            decoder.judge_device_info(data)


if __name__ == "__main__":
    unittest.main()
