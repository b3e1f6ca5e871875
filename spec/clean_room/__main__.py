"""Judges the frames of a stream, or compares a file of vectors: `python3 spec/clean_room`.

The one thing to know: a verdict is one line of JSON on the standard output, written as soon as its
item is read, so a program can send an item and wait for its line.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys

import stream
import vectors

EPILOG = r"""
An item of the stream is: one byte for the kind (q request, r response, c config), 4 bytes for the
length of the meta data, the meta data as JSON, 4 bytes for the length of the frame, the frame.
Lengths are little-endian. The meta data are:
  q   {"limits": {"max_request_bytes": 1048576, "max_response_bytes": 1048576,
       "max_bindings": 256, "max_buffer_bytes": 4096, "max_artifact_bytes": 4000,
       "capabilities": 39}, "capacity": 92}
  r   {"opcode": 257, "request_id": 7, "max_response_bytes": 1048576}; also "used" where it is
      not the length of the frame, and for READ_BUFFER "read_bytes", the count it asked for
  c   {}; optionally "queue_size" and "features" (those accepted)

examples:
  python3 spec/clean_room spec/vectors/frames.json
  printf 'c\2\0\0\0{}\20\0\0\0\1\0\0\0\1\0\20\0\0\0\20\0\0\0\20\0' | python3 spec/clean_room

exit status: 0, or 1 if a vector disagrees, or 2 if the input cannot be judged.
"""


def compare(path: pathlib.Path) -> int:
    """Prints each disagreement and a summary; 1 if there is a disagreement."""
    known = vectors.Vectors(path)
    found = list(known.disagreements())
    for sentence in found:
        print(sentence)
    print(f"clean_room: {len(known.frames)} vectors, {len(known.frames) - len(found)} agree, "
          f"{len(found)} disagree")
    return bool(found)


def judge_stream() -> int:
    """Prints a line for each item of the standard input."""
    if sys.stdin is None or sys.stdin.isatty():
        raise stream.InputError("The standard input is no file or pipe; give a file of vectors, or "
                                "send items through a pipe (--help shows how).")
    for verdict in stream.verdicts(sys.stdin.buffer):
        print(json.dumps(verdict), flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="clean_room", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Judges frames of virtio-accel 1.0 by the text of the protocol alone.")
    parser.add_argument("vectors", nargs="?", type=pathlib.Path, metavar="FILE.json",
                        help="golden frames to compare; without it, a stream is read")
    options = parser.parse_args()
    try:
        return judge_stream() if options.vectors is None else compare(options.vectors)
    except stream.InputError as error:
        print(f"clean_room: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Nobody reads the verdicts any more; what is left in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2


if __name__ == "__main__":
    sys.exit(main())
