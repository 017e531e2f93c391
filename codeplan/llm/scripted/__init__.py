"""The scripted model: a rule-based stand-in, not a model; its success rates say nothing about models.

It lets codeplan run end to end without a key or a network. Like a model it is given the messages and nothing else, and
answers with text: plans for household and TextCraft tasks with natural mistakes in them, and plans mended by what the
feedback says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from codeplan.errors import ModelError
from codeplan.llm.scripted.edits import parts
from codeplan.llm.scripted.mistakes import Mistakes, mistakes_called
from codeplan.llm.scripted.worlds import WORLDS, Told, world_of
from codeplan.types import Completion, Message, Purpose, Usage

_RECOGNISED = {
    "Write the plan for the task that the user gives.": "plan",
    "The user shows a plan that a program has checked before running it": "check",
    "The user shows a plan that was run, and what happened.": "refine",
    "Name the step from which the revised plan must start": "resume",
    "A program that controls an agent asks you a question while it runs": "ask",
}
"""What the prompts say, and what is thereby asked for."""


class ScriptedModel:
    """A stand-in for a model, by rules, for household and TextCraft tasks; its success rates say nothing about models.

    The same ``model_seed``, ``mistakes`` and messages give the same answer. ``mistakes`` is ``"none"``, ``"some"``,
    ``"many"``, names of mistakes with commas between, or a ``Mistakes``; they are made when a plan is first written,
    never in mending it. Raises UsageError for other ``mistakes``.
    """

    name = "scripted"

    def __init__(self, model_seed: int = 0, mistakes: Mistakes | str = "some") -> None:
        self.model_seed = model_seed
        self.mistakes = mistakes if isinstance(mistakes, Mistakes) else mistakes_called(str(mistakes))

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer one of codeplan's five prompts about a household or TextCraft, recognised by its own sentences.

        All but ``messages`` is ignored. The usage is an approximation: four characters to a token. Raises ModelError
        for anything else: there is no made-up answer.
        """
        system = "\n".join(m["content"] for m in messages if m["role"] == "system")
        user = "\n".join(m["content"] for m in messages if m["role"] == "user")
        text = self._answers[recognise(system)](self, user)
        return Completion(text, Usage(_tokens(system + user), _tokens(text)), model=self.name)

    def _plan(self, prompt: str) -> str:
        told = _told(prompt)
        return _fenced(_understood(told, world_of(told.observation).draft(told, self.mistakes, self.model_seed)))

    def _check(self, prompt: str) -> str:
        plan = section(prompt, "plan")
        return _fenced(world_of(plan).repair(plan, section(prompt, "errors")))

    def _refine(self, prompt: str) -> str:
        told, plan, feedback = _told(prompt), section(prompt, "plan"), section(prompt, "feedback")
        return _fenced(_understood(told, world_of(told.observation).refine(plan, feedback, told)))

    def _resume(self, prompt: str) -> str:
        return str(first_difference(section(prompt, "previous"), section(prompt, "revised")))

    def _ask(self, question: str) -> str:
        return answer(question)

    _answers: dict[str, Callable[[ScriptedModel, str], str]] = {
        "plan": _plan,
        "check": _check,
        "refine": _refine,
        "resume": _resume,
        "ask": _ask,
    }


def recognise(system: str) -> str:
    """Which of the five prompts this is, by its own sentences. Raises ModelError where it is none."""
    for sentence, asked in _RECOGNISED.items():
        if sentence in system:
            return asked
    raise _beyond("this is none of the prompts that it knows")


def section(prompt: str, name: str) -> str:
    """What stands between a prompt's tags of this name. Raises ModelError where there are none."""
    found = re.search(rf"<{name}>\n?(.*?)\n?</{name}>", prompt, re.DOTALL)
    if not found:
        raise _beyond(f"the prompt has no part called {name}")
    return found[1]


def first_difference(previous: str, revised: str) -> int:
    """The number of the first step whose lines differ; 1 where what stands before the steps differs, or nothing."""
    before, after = ({n: _code(part) for n, part in parts(plan).items()} for plan in (previous, revised))
    return max(1, next((n for n in after if after[n] != before.get(n)), 1))


def answer(question: str) -> str:
    """The Python literal that answers a plan's question: places by likelihood, a thing in a view, a sort of an item.

    Raises ModelError for any other question.
    """
    found = next((text for world in WORLDS if (text := world.answer(question)) is not None), None)
    if found is None:
        raise _beyond(f"it cannot answer the question {question[:80]!r}")
    return found


def _told(prompt: str) -> Told:
    return Told(section(prompt, "goal"), section(prompt, "observation"))


def _understood(told: Told, plan: str | None) -> str:
    if plan is None:
        raise _beyond(f"it does not understand the goal {told.goal[:80]!r} there")
    return plan


def _code(part: str) -> list[str]:
    """The part's lines without comments of their own, blank lines and spaces at the end."""
    return [line.rstrip() for line in part.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def _fenced(plan: str) -> str:
    return f"```python\n{plan.rstrip()}\n```"


def _tokens(text: str) -> int:
    return len(text) // 4


def _beyond(why: str) -> ModelError:
    return ModelError(
        f"the scripted model answers household and TextCraft prompts only: {why}; "
        "use --model NAME with a real endpoint for anything else"
    )
