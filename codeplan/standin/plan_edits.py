"""Edits a plan's text by line patterns, without parsing Python: steps, syntax, and replies that hold only changes."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from codeplan.types import Value

_STRING = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_HEADER = re.compile(r"\s*(?:def|if|elif|else|for|while|try|except|finally)\b")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def repair_syntax(source: str) -> str:
    """The plan with all missing brackets and colons added."""
    return "\n".join(_close_line(line) for line in source.split("\n"))


def repair_line(source: str, line: int) -> str:
    """The plan with what is missing added to the nearest incomplete line at or before ``line``.

    Python reports where it noticed an error, which may be after its cause.
    """
    lines = source.split("\n")
    for i in reversed(range(min(line, len(lines)))):
        if _close_line(lines[i]) != lines[i]:
            lines[i] = _close_line(lines[i])
            break
    return "\n".join(lines)


def _close_line(line: str) -> str:
    """The line with its missing brackets and colon."""
    bare = _STRING.sub("''", line).split("#")[0].rstrip()
    open_brackets = _open_brackets(bare)
    is_header = _HEADER.match(line) is not None
    if not open_brackets and (not is_header or ":" in bare):
        return line
    stem = line.rstrip()
    body = stem[:-1] if is_header and stem.endswith(":") else stem
    return body + "".join(_PAIRS[b] for b in reversed(open_brackets)) + (":" if is_header else "")


def _open_brackets(bare: str) -> list[str]:
    stack: list[str] = []
    for c in bare:
        if c in _PAIRS:
            stack.append(c)
        elif stack and c == _PAIRS[stack[-1]]:
            stack.pop()
    return stack


_STEP = re.compile(r"^    if start_from <= (\d+):", re.MULTILINE)
_DIAGNOSTIC = re.compile(r"^line (?P<line>\d+), column \d+: .+ \[(?P<rule>[\w-]+)\]$", re.MULTILINE)


class AgentVocabulary(Value, frozen=True):
    """An agent's names, and for each method the wrong names (space-separated) that a planner may use for it."""

    names: frozenset[str]
    wrong_names: Mapping[str, str]

    def correct_method(self, wrong: str) -> str | None:
        """The method meant by a wrong name; None if there is none."""
        return next((right for right, wrongs in self.wrong_names.items() if wrong in wrongs.split()), None)


# ------------------------------------------------------------------ steps


def split_steps(source: str) -> dict[int, str]:
    """The plan's text by step number; 0 is the text before the first step."""
    starts = [(0, 0), *((int(m[1]), m.start()) for m in _STEP.finditer(source))]
    ends = [start for _, start in starts[1:]] + [len(source)]
    return {number: source[start:end] for (number, start), end in zip(starts, ends, strict=True)}


def edit_step(source: str, step: int | None, pattern: str, replacement: Callable[[re.Match[str]], str]) -> str | None:
    """The plan with the first match in this step replaced; None if there is no such step."""
    cut = split_steps(source)
    if step not in cut:
        return None
    cut[step] = re.sub(pattern, replacement, cut[step], count=1, flags=re.MULTILINE)
    return "".join(cut.values())


def remove_step(source: str, step: int) -> str:
    """The plan without a step; later steps are renumbered."""
    cut = split_steps(source)
    del cut[step]
    return "".join(_renumber(part, number) if number > step else part for number, part in cut.items())


def _renumber(part: str, number: int) -> str:
    return part.replace(f"start_from <= {number}:", f"start_from <= {number - 1}:").replace(
        f"[Step {number}]", f"[Step {number - 1}]"
    )


# ------------------------------------------------------------------ what the check found


def has_diagnostics(text: str) -> bool:
    """Whether the text contains diagnostics of the check."""
    return _DIAGNOSTIC.search(text) is not None


def repair_plan(source: str, errors: str, vocabulary: AgentVocabulary) -> str:
    """The plan without the errors that the check lists; if it lists none, without visible syntax errors.

    Errors without a known fix remain.
    """
    found = list(_DIAGNOSTIC.finditer(errors))
    if not found:
        return repair_syntax(source)
    for diagnostic in found:
        line = int(diagnostic["line"])
        source = (
            repair_line(source, line)
            if diagnostic["rule"] == "syntax"
            else _fix_method_on_line(source, line, vocabulary)
        )
    return source


def fix_unknown_method(source: str, text: str, vocabulary: AgentVocabulary) -> str | None:
    """The plan with the right method, if the error's text names a wrong one; otherwise None."""
    for wrongs in vocabulary.wrong_names.values():
        for wrong in wrongs.split():
            if re.search(rf"\b{wrong}\b", text) and f"agent.{wrong}(" in source and "rror" in text:
                return _replace_method(source, wrong, vocabulary)
    return None


