"""Writes plans by asking the model: prompts in, plan sources out. What happens to them is not known here."""

from __future__ import annotations

import re
import reprlib
from typing import Any

from codeplan.api import describe
from codeplan.episode import Episode
from codeplan.errors import UsageError
from codeplan.prompts import PromptError, Prompts
from codeplan.sandbox import decode, extract
from codeplan.types import Checkpoint, Purpose


class Planner:
    """The Author of one episode's plans (see ``codeplan.refine``); ``answer`` is what a plan's ``ask_llm`` calls."""

    def __init__(self, episode: Episode, prompts: Prompts) -> None:
        self._episode, self._prompts = episode, prompts
        self._about = {
            "api": describe(episode.api),
            "sample": prompts.sample(episode.env.name, episode.task.kind),
            "observation": episode.first.text,
            "goal": episode.task.goal,
        }

    def draft(self) -> str:
        return extract(self._ask("plan", **self._about))

    def repair(self, source: str, errors: str) -> str:
        return extract(self._ask("check", source=source, errors=errors))

    def refine(self, source: str, feedback: str, variables: Checkpoint) -> str:
        return extract(
            self._ask("refine", **self._about, source=source, feedback=feedback, variables=_listed(variables))
        )

    def resume_step(self, previous: str, revised: str) -> int | None:
        number = re.search(r"\d{1,4}", self._ask("resume", previous=previous, revised=revised))
        return int(number.group()) if number else None

    def answer(self, question: str) -> str:
        return self._ask("ask", question=question).strip()

    def _ask(self, purpose: Purpose, **values: Any) -> str:
        name = f"adaplanner/{purpose}"
        try:
            prompt, messages = f"{name} {self._prompts.digest(name)}", self._prompts.messages(name, **values)
        except PromptError as e:
            raise UsageError(str(e)) from None
        return self._episode.ask(messages, purpose=purpose, prompt=prompt).text


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 120
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 12


def _listed(variables: Checkpoint) -> str:
    """The saved variables as lines ``name = value``, long values shortened, and what could not be saved."""
    saved = [f"{name} = {_SHORT.repr(value)}" for name, value in decode(variables).items()]
    return "\n".join(saved + [f"{name} was not saved ({why})" for name, why in variables.dropped.items()])
