"""Turns a plan into the script that Monty runs: its parts as functions over one namespace, between calls to the host.

This is text work only. The check, which parsed the plan in its cage, says where the steps are; Monty parses the script
in its own process.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from codeplan.sandbox.monty.guest import GUEST_SOURCE
from codeplan.sandbox.protocol.checkpoint_table import RETURNED_NAME
from codeplan.sandbox.runtime.names import RESERVED_NAMES
from codeplan.types import Plan

_HEADER: Final = re.compile(r"^def[ \t]+solution[ \t]*\([^()#'\"]*\)[^:#'\"\n]*:[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_CALLS_SOLUTION: Final = re.compile(r"(?:\w+[ \t]*=[ \t]*)?solution[ \t]*\(|if[ \t]+__name__\b")
_IMPORT: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<statement>(?:from|import)[ \t]+"
    r"(?:ast|collections|json|large_language_model|math|random|re|string|typing|__future__)\b[^;()\\#]*)(?:#.*)?"
)
_BINDING: Final = re.compile(
    r"^(.*)(?<![=!<>:])=(?!=)"
    r"|\bas[ \t]+(\w+)|\bdef[ \t]+(\w+)|(?<!\w)(\w++)[ \t]*:="
    r"|^[ \t]*case\b(.*):",
    re.MULTILINE,
)
_FOR: Final = re.compile(r"\bfor\b")
_IN: Final = re.compile(r"\bin\b")
_WORD: Final = re.compile(r"(?<![\w.])[^\W\d]\w*")
_MODEL_NAME: Final = re.compile(r"\b(?:ask_llm|ask)(?:[ \t]+as[ \t]+(?P<other>\w+))?")


class ScriptError(Exception):
    """Says why a plan's text cannot be split into its parts."""


class ScriptLine(NamedTuple):
    """A line of the script, and the plan's line that it comes from; 0 if added."""

    text: str
    origin: int


class ScriptPart(NamedTuple):
    """Lines of ``solution`` that run together: a step, or code between steps (``step`` is None)."""

    step: int | None
    lines: list[ScriptLine]


class MontyScript(NamedTuple):
    """The script of one run."""

    lines: list[ScriptLine]

    @property
    def text(self) -> str:
        """The script as text."""
        return "\n".join(line.text for line in self.lines) + "\n"

    def plan_line(self, line: int) -> int | None:
        """The plan's line behind a line of the script, both counted from 1; None for added lines."""
        return (self.lines[line - 1].origin or None) if 1 <= line <= len(self.lines) else None

    def plan_line_at(self, offset: int) -> int | None:
        """The plan's line behind an offset in the script, in UTF-8 bytes; None in added lines."""
        return self.plan_line(self.text.encode()[:offset].count(b"\n") + 1)


def find_variable_names(source: str) -> tuple[str, ...]:
    """All names that a plan may bind, and perhaps a few more: every word in a binding position."""
    targets = [part for m in _BINDING.finditer(source) for part in m.groups("")]
    targets += (_IN.split(rest, maxsplit=1)[0] for line in source.split("\n") for rest in _FOR.split(line)[1:])
    found = {name for part in targets for name in _WORD.findall(part)}
    return tuple(sorted(n for n in found - RESERVED_NAMES if not n.startswith("_") and not keyword.iskeyword(n)))


def build_script(plan: Plan, start_from: int, saved: Mapping[str, int]) -> MontyScript:
    """Build the script of a run; ``saved`` maps each variable to its index among the restored values.

    Raises ScriptError if ``solution`` is not written in the usual way.
    """
    outside, parts = _split_plan(plan)
    names = sorted({*find_variable_names(plan.source), *saved})
    hoisted = [*_find_imports(outside), *(statement for part in parts for statement in _find_imports(part.lines))]
    body = [
        *_added_lines(GUEST_SOURCE.splitlines()),
        ScriptLine(f"start_from = {start_from}", 0),
        *_added_lines(_guarded_imports(hoisted)),
        *_added_lines(f"{name} = _restored_[{at}]" for name, at in saved.items()),
        *_added_lines(_save_function(names)),
        *outside,
    ]
    for number, part in enumerate(parts):
        body += _part_function(number, part, names)
    return MontyScript([*body, *_added_lines(_run_function(parts, start_from))])


def _added_lines(lines: Iterable[str]) -> list[ScriptLine]:
    return [ScriptLine(text, 0) for text in lines]


