"""Tests of the cache of single files out of wheels; nothing here uses a network."""

import contextlib
import dataclasses
import hashlib
import io
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock
import zipfile

import wheels

DATA = b"what the wheel carries"
MORE = b"and what it carries besides"
SOURCE = wheels.WheelFile(package="carrier", version="1.0", platform="any", wheel_sha256="0" * 64,
                          wheel_megabytes=1, member="folder/file.bin",
                          sha256=hashlib.sha256(DATA).hexdigest())


class Cache(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.downloads = 0
        self.content = DATA
        for context in (unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=folder.name),
                        unittest.mock.patch.object(wheels, "pip_download", self.fake_pip),
                        contextlib.redirect_stderr(io.StringIO())):
            self.enterContext(context)
        self.cached = self.folder / "virtaccel" / "carrier-1.0" / "file.bin"

    def fake_pip(self, _source: wheels.WheelFile, folder: pathlib.Path) -> pathlib.Path:
        self.downloads += 1
        wheel = folder / "carrier-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("folder/file.bin", self.content)
            archive.writestr("folder/more.bin", MORE)
        return wheel

    def test_downloads_once(self) -> None:
        self.assertEqual(wheels.read(SOURCE), DATA)
        self.assertEqual(wheels.read(SOURCE), DATA)
        self.assertEqual(self.downloads, 1)
        self.assertEqual(self.cached.read_bytes(), DATA)

    def test_downloads_once_for_several_files(self) -> None:
        more = dataclasses.replace(SOURCE, member="folder/more.bin",
                                   sha256=hashlib.sha256(MORE).hexdigest())
        self.assertEqual(wheels.read_all([SOURCE, more]), [DATA, MORE])
        self.assertEqual(wheels.read_all([more, SOURCE]), [MORE, DATA])
        self.assertEqual(self.downloads, 1)

    def test_holds_no_other_file_afterwards(self) -> None:
        wheels.read(SOURCE)
        self.assertEqual([path for path in self.folder.rglob("*") if path.is_file()], [self.cached])

    def test_replaces_a_damaged_file(self) -> None:
        wheels.read(SOURCE)
        self.cached.write_bytes(DATA[:-1])
        self.assertEqual(wheels.read(SOURCE), DATA)
        self.assertEqual(self.cached.read_bytes(), DATA)
        self.assertEqual(self.downloads, 2)

    def test_refuses_other_bytes_than_pinned_and_keeps_none(self) -> None:
        self.content = b"something else"
        with self.assertRaisesRegex(wheels.FetchError, "is pinned"):
            wheels.read(SOURCE)
        self.assertFalse(self.cached.exists())

    def test_names_a_file_that_the_wheel_lacks(self) -> None:
        with self.assertRaisesRegex(wheels.FetchError, "holds no file"):
            wheels.read(dataclasses.replace(SOURCE, member="folder/other.bin"))

    def test_that_cannot_be_written_costs_only_a_word(self) -> None:
        (self.folder / "virtaccel").write_bytes(b"a file where the folder should be")
        self.assertEqual(wheels.read(SOURCE), DATA)

    def test_ignores_a_relative_setting_as_the_standard_says(self) -> None:
        with unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME="here", HOME=str(self.folder)):
            self.assertEqual(wheels.cache_root(), self.folder / ".cache" / "virtaccel")

    def test_has_a_place_for_a_user_without_a_home(self) -> None:
        with (unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME="", HOME="nowhere"),
              unittest.mock.patch.object(tempfile, "tempdir", str(self.folder))):
            self.assertEqual(wheels.cache_root(), self.folder / "virtaccel-cache")


class WriteWhole(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_makes_folders_and_a_file_that_others_can_read(self) -> None:
        path = self.folder / "a" / "b"
        wheels.write_whole(path, b"x")
        self.assertEqual(path.read_bytes(), b"x")
        self.assertEqual(path.stat().st_mode & 0o777, 0o644)

    def test_leaves_the_old_file_and_no_rest_when_it_fails(self) -> None:
        path = self.folder / "file"
        path.write_bytes(b"old")
        with (unittest.mock.patch.object(os, "replace", side_effect=OSError("full")),
              self.assertRaises(OSError)):
            wheels.write_whole(path, b"new")
        self.assertEqual([one.name for one in self.folder.iterdir()], ["file"])
        self.assertEqual(path.read_bytes(), b"old")


class Pip(unittest.TestCase):
    def fails_with(self, words: str) -> str:
        result = subprocess.CompletedProcess([], 1, stderr=words)
        with (tempfile.TemporaryDirectory() as folder,
              unittest.mock.patch.object(subprocess, "run", return_value=result),
              contextlib.redirect_stderr(io.StringIO()) as shown,
              self.assertRaises(wheels.FetchError) as caught):
            wheels.pip_download(SOURCE, pathlib.Path(folder))
        self.assertIn(words, shown.getvalue())
        return str(caught.exception)

    def test_that_is_missing_is_called_missing(self) -> None:
        self.assertIn("has no pip", self.fails_with("/usr/bin/python3: No module named pip"))

    def test_that_fails_has_the_last_word_shown(self) -> None:
        self.assertIn("check the network", self.fails_with("ERROR: no route to host"))


if __name__ == "__main__":
    unittest.main()
