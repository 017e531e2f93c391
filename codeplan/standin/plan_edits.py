"""Edits a plan's text step by step, by line patterns, without parsing Python."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping

from codeplan.standin.syntax_repair import repair_line, repair_syntax
from codeplan.types import Value

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
