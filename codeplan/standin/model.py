"""The scripted model: a rule-based stand-in, not a model; its success rates say nothing about models.

It lets codeplan run end to end without a key or a network. Like a model it is given the messages and nothing else, and
answers with text: plans for the tasks of codeplan's own environments with natural mistakes in them, and plans mended by
what the feedback says; in households and TextCraft it can act by turns, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from codeplan.errors import ModelError, UsageError
from codeplan.standin import acting, skills
from codeplan.standin.acting import Weakness, checked_weakness
from codeplan.standin.edits import parts
from codeplan.standin.mistakes import Mistakes, mistakes_called
from codeplan.standin.worlds import WORLDS, Told, world_of
from codeplan.types import Completion, Message, Purpose, Usage

_RECOGNISED = {
    "Write the plan for the task that the user gives.": "plan",
    "The user shows a plan that a program has checked before running it": "check",
    "The user shows a plan that was run, and what happened.": "refine",
    "Name the step from which the revised plan must start": "resume",
    "A program that controls an agent asks you a question while it runs": "ask",
    "You act in a text world, one line at a time.": "act",
    "Put it into the form of one valid action": "formalise",
    "An agent could not do a task in one go.": "decompose",
    "Plan a task for an agent in full before it begins": "decompose",
    "The user shows a trial in which an agent failed": "lesson",
    "The user shows what an agent did at a task in a text world": "lesson",
    "The user shows the parameters of a plan": "bind",
    "Write a plan in words for an agent": "first words",
    "The user shows a plan in words and what happened": "better words",
    "An agent solves many tasks of one kind in a text world by one plan in words.": "general plan",
}
"""What the prompts say, and what is thereby asked for."""


class ScriptedModel:
    """A stand-in for a model, by rules, for codeplan's own tasks; its success rates say nothing about models.

    The same ``model_seed``, ``mistakes`` and messages give the same answer. ``mistakes`` is ``"none"``, ``"some"``,
    ``"many"``, names of mistakes with commas between, or a ``Mistakes``; they are made when a plan is first written,
    never in mending it. ``weakness`` is what it is weak in when it acts itself: ``none``, ``span`` or ``forgetful``
    (see ``codeplan.standin.acting``). ``gaps``, from 0 to 1, is how likely it is not to know how to do a kind of
    household task of which its prompt shows no exemplar. Raises UsageError for a setting that does not fit.
    """

    name = "scripted"

    def __init__(
        self, model_seed: int = 0, mistakes: Mistakes | str = "some", weakness: str = "none", gaps: float = 0.0
    ) -> None:
        self.model_seed = model_seed
        self.mistakes = mistakes if isinstance(mistakes, Mistakes) else mistakes_called(str(mistakes))
        self.weakness: Weakness = checked_weakness(weakness)
        if not 0 <= gaps <= 1:
            raise UsageError(f"the setting gaps of the scripted model is {gaps}; give a number from 0 to 1")
        self.gaps = gaps

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer one of codeplan's prompts about a task of its own, recognised by its own sentences.

        All but ``messages`` is ignored. The usage is an approximation: four characters to a token. Raises ModelError
        for anything else: there is no made-up answer.
        """
        system = "\n".join(m["content"] for m in messages if m["role"] == "system")
        user = "\n".join(m["content"] for m in messages if m["role"] == "user")
        asked = recognise(system)
        knowing = self._answers_by_system.get(asked)
        text = knowing(self, system, user) if knowing else self._answers[asked](self, user)
        return Completion(text, Usage(_tokens(system + user), _tokens(text)), model=self.name)

    def _plan(self, system: str, prompt: str) -> str:
        told = _told(prompt)
        own = _understood(told, world_of(told.observation).draft(told, self.mistakes, self.model_seed))
        return _fenced(skills.drafted(system, told.goal, told.observation, own, self.gaps, self.model_seed))

    def _check(self, prompt: str) -> str:
        plan = section(prompt, "plan")
        return _fenced(world_of(plan).repair(plan, section(prompt, "errors")))

    def _refine(self, system: str, prompt: str) -> str:
        told, plan, feedback = _told(prompt), section(prompt, "plan"), section(prompt, "feedback")
        own = _understood(told, world_of(told.observation).refine(plan, feedback, told))
        return _fenced(skills.refined(system, told.goal, told.observation, own, self.gaps, self.model_seed))

    def _resume(self, prompt: str) -> str:
        return str(first_difference(section(prompt, "previous"), section(prompt, "revised")))

    def _ask(self, question: str) -> str:
        return answer(question)

    def _act(self, prompt: str) -> str:
        return _known(acting.act(prompt, self.weakness), prompt)

    def _formalise(self, prompt: str) -> str:
        return acting.formalised(prompt)

    def _decompose(self, prompt: str) -> str:
        return _known(acting.decompose(prompt), prompt)

    def _lesson(self, prompt: str) -> str:
        return _known(acting.lesson(prompt), prompt)

    def _first_words(self, prompt: str) -> str:
        return _known(acting.first_words(prompt), prompt)

    def _better_words(self, prompt: str) -> str:
        return _known(acting.better_words(prompt), prompt)

    def _general_plan(self, system: str, prompt: str) -> str:
        return _known(acting.general_plan(system, prompt), prompt)

    def _bind(self, prompt: str) -> str:
        told = _told(prompt)
        return skills.bind(section(prompt, "earlier"), section(prompt, "parameters"), told.goal, told.observation)

    _answers_by_system: dict[str, Callable[[ScriptedModel, str, str], str]] = {
        "plan": _plan,
        "refine": _refine,
        "general plan": _general_plan,
    }
    _answers: dict[str, Callable[[ScriptedModel, str], str]] = {
        "check": _check,
        "resume": _resume,
        "ask": _ask,
        "act": _act,
        "formalise": _formalise,
        "decompose": _decompose,
        "lesson": _lesson,
        "first words": _first_words,
        "better words": _better_words,
        "bind": _bind,
    }


def recognise(system: str) -> str:
    """Which of the prompts this is, by its own sentences. Raises ModelError where it is none."""
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


def _known(reply: str | None, prompt: str) -> str:
    if reply is None:
        raise _beyond(f"it does not understand the goal {section(prompt, 'goal')[:80]!r} there")
    return reply


def _fenced(plan: str) -> str:
    return f"```python\n{plan.rstrip()}\n```"


def _tokens(text: str) -> int:
    return len(text) // 4


def _beyond(why: str) -> ModelError:
    return ModelError(
        f"the scripted model answers prompts about codeplan's own tasks only: {why}; "
        "use --model NAME with a real endpoint for anything else"
    )
