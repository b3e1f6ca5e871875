"""Tests that the comparison with the clean room notices what differs."""

import unittest

import wire_differential
from wire_differential import config_disagreement, request_disagreement, response_disagreement

GOOD = {"outcome": "request", "command": "FREE_BUFFER", "fields": {"object_id": 7}, "needed": 16}
STALE = {"used": 16, "response": "0b00" + "00" * 14, "fields": {"object_id": 7}}


class Requests(unittest.TestCase):
    """A device's answers."""

    def test_agrees_with_a_stale_object(self) -> None:
        self.assertIsNone(request_disagreement(GOOD, STALE))

    def test_notices_another_status(self) -> None:
        for status in ("0000", "0300"):
            answer = {**STALE, "response": status + "00" * 14}
            self.assertIn("with", request_disagreement(GOOD, answer))

    def test_notices_another_field(self) -> None:
        answer = {**STALE, "fields": {"object_id": 8}}
        self.assertIn("the fields are", request_disagreement(GOOD, answer))

    def test_notices_an_answer_where_there_must_be_none_and_the_other_way_round(self) -> None:
        self.assertIn("silent", request_disagreement({"outcome": "nothing"}, STALE))
        self.assertIn("silent", request_disagreement(GOOD, {**STALE, "used": 0}))

    def test_notices_another_byte_of_a_refusal(self) -> None:
        verdict = {"outcome": "error", "response": "0300" + "00" * 14}
        self.assertIn("answers", request_disagreement(verdict, STALE))


class Responses(unittest.TestCase):
    """What a client makes of answers."""

    def test_notices_another_outcome_status_or_object(self) -> None:
        verdict = {"outcome": "failure", "status_value": 5, "fields": {}, "object": "retryable"}
        good = {"outcome": "failure", "status_value": 5, "kept": True}
        self.assertIsNone(response_disagreement(verdict, good))
        for change in ({"outcome": "recover"}, {"status_value": 6}, {"kept": False}):
            self.assertIsNotNone(response_disagreement(verdict, {**good, **change}))

    def test_a_malformed_response_asks_for_recovery(self) -> None:
        self.assertIsNone(response_disagreement({"outcome": "malformed"}, {"outcome": "recover"}))
        self.assertIsNotNone(response_disagreement({"outcome": "malformed"},
                                                   {"outcome": "success", "fields": {}}))


class Configurations(unittest.TestCase):
    """What a client makes of configuration space."""

    def test_notices_another_verdict(self) -> None:
        verdict = {"outcome": "refused", "check": "protocol_major"}
        self.assertIsNone(config_disagreement(verdict, {"outcome": "refused", "fields": {}}))
        self.assertIsNotNone(config_disagreement(verdict, {"outcome": "config", "fields": {}}))


class Items(unittest.TestCase):
    """Random items."""

    def test_are_the_same_for_the_same_seed(self) -> None:
        mutator = wire_differential.Mutator(65537)
        first, second = ([mutator.item(wire_differential.random.Random(5)) for _ in range(3)]
                         for _ in range(2))
        self.assertEqual(first, second)


if __name__ == "__main__":
    unittest.main()
