"""Writes plans by asking the model: prompts in, plan sources out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from codeplan.agent_api import describe_api
from codeplan.episode.episode import Episode
from codeplan.planning.asking import ask_template
from codeplan.prompts.templates import Prompts
from codeplan.sandbox import decode, extract
from codeplan.types import Checkpoint, Purpose, Task
from codeplan.untrusted.terminal import one_line
from codeplan.untrusted.variables import clip_name, variable_texts

if TYPE_CHECKING:
    from codeplan.skills.parameter_binding import ParameterBlock
    from codeplan.skills.skill import Skill


MAX_VARIABLES_CHARACTERS = 6_000
"""The room of all variables in a prompt: about 1,500 tokens, as much as a long plan. The limits below let the beginning
of many values be seen rather than the whole of a few.
"""

_MAX_VALUE = 2_000  # characters of one variable
_MAX_STRING = 200  # characters of a text, alone or within a list
_MAX_LOST, _MAX_REASON = 12, 100  # variables that could not be saved, and the characters of the reason
_EXPLANATION = "# … stands for what is left out here, <same list as above> for a list that is shown above"


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
            "goal": episode.goal_of(task),
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
    return "\n\n\n".join(islice(found, count)) or None


def _describe_variables(variables: Checkpoint) -> str:
    """The saved variables as lines ``name = value``, and what could not be saved, within MAX_VARIABLES_CHARACTERS."""
    lost = _lost_lines(variables.dropped)
    room = MAX_VARIABLES_CHARACTERS - sum(len(line) + 1 for line in lost) - len(_EXPLANATION) - _MAX_REASON
    shown = variable_texts(decode(variables), room, max_each=_MAX_VALUE, max_string=_MAX_STRING)
    lines = [_EXPLANATION] if shown.abbreviated else []
    lines += [f"{clip_name(name)} = {text}" for name, text in shown.texts.items()]
    if shown.unshown:
        more = f" and {shown.unnamed:,} more" if shown.unnamed else ""
        lines.append(f"# saved, but not shown: {', '.join(shown.unshown)}{more}")
    return "\n".join(lines + lost)


def _lost_lines(dropped: Mapping[str, str]) -> list[str]:
    named = islice(dropped.items(), _MAX_LOST)
    lines = [f"{clip_name(name)} was not saved ({one_line(why, _MAX_REASON)})" for name, why in named]
    more = len(dropped) - len(lines)
    return [*lines, f"# {more:,} more variables were not saved"] if more else lines
