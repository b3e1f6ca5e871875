"""The foreign device on standard input and output, in the framing of docs/stdio.md.

The one thing to know: it serves one frame after the other until its input ends between two of them.
"""

from __future__ import annotations

import argparse
import sys
from typing import BinaryIO

from broken import BROKEN
from device import Device, Options

RESET = 0xFFFFFFFF
REFUSED, KEPT = 0, 1


def read(stream: BinaryIO, size: int) -> bytes:
    """So many bytes, or fewer at the end of the stream."""
    data = b""
    while len(data) < size:
        part = stream.read(size - len(data))
        if not part:
            break
        data += part
    return data


def number(data: bytes) -> int:
    """Bytes as the number that they are."""
    return int.from_bytes(data, "little")


def answer(device: Device, source: BinaryIO, length: int, capacity: int) -> bytes | None:
    """The reply to one prefix; None if the stream ends inside its frame."""
    if length == RESET:
        return (KEPT if device.reset(capacity) else REFUSED).to_bytes(4, "little")
    frame = read(source, length)
    if len(frame) != length:
        return None
    response = device.serve(frame, capacity)
    return len(response).to_bytes(4, "little") + response


def serve(device: Device, source: BinaryIO, target: BinaryIO) -> int:
    """Until the input ends: 0, or 1 if it ends inside a frame."""
    while prefix := read(source, 8):
        reply = None
        if len(prefix) == 8:
            reply = answer(device, source, number(prefix[:4]), number(prefix[4:]))
        if reply is None:
            print("foreign: The input ends inside a frame; send whole frames.", file=sys.stderr)
            return 1
        target.write(reply)
        target.flush()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="foreign", description="A device of virtio-accel 1.0 on standard input and output.")
    parser.add_argument("--no-cancel", action="store_true", help="it cannot cancel events")
    parser.add_argument("--host-only", action="store_true", help="it has host memory only")
    parser.add_argument("--pending-polls", type=int, default=2, metavar="N",
                        help="how many polls find an event pending (2)")
    parser.add_argument("--max-request-bytes", type=int, default=1 << 20, metavar="N")
    parser.add_argument("--max-response-bytes", type=int, default=1 << 20, metavar="N")
    parser.add_argument("--break", dest="broken", choices=BROKEN, help="the rule that it breaks")
    chosen = parser.parse_args()
    options = Options(max_request_bytes=chosen.max_request_bytes,
                      max_response_bytes=chosen.max_response_bytes, cancels=not chosen.no_cancel,
                      domains=(1,) if chosen.host_only else (1, 2, 3),
                      pending_polls=chosen.pending_polls)
    kind = BROKEN[chosen.broken].device if chosen.broken else Device
    return serve(kind(options), sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    sys.exit(main())
