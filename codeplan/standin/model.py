"""The scripted model: a rule-based stand-in, not a model; its success rates say nothing about models.

It lets codeplan run end to end without a key or a network. Like a model it is given the messages and nothing else, and
answers with text: plans for the tasks of codeplan's own environments with natural mistakes in them, and plans mended by
what the feedback says; in households and TextCraft it can act by turns, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from codeplan.errors import ModelError, UsageError
from codeplan.standin import acting, exemplars
from codeplan.standin.acting import Weakness, parse_weakness
from codeplan.standin.environment_rules import ALL_RULES, TaskPrompt, rules_for
from codeplan.standin.mistakes import Mistakes, parse_mistakes
from codeplan.standin.plan_edits import split_steps
from codeplan.types.model import Completion, Message, Purpose, Usage

_PROMPT_SENTENCES = {
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
        self.mistakes = mistakes if isinstance(mistakes, Mistakes) else parse_mistakes(str(mistakes))
        self.weakness: Weakness = parse_weakness(weakness)
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
        asked = recognise_prompt(system)
        knowing = self._answers_by_system.get(asked)
        text = knowing(self, system, user) if knowing else self._answers[asked](self, user)
        return Completion(text, Usage(_estimate_tokens(system + user), _estimate_tokens(text)), model=self.name)

    def _plan(self, system: str, prompt: str) -> str:
        told = _read_task_prompt(prompt)
        own = _require_plan(told, rules_for(told.observation).draft_plan(told, self.mistakes, self.model_seed))
        return _fence(exemplars.draft_plan(system, told.goal, told.observation, own, self.gaps, self.model_seed))

    def _check(self, prompt: str) -> str:
        plan = required_section(prompt, "plan")
        return _fence(rules_for(plan).repair_plan(plan, required_section(prompt, "errors")))

    def _refine(self, system: str, prompt: str) -> str:
        told, plan, feedback = (
            _read_task_prompt(prompt),
            required_section(prompt, "plan"),
            required_section(prompt, "feedback"),
        )
        own = _require_plan(told, rules_for(told.observation).refine_plan(plan, feedback, told))
        return _fence(exemplars.refine_plan(system, told.goal, told.observation, own, self.gaps, self.model_seed))

    def _resume(self, prompt: str) -> str:
        return str(first_difference(required_section(prompt, "previous"), required_section(prompt, "revised")))

    def _ask(self, question: str) -> str:
        return answer_question(question)

    def _act(self, prompt: str) -> str:
        return _require_reply(acting.act(prompt, self.weakness), prompt)

    def _formalise(self, prompt: str) -> str:
        return acting.formalise_action(prompt)

    def _decompose(self, prompt: str) -> str:
        return _require_reply(acting.decompose(prompt), prompt)

    def _reflect(self, prompt: str) -> str:
        return _require_reply(acting.reflect(prompt), prompt)

    def _write_text_plan(self, prompt: str) -> str:
        return _require_reply(acting.write_text_plan(prompt), prompt)

    def _revise_text_plan(self, prompt: str) -> str:
        return _require_reply(acting.revise_text_plan(prompt), prompt)

    def _general_plan(self, system: str, prompt: str) -> str:
        return _require_reply(acting.write_general_plan(system, prompt), prompt)

    def _bind_parameters(self, prompt: str) -> str:
        told = _read_task_prompt(prompt)
        return exemplars.bind_parameters(
            required_section(prompt, "earlier"), required_section(prompt, "parameters"), told.goal, told.observation
        )

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
        "lesson": _reflect,
        "first words": _write_text_plan,
        "better words": _revise_text_plan,
        "bind": _bind_parameters,
    }


def recognise_prompt(system: str) -> str:
    """Which of the prompts this is, by its own sentences. Raises ModelError where it is none."""
    for sentence, asked in _PROMPT_SENTENCES.items():
        if sentence in system:
            return asked
    raise _unsupported("this is none of the prompts that it knows")


def required_section(prompt: str, name: str) -> str:
    """What stands between a prompt's tags of this name. Raises ModelError where there are none."""
    found = re.search(rf"<{name}>\n?(.*?)\n?</{name}>", prompt, re.DOTALL)
    if not found:
        raise _unsupported(f"the prompt has no part called {name}")
    return found[1]


def first_difference(previous: str, revised: str) -> int:
    """The number of the first step whose lines differ; 1 where what stands before the steps differs, or nothing."""
    before, after = ({n: _code_lines(part) for n, part in split_steps(plan).items()} for plan in (previous, revised))
    return max(1, next((n for n in after if after[n] != before.get(n)), 1))


def answer_question(question: str) -> str:
    """The Python literal that answers a plan's question: places by likelihood, a thing in a view, a sort of an item.

    Raises ModelError for any other question.
    """
    found = next((text for world in ALL_RULES if (text := world.answer_question(question)) is not None), None)
    if found is None:
        raise _unsupported(f"it cannot answer the question {question[:80]!r}")
    return found


def _read_task_prompt(prompt: str) -> TaskPrompt:
    return TaskPrompt(required_section(prompt, "goal"), required_section(prompt, "observation"))


def _require_plan(told: TaskPrompt, plan: str | None) -> str:
    if plan is None:
        raise _unsupported(f"it does not understand the goal {told.goal[:80]!r} there")
    return plan


def _code_lines(part: str) -> list[str]:
    """The part's lines without comments of their own, blank lines and spaces at the end."""
    return [line.rstrip() for line in part.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def _require_reply(reply: str | None, prompt: str) -> str:
    if reply is None:
        raise _unsupported(f"it does not understand the goal {required_section(prompt, 'goal')[:80]!r} there")
    return reply


def _fence(plan: str) -> str:
    return f"```python\n{plan.rstrip()}\n```"


def _estimate_tokens(text: str) -> int:
    return len(text) // 4


def _unsupported(why: str) -> ModelError:
    return ModelError(
        f"the scripted model answers prompts about codeplan's own tasks only: {why}; "
        "use --model NAME with a real endpoint for anything else"
    )