def first_fix(source: str, text: str, vocabulary: AgentVocabulary, fixes: Iterable[str | None]) -> str | None:
    """The plan after the first fix that changes it; None if none does.

    The fixes are: repairing listed errors, replacing an unknown method, and then ``fixes`` in order.
    """
    repaired = repair_plan(source, text, vocabulary) if has_diagnostics(text) else None
    mended = itertools.chain((repaired, fix_unknown_method(source, text, vocabulary)), fixes)
    return next((plan for plan in mended if plan is not None and plan != source), None)


def _fix_method_on_line(source: str, line: int, vocabulary: AgentVocabulary) -> str:
    lines = source.split("\n")
    here = lines[line - 1] if 0 < line <= len(lines) else ""
    unknown = [n for n in re.findall(r"\bagent\.(\w+)", here) if n not in vocabulary.names]
    return _replace_method(source, unknown[0], vocabulary) if unknown else source


def _replace_method(source: str, wrong: str, vocabulary: AgentVocabulary) -> str:
    """The plan with the right method. A wrong name without a counterpart is removed with its statement."""
    if right := vocabulary.correct_method(wrong):
        return re.sub(rf"\bagent\.{wrong}\b", f"agent.{right}", source)
    return re.sub(rf"^ *(?:\w+ = )?agent\.{wrong}\(.*\)\n", "", source, flags=re.MULTILINE)


# ------------------------------------------------------------------ the feedback


def first_match(pattern: str, text: str) -> str:
    """The first group of the first match; empty if there is none."""
    found = re.search(pattern, text)
    return found[1] if found else ""


def failed_step(feedback: str) -> int | None:
    """The first step that the feedback names; None if it names none."""
    number = first_match(r"\[Step (\d+)\]", feedback)
    return int(number) if number else None


_Key = TypeVar("_Key", int, str)
_MARGIN = "    "
_DEFINITION = re.compile(r"^    (?:def (\w+)|(\w+) = )", re.MULTILINE)
_OUTER_GUARD = re.compile(r"^if start_from <= \d+:", re.MULTILINE)


def write_changes(before: str, after: str) -> str:
    """The steps and definitions of ``after`` that differ from those of ``before``, without a header.

    It is all of ``after`` if the changes cannot be separated from the rest.
    """
    old, new = split_steps(before), split_steps(after)
    changed = [part for number, part in new.items() if number and part.rstrip() != old.get(number, "").rstrip()]
    old_code, new_code = _split_definitions(old[0]), _split_definitions(new[0])
    code = [part for name, part in new_code.items() if name and part.rstrip() != old_code.get(name, "").rstrip()]
    changes = textwrap.dedent("".join(f"{part.rstrip()}\n" for part in [*code, *changed]))
    same = changes and _without_gaps(apply_changes(before, changes)) == _without_gaps(after)
    return changes if same and len(changes) < len(after) else after


def apply_changes(before: str, reply: str) -> str:
    """The plan after a reply: the old plan with the reply's steps and definitions, or the reply itself if it is a
    whole plan.
    """
    if re.search(r"^ *def solution\(", reply, re.MULTILINE):
        return reply
    inner = textwrap.indent(reply, _MARGIN) if _is_outer(reply) else reply
    old, new = split_steps(f"{before.rstrip()}\n"), split_steps(f"{inner.rstrip()}\n")
    head, definitions = _split_definitions(old[0]), _split_definitions(new[0])
    definitions.pop("", None)
    steps = _replace_parts(old, new)
    parts = [*_replace_parts(head, definitions).values(), *(steps[number] for number in sorted(steps) if number)]
    return "".join(parts)


def _replace_parts(old: Mapping[_Key, str], new: Mapping[_Key, str]) -> dict[_Key, str]:
    """The old parts with the new ones in their places, each with the empty lines after the old one."""
    gaps = {key: part[len(part.rstrip()) :] for key, part in old.items()}
    spaced = {key: f"{part.rstrip()}{gaps[key]}" if key in old else part for key, part in new.items()}
    return {**old, **spaced}


def _is_outer(reply: str) -> bool:
    return _OUTER_GUARD.search(reply) is not None or re.search(r"^(?:def|\w+ =)", reply) is not None


def _split_definitions(head: str) -> dict[str, str]:
    """The text before the first step by the name that it defines; "" is the text before the first definition."""
    found = [("", 0), *((m[1] or m[2], m.start()) for m in _DEFINITION.finditer(head))]
    ends = [start for _, start in found[1:]] + [len(head)]
    return {name: head[start:end] for (name, start), end in zip(found, ends, strict=True)}


def _without_gaps(plan: str) -> list[str]:
    return [line.rstrip() for line in plan.split("\n") if line.strip()]
