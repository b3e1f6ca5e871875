#!/usr/bin/env python3
"""Writes the official TOSA 1.0 flatbuffer schema, tosa.fbs, from which the build makes its header.

The schema is never committed: it comes from the tosa-tools wheel, once per user, and later runs
need no network. Prints the path of the schema on standard output, so that a script can use it.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import wheels

SCHEMA = wheels.WheelFile(
    package="tosa-tools",
    version="2026.8.0",
    platform="manylinux_2_28_x86_64",
    wheel_sha256="0d87640eb3d6eb9b6b24362837e00203a8f1b4d8b1e49076b8b093d393e985bf",
    wheel_megabytes=27,
    member="bin/tosa.fbs",
    sha256="6e56f3098532d1c5976a6ae99c7eed66f1df9a0f4826d46c84648a7e0802f5bc",
)


def write_schema(folder: pathlib.Path) -> pathlib.Path:
    """Puts tosa.fbs into the folder; an equal file keeps its time, so nothing is built again."""
    target = folder / "tosa.fbs"
    if not target.is_file() or wheels.digest(target) != SCHEMA.sha256:
        wheels.write_whole(target, wheels.read(SCHEMA))
    return target


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0],
        epilog="example: python3 tools/tosa_schema.py --output build/tosa")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/tosa"),
                        metavar="DIR", help="the folder to write tosa.fbs into (build/tosa)")
    try:
        print(write_schema(parser.parse_args().output).resolve())
    except (wheels.FetchError, OSError) as error:
        print(f"tosa_schema: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
