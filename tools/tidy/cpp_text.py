"""C++ as text: comments and literals taken out, places turned into lines, bodies cut out."""

from __future__ import annotations

import re

LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S
)


def blanked(text: str) -> str:
    """The text with comments and literals replaced by blanks, so that places stay the same."""
    return LITERAL.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def line_of(text: str, offset: int) -> int:
    """The line, from 1, of an offset."""
    return text.count("\n", 0, offset) + 1


def body_at(code: str, start: int) -> str:
    """What lies between an opening brace that ends before `start` and its closing one."""
    depth = 1
    for match in re.finditer(r"[{}]", code[start:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return code[start : start + match.start()]
    return code[start:]
