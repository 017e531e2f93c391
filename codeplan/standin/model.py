"""The scripted model: a rule-based stand-in for a language model. Its success rates say nothing about real models."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias

from codeplan.errors import CodeplanError, ModelError, UsageError
from codeplan.plugins import MAX_SEED, Setting
from codeplan.standin import acting, hotpotqa, household, miniwob, scienceworld, textcraft, webshop
from codeplan.standin.acting import Weakness, parse_weakness
from codeplan.standin.mistakes import MistakeInserter, Mistakes, insert_mistakes, parse_mistakes
from codeplan.standin.plan_edits import AgentVocabulary, repair_plan, split_steps, write_changes
from codeplan.standin.prompt_reading import find_section, read_refinement
from codeplan.types import Completion, Message, Purpose, Usage


class TaskPrompt(NamedTuple):
    """A prompt's data about a task: the goal's sentence and the first observation."""

    goal: str
    observation: str


class EnvironmentRules(NamedTuple):
    """The stand-in's rules for one environment. The type of a parsed goal is the environment's own."""

    pattern: re.Pattern[str]
    """Matches the first observations of the environment's tasks, and plans for them."""
    vocabulary: AgentVocabulary
    parse_goal: Callable[[TaskPrompt], Any]
    """The goal of a task; None if it is not understood."""
    write_plan: Callable[[Any], str]
    refine: Callable[[str, str, Any], str]
    """A better plan, given a plan, the feedback and the parsed goal."""
    mistake_inserters: Callable[[Any], Mapping[str, MistakeInserter]]
    seed_text: Callable[[TaskPrompt], str]
    """The text that, together with the seed, decides which mistakes a plan has."""
    answer_question: Callable[[str], str | None]
    """The Python literal that answers a plan's question; None if it is not understood."""

    def draft_plan(self, task: TaskPrompt, mistakes: Mistakes, seed: int) -> str | None:
        """A first plan, with mistakes; None if the goal is not understood."""
        goal = self.parse_goal(task)
        if goal is None:
            return None
        return insert_mistakes(
            self.write_plan(goal), self.mistake_inserters(goal), mistakes, seed, self.seed_text(task)
        )

    def refine_plan(self, source: str, feedback: str, task: TaskPrompt) -> str | None:
        """A better plan; None if the goal is not understood."""
        goal = self.parse_goal(task)
        return None if goal is None else self.refine(source, feedback, goal)

    def repair_plan(self, source: str, errors: str) -> str:
        """The plan without the errors that the check lists."""
        return repair_plan(source, errors, self.vocabulary)


def rules_for(text: str) -> EnvironmentRules:
    """The rules of the environment that an observation or a plan belongs to."""
    return next(rules for rules in ALL_RULES if rules.pattern.search(text))


ALL_RULES = (
    EnvironmentRules(
        re.compile(r"\ATask: .*\n\nPage:\n|^ +state = agent\.", re.MULTILINE),
        miniwob.AGENT_VOCABULARY,
        lambda task: miniwob.find_solution(task.goal, task.observation),
        miniwob.write_plan,
        miniwob.refine_plan,
        miniwob.mistake_inserters,
        lambda task: task.observation,
        miniwob.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^You can take \d+ actions\.$|\bagent\.(?:focus|rooms)\b", re.MULTILINE),
        scienceworld.AGENT_VOCABULARY,
        lambda task: scienceworld.parse_goal(task.goal),
        scienceworld.write_plan,
        scienceworld.refine_plan,
        lambda goal: scienceworld.MISTAKE_INSERTERS,
        lambda task: task.observation,
        scienceworld.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^Crafting commands:|\bagent\.(?:craft|craftable|inventory|recipes)\b", re.MULTILINE),
        textcraft.AGENT_VOCABULARY,
        lambda task: textcraft.parse_goal(task.goal, task.observation),
        textcraft.write_plan,
        textcraft.refine_plan,
        lambda goal: textcraft.MISTAKE_INSERTERS,
        lambda task: task.observation + task.goal,
        textcraft.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^Question: |\bagent\.(?:lookup|finish)\b", re.MULTILINE),
        hotpotqa.AGENT_VOCABULARY,
        lambda task: hotpotqa.parse_goal(task.goal),
        hotpotqa.write_plan,
        hotpotqa.refine_plan,
        lambda goal: hotpotqa.MISTAKE_INSERTERS,
        lambda task: task.goal,
        hotpotqa.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^web ?shop\b|\bagent\.(?:results|options|chosen|buttons)\b", re.MULTILINE | re.IGNORECASE),
        webshop.AGENT_VOCABULARY,
        lambda task: webshop.parse_goal(task.goal),
        webshop.write_plan,
        webshop.refine_plan,
        lambda goal: webshop.MISTAKE_INSERTERS,
        lambda task: task.goal,
        webshop.answer_question,
    ),
    EnvironmentRules(
        re.compile(""),
        household.AGENT_VOCABULARY,
        lambda task: household.parse_goal(task.goal, task.observation),
        household.write_plan,
        household.refine_plan,
        household.mistake_inserters,
        lambda task: task.observation + task.goal,
        household.answer_question,
    ),
)
"""All rules. The last ones, the household's, match every text."""


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


def knows_task(goal: str, observation: str, *, in_turns: bool = False) -> bool:
    """Whether the stand-in can plan for a task, or with ``in_turns`` whether it can act in its world turn by turn."""
    if in_turns:
        return acting.knows_world(observation)
    try:
        return rules_for(observation).parse_goal(TaskPrompt(goal, observation)) is not None
    except Exception:  # the goal and the world may be anybody's
        return False


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
    return _fence(
        household.draft_with_exemplars(system, task.goal, task.observation, own, model.gaps, model.model_seed)
    )


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
    better = household.refine_with_exemplars(system, task.goal, task.observation, own, model.gaps, model.model_seed)
    return _fence(write_changes(found.plan, better))


def _bind(model: ScriptedModel, system: str, user: str) -> str:
    task, earlier = _read_task_prompt(user), required_section(user, "earlier")
    return household.bind_parameters(earlier, required_section(user, "parameters"), task.goal, task.observation)


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
    "rate": lambda model, system, user: acting.rate_plan(user),
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
