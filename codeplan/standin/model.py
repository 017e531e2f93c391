"""The scripted model: a rule-based stand-in for a language model. Its success rates say nothing about real models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias

from codeplan.errors import CodeplanError, ModelError, UsageError
from codeplan.plugins import MAX_SEED, Setting
from codeplan.standin import acting, exemplars
from codeplan.standin.acting import Weakness, parse_weakness
from codeplan.standin.environment_rules import ALL_RULES, TaskPrompt, rules_for
from codeplan.standin.mistakes import Mistakes, parse_mistakes
from codeplan.standin.partial_plans import write_changes
from codeplan.standin.plan_edits import split_steps
from codeplan.standin.prompt_sections import find_section
from codeplan.standin.refinement_prompt import read_refinement
from codeplan.types import Completion, Message, Purpose, Usage


class ScriptedModel:
    """Answers codeplan's own prompts about tasks of codeplan's own environments, without a key or a network.

    It reads nothing but the messages; the call's purpose decides which rules apply. It writes plans with natural
    mistakes and mends them according to the feedback; in the household, TextCraft, WebShop and HotpotQA it also acts
    turn by turn. Equal settings, purpose and messages give equal answers. Only first plans contain mistakes (see
    ``codeplan.standin.mistakes``). ``codeplan.standin.acting`` explains the weaknesses.

    Raises: UsageError: a setting has no such value.
    """

    name = "scripted"

    def __init__(
        self,
        model_seed: Annotated[int, Setting("The seed that chooses mistakes and gaps.", "safe", most=MAX_SEED)] = 0,
        mistakes: Annotated[Mistakes | str, Setting("none, some, many, or names of mistakes.", "safe")] = "some",
        weakness: Annotated[
            str, Setting("How it fails when it acts itself: none, span or forgetful.", "safe")
        ] = "none",
        gaps: Annotated[
            float, Setting("How likely, from 0 to 1, it needs an exemplar for a kind of task.", "safe", most=1)
        ] = 0.0,
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
        """Answer one of codeplan's prompts; ``stop`` and ``max_tokens`` have no effect.

        The usage is an approximation: four characters to a token.

        Raises: ModelError: the rules have no answer to this prompt.
        """
        system = "\n".join(m["content"] for m in messages if m["role"] == "system")
        user = "\n".join(m["content"] for m in messages if m["role"] == "user")
        try:
            text = self._answer(purpose, system, user, messages)
        except CodeplanError:
            raise
        except Exception as e:  # a plan, a skill or a page may have put anything into the prompt
            raise _unsupported("it cannot read the prompt") from e
        read = sum(len(m["content"]) for m in messages)
        return Completion(text, Usage(read // 4, len(text) // 4, money=0.0), model=self.name)

    def _answer(self, purpose: Purpose, system: str, user: str, messages: Sequence[Message]) -> str:
        if purpose == "refine":
            return _refine(self, system, user, messages)
        if purpose in _ANSWERS:
            return _ANSWERS[purpose](self, system, user)
        raise _unsupported(f"it cannot do what {purpose!r} asks for")


def first_difference(previous: str, revised: str) -> int:
    """The number of the first step that differs in more than comments and spacing.

    It is 1 if no step differs, or if the code before the first step does.
    """
    before, after = ({n: _code_lines(part) for n, part in split_steps(plan).items()} for plan in (previous, revised))
    return max(1, next((n for n in after if after[n] != before.get(n)), 1))


def answer_question(question: str) -> str:
    """The Python literal that answers a plan's question; raises ModelError if no environment's rules know one."""
    found = next((text for rules in ALL_RULES if (text := rules.answer_question(question)) is not None), None)
    if found is None:
        raise _unsupported(f"it cannot answer the question {question[:80]!r}")
    return found


def required_section(prompt: str, name: str) -> str:
    """The text between a prompt's tags of this name. Raises ModelError if the prompt has no such tags."""
    found = find_section(prompt, name)
    if found is None:
        raise _unsupported(f"the prompt has no part called {name}")
    return found


_Answer: TypeAlias = Callable[[ScriptedModel, str, str], str]
"""Answers a prompt, given its system and user messages."""


def _plan(model: ScriptedModel, system: str, user: str) -> str:
    task = _read_task_prompt(user)
    own = _require(rules_for(task.observation).draft_plan(task, model.mistakes, model.model_seed), user)
    return _fence(exemplars.draft_plan(system, task.goal, task.observation, own, model.gaps, model.model_seed))


def _check(model: ScriptedModel, system: str, user: str) -> str:
    plan = required_section(user, "plan")
    return _fence(rules_for(plan).repair_plan(plan, required_section(user, "errors")))


def _refine(model: ScriptedModel, system: str, user: str, messages: Sequence[Message]) -> str:
    task, found = _read_task_prompt(user), read_refinement(messages)
    if found is None and find_section(user, "feedback") is not None:
        anew = rules_for(task.observation).draft_plan(task, Mistakes(), model.model_seed)
        return _fence(_require(anew, user))
    if found is None:
        raise _unsupported("the prompt has no plan or no feedback")
    own = _require(rules_for(task.observation).refine_plan(found.plan, found.feedback, task), user)
    better = exemplars.refine_plan(system, task.goal, task.observation, own, model.gaps, model.model_seed)
    return _fence(write_changes(found.plan, better))


def _bind(model: ScriptedModel, system: str, user: str) -> str:
    task, earlier = _read_task_prompt(user), required_section(user, "earlier")
    return exemplars.bind_parameters(earlier, required_section(user, "parameters"), task.goal, task.observation)


def _resume(model: ScriptedModel, system: str, user: str) -> str:
    return str(first_difference(required_section(user, "previous"), required_section(user, "revised")))


_ANSWERS: dict[Purpose, _Answer] = {
    "plan": _plan,
    "check": _check,
    "resume": _resume,
    "ask": lambda model, system, user: answer_question(user),
    "bind": _bind,
    "plan_text": lambda model, system, user: _require(acting.write_text_plan(user), user),
    "refine_text": lambda model, system, user: _require(acting.revise_text_plan(user), user),
    "decompose": lambda model, system, user: _require(acting.decompose(user), user),
    "act": lambda model, system, user: _require(acting.act(user, model.weakness), user),
    "formalise": lambda model, system, user: acting.formalise_action(user),
    "reflect": lambda model, system, user: _require(acting.reflect(user), user),
    "generalise": lambda model, system, user: _require(acting.write_general_plan(system, user), user),
}


def _read_task_prompt(prompt: str) -> TaskPrompt:
    return TaskPrompt(required_section(prompt, "goal"), required_section(prompt, "observation"))


def _require(reply: str | None, prompt: str) -> str:
    if reply is None:
        raise _unsupported(f"it does not understand the goal {required_section(prompt, 'goal')[:80]!r} there")
    return reply


def _code_lines(part: str) -> list[str]:
    """The part's lines without comment lines, blank lines and trailing spaces."""
    return [line.rstrip() for line in part.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def _fence(plan: str) -> str:
    return f"```python\n{plan.rstrip()}\n```"


def _unsupported(why: str) -> ModelError:
    return ModelError(
        f"the scripted model answers prompts about codeplan's own tasks only: {why}; "
        "use --model NAME with a real endpoint for anything else"
    )
