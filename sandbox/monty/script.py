"""A plan as the text that Monty runs: its parts as functions over one namespace, between calls to the host.

Text work alone: where the steps stand is known from the check, which parsed the plan in its cage. What Monty makes of
the text happens in Monty's own process.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from codeplan.sandbox.monty.guest import GUEST
from codeplan.sandbox.runtime.names import RESERVED
from codeplan.types import Plan

_HEADER: Final = re.compile(r"^def[ \t]+solution[ \t]*\([^()#'\"]*\)[^:#'\"\n]*:[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_CALLS_SOLUTION: Final = re.compile(r"(?:\w+[ \t]*=[ \t]*)?solution[ \t]*\(|if[ \t]+__name__\b")
_IMPORT: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<statement>(?:from|import)[ \t]+"
    r"(?:ast|collections|json|large_language_model|math|random|re|string|typing|__future__)\b[^;()\\#]*)(?:#.*)?"
)
_BINDING: Final = re.compile(
    r"^(.*)(?<![=!<>:])=(?!=)"
    r"|\bfor\b(.*?)\bin\b"
    r"|\bas[ \t]+(\w+)|\bdef[ \t]+(\w+)|(\w+)[ \t]*:="
    r"|^[ \t]*case\b(.*):",
    re.MULTILINE,
)
_WORD: Final = re.compile(r"(?<![\w.])[^\W\d]\w*")
_MODEL_NAME: Final = re.compile(r"\b(?:ask_llm|ask)(?:[ \t]+as[ \t]+(?P<other>\w+))?")


class NoScript(Exception):
    """Why a plan's text cannot be cut into its parts."""


class Line(NamedTuple):
    """A line of the text, and the line of the plan that it is; 0 where it is ours."""

    text: str
    origin: int


class Part(NamedTuple):
    """Lines of ``solution`` that run together: a step, or what stands between steps (``step`` None)."""

    step: int | None
    lines: list[Line]


class Script(NamedTuple):
    """What Monty is given."""

    lines: list[Line]

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(line.text for line in self.lines) + "\n"

    def origin(self, line: int) -> int | None:
        """The plan's line that a line of the text is, both counted from 1; None where it is not one of the plan's."""
        return (self.lines[line - 1].origin or None) if 1 <= line <= len(self.lines) else None


def plan_names(source: str) -> tuple[str, ...]:
    """All variables that a plan can have, and at times a name too many: whatever stands where names are bound."""
    found = {name for m in _BINDING.finditer(source) for part in m.groups("") for name in _WORD.findall(part)}
    return tuple(sorted(n for n in found - RESERVED if not n.startswith("_") and not keyword.iskeyword(n)))


def script(plan: Plan, start_from: int, saved: Mapping[str, int]) -> Script:
    """The text of a run; ``saved`` are the variables to restore, each with its place among the restored values.

    Raises NoScript where ``solution`` is not written in the plain way.
    """
    outside, parts = _cut(plan)
    names = sorted({*plan_names(plan.source), *saved})
    hoisted = [*_hoisted(outside), *(statement for part in parts for statement in _hoisted(part.lines))]
    body = [
        *_ours(GUEST.splitlines()),
        Line(f"start_from = {start_from}", 0),
        *_ours(_guarded_imports(hoisted)),
        *_ours(f"{name} = _restored_[{at}]" for name, at in saved.items()),
        *_ours(_saver(names)),
        *outside,
    ]
    for number, part in enumerate(parts):
        body += _function(number, part, names)
    return Script([*body, *_ours(_run(parts, start_from))])


def _ours(lines: Iterable[str]) -> list[Line]:
    return [Line(text, 0) for text in lines]


