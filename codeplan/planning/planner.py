"""Writes plans by asking the model: prompts in, plan sources out."""

from __future__ import annotations

import itertools
import re
import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from codeplan.agent_api import describe_api
from codeplan.episode.episode import Episode
from codeplan.planning.asking import ask_template
from codeplan.prompts.templates import Prompts
from codeplan.sandbox import decode, extract
from codeplan.types import Checkpoint, Purpose, Task

if TYPE_CHECKING:
    from codeplan.skills.parameter_binding import ParameterBlock
    from codeplan.skills.skill import Skill


class Planner:
    """The PlanWriter that asks the model.

    ``task`` is the episode's task or a sub-task of it. The prompts show ``samples`` worked examples, that of the task's
    kind first, and only of ``sample_kinds`` if there are any; then ``skills``. Without ``asks`` they do not mention
    ``ask_llm``.
    """

    def __init__(
        self,
        episode: Episode,
        prompts: Prompts,
        task: Task | None = None,
        *,
        samples: int = 1,
        sample_kinds: Sequence[str] = (),
        skills: Sequence[Skill] = (),
        asks: bool = True,
    ) -> None:
        self._episode, self._prompts = episode, prompts
        task = task or episode.task
        self._asks = asks
        self._values = {
            "api": describe_api(episode.api),
            "sample": _worked_examples(episode, prompts, task.kind, samples, sample_kinds),
            "skills": skills,
            "observation": episode.first_observation.text,
            "goal": task.goal,
            "notes": task.notes,
            "asks": asks,
        }

    def draft(self) -> str:
        return extract(self._ask("plan", **self._values))

    def repair(self, source: str, errors: str) -> str:
        return extract(self._ask("check", source=source, errors=errors, asks=self._asks))

    def refine(self, source: str, feedback: str, variables: Checkpoint) -> str:
        shown = _describe_variables(variables)
        return extract(self._ask("refine", **self._values, source=source, feedback=feedback, variables=shown))

    def resume_step(self, previous: str, revised: str) -> int | None:
        number = re.search(r"\d{1,4}", self._ask("resume", previous=previous, revised=revised))
        return int(number.group()) if number else None

    def bind(self, block: ParameterBlock) -> str:
        """The model's reply to the question for the values that a plan's parameters have for this task."""
        values = {name: self._values[name] for name in ("observation", "goal")}
        return self._ask("bind", earlier=block.goal, parameters=block.parameters, **values)

    def answer_question(self, question: str) -> str:
        """The model's answer to a plan's ``ask_llm``."""
        return self._ask("ask", question=question).strip()

    def _ask(self, purpose: Purpose, **values: Any) -> str:
        return ask_template(self._episode, self._prompts, f"adaplanner/{purpose}", purpose, **values)


def _worked_examples(episode: Episode, prompts: Prompts, kind: str, count: int, allowed: Sequence[str]) -> str | None:
    """Worked examples as one text: of the task's kind, then of the environment's other kinds; None without any."""
    kinds = dict.fromkeys((kind, *getattr(episode.env, "kinds", ())))
    found = (
        text for each in kinds if (not allowed or each in allowed) and (text := prompts.sample(episode.env.name, each))
    )
    return "\n\n\n".join(itertools.islice(found, count)) or None


class _Short(reprlib.Repr):
    """Renders values as text, shortened. A value without a text (a Counter that contains itself) shows its type."""

    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # too long for Python to convert to decimal
            return f"<an int of {x.bit_length():,} bits>"

    def repr_instance(self, x: object, level: int) -> str:
        try:
            text = repr(x)
        except Exception:
            return f"<a {type(x).__name__} that cannot be shown>"
        return text if len(text) <= self.maxother else f"{text[: self.maxother - 3]}..."


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = 120
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 12


def _describe_variables(variables: Checkpoint) -> str:
    """The saved variables as lines ``name = value``, long values shortened, and what could not be saved."""
    saved = [f"{name} = {_SHORT.repr(value)}" for name, value in decode(variables).items()]
    return "\n".join(saved + [f"{name} was not saved ({why})" for name, why in variables.dropped.items()])
