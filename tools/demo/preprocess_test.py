"""Tests of the way from a photograph to the model's input, and of the drawing."""

import pathlib
import tempfile
import unittest

import detect
import numpy
import picture
import PIL.Image
import preprocess


class ModelInput(unittest.TestCase):
    def test_is_nhwc_float32_from_minus_one_to_one(self) -> None:
        photo = PIL.Image.new("RGB", (300, 200), (0, 255, 51))
        tensor = preprocess.model_input(photo)
        self.assertEqual((tensor.shape, tensor.dtype), ((1, 128, 128, 3), numpy.float32))
        numpy.testing.assert_allclose(tensor[0, 64, 64], [-1, 1, -0.6], atol=1e-6)

    def test_keeps_left_and_right_and_top_and_bottom(self) -> None:
        photo = PIL.Image.new("RGB", (256, 512))
        photo.paste((255, 255, 255), (0, 0, 64, 128))
        tensor = preprocess.model_input(photo)[0, :, :, 0]
        self.assertTrue((tensor[:31, :31] == 1).all())
        self.assertTrue((tensor[33:, :] == -1).all() and (tensor[:, 33:] == -1).all())


class OpenPhoto(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "photo.png"

    def test_turns_every_kind_into_rgb(self) -> None:
        for mode in ("L", "P", "RGBA", "1", "I;16", "CMYK"):
            with self.subTest(mode=mode):
                path = self.path.with_suffix(".tiff")
                PIL.Image.new(mode, (5, 3)).save(path)
                photo = preprocess.open_photo(path)
                self.assertEqual((photo.mode, photo.size), ("RGB", (5, 3)))

    def test_turns_a_photograph_that_lies_on_its_side_upright(self) -> None:
        photo = PIL.Image.new("RGB", (4, 2))
        exif = photo.getexif()
        exif[0x0112] = 6
        photo.save(self.path, exif=exif)
        self.assertEqual(preprocess.open_photo(self.path).size, (2, 4))

    def test_refuses_what_is_missing_or_no_picture_or_cut(self) -> None:
        with self.assertRaisesRegex(preprocess.PhotoError, "does not exist"):
            preprocess.open_photo(self.path)
        PIL.Image.effect_noise((64, 64), 50).save(self.path)
        whole = self.path.read_bytes()
        for data in (b"", b"words", whole[: len(whole) // 2]):
            self.path.write_bytes(data)
            with self.assertRaisesRegex(preprocess.PhotoError, "cannot be read"):
                preprocess.open_photo(self.path)


class WithFaces(unittest.TestCase):
    def test_draws_the_box_and_the_points_into_a_copy(self) -> None:
        photo = PIL.Image.new("RGB", (200, 100))
        face = detect.Detection(0.9, (50.0, 40.0, 90.0, 80.0), ((70.0, 60.0),) * 6)
        drawn = picture.with_faces(photo, [face])
        self.assertEqual(drawn.getpixel((50, 60)), picture.BOX_COLOUR)
        self.assertEqual(drawn.getpixel((70, 80)), picture.BOX_COLOUR)
        self.assertEqual(drawn.getpixel((70, 60)), picture.POINT_COLOUR)
        self.assertEqual(drawn.getpixel((60, 70)), (0, 0, 0))
        self.assertEqual(photo.getpixel((50, 60)), (0, 0, 0))

    def test_bears_faces_anywhere(self) -> None:
        photo = PIL.Image.new("RGB", (20, 10))
        for box in ((-1e30, -1e30, 1e30, 1e30), (5.0, 5.0, 1.0, 1.0), (300.0, 300.0, 400.0, 400.0)):
            with self.subTest(box=box):
                face = detect.Detection(0.9, box, ((1e30, -1e30),) * 6)
                self.assertEqual(picture.with_faces(photo, [face]).size, (20, 10))


if __name__ == "__main__":
    unittest.main()
