#!/usr/bin/env python3
"""Tests of how mutants are found and written into a source."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import mutants
import runner
import sites

BODY = """Status judge(std::uint32_t count, bool done, bool last) {
    if (count < 2) {
        return Status::out_of_bounds;
    }
    // count > 7 && done
    const char* words = "a < b";
    total_ += count;
    return !done && last ? Status::ok : Status::busy;
}
"""
CONSTANT = """static_assert(1 + 1 == 2 && true);
enum class Color : int { red = 1, blue = 3 };
template <int n = 3>
constexpr std::array<int, 4> table{1, 2, 3};
consteval int count() {
    return 3 + 4;
}
inline constexpr Rule rule{"nonzero", [](int value) { return value != 0; }};
constexpr bool f(int a) {
    if constexpr (sizeof(int) == 4) {
        return a > 1;
    }
}
"""
# What the compiled mutants print: BODY's choices, as a program.
PROGRAM = """#include <cstdio>
int run(int& total, int count, bool done, bool last) {
    if (count < 2 || last) {
        return 10 + count;
    }
    total += count;
    return !done && count == 3 ? 1 : 2;
}
int main() {
    int total = 0;
    for (int count = 1; count < 5; ++count) {
        std::printf("%d%d%d ", run(total, count, false, false),
                    run(total, count, true, false), run(total, count, false, true));
    }
    std::printf("%d", total);
}
"""


def changes(text: str) -> list[str]:
    """What becomes of what in a source."""
    return [mutant.change for mutant in sites.instrument("a.cpp", text, 1)[1]]


class SitesTest(unittest.TestCase):
    def test_each_operator_finds_its_places(self) -> None:
        self.assertEqual(
            [
                "the condition is negated",
                "< becomes <=",
                "< becomes >=",
                "2 becomes 1",
                "2 becomes 3",
                "Status::out_of_bounds becomes Status::internal_error",
                "without (total_ += count;)",
                "&& becomes ||",
                "! is lost",
                "Status::ok becomes Status::internal_error",
                "Status::busy becomes Status::internal_error",
            ],
            changes(BODY),
        )

    def test_what_only_the_compiler_looks_at_is_left_alone(self) -> None:
        self.assertEqual(
            ["!= becomes ==", "0 becomes 1", "> becomes >=", "> becomes <=", "1 becomes 0",
             "1 becomes 2"],
            changes(CONSTANT),
        )

    def test_no_line_moves(self) -> None:
        written, _ = sites.instrument("a.cpp", BODY, 1)
        self.assertEqual(BODY.count("\n"), written.count("\n"))
        self.assertIn("// count > 7 && done", written)

    def test_a_mutant_is_named_by_its_text(self) -> None:
        moved = "\n\n" + BODY
        keys = [mutant.key for mutant in sites.instrument("a.cpp", BODY, 1)[1]]
        self.assertEqual(keys, [mutant.key for mutant in sites.instrument("a.cpp", moved, 9)[1]])
        twice = [mutant.key for mutant in sites.instrument("a.cpp", BODY + BODY, 1)[1]]
        self.assertEqual(len(twice), len(set(twice)))

    def test_a_dropped_place_stays_as_it_is(self) -> None:
        first = sites.instrument("a.cpp", BODY, 1)[1][0]
        written, left = sites.instrument("a.cpp", BODY, 1, frozenset({first.key}))
        self.assertIn("    if (count <", written)
        self.assertEqual(10, len(left))

    def test_one_mutant_alone_is_what_a_person_would_write(self) -> None:
        by_change = {m.change: m for m in sites.instrument("a.cpp", BODY, 1)[1]}
        for change, words in {
            "< becomes >=": "if (count >= 2)",
            "&& becomes ||": "!done || last",
            "! is lost": "return done &&",
            "the condition is negated": "if (!(count < 2))",
            "2 becomes 3": "count < 3",
        }.items():
            self.assertIn(words, sites.mutate(BODY, by_change[change]))


class CompiledTest(unittest.TestCase):
    """Every mutant in one program does what the mutant alone does."""

    def test_one_build_holds_every_mutant(self) -> None:
        written, found = sites.instrument("a.cpp", PROGRAM, 1)
        self.assertGreater(len(found), 20)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            together = self.build(folder, written, ["-include", str(runner.HEADER)])
            original = self.output(self.build(folder, PROGRAM, []), 0)
            self.assertEqual(original, self.output(together, 0))
            for mutant in found[::3]:
                if "count" in mutant.change or "++" in mutant.text:
                    continue  # may not end
                alone = self.build(folder, sites.mutate(PROGRAM, mutant), [], "alone")
                self.assertEqual(
                    self.output(alone, 0), self.output(together, mutant.number), mutant.key
                )

    def build(
        self, folder: pathlib.Path, text: str, options: list[str], name: str = "together"
    ) -> pathlib.Path:
        """A program out of one source."""
        source = folder / f"{name}.cpp"
        source.write_text(text, encoding="utf-8")
        program = folder / f"{name}-{len(options)}"
        command = ["g++", "-std=c++23", "-w", *options, str(source), "-o", str(program)]
        subprocess.run(command, check=True)
        return program

    def output(self, program: pathlib.Path, number: int) -> str:
        """What a program prints with one mutant on, at most so much of it."""
        result = subprocess.run(
            [str(program)], capture_output=True, text=True, check=False, timeout=20,
            env={"VIRTACCEL_MUTANT": str(number)},
        )
        return result.stdout


class MutantsTest(unittest.TestCase):
    def test_a_sample_is_the_same_for_the_same_seed(self) -> None:
        found = sites.instrument("virtaccel/wire/a.h", BODY, 1)[1]
        sample = mutants.choose(found, "wire", 4, 7)
        self.assertEqual(sample, mutants.choose(found, "wire", 4, 7))
        self.assertEqual(4, len(sample))
        self.assertEqual([], mutants.choose(found, "device", 4, 7))
        self.assertEqual(found, mutants.choose(found, None, None, 7))

    def test_a_survivor_that_nobody_explains_is_left_over(self) -> None:
        results = {
            "virtaccel/wire/a.h: x": {"outcome": "survived", "line": 1, "kind": "logic", "by": ""},
            "virtaccel/wire/a.h: y": {"outcome": "killed", "line": 2, "kind": "logic", "by": "t"},
        }
        self.assertEqual(1, len(mutants.surviving(results, {})))
        explained = {"virtaccel/wire/a.h: x": "the same"}
        self.assertEqual([], mutants.surviving(results, explained))
        printed = "\n".join(mutants.table(results, explained))
        self.assertIn("      2       1           1          0", printed)

    def test_the_place_of_an_error_is_its_own_or_the_nearest_that_required_it(self) -> None:
        output = (
            "/x/virtaccel/device/b.cpp:9:1:   required from here\n"
            "/y/mutant.h:3:4: error: no match\n"
            "/x/virtaccel/device/c.h:5:6: error: narrowing\n"
        )
        places = {("virtaccel/device/b.cpp", 9), ("virtaccel/device/c.h", 5)}
        self.assertEqual(
            [("virtaccel/device/b.cpp", 9), ("virtaccel/device/c.h", 5)],
            list(runner.places_at_fault(output, places)),
        )


if __name__ == "__main__":
    unittest.main()
