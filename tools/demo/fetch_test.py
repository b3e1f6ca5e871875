"""Tests of the conversion's error paths, with stand-ins for the tools; no network is used."""

import contextlib
import io
import pathlib
import stat
import sysconfig
import tempfile
import unittest
import unittest.mock

import fetch
import stamps
import wheels

CONVERTER = "#!/bin/sh\nprintf middle >\"$4\"\n"
SERIALIZER = ("#!/bin/sh\nfor word; do case $word in --tosa-flatbuffer-filename=*) "
              "printf '\\030\\0\\0\\0TOSA' >\"${word#*=}\" ;; esac; done\n")


class Convert(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tools = pathlib.Path(folder.name) / "tools"
        self.output = pathlib.Path(folder.name) / "output"
        self.tools.mkdir()
        self.output.mkdir()
        self.target = self.output / "model.tosa"
        self.enterContext(unittest.mock.patch.object(sysconfig, "get_path",
                                                     return_value=str(self.tools)))
        self.shown = self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def tool(self, name: str, text: str) -> None:
        path = self.tools / name
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def fails_with(self, words: str) -> None:
        with self.assertRaisesRegex(fetch.ConversionError, words):
            fetch.convert(b"model", self.target)
        self.assertEqual([path.name for path in self.output.iterdir()
                          if path.suffix in (".tflite", ".mlir")], [])

    def test_leaves_the_converted_model_alone_behind(self) -> None:
        self.tool("tosa-converter-for-tflite", CONVERTER)
        self.tool("tosa-opt", SERIALIZER)
        fetch.convert(b"model", self.target)
        self.assertEqual([path.name for path in self.output.iterdir()], ["model.tosa"])

    def test_names_a_tool_that_is_not_installed(self) -> None:
        self.fails_with("tosa-converter-for-tflite.*cannot be started")

    def test_passes_on_the_words_of_a_tool_that_fails(self) -> None:
        self.tool("tosa-converter-for-tflite", "#!/bin/sh\necho no such operator >&2\nexit 9\n")
        self.fails_with("exit code 9")
        self.assertIn("no such operator", self.shown.getvalue())

    def test_refuses_a_result_that_is_no_flatbuffer(self) -> None:
        self.tool("tosa-converter-for-tflite", CONVERTER)
        self.tool("tosa-opt", "#!/bin/sh\n")
        self.fails_with("is no TOSA flatbuffer")

    def test_is_done_once(self) -> None:
        self.tool("tosa-converter-for-tflite", CONVERTER)
        self.tool("tosa-opt", SERIALIZER)
        record = self.output / "stamps.json"
        with unittest.mock.patch.object(wheels, "read", return_value=b"model") as read:
            made = [fetch.fetch_model(self.output, stamps.Stamps(record)) for _ in range(2)]
        self.assertEqual(made, [True, False])
        self.assertEqual(read.call_count, 1)


if __name__ == "__main__":
    unittest.main()
