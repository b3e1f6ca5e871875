#!/usr/bin/env python3
"""Compiles one file twice: as it is, and with VIRTACCEL_BAD defined, which must fail as it expects.

The file's first line is `// fails: <regular expression>`; a bad variant that fails for another
reason is a failure too, since it would hide that the rule is gone.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys

FLAGS = ("-std=c++23", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")


def compile_file(command: list[str]) -> tuple[bool, str]:
    """Whether the compiler is content, and what it says."""
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    return result.returncode == 0, result.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("compiler")
    parser.add_argument("file", type=pathlib.Path)
    options, flags = parser.parse_known_args()
    first = options.file.read_text(encoding="utf-8").split("\n", maxsplit=1)[0]
    expected = re.fullmatch(r"// fails: (.+)", first)
    if not expected:
        print(f"The first line of the file ({options.file}) is not `// fails: <expression>`.")
        return 1
    command = [options.compiler, *FLAGS, *flags, str(options.file)]
    good, said = compile_file(command)
    if not good:
        print(f"The file ({options.file.name}) does not compile as it is:\n{said}")
        return 1
    bad, said = compile_file([*command, "-DVIRTACCEL_BAD"])
    if bad:
        print(
            f"The file ({options.file.name}) compiles with VIRTACCEL_BAD defined: a rule is gone."
        )
        return 1
    if not re.search(expected[1], said):
        print(f"The file ({options.file.name}) fails, but not with ({expected[1]}):\n{said}")
        return 1
    print(f"The bad form fails as expected ({expected[1]}).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
