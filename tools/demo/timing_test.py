"""Tests of the comparison of the two ways to run a model."""

import unittest

import command
import timing


class Compare(unittest.TestCase):
    def setUp(self) -> None:
        self.calls: list[str] = []
        self.rounds: list[int] = []

    def run_model(self, device: str, repeat: int) -> command.Measurement:
        self.calls.append(device)
        self.assertEqual(repeat, 7)
        median = {"direct": 1.0, "loopback": 1.25}[device] + 0.01 * len(self.calls)
        return command.Measurement(median / 2, median, median * 2, 10.0)

    def test_swaps_the_order_every_round(self) -> None:
        timing.compare(self.run_model, 7, self.rounds.append)
        self.assertEqual(self.calls, ["direct", "loopback", "loopback", "direct"] * 3)
        self.assertEqual(self.rounds, [1, 2, 3, 4, 5, 6])

    def test_a_machine_that_slows_down_evenly_favours_neither(self) -> None:
        result = timing.compare(self.run_model, 7, self.rounds.append)
        self.assertAlmostEqual(result.stack.median - result.alone.median, 0.25)

    def test_takes_the_fastest_run_and_the_median_round(self) -> None:
        rounds = [command.Measurement(1, 5, 9, 3), command.Measurement(2, 4, 6, 8),
                  command.Measurement(3, 7, 7, 7)]
        self.assertEqual(timing.summary(rounds), command.Measurement(1, 5, 7, 7))


class RepeatCount(unittest.TestCase):
    def test_fills_a_round_within_its_limits(self) -> None:
        self.assertEqual(timing.repeat_count(2.5), 100)
        self.assertEqual(timing.repeat_count(0.0), timing.REPEAT_MAX)
        self.assertEqual(timing.repeat_count(10_000.0), timing.REPEAT_MIN)


class Table(unittest.TestCase):
    def test_shows_both_ways_and_the_difference(self) -> None:
        result = timing.Comparison(command.Measurement(0.4, 0.5, 0.6, 20),
                                   command.Measurement(0.41, 0.505, 0.6, 19), 500)
        rows = [line.split() for line in timing.table(result).splitlines()]
        self.assertEqual(rows[1], ["backend", "alone", "0.400", "0.500", "0.600", "20.000"])
        self.assertEqual(rows[2], ["through", "the", "stack", "0.410", "0.505", "0.600", "19.000"])
        self.assertEqual(rows[3], ["difference", "+0.010", "+0.005", "+0.000", "-1.000"])
        self.assertEqual(rows[4], ["+2.5", "%", "+1.0", "%", "+0.0", "%", "-5.0", "%"])

    def test_has_no_percentage_of_nothing(self) -> None:
        result = timing.Comparison(command.Measurement(0, 0, 0, 0),
                                   command.Measurement(1, 1, 1, 1), 3)
        self.assertEqual(timing.table(result).splitlines()[4].split(), ["-"] * 4)


if __name__ == "__main__":
    unittest.main()
