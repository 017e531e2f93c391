"""Editing a plan's text as the scripted stand-in does: step by step, by patterns of lines. It parses no Python."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping

from codeplan.standin.syntax_repair import repair_line, repair_syntax
from codeplan.types.value import Value

_STEP = re.compile(r"^    if start_from <= (\d+):", re.MULTILINE)
_DIAGNOSTIC = re.compile(r"^line (?P<line>\d+), column \d+: .+ \[(?P<rule>[\w-]+)\]$", re.MULTILINE)


class AgentVocabulary(Value, frozen=True):
    """The names that an agent has, and the names that a planner may wrongly call its methods by."""

    names: frozenset[str]
    wrong_names: Mapping[str, str]

    def correct_method(self, wrong: str) -> str | None:
        """The method that was meant; None where a name has no counterpart."""
        return next((right for right, wrongs in self.wrong_names.items() if wrong in wrongs.split()), None)


# ------------------------------------------------------------------ steps


def split_steps(source: str) -> dict[int, str]:
    """The plan's text cut before each step, by the step's number; what stands before the first step is number 0."""
    starts = [(0, 0), *((int(m[1]), m.start()) for m in _STEP.finditer(source))]
    ends = [start for _, start in starts[1:]] + [len(source)]
    return {number: source[start:end] for (number, start), end in zip(starts, ends, strict=True)}


def edit_step(source: str, step: int | None, pattern: str, replacement: Callable[[re.Match[str]], str]) -> str | None:
    """The plan with the first match in this step replaced; None where there is no such step."""
    cut = split_steps(source)
    if step not in cut:
        return None
    cut[step] = re.sub(pattern, replacement, cut[step], count=1, flags=re.MULTILINE)
    return "".join(cut.values())


def remove_step(source: str, step: int) -> str:
    """The plan without a step; those after it move up by one."""
    cut = split_steps(source)
    del cut[step]
    return "".join(_renumber(part, number) if number > step else part for number, part in cut.items())


def _renumber(part: str, number: int) -> str:
    return part.replace(f"start_from <= {number}:", f"start_from <= {number - 1}:").replace(
        f"[Step {number}]", f"[Step {number - 1}]"
    )


# ------------------------------------------------------------------ what the check found


def has_diagnostics(text: str) -> bool:
    """Whether this is, or holds, what the check says of a plan that it refuses."""
    return _DIAGNOSTIC.search(text) is not None


def repair_plan(source: str, errors: str, vocabulary: AgentVocabulary) -> str:
    """The plan without the errors that the check lists; where it lists none, without those of syntax that show.

    The plan comes back as it was where the stand-in knows no remedy.
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
    """The plan with the method that was meant, where the text of an error names one that the agent has not."""
    for wrongs in vocabulary.wrong_names.values():
        for wrong in wrongs.split():
            if re.search(rf"\b{wrong}\b", text) and f"agent.{wrong}(" in source and "rror" in text:
                return _replace_method(source, wrong, vocabulary)
    return None


def first_fix(source: str, text: str, vocabulary: AgentVocabulary, fixes: Iterable[str | None]) -> str | None:
    """The plan mended of the errors that the text lists or of the unknown method that it names, else by a remedy.

    Of the remedies, each a plan or None, the first that changes the plan counts; None where nothing does.
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
    """The plan with the method that was meant. One that only looks has no counterpart, so its statement goes."""
    if right := vocabulary.correct_method(wrong):
        return re.sub(rf"\bagent\.{wrong}\b", f"agent.{right}", source)
    return re.sub(rf"^ *(?:\w+ = )?agent\.{wrong}\(.*\)\n", "", source, flags=re.MULTILINE)


# ------------------------------------------------------------------ what happened in the world


def first_match(pattern: str, text: str) -> str:
    """The first group of the first match; empty where there is none."""
    found = re.search(pattern, text)
    return found[1] if found else ""


def failed_step(feedback: str) -> int | None:
    """The step that the feedback names first; None where it names none."""
    number = first_match(r"\[Step (\d+)\]", feedback)
    return int(number) if number else None
