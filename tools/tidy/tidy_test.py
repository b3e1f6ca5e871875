#!/usr/bin/env python3
"""Tests of the house rules: each sees its fault in a small tree, and none in the mended one."""

from __future__ import annotations

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import check_layers
import rules_cpp
import rules_python
import rules_tests
import rules_text
import tidy
from tree import Finding, Tree

HEADER = "#pragma once\n// What it is for.\n"


def tree_of(folder: str, files: dict[str, str]) -> Tree:
    """Writes files below a folder and gives the tree of them."""
    for name, text in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Tree(pathlib.Path(folder), list(files))


# Per rule: pairs of a file that breaks it and the same file mended.
CASES = {
    rules_text.line_length: [("a.py", "x" * 101 + "\n", "x" * 100 + "\n")],
    rules_text.blanks: [
        ("a.py", "x = 1 \n", "x = 1\n"),
        ("a.py", "\tx = 1\n", "    x = 1\n"),
        ("a.h", "int x;", "int x;\n"),
        ("a.h", "int x;\n\n", "int x;\n"),
    ],
    rules_text.file_length: [
        ("a.cpp", "\n" * 601, "\n" * 600),
        ("run", "\n" * 601, "\n" * 600),
    ],
    rules_text.machine_paths: [
        ("a.md", "see /ho" "me/kim/x\n", "see build/x\n"),
        ("a.cpp", 'open("/wo" "rk/x");\n'.replace('" "', ""), 'open("work/x");\n'),
    ],
    rules_text.registry_hosts: [
        ("a.sh", "https:" "//files.python" "hosted.org/x\n", "https://example.org/x\n")
    ],
    rules_text.unfinished: [("a.py", "# TO" "DO: it\n", "# It is done.\n")],
    rules_cpp.header_opening: [
        ("a.h", "#pragma once\nint x;\n", HEADER),
        ("a.h", "// What it is for.\n#pragma once\n", HEADER),
    ],
    rules_cpp.banned_words: [
        ("a.cpp", "int src = 0;\n", "int source = 0;\n"),
        ("a.cpp", "assert(x);\n", "static_assert(x);\n"),
        ("a.cpp", "static int count = 0;\n", "static const int count = 0;\n"),
        ("a.cpp", "using namespace std;\n", "using namespace std::string_view_literals;\n"),
        ("a.cpp", 'f("x"); goto end;\n', 'f("goto end"); // goto\n'),
    ],
    rules_cpp.portable_includes: [
        ("virtaccel/tosa/a.h", "#include <thread>\n", "#include <vector>\n"),
        ("virtaccel/wire/a.h", "#include <vector>\n", "#include <array>\n"),
        ("virtaccel/wire/a.cpp", "#include <sys/mman.h>\n", "#include <cstdint>\n"),
    ],
    rules_tests.test_names: [
        ("a_test.cpp", "TEST(Ring, Loops) {\n}\n", "TEST(Ring, refuses_a_loop) {\n}\n"),
        ("a_test.cpp", "TEST_F(Ring, loops) {\n}\n", "TEST_F(Ring, a_loop_ends) {\n}\n"),
    ],
    rules_tests.test_assertions: [
        (
            "a_test.cpp",
            "TEST(A, b_c_d) {\n    f();\n}\n",
            "TEST(A, b_c_d) {\n    EXPECT_EQ(a, b);\n}\n",
        ),
        (
            "a_test.cpp",
            "void f() {}\nTEST(A, b_c_d) {\n    f();\n}\n",
            "void g() {\n    EXPECT_TRUE(x);\n}\nvoid f() {\n    g();\n}\n"
            "TEST(A, b_c_d) {\n    f();\n}\n",
        ),
        ("a_test.cpp", "EXPECT_TRUE(true);\n", "EXPECT_TRUE(x);\n"),
        ("a_test.cpp", "GTEST_SKIP();\n", 'GTEST_SKIP() << "no device";\n'),
    ],
    rules_cpp.suppressions: [
        ("a.cpp", "f();  // NOLINT\n", "f();  // NOLINT(cert-err58-cpp): it cannot throw\n"),
        ("a.cpp", "f();  // NOLINT(cert-a)\n", "// NOLINTNEXTLINE(cert-a): as the C ABI has it\n"),
    ],
    rules_python.docstrings: [("a.py", "x = 1\n", '"""What it is for."""\n')],
    rules_python.unused_imports: [
        ("a.py", "import os\n", "import os\nos.sep\n"),
        ("a.py", "from os import sep as s\n", "from os import sep as s\ns\n"),
    ],
    rules_python.function_length: [
        ("a.py", "def f():\n" + "    x\n" * 70, "def f():\n" + "    x\n" * 69),
    ],
}


