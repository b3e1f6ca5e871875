"""Tests of what judges real models: inputs, bounds, and the memory of what was computed before."""

import pathlib
import tempfile
import unittest
import unittest.mock

import catalogue
import inputs
import numpy
import reference
import signature
import verify

SHAPE = (1, 4, 4)
NAME = "output"
MODEL = catalogue.MODELS[0]


class InputsTest(unittest.TestCase):
    """Images of random pixels."""

    def test_are_the_same_every_time_and_fit_the_model(self) -> None:
        for seed in range(4):
            image = inputs.random_input(MODEL, seed)
            self.assertEqual(image.shape, (1, MODEL.side, MODEL.side, 3))
            self.assertEqual(image.dtype, numpy.float32)
            self.assertGreaterEqual(image.min(), MODEL.low)
            self.assertLessEqual(image.max(), MODEL.high)
            numpy.testing.assert_array_equal(image, inputs.random_input(MODEL, seed))
        self.assertFalse(numpy.array_equal(inputs.random_input(MODEL, 1),
                                           inputs.random_input(MODEL, 3)))

    def test_become_all_of_int8(self) -> None:
        image = numpy.array([MODEL.low, (MODEL.low + MODEL.high) / 2, MODEL.high])
        self.assertEqual(list(inputs.quantised(MODEL, image)), [-128, 0, 127])


class JudgeTest(unittest.TestCase):
    """The official verifier, called as it wants to be called."""

    def setUp(self) -> None:
        self.judge = verify.Judge()
        generator = numpy.random.default_rng(1)
        self.precise = generator.uniform(1, 2, SHAPE)
        self.result = self.precise.astype(numpy.float32)
        self.bounds = self.precise * 4

    def judge_floats(self, found: numpy.ndarray) -> None:
        self.judge.floats(NAME, 100, found, self.precise, self.bounds)

    def test_takes_what_the_reference_model_says(self) -> None:
        self.judge_floats(self.result)

    def test_refuses_what_is_beyond_the_bounds(self) -> None:
        with self.assertRaisesRegex(verify.WrongResult, "outside the bounds"):
            self.judge_floats(self.result + numpy.float32(0.01))

    def test_refuses_what_is_no_number(self) -> None:
        self.result[0, 0, 0] = numpy.nan
        with self.assertRaises(verify.WrongResult):
            self.judge_floats(self.result)

    def test_refuses_one_wrong_integer(self) -> None:
        expected = numpy.arange(16, dtype=numpy.int8)
        self.judge.integers(NAME, expected.copy(), expected)
        found = expected.copy()
        found[3] += 1
        with self.assertRaisesRegex(verify.WrongResult, "1 of 16 values"):
            self.judge.integers(NAME, found, expected)
        with self.assertRaises(verify.WrongResult):
            self.judge.integers(NAME, expected.astype(numpy.int16), expected)


class DistancesTest(unittest.TestCase):
    """Distances from exact arithmetic, over all inputs."""

    def of(self, found: list[float]) -> verify.Distances:
        distances = verify.Distances()
        for ours, own in zip(found, [1e-3, 0], strict=True):
            distances.add(numpy.array([1 + ours]), numpy.array([1 + own]), numpy.array([1.0]))
        return distances

    def test_may_be_some_times_those_of_the_reference_model(self) -> None:
        self.assertTrue(self.of([0, 3e-3]).is_near)
        self.assertAlmostEqual(self.of([0, 3e-3]).ratio, 3)

    def test_may_not_be_much_larger(self) -> None:
        self.assertFalse(self.of([0, 5e-3]).is_near)


class OracleTest(unittest.TestCase):
    """The reference model's memory."""

    def test_computes_once_for_the_same_bytes(self) -> None:
        one = signature.Tensor("x", SHAPE, is_float=False)
        made = reference.Reference([numpy.ones(SHAPE, numpy.int8)], [], [])
        with tempfile.TemporaryDirectory() as name:
            model = pathlib.Path(name) / "model.tosa"
            model.write_bytes(b"model")
            with (unittest.mock.patch.object(signature, "read",
                                             return_value=signature.Signature([one], [one], [1])),
                  unittest.mock.patch.object(reference.Oracle, "_compute",
                                             return_value=made) as compute):
                for value in (1, 1, 2):
                    oracle = reference.Oracle(model, pathlib.Path(name))
                    found = oracle.on(numpy.full(SHAPE, value, numpy.int8))
                    numpy.testing.assert_array_equal(found.result[0], made.result[0])
                self.assertEqual(compute.call_count, 2)
                kept = next(pathlib.Path(name).glob("*.npz"))
                kept.write_bytes(kept.read_bytes()[:100])
                for value in (1, 2):
                    reference.Oracle(model, pathlib.Path(name)).on(
                        numpy.full(SHAPE, value, numpy.int8))
                self.assertEqual(compute.call_count, 3)


if __name__ == "__main__":
    unittest.main()
