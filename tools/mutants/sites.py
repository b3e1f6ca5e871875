"""Finds what can be mutated in a source, and writes it so that one build holds every mutant.

The one thing to know: a place is found by its text alone, in the shape that clang-format gives it
(blanks around a binary operator, none before a template's bracket). Where the compiler evaluates an
expression itself, nothing is mutated: such places are left out here.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tidy"))

from cpp_text import blanked, line_of

# Where, whether it replaces, its rank, up to where, by what.
Edit = tuple[int, bool, tuple[int, int, int], int, str]

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {close: opening for opening, close in OPENING.items()}

RELATIONS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
}
ARITHMETIC = {
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "/": ("*",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|",),
    "|": ("&",),
}
BINARY = re.compile(r"(?<=\s)(<=|>=|==|!=|<<|>>|[<>+\-*/&|])(?=\s)")
LOGICAL = re.compile(r"(?<=\s)(&&|\|\|)(?=\s)")
NOT = re.compile(r"(?<![\w)\]=])!(?=[\w(*])")
NUMBER = re.compile(r"(?<![\w.'])(\d+)([uUlL]*)(?![\w.'])")
TRUTH = re.compile(r"\b(true|false)\b")
STATUS = re.compile(r"(?<![\w:])Status::(\w+)\b")
CONDITION = re.compile(r"\bif \(")
DECLARATION = re.compile(r"\s*(?:const\s+)?(?:auto|[\w:<>]+)\s*[*&]*\s+[*&]*\w+\s*=(?!=)")
EXPRESSION = re.compile(
    r"(?:\(void\))?(?:(?:\+\+|--)[(\w]|\*?\w[\w:]*(?:(?:\.|->)\w+|\[[^\[\]]*\]|<[\w:, ]*>|\(\))*"
    r"\s*(?:\(|=(?!=)|[+\-|&*]=|\+\+|--))"
)
SCOPE = re.compile(r"\b(?:class|struct|union|enum|namespace)\b[^(){};=]*$")
NO_STATEMENT = re.compile(
    r"(?:return|using|static_assert|const|auto|else|case|default|if|for|while|switch|do|break|goto"
    r"|template|friend|typedef|public|private|protected|constexpr|static|inline|enum|struct|class"
    r"|operator|explicit|virtual|delete|new|throw|namespace|VIRTACCEL_CHECK|VIRTACCEL_TRY\w*)\b"
)


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change. `number` chooses it in the build; all else stays the same when lines move."""

    number: int
    file: str
    line: int
    text: str  # of the line, without blanks at its ends
    kind: str
    change: str
    occurrence: int  # among equal changes of equal lines in this file, from 1
    replaced: tuple[int, int, str]  # what the change is in the source: from, to, by what

    @property
    def key(self) -> str:
        """What names a mutant in files that outlive an edit."""
        return f"{self.file}: {self.text}: {self.change} ({self.occurrence})"


@dataclasses.dataclass(frozen=True)
class Site:
    """One place, how it is written for all its mutants, and each mutant by itself.

    `write` is given the first number and returns what stands before, instead of and after what.
    """

    begin: int
    end: int
    kind: str
    changes: tuple[tuple[str, tuple[int, int, str]], ...]
    write: Callable[[int], list[tuple[int, int, str]]]


def partner(code: str, places: Iterable[int], begins: Container[str]) -> int | None:
    """The place of the bracket that ends what the first of `places` begins, if one does."""
    depth = 0
    for place in places:
        if code[place] in begins:
            depth += 1
        elif code[place] in OPENING or code[place] in CLOSING:
            depth -= 1
            if depth == 0:
                return place
    return None


def matching(code: str, at: int) -> int:
    """The place of the bracket that closes the one at `at`; the end of the text if none does."""
    place = partner(code, range(at, len(code)), OPENING)
    return len(code) if place is None else place


def until(code: str, at: int, stops: str) -> int:
    """The first of some characters from `at` on that is not inside brackets."""
    place = at
    while place < len(code):
        if code[place] in stops:
            return place
        if code[place] in OPENING:
            place = matching(code, place)
        place += 1
    return len(code)