class RuleTest(unittest.TestCase):
    """The table above."""

    def test_every_rule_has_a_case(self) -> None:
        self.assertEqual(set(CASES), set(tidy.RULES))

    def test_a_fault_is_found_and_its_mended_form_is_not(self) -> None:
        for rule, cases in CASES.items():
            for name, bad, good in cases:
                with self.subTest(rule=rule.__name__, bad=bad[:40]):
                    self.assertTrue(self.found(rule, name, bad))
                    self.assertEqual([], self.found(rule, name, good))

    def found(self, rule: tidy.Rule, name: str, text: str) -> list[Finding]:
        with tempfile.TemporaryDirectory() as folder:
            return tidy.findings_of(tree_of(folder, {name: text}), rule)

    def test_a_reason_on_the_line_or_above_excuses_it(self) -> None:
        text = "malloc(1);\n"
        reason = "// NOTIDY(banned_words): counts them\n"
        self.assertTrue(self.found(rules_cpp.banned_words, "a.cpp", text))
        self.assertEqual([], self.found(rules_cpp.banned_words, "a.cpp", reason + text))
        self.assertTrue(self.found(rules_cpp.banned_words, "a.cpp", reason + "\n\n" + text))
        self.assertTrue(
            self.found(rules_cpp.banned_words, "a.cpp", "// NOTIDY(blanks): x\n" + text)
        )

    def test_the_list_of_long_files_only_shrinks(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tree = tree_of(folder, {rules_text.LONG_FILES: "650 a.cpp\n", "a.cpp": "\n" * 649})
            self.assertEqual(1, len(list(rules_text.file_length(tree))))
            tree = tree_of(folder, {rules_text.LONG_FILES: "650 a.cpp\n", "a.cpp": "\n" * 651})
            self.assertEqual(1, len(list(rules_text.file_length(tree))))
            tree = tree_of(folder, {rules_text.LONG_FILES: "650 a.cpp\n", "a.cpp": "\n" * 650})
            self.assertEqual([], list(rules_text.file_length(tree)))


ARROWS = "virtaccel_arrow(base)\nvirtaccel_arrow(wire base)\nvirtaccel_arrow(backends base)\n"
GOOD_LAYERS = {
    check_layers.ARROWS: ARROWS,
    "virtaccel/base/CMakeLists.txt": "virtaccel_module(base HEADERS a.h)\n",
    "virtaccel/base/a.h": "",
    "virtaccel/wire/CMakeLists.txt": "virtaccel_module(wire DEPS base HEADERS sub/w.h)  # small\n",
    "virtaccel/wire/sub/w.h": '#include "virtaccel/base/a.h"\n',
    "backends/null/CMakeLists.txt": "virtaccel_backend(null DEPS base SOURCES n.cpp)\n",
    "backends/null/own.h": "",
    "backends/null/n.cpp": '#include "virtaccel/base/a.h"\n#include "backends/null/own.h"\n',
}


class LayerTest(unittest.TestCase):
    """A good tree of three modules, and one change each that must be seen."""

    def messages(self, changed: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            tree = tree_of(folder, {**GOOD_LAYERS, **changed})
            return [str(finding) for finding in check_layers.check(tree)]

    def expect_one(self, words: str, changed: dict[str, str]) -> None:
        messages = self.messages(changed)
        self.assertEqual(1, len(messages), messages)
        self.assertIn(words, messages[0])

    def test_the_good_tree_is_good(self) -> None:
        self.assertEqual([], self.messages({}))

    def test_deps_follow_the_arrow_table(self) -> None:
        lists = "virtaccel_module(base DEPS wire HEADERS a.h)\n"
        changed = {
            "virtaccel/base/CMakeLists.txt": lists,
            "virtaccel/base/a.h": '#include "virtaccel/wire/sub/w.h"\n',
        }
        self.expect_one("allows it nothing", changed)

    def test_an_include_outside_deps_is_found_in_a_subfolder(self) -> None:
        text = '#include "virtaccel/base/a.h"\n#include "virtaccel/queue/q.h"\n'
        self.expect_one("w.h:2: the module (wire) includes", {"virtaccel/wire/sub/w.h": text})

    def test_an_include_outside_deps_is_found_in_a_backend(self) -> None:
        text = '#include "virtaccel/base/a.h"\n#include "backends/cpu/cpu.h"\n'
        self.expect_one("(backends/cpu)", {"backends/null/own.h": text})

    def test_an_unused_dep_is_reported(self) -> None:
        self.expect_one(
            "includes nothing of it", {"backends/null/n.cpp": '#include "backends/null/own.h"\n'}
        )

    def test_a_relative_include_is_refused(self) -> None:
        text = '#include "virtaccel/base/a.h"\n#include "w.h"\n'
        self.expect_one("whole path", {"virtaccel/wire/sub/w.h": text})

    def test_an_include_of_ours_is_in_quotes(self) -> None:
        text = "#include <virtaccel/base/a.h>\n"
        self.expect_one("in quotes", {"virtaccel/wire/sub/w.h": text})

    def test_a_header_outside_headers_is_private(self) -> None:
        changed = {
            "virtaccel/wire/sub/w.h": '#include "virtaccel/base/own.h"\n',
            "virtaccel/base/own.h": "",
        }
        self.expect_one("is not in HEADERS of (base)", changed)

    def test_a_header_that_nothing_includes_is_dead(self) -> None:
        self.expect_one("name or delete it", {"virtaccel/base/dead.h": ""})

    def test_a_file_that_no_list_names_is_dead(self) -> None:
        self.expect_one("name or delete it", {"virtaccel/wire/sub/dead.cpp": ""})


if __name__ == "__main__":
    unittest.main()
