"""Compares the golden frames of a file like spec/vectors/frames.json with what the decoder reads.

The one thing to know: a response is judged as the answer to the good request of the same command
in the same file, because only with that does a driver know what it asked for.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import decoder
import stream
from layouts import RECORDS

READ = "READ_BUFFER"


def _is_hex(value: object) -> bool:
    try:
        return isinstance(value, str) and bytes.fromhex(value) is not None
    except ValueError:
        return False


# The members of a vector, and what each may be.
ALLOWED = {
    "name": lambda value: isinstance(value, str),
    "kind": lambda value: value in ("request", "response", "config"),
    "command": lambda value: value is None or isinstance(value, str),
    "status": lambda value: isinstance(value, str),
    "record": lambda value: value is None or isinstance(value, str) and value in RECORDS,
    "fields": lambda value: isinstance(value, dict),
    "hex": _is_hex,
}


class Vectors:
    """A file of vectors: the limits of its device, and its frames."""

    def __init__(self, path: pathlib.Path) -> None:
        try:
            text = path.read_bytes()
        except OSError as error:
            raise stream.InputError(f"The file ({path}) cannot be read ({error.strerror}); give "
                                    "a file of vectors.") from error
        members = stream.parse_json(text, f"file ({path})")
        if not isinstance(members, dict) or not isinstance(members.get("frames"), list):
            raise stream.InputError(f"The file ({path}) has no list (frames); give a file like "
                                    "spec/vectors/frames.json.")
        self.limits = stream.parse_limits(members.get("limits"))
        self.frames: list[dict] = []
        for number, frame in enumerate(members["frames"]):
            _check_frame(number, frame)
            self.frames.append({**frame, "bytes": bytes.fromhex(frame["hex"])})
        self._requests = {frame["command"]: frame["bytes"] for frame in self.frames
                          if (frame["kind"], frame["status"]) == ("request", "OK")}

    def judge(self, frame: dict) -> dict:
        """The decoder's verdict on one frame."""
        data = frame["bytes"]
        if frame["kind"] == "request":
            return decoder.judge_request(data, self.limits, self.limits.max_response_bytes)
        if frame["kind"] == "config":
            return decoder.judge_config(data)
        request = self._requests.get(frame["command"])
        if request is None:
            raise stream.InputError(f"The vector ({frame['name']}) answers the command "
                                    f"({frame['command']}) whose good request the file lacks; "
                                    "add that request.")
        asked = decoder.judge_request(request, self.limits, self.limits.max_response_bytes)
        if asked["outcome"] != "request":
            return asked  # that the request is not good shows as a disagreement here as well
        return decoder.judge_response(data, len(data), decoder.Asked(
            asked["opcode"], asked["request_id"], self.limits.max_response_bytes,
            asked["fields"]["bytes"] if asked["command"] == READ else None))

    def disagreements(self) -> Iterator[str]:
        """One sentence for each frame that the decoder reads in another way."""
        for frame in self.frames:
            wanted, found = expected(frame), observed(frame, self.judge(frame))
            if wanted != found:
                yield (f"The vector ({frame['name']}) says ({wanted}) and the decoder reads "
                       f"({found}).")


def _check_frame(number: int, frame: object) -> None:
    where = f"The vector ({number})"
    if not isinstance(frame, dict) or any(key not in frame for key in ALLOWED):
        raise stream.InputError(f"{where} is no object with the members {', '.join(ALLOWED)}; "
                                "add what it lacks.")
    for key, allowed in ALLOWED.items():
        if not allowed(frame[key]):
            raise stream.InputError(f"{where} has a member ({key}) that cannot be "
                                    f"({frame[key]!r:.60}); write it as spec/vectors/frames.json "
                                    "does.")


def expected(frame: dict) -> dict:
    """What a vector says, in the words of a verdict."""
    outcomes = {"config": "config", "request": "request", "response": "success"}
    if frame["status"] != "OK":
        outcomes = {"request": "error",
                    "response": "failure" if frame["record"] is None else "indeterminate"}
    outcome = outcomes.get(frame["kind"])
    return {"outcome": outcome, "status": frame["status"], "fields": frame["fields"],
            # Of a refused request a vector names the command that it was made from.
            "command": None if outcome == "error" else frame["command"]}


def observed(frame: dict, verdict: dict) -> dict:
    """What the decoder read, in the same words; the vectors write every array in hexadecimal."""
    arrays = {field.name: field for field in RECORDS.get(frame["record"], ()) if field.count > 1}
    fields = {name: arrays[name].write(value).hex() if name in arrays else value
              for name, value in verdict.get("fields", {}).items()}
    return {"outcome": verdict["outcome"], "status": verdict.get("status", "OK"),
            "fields": fields, "command": verdict.get("command")}