def angle_end(code: str, at: int) -> int:
    """The end of template arguments that open at `at`, or `at` if it is none."""
    depth = 0
    for place in range(at, len(code)):
        if code[place] == "<":
            depth += 1
        elif code[place] == ">" and code[place - 1] != "-":
            depth -= 1
            if depth == 0:
                return place + 1
        elif code[place] in ";{":
            break
    return at


def lambda_bodies(code: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The bodies of functions with parameters that a constant is made of."""
    for match in re.finditer(r"\]\s*\(", code[begin:end]):
        opening = begin + match.end() - 1
        body = until(code, matching(code, opening) + 1, "{,;)")
        if body < end and code[body] == "{":
            yield body, matching(code, body) + 1


def constant_areas(code: str) -> list[bool]:
    """For each character whether the compiler alone looks at it."""
    constant = [False] * len(code)

    def mark(begin: int, end: int, value: bool = True) -> None:
        constant[begin:end] = [value] * (min(end, len(code)) - begin)

    for match in re.finditer(r"(?:\bstatic_assert|\bif constexpr|\bsizeof|\bdecltype) ?\(", code):
        mark(match.start(), matching(code, match.end() - 1) + 1)
    for match in re.finditer(r"(?:\w|template )<", code):
        mark(match.end() - 1, angle_end(code, match.end() - 1))
    for match in re.finditer(r"\bsizeof \w[\w.]*(?:\[\w*\])?", code):
        mark(match.start(), match.end())
    for match in re.finditer(r"native == std::endian::little\) \{", code):
        close = matching(code, match.end() - 1)
        if code.startswith("} else {", close):  # for machines of the other kind
            mark(close, matching(code, close + len("} else ")))
    for match in re.finditer(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", code, re.M):
        mark(match.start(), match.end())
    for match in re.finditer(r"\b(?:concept|case|using|typedef) ", code):
        mark(match.start(), until(code, match.end(), ";:" if match[0] == "case " else ";"))
    for match in re.finditer(r"\brequires\b", code):
        mark(match.start(), until(code, match.end(), ";{"))
    for match in re.finditer(r"\benum (?:class )?\w+[^;{]*\{|\bconsteval\b[^;{]*\{", code):
        mark(match.start(), matching(code, match.end() - 1) + 1)
    for match in re.finditer(r"\bconstexpr\b(?! *\()", code):
        opening = re.compile(r"[({;=]").search(code, angle_free(code, match.end()))
        if opening is None or opening[0] == "(":
            continue  # a function: what it does at run time counts
        end = until(code, opening.start(), ";")
        mark(match.start(), end)
        for begin, after in lambda_bodies(code, opening.start(), end):
            mark(begin, after, value=False)
    return constant


def angle_free(code: str, at: int) -> int:
    """Past the template arguments of a declared type, where there are some before anything else."""
    match = re.compile(r"[^({;=<]*<").match(code, at)
    return angle_end(code, match.end() - 1) if match else at


def operand_begin(code: str, at: int) -> int:
    """Where the operand begins that ends before a logical operator at `at`."""
    place = at - 1
    while place >= 0:
        character = code[place]
        if character in CLOSING:
            place = opening_of(code, place)
        elif character in "([{,;?" or code[place - 1 : place + 1] in ("&&", "||"):
            break
        elif character == ":" and ":" not in (code[place - 1], code[place + 1]):
            break
        elif character == "=" and code[place - 1] not in "=!<>" and code[place + 1] != "=":
            break
        elif code[place - 5 : place + 1] == "return":
            break
        place -= 1
    place += 1
    return place + len(code[place:]) - len(code[place:].lstrip())


def opening_of(code: str, at: int) -> int:
    """The place of the bracket that the one at `at` closes; the beginning if it closes none."""
    return partner(code, range(at, -1, -1), CLOSING) or 0


def operand_end(code: str, at: int) -> tuple[int, set[str]]:
    """Where all that follows a logical operator ends, and the logical operators in it."""
    place = at
    seen = set()
    while place < len(code):
        character = code[place]
        if character in OPENING:
            place = matching(code, place)
        elif character in ")]},;?":
            break
        elif character == ":" and ":" not in (code[place - 1], code[place + 1]):
            break
        elif code[place : place + 2] in ("&&", "||"):
            seen.add(code[place : place + 2])
            place += 1
        place += 1
    return at + len(code[at:place].rstrip()), seen


def binary_sites(code: str) -> Iterator[Site]:
    """Comparisons and arithmetic."""
    for match in BINARY.finditer(code):
        symbol = match[1]
        begin, end = match.span(1)
        if "..." in (code[begin - 4 : begin - 1], code[end + 1 : end + 4]):
            continue
        kind = "relation" if symbol in RELATIONS else "arithmetic"
        changes = tuple(
            (f"{symbol} becomes {other}", (begin, end, other))
            for other in {**RELATIONS, **ARITHMETIC}[symbol]
        )

        def write(first: int, at: int = end, symbol: str = symbol) -> list[tuple[int, int, str]]:
            return [(at, at, f" ::mutant::At<{first}>{{}} {symbol}")]

        yield Site(begin, end, kind, changes, write)


def logical_sites(code: str) -> Iterator[Site]:
    """`and` becomes `or`, and back."""
    for match in LOGICAL.finditer(code):
        symbol = match[1]
        at, after = match.span(1)
        other = "||" if symbol == "&&" else "&&"
        begin = operand_begin(code, at)
        end, seen = operand_end(code, after)
        if other in seen or "..." in (code[at - 4 : at - 1], code[after + 1 : after + 4]):
            continue
        if code[begin - 3 : begin - 1] == other:
            continue

        def write(
            first: int, begin: int = begin, at: int = at, after: int = after, end: int = end,
            symbol: str = symbol,
        ) -> list[tuple[int, int, str]]:
            # (a != on) ? b : on is `a and b` for off and `a or b` for on; the other way round with
            # a negation.
            off = "" if symbol == "&&" else "!"
            on = f"{off}::mutant::on<{first}>()"
            return [
                (begin, begin, "((bool("),
                (at, after, f") != {on}) ? bool("),
                (end, end, f") : {on})"),
            ]

        change = (f"{symbol} becomes {other}", (at, after, other))
        yield Site(begin, end, "logic", (change,), write)


def condition_sites(code: str) -> Iterator[Site]:
    """A condition and its opposite, where no comparison's opposite is the same."""
    for match in CONDITION.finditer(code):
        opening = match.end() - 1
        begin, end = opening + 1, matching(code, opening)
        if (semicolon := until(code, begin, ";")) < end:
            begin = semicolon + 1
            begin += len(code[begin:end]) - len(code[begin:end].lstrip())
        inside = code[begin:end]
        if DECLARATION.match(inside) or (
            re.search(r" [!=]= ", inside) and not LOGICAL.search(inside)
        ):
            continue

        def write(first: int, begin: int = begin, end: int = end) -> list[tuple[int, int, str]]:
            return [(begin, begin, f"::mutant::flip<{first}>(bool("), (end, end, "))")]

        change = ("the condition is negated", (begin, end, f"!({inside})"))
        yield Site(begin, end, "condition", (change,), write)


def not_sites(code: str) -> Iterator[Site]:
    """A negation that is lost."""
    for match in NOT.finditer(code):
        begin, end = match.span()

        def write(first: int, begin: int = begin, end: int = end) -> list[tuple[int, int, str]]:
            return [(begin, end, f"::mutant::Not<{first}>{{}} ->* ")]

        yield Site(begin, end, "condition", (("! is lost", (begin, end, "")),), write)


def value_site(begin: int, end: int, kind: str, old: str, others: list[str]) -> Site:
    """A constant that becomes another one."""

    def write(first: int) -> list[tuple[int, int, str]]:
        return [(begin, end, f"::mutant::pick<{first}>({', '.join([old, *others])})")]

    changes = tuple((f"{old} becomes {other}", (begin, end, other)) for other in others)
    return Site(begin, end, kind, changes, write)


def constant_sites(code: str) -> Iterator[Site]:
    """Numbers one off, truths that are none, statuses that are others."""
    for match in NUMBER.finditer(code):
        value = int(match[1])
        others = {0: [1], 1: [0, 2]}.get(value, [value - 1, value + 1])
        texts = [f"{other}{match[2]}" for other in others]
        yield value_site(*match.span(), "constant", match[0], texts)
    for match in TRUTH.finditer(code):
        other = "false" if match[0] == "true" else "true"
        yield value_site(*match.span(), "constant", match[0], [other])
    for match in STATUS.finditer(code):
        if not code[: match.start()].endswith(("== ", "!= ")):
            other = "busy" if match[1] == "internal_error" else "internal_error"
            yield value_site(*match.span(), "status", match[0], [f"Status::{other}"])


def statements(code: str) -> Iterator[tuple[int, int]]:
    """What ends in a semicolon in a function: from its first character to past the semicolon."""
    brackets: list[str] = []  # a class is a "c"
    begins: list[int] = []
    begin = 0
    for place, character in enumerate(code):
        if character in OPENING:
            brackets.append("c" if SCOPE.search(code[begin:place]) else character)
            begins.append(begin)
            if character == "{":
                begin = place + 1
        elif character in CLOSING and brackets:
            brackets.pop()
            begin = begins.pop()
            if character == "}":
                begin = place + 1
        elif character == ";" and brackets and brackets[-1] == "{":
            text = code[begin : place + 1]
            yield begin + len(text) - len(text.lstrip()), place + 1
            begin = place + 1


def statement_sites(code: str) -> Iterator[Site]:
    """A statement that is lost."""
    for begin, end in statements(code):
        text = code[begin:end]
        is_jump = text == "continue;"
        if not is_jump and (NO_STATEMENT.match(text) or not EXPRESSION.match(text)):
            continue

        def write(first: int, begin: int = begin, end: int = end) -> list[tuple[int, int, str]]:
            return [(begin, begin, f"if (!::mutant::on<{first}>()) {{ "), (end, end, " }")]

        short = re.sub(r"\s+", " ", text)
        change = (f"without ({short})", (begin, end, ";"))
        yield Site(begin, end, "statement", (change,), write)


FINDERS = (
    statement_sites,
    condition_sites,
    logical_sites,
    not_sites,
    binary_sites,
    constant_sites,
)


def find_sites(text: str) -> list[Site]:
    """Every place of a source that can be mutated, in the order of the text."""
    code = blanked(text)
    constant = constant_areas(code)
    found = [
        site
        for finder in FINDERS
        for site in finder(code)
        if not any(constant[begin] for _, (begin, _, _) in site.changes)
    ]
    return sorted(found, key=lambda site: (site.begin, -site.end))


def instrument(
    file: str, text: str, first: int, dropped: frozenset[str] = frozenset()
) -> tuple[str, list[Mutant]]:
    """A source with all its mutants in it, and the mutants, numbered from `first`.

    Places of which a mutant is in `dropped` (keys) stay as they are. No line moves.
    """
    lines = text.split("\n")
    seen: dict[tuple[str, str], int] = {}
    mutants: list[Mutant] = []
    edits: list[Edit] = []
    for index, site in enumerate(find_sites(text)):
        made = []
        for offset, (change, replaced) in enumerate(site.changes):
            line = line_of(text, replaced[0])
            words = lines[line - 1].strip()
            seen[words, change] = occurrence = seen.get((words, change), 0) + 1
            made.append(
                Mutant(first + offset, file, line, words, site.kind, change, occurrence, replaced)
            )
        if any(mutant.key in dropped for mutant in made):
            continue
        mutants += made
        for begin, end, new in site.write(first):
            edits.append((begin, begin != end, rank(site, index, begin), end, new))
        first += len(made)
    return apply(text, edits), mutants


def rank(site: Site, index: int, begin: int) -> tuple[int, int, int]:
    """Where an insertion stands among others at its place: what ends there comes first, the inner
    before the outer; then what begins there, the outer before the inner."""
    extent = site.end - site.begin
    return (0, extent, -index) if begin == site.end else (1, -extent, index)


def apply(text: str, edits: list[Edit]) -> str:
    """The text with its edits. An edit that replaces comes after what is inserted before it."""
    parts = []
    at = 0
    for begin, _, _, end, new in sorted(edits):
        parts += [text[at:begin], new]
        at = max(at, end)
    return "".join(parts) + text[at:]


def mutate(text: str, mutant: Mutant) -> str:
    """The source with one mutant, as a person would write it."""
    begin, end, new = mutant.replaced
    return text[:begin] + new + text[end:]