def _cut(plan: Plan) -> tuple[list[Line], list[Part]]:
    """The lines outside ``solution``, and the parts inside."""
    text = plan.source.replace("\r\n", "\n").replace("\r", "\n")
    header = max(_HEADER.finditer(text), key=lambda m: m.start(), default=None)
    if header is None:
        raise NoScript("Monty runs plans whose `def solution(agent, start_from=1):` stands alone on its line")
    lines = [Line(t, at) for at, t in enumerate(text.split("\n"), 1)]
    first = text.count("\n", 0, header.end()) + 2
    begin = text.count("\n", 0, header.start()) + 1
    if any(s.line < first for s in plan.steps):
        raise NoScript("Monty runs plans whose steps all stand in `solution`")
    end = _end_of_solution(lines, max([first - 1, *(s.end_line for s in plan.steps)]))
    after = [line for line in lines[end:] if not line.text[:1].isspace()]
    rest = [] if any(_CALLS_SOLUTION.match(line.text) for line in after) else lines[end:]
    return [*lines[: begin - 1], *rest], list(_parts(plan, lines[first - 1 : end]))


def _end_of_solution(lines: Sequence[Line], least: int) -> int:
    """How many lines there are up to the end of ``solution``, which has at least ``least``."""
    for line in lines[least:]:
        if line.text.strip() and line.text[0] not in " \t#":
            return line.origin - 1
    return len(lines)


def _parts(plan: Plan, lines: list[Line]) -> Iterator[Part]:
    within = {at: s.number for s in plan.steps for at in range(s.line, s.end_line + 1)}
    starts = {s.line for s in plan.steps}
    part = Part(None, [])
    for line in lines:
        step = within.get(line.origin)
        if step != part.step or line.origin in starts:
            if _has_code(part.lines):
                yield part
            part = Part(step, [])
        part.lines.append(line)
    if _has_code(part.lines):
        yield part


def _has_code(lines: Iterable[Line]) -> bool:
    return any(_is_code(line) for line in lines)


def _is_code(line: Line) -> bool:
    return bool(line.text.strip()) and not line.text.lstrip().startswith("#")


def _hoisted(lines: Iterable[Line]) -> Iterator[str]:
    """The imports among the lines, as statements to run at the start; what they import of ours is there already."""
    for line in lines:
        found = _IMPORT.fullmatch(line.text)
        if found is None or re.match(r"(?:from|import)[ \t]+(?:ast|typing|__future__)\b", found["statement"]):
            continue
        if "large_language_model" not in found["statement"]:
            yield found["statement"].strip()
            continue
        yield from (f"{m['other']} = ask_llm" for m in _MODEL_NAME.finditer(found["statement"]) if m["other"])


def _guarded_imports(statements: Iterable[str]) -> Iterator[str]:
    """What Monty does not have stays a name that nothing defines."""
    for statement in statements:
        yield from ("try:", f"    {statement}", "except ImportError:", "    pass")


def _without_imports(line: Line) -> Line:
    found = _IMPORT.fullmatch(line.text)
    return line if found is None else Line(f"{found['indent']}pass", line.origin)


def _function(number: int, part: Part, names: Sequence[str]) -> list[Line]:
    first = next(line.text for line in part.lines if _is_code(line))
    indent = first[: len(first) - len(first.lstrip())]
    head = [f"def _part_{number}_():", *([f"{indent}global {', '.join(names)}"] if names else [])]
    return [*_ours(head), *map(_without_imports, part.lines), *_ours([f"{indent}return _on_"])]


def _saver(names: Iterable[str]) -> Iterator[str]:
    yield "def _save_():"
    yield "    variables = {}"
    for name in names:
        yield from ("    try:", f"        variables[{name!r}] = {name}", "    except NameError:", "        pass")
    yield "    return _table_(variables)"


def _run(parts: Sequence[Part], start_from: int) -> Iterator[str]:
    yield "def _run_():"
    for number, part in enumerate(parts):
        if part.step is not None and part.step < start_from:
            continue
        yield f"    _enter_({part.step}, {'None' if part.step is None else '_save_()'})"
        yield from (f"    if _part_{number}_() is not _on_:", "        return")
    yield "_run_()"
