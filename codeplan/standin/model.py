"""The scripted model: a rule-based stand-in for a language model. Its success rates say nothing about real models."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

from codeplan.errors import CodeplanError, ModelError, UsageError
from codeplan.plugins import MAX_SEED, Setting
from codeplan.standin import hotpotqa, household, miniwob, scienceworld, textcraft, webshop
from codeplan.standin.mistakes import MistakeInserter, Mistakes, insert_mistakes, parse_mistakes
from codeplan.standin.plan_edits import AgentVocabulary, repair_plan, split_steps, write_changes
from codeplan.standin.prompt_reading import ExecutorPrompt, find_section, parse_prompt, read_refinement
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
    ``codeplan.standin.mistakes``). ``codeplan.standin.model`` explains the weaknesses.

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
        return knows_world(observation)
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
    "plan_text": lambda model, system, user: _require(write_text_plan(user), user),
    "refine_text": lambda model, system, user: _require(revise_text_plan(user), user),
    "decompose": lambda model, system, user: _require(decompose(user), user),
    "act": lambda model, system, user: _require(act(user, model.weakness), user),
    "formalise": lambda model, system, user: formalise_action(user),
    "reflect": lambda model, system, user: _require(reflect(user), user),
    "rate": lambda model, system, user: rate_plan(user),
    "generalise": lambda model, system, user: _require(write_general_plan(system, user), user),
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


# ------------------------------------------------------------------ acting, sub-tasks and lessons
#
# The weaknesses are fixed, so that the effect of a method on them is visible. With ``span`` the stand-in keeps one
# thing in mind at a time. If ``forgetful``, it forgets to clean, heat or cool, to craft ingredients, to read a second
# page or to choose options, unless a note reminds it.

_BRACKETED = re.compile(r"\w+\[.*\]")

Weakness = Literal["none", "span", "forgetful"]


def parse_weakness(name: str) -> Weakness:
    """The weakness of this name. Raises UsageError for any other name."""
    for weakness in get_args(Weakness):
        if name == weakness:
            found: Weakness = weakness
            return found
    raise UsageError(f"the weakness {name!r} is not known; give one of {', '.join(get_args(Weakness))}")


class _ActingRules(Protocol):
    def act(self, prompt: ExecutorPrompt, weakness: str) -> str | None: ...
    def decompose(self, prompt: ExecutorPrompt) -> list[str] | None: ...
    def reflect(self, prompt: ExecutorPrompt) -> str: ...
    def write_general_plan(self, reflections: str) -> str: ...


_ALL_ACTING_RULES: tuple[tuple[re.Pattern[str], _ActingRules], ...] = (
    (re.compile(r"^Crafting commands:|^- craft COUNT", re.MULTILINE), textcraft),
    (re.compile(r"^Question: |^- search\[TITLE\]", re.MULTILINE), hotpotqa),
    (re.compile(r"^web ?shop\b|^- search\[WORDS\]", re.MULTILINE | re.IGNORECASE), webshop),
    (re.compile(r"^You are in the middle of a room|^- take OBJECT", re.MULTILINE), household),
)
"""Rules by environment. The functions below that answer return None if no environment's pattern matches the prompt."""


def knows_world(observation: str) -> bool:
    """Whether a task that begins with this observation is of an environment that has rules here."""
    return _acting_rules_for(observation) is not None


def act(prompt: str, weakness: Weakness) -> str | None:
    """An executor's next line; None also if the goal is not understood."""
    if (matched := webshop.match_products(prompt)) is not None:
        return matched
    parsed = parse_prompt(prompt)
    if (bought := webshop.buy_product(parsed)) is not None:
        return bought
    rules = _acting_rules_for(parsed.observation)
    return rules.act(parsed, weakness) if rules else None


def decompose(prompt: str) -> str | None:
    """A plan in sub-tasks, all of them needed; None also if the goal is not understood."""
    if (modules := webshop.plan_modules(prompt)) is not None:
        return modules
    parsed = parse_prompt(prompt)
    rules = _acting_rules_for(parsed.observation)
    parts = rules.decompose(parsed) if rules else None
    if not parts:
        return None
    steps = [f"Step {number}: {part}" for number, part in enumerate(parts, 1)]
    return "\n".join([*steps, f"Execution order: ({' AND '.join(f'Step {n}' for n in range(1, len(steps) + 1))})"])


def reflect(prompt: str) -> str | None:
    """The lesson of the prompt's turns."""
    parsed = parse_prompt(prompt)
    rules = _acting_rules_for(parsed.observation)
    return rules.reflect(parsed) if rules else None


def rate_plan(prompt: str) -> str:
    """The rating of the prompt's plan: ten times the share of its steps that are done."""
    done, steps = re.findall(r"\d++", find_section(prompt, "done") or "0 1")[:2]
    return str(round(10 * int(done) / max(1, int(steps))))


def write_text_plan(prompt: str) -> str | None:
    """A first plan in words: the general one, without any lesson."""
    rules = _acting_rules_for(parse_prompt(prompt).observation)
    return rules.write_general_plan("") if rules else None


def revise_text_plan(prompt: str) -> str | None:
    """The prompt's plan, with the lesson of its turns appended."""
    lesson = reflect(prompt)
    return None if lesson is None else f"{find_section(prompt, 'plan') or ''}\n- {lesson}"


def write_general_plan(system: str, prompt: str) -> str | None:
    """The plan in words that results from a batch's lessons."""
    rules = _acting_rules_for(system)
    return rules.write_general_plan(prompt) if rules else None


def formalise_action(prompt: str) -> str:
    """The action in the prompt's line, without the words around it."""
    line = (find_section(prompt, "line") or "").strip()
    if _BRACKETED.fullmatch(line):
        return line
    line = re.sub(r"^(?:I (?:will|want to)|let me)\s+", "", line, flags=re.IGNORECASE)
    return re.sub(r"\b(?:the|an?)\s+", "", line.rstrip(".!"))


def _acting_rules_for(text: str) -> _ActingRules | None:
    return next((rules for pattern, rules in _ALL_ACTING_RULES if pattern.search(text)), None)