def _split_plan(plan: Plan) -> tuple[list[ScriptLine], list[ScriptPart]]:
    """The lines outside ``solution``, and its parts."""
    text = plan.source.replace("\r\n", "\n").replace("\r", "\n")
    header = max(_HEADER.finditer(text), key=lambda m: m.start(), default=None)
    if header is None:
        raise ScriptError("Monty runs plans whose `def solution(agent, start_from=1):` stands alone on its line")
    lines = [ScriptLine(t, at) for at, t in enumerate(text.split("\n"), 1)]
    first = text.count("\n", 0, header.end()) + 2
    begin = text.count("\n", 0, header.start()) + 1
    if any(s.line < first for s in plan.steps):
        raise ScriptError("Monty runs plans whose steps all stand in `solution`")
    end = _end_of_solution(lines, max([first - 1, *(s.end_line for s in plan.steps)]))
    after = [line for line in lines[end:] if not line.text[:1].isspace()]
    rest = [] if any(_CALLS_SOLUTION.match(line.text) for line in after) else lines[end:]
    return [*lines[: begin - 1], *rest], list(_split_steps(plan, lines[first - 1 : end]))


def _end_of_solution(lines: Sequence[ScriptLine], least: int) -> int:
    """The number of lines up to the end of ``solution``, at least ``least``."""
    for line in lines[least:]:
        if line.text.strip() and line.text[0] not in " \t#":
            return line.origin - 1
    return len(lines)


def _split_steps(plan: Plan, lines: list[ScriptLine]) -> Iterator[ScriptPart]:
    within = {at: s.number for s in plan.steps for at in range(s.line, s.end_line + 1)}
    starts = {s.line for s in plan.steps}
    part = ScriptPart(None, [])
    for line in lines:
        step = within.get(line.origin)
        if step != part.step or line.origin in starts:
            if _has_code(part.lines):
                yield part
            part = ScriptPart(step, [])
        part.lines.append(line)
    if _has_code(part.lines):
        yield part


def _has_code(lines: Iterable[ScriptLine]) -> bool:
    return any(_is_code(line) for line in lines)


def _is_code(line: ScriptLine) -> bool:
    return bool(line.text.strip()) and not line.text.lstrip().startswith("#")


def _find_imports(lines: Iterable[ScriptLine]) -> Iterator[str]:
    """The imports among the lines, as statements for the start; names that the runtime provides need none."""
    for line in lines:
        found = _IMPORT.fullmatch(line.text)
        if found is None or re.match(r"(?:from|import)[ \t]+(?:ast|typing|__future__)\b", found["statement"]):
            continue
        if "large_language_model" not in found["statement"]:
            yield found["statement"].strip()
            continue
        yield from (f"{m['other']} = ask_llm" for m in _MODEL_NAME.finditer(found["statement"]) if m["other"])


def _guarded_imports(statements: Iterable[str]) -> Iterator[str]:
    """Names that Monty lacks stay undefined."""
    for statement in statements:
        yield from ("try:", f"    {statement}", "except ImportError:", "    pass")


def _remove_imports(line: ScriptLine) -> ScriptLine:
    found = _IMPORT.fullmatch(line.text)
    return line if found is None else ScriptLine(f"{found['indent']}pass", line.origin)


def _part_function(number: int, part: ScriptPart, names: Sequence[str]) -> list[ScriptLine]:
    first = next(line.text for line in part.lines if _is_code(line))
    indent = first[: len(first) - len(first.lstrip())]
    head = [f"def _part_{number}_():", *([f"{indent}global {', '.join(names)}"] if names else [])]
    return [*_added_lines(head), *map(_remove_imports, part.lines), *_added_lines([f"{indent}return _on_"])]


def _save_function(names: Iterable[str]) -> Iterator[str]:
    yield "def _save_():"
    yield "    variables = {}"
    for name in names:
        yield from ("    try:", f"        variables[{name!r}] = {name}", "    except NameError:", "        pass")
    yield "    return _table_(variables)"


def _run_function(parts: Sequence[ScriptPart], start_from: int) -> Iterator[str]:
    yield from ("_returned_ = None", "def _save_returned_():")
    yield f"    return _table_({{}} if _returned_ is None else {{'{RETURNED_NAME}': _returned_}})"
    yield from ("def _run_():", "    global _returned_")
    for number, part in enumerate(parts):
        if part.step is not None and part.step < start_from:
            continue
        yield f"    _enter_({part.step}, {'None' if part.step is None else '_save_()'})"
        yield from (f"    _returned_ = _part_{number}_()", "    if _returned_ is not _on_:", "        return")
    yield from ("    _returned_ = None", "_run_()")
