"""Tests of the way from the model's output tensors to faces."""

import math
import pathlib
import tempfile
import unittest

import detect
import numpy


def logit(score: float) -> float:
    return math.log(score / (1 - score))


class Anchors(unittest.TestCase):
    def test_lie_at_the_centres_of_two_grids(self) -> None:
        places = detect.anchors()
        self.assertEqual(places.shape, (896, 2))
        self.assertEqual(places[0].tolist(), [0.5 / 16, 0.5 / 16])
        self.assertEqual(places[1].tolist(), places[0].tolist())
        self.assertEqual(places[2].tolist(), [1.5 / 16, 0.5 / 16])  # x runs first
        self.assertEqual(places[32].tolist(), [0.5 / 16, 1.5 / 16])
        self.assertEqual(places[511].tolist(), [15.5 / 16, 15.5 / 16])
        self.assertEqual(places[512].tolist(), [0.5 / 8, 0.5 / 8])
        self.assertEqual(places[517].tolist(), places[512].tolist())
        self.assertEqual(places[518].tolist(), [1.5 / 8, 0.5 / 8])
        self.assertEqual(places[895].tolist(), [7.5 / 8, 7.5 / 8])


class Scores(unittest.TestCase):
    def test_are_the_sigmoid_without_overflow(self) -> None:
        with numpy.errstate(all="raise"):
            found = detect.scores(numpy.array([0.0, logit(0.92), -1e9, 1e9]))
        self.assertEqual(found[0], 0.5)
        self.assertAlmostEqual(found[1], 0.92)
        self.assertLess(found[2], 1e-40)
        self.assertEqual(found[3], 1.0)


class Decode(unittest.TestCase):
    def test_adds_offsets_to_the_anchor_and_halves_the_size(self) -> None:
        values = numpy.zeros((896, 16))
        values[518] = [8, -16, 32, 64] + [0, 0] * 5 + [12.8, 25.6]
        row = detect.decode(values)[518]
        x, y = 1.5 / 8 + 8 / 128, 0.5 / 8 - 16 / 128
        expected = [x - 0.125, y - 0.25, x + 0.125, y + 0.25] + [1.5 / 8, 0.5 / 8] * 5
        expected += [1.5 / 8 + 0.1, 0.5 / 8 + 0.2]
        numpy.testing.assert_allclose(row, expected, rtol=0, atol=1e-12)


class Overlap(unittest.TestCase):
    def test_is_the_common_part_of_the_joint_area(self) -> None:
        box = numpy.array([0.0, 0.0, 2.0, 2.0])
        others = numpy.array([[0, 0, 2, 2], [1, 0, 3, 2], [1, 1, 3, 3], [2, 0, 4, 2], [5, 5, 6, 6],
                              [1, 1, 1, 1], [3, 0, 1, 2]], dtype=float)
        found = detect.overlap(box, others)
        numpy.testing.assert_allclose(found, [1, 1 / 3, 1 / 7, 0, 0, 0, 0])

    def test_of_nothing_with_nothing_is_zero(self) -> None:
        with numpy.errstate(all="raise"):
            found = detect.overlap(numpy.zeros(4), numpy.zeros((1, 4)))
        self.assertEqual(found.tolist(), [0.0])


class Detections(unittest.TestCase):
    def setUp(self) -> None:
        self.values = numpy.zeros((896, 16))
        self.logits = numpy.full((896, 1), -50.0)

    def face(self, anchor: int, score: float, offset_x: float = 0.0) -> None:
        self.values[anchor, 0] = offset_x
        self.values[anchor, 2:4] = 32
        self.logits[anchor] = logit(score)

    def test_keep_the_best_of_overlapping_boxes_and_all_apart(self) -> None:
        self.face(200, 0.8)
        self.face(201, 0.9, 2.0)
        self.face(895, 0.6)
        found, best = detect.detections(self.values, self.logits)
        self.assertAlmostEqual(best, 0.9)
        self.assertEqual([round(one.score, 6) for one in found], [0.9, 0.6])
        left = detect.anchors()[201, 0] + 2 / 128 - 0.125
        self.assertAlmostEqual(found[0].box[0], left)

    def test_a_third_of_overlap_is_one_face_and_a_quarter_is_two(self) -> None:
        for shift, count in ((15.9, 1), (19.3, 2)):
            self.face(200, 0.8)
            self.face(201, 0.9, shift)
            self.assertEqual(len(detect.detections(self.values, self.logits)[0]), count)

    def test_take_the_threshold_itself_and_nothing_below(self) -> None:
        self.face(10, 0.5)
        self.face(800, 0.499)
        found, _ = detect.detections(self.values, self.logits)
        self.assertEqual([one.score for one in found], [0.5])

    def test_of_no_face_tell_the_best_score_all_the_same(self) -> None:
        self.face(10, 0.25)
        found, best = detect.detections(self.values, self.logits)
        self.assertEqual(found, [])
        self.assertAlmostEqual(best, 0.25)

    def test_boxes_without_area_end_too(self) -> None:
        self.logits[:] = logit(0.9)
        found, _ = detect.detections(self.values, self.logits)
        self.assertEqual(len(found), 896)


class Person(unittest.TestCase):
    def setUp(self) -> None:
        self.face = detect.Detection(0.92, (-0.1, 0.25, 0.5, 1.2), ((0.5, 0.25),) * 6)

    def test_reads_pixels_of_a_picture_that_is_not_square(self) -> None:
        text = detect.sentence(1, self.face.scaled(400, 200))
        self.assertIn("Face 1: score 0.92, box x -40 to 200, y 50 to 240", text)
        self.assertIn("left ear 200,50", text)

    def test_sees_the_box_cut_off_at_the_edges(self) -> None:
        self.assertEqual(self.face.scaled(400, 200).clipped(400, 200).box,
                         (0.0, 50.0, 200.0, 199.0))

    def test_never_sees_a_box_turned_inside_out(self) -> None:
        face = detect.Detection(0.9, (30.0, 40.0, 10.0, 20.0), ())
        self.assertEqual(face.clipped(100, 100).box, (30.0, 40.0, 30.0, 40.0))


class ReadOutput(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "output.npy"

    def refuses(self, words: str) -> None:
        with self.assertRaisesRegex(detect.OutputError, words):
            detect.read_output(self.path, 16)

    def test_takes_the_models_own_shape(self) -> None:
        numpy.save(self.path, numpy.ones((1, 896, 16), numpy.float32))
        self.assertEqual(detect.read_output(self.path, 16).shape, (896, 16))

    def test_refuses_another_shape_and_another_type(self) -> None:
        numpy.save(self.path, numpy.ones((1, 896, 1), numpy.float32))
        self.refuses(r"float32 of shape \(1, 896, 1\) where")
        numpy.save(self.path, numpy.ones((1, 896, 16), numpy.float64))
        self.refuses("float64 of shape")

    def test_refuses_what_is_no_number(self) -> None:
        values = numpy.ones((1, 896, 16), numpy.float32)
        values[0, 5, 5] = numpy.nan
        numpy.save(self.path, values)
        self.refuses("not finite")

    def test_refuses_a_missing_a_cut_and_a_pickled_file(self) -> None:
        self.refuses("cannot be read")
        numpy.save(self.path, numpy.ones((1, 896, 16), numpy.float32))
        self.path.write_bytes(self.path.read_bytes()[:-1])
        self.refuses("cannot be read")
        numpy.save(self.path, numpy.array([{}], dtype=object), allow_pickle=True)
        self.refuses("cannot be read")
        self.path.write_bytes(b"")
        self.refuses("cannot be read")


if __name__ == "__main__":
    unittest.main()
