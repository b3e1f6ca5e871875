"""Tests of the record that lets a second run skip what is made."""

import pathlib
import tempfile
import unittest

import stamps


class Stamps(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.record = pathlib.Path(folder.name) / "stamps.json"
        self.product = pathlib.Path(folder.name) / "product"
        self.runs = 0

    def action(self) -> None:
        self.runs += 1
        self.product.write_bytes(b"made")

    def make(self, key: str = "recipe") -> bool:
        return stamps.Stamps(self.record).make("step", key, [self.product], self.action)

    def test_make_once(self) -> None:
        self.assertEqual([self.make(), self.make()], [True, False])
        self.assertEqual(self.runs, 1)

    def test_make_again_by_another_recipe(self) -> None:
        self.make()
        self.assertTrue(self.make("another"))
        self.assertTrue(self.make("recipe"))

    def test_make_again_what_is_damaged_or_gone(self) -> None:
        self.make()
        self.product.write_bytes(b"mad3")
        self.assertTrue(self.make())
        self.product.unlink()
        self.assertTrue(self.make())
        self.assertFalse(self.make())

    def test_survive_any_rubbish_in_the_record(self) -> None:
        for text in ("", "{", "[]", "7", '{"step": 3}', '{"step": {}}', '{"step": null}',
                     '{"step": {"recipe": "recipe", "files": 1}}',
                     '{"step": {"recipe": "recipe", "files": {"product": 1}}}', "\udcff"):
            with self.subTest(text=text):
                self.record.write_bytes(text.encode(errors="surrogateescape"))
                self.assertTrue(self.make())
                self.assertFalse(self.make())

    def test_keep_the_other_steps(self) -> None:
        self.make()
        stamps.Stamps(self.record).make("second", "key", [self.product], lambda: None)
        self.assertFalse(self.make())

    def test_do_not_count_a_step_that_fails(self) -> None:
        self.make()

        def fail() -> None:
            raise OSError("no space")

        with self.assertRaises(OSError):
            stamps.Stamps(self.record).make("step", "new", [self.product], fail)
        self.assertTrue(self.make("new"))


class Recipe(unittest.TestCase):
    def test_changes_with_each_part_and_with_the_bytes_of_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "file"
            path.write_bytes(b"1")
            first = stamps.recipe("a", 1, path)
            self.assertEqual(stamps.recipe("a", 1, path), first)
            path.write_bytes(b"2")
            others = {first, stamps.recipe("a", 1, path), stamps.recipe("a", 2, path),
                      stamps.recipe("a1", path), stamps.recipe("a")}
            self.assertEqual(len(others), 5)


if __name__ == "__main__":
    unittest.main()
