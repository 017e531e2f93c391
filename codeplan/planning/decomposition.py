"""Asks the model for a plan in sub-tasks, and describes what one sub-task passes on to the next."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import msgspec

from codeplan.episode.episode import Episode
from codeplan.planning.asking import ask_template, sample_for
from codeplan.planning.turns import Turn, call_turn, show_value
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import WarningIssued, answered_calls
from codeplan.types import Ending, Finished, NotSolved, Task, Value
from codeplan.untrusted.values import in_quotes

MAX_STEPS: Final = 50
_MAX_DEPTH: Final = 50

_STEP = re.compile(r"\W*+step\s++(\d{1,3})\s*+[:.)]\s*+(\S.*)", re.IGNORECASE)
_ORDER = re.compile(r"\W*+execution\s++order[^\w(:]*+:[^\w(]*+(?=[\w(])(.*)", re.IGNORECASE)
_TOKEN = re.compile(r"\s*+(?:(?P<step>(?:step\s++)?\d{1,3})\b|(?P<word>and|or)\b|(?P<sign>[()&|]++))", re.IGNORECASE)
_SIGNS: Final = {"&": "AND", "&&": "AND", "|": "OR", "||": "OR"}


class DecompositionError(Exception):
    """The reply has no valid plan in sub-tasks. The message says what is wrong, in one sentence."""


class ExpressionNode(Value, frozen=True):
    """AND succeeds if all parts succeed, in order; OR succeeds with its first success and skips the rest."""

    operator: Literal["AND", "OR"]
    parts: tuple[Expression, ...]


Expression: TypeAlias = int | ExpressionNode
"""The number of a step, or a node of expressions."""


class Decomposition(Value, frozen=True):
    """A plan in sub-tasks: ``steps`` by number, and the ``order`` that combines them; each occurs in it."""

    steps: dict[int, str]
    order: Expression


def parse_decomposition(reply: str) -> Decomposition:
    """The plan in a reply. Raises: DecompositionError: there is no plan, or it is incomplete or ambiguous."""
    steps: dict[int, str] = {}
    order: str | None = None
    for line in reply.splitlines():
        if found := _STEP.match(line):
            number = int(found[1])
            if steps.setdefault(number, found[2].strip()) != found[2].strip():
                raise DecompositionError(f"there are two steps {number}; give each step a number of its own")
        elif found := _ORDER.match(line):
            order = found[1].strip().rstrip(".")
    if not steps:
        raise DecompositionError("it has no line of the form 'Step 1: ...'")
    if len(steps) > MAX_STEPS:
        raise DecompositionError(f"it has {len(steps)} steps, and {MAX_STEPS} are allowed; write fewer")
    if order is None:
        raise DecompositionError("it has no line of the form 'Execution order: (Step 1 AND Step 2)'")
    return _require_all_steps(steps, parse_expression(order))


def parse_expression(text: str) -> Expression:
    """The expression that a text spells. Raises: DecompositionError: the text is not an expression."""
    return _Parser(_tokens(text)).whole()


def evaluate(order: Expression, achieve: Callable[[int], bool]) -> bool:
    """The expression's value, where ``achieve`` attempts a step; steps that cannot change the value are skipped."""
    if isinstance(order, int):
        return achieve(order)
    decide = all if order.operator == "AND" else any
    return decide(evaluate(part, achieve) for part in order.parts)


def step_numbers(order: Expression) -> tuple[int, ...]:
    """The numbers of the steps in an expression, in order."""
    return (order,) if isinstance(order, int) else tuple(n for part in order.parts for n in step_numbers(part))


def _require_all_steps(steps: dict[int, str], order: Expression) -> Decomposition:
    used = set(step_numbers(order))
    if unknown := sorted(used - set(steps)):
        raise DecompositionError(f"its execution order names step {unknown[0]}, which there is not")
    if missing := sorted(set(steps) - used):
        raise DecompositionError(f"its execution order leaves out step {missing[0]}; name every step, or drop it")
    return Decomposition(steps, order)


_Token: TypeAlias = int | str


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    text = text.strip()
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if not match:
            rest = text[place:].lstrip()[:30]
            raise DecompositionError(
                f"its execution order cannot be read from {in_quotes(rest)} on; write Step N, AND, OR, ( and )"
            )
        place = match.end()
        if match["step"]:
            found.append(int(match["step"].split()[-1]))
        elif match["word"]:
            found.append(match["word"].upper())
        else:
            found += _signs(match["sign"])
    return found


def _signs(run: str) -> list[str]:
    parts: list[str] = re.findall(r"[()]|&{1,2}|\|{1,2}", run)
    return [_SIGNS.get(part, part) for part in parts]


class _Parser:
    """Recursive descent: whole := or; or := and (OR and)*; and := atom (AND atom)*; atom := number | ( or )."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._place, self._depth = tokens, 0, 0

    def whole(self) -> Expression:
        if not self._tokens:
            raise DecompositionError("its execution order is empty")
        found = self._or()
        if self._place < len(self._tokens):
            raise DecompositionError(f"its execution order goes on with {self._describe_next()} where it should end")
        return found

    def _or(self) -> Expression:
        return self._chain("OR", self._and)

    def _and(self) -> Expression:
        return self._chain("AND", self._atom)

    def _chain(self, operator: Literal["AND", "OR"], part: Callable[[], Expression]) -> Expression:
        parts = [part()]
        while self._next() == operator:
            self._place += 1
            parts.append(part())
        return parts[0] if len(parts) == 1 else ExpressionNode(operator, tuple(parts))

    def _atom(self) -> Expression:
        token = self._next()
        self._place += 1
        if isinstance(token, int):
            return token
        if token != "(":
            self._place -= 1
            raise DecompositionError(
                f"its execution order has {self._describe_next()} where a step or a bracket should stand"
            )
        return self._bracketed()

    def _bracketed(self) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise DecompositionError(f"its execution order nests more than {_MAX_DEPTH} brackets")
        found = self._or()
        if self._next() != ")":
            raise DecompositionError(
                f"its execution order has {self._describe_next()} where a closing bracket should stand"
            )
        self._place += 1
        self._depth -= 1
        return found

    def _next(self) -> _Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _describe_next(self) -> str:
        token = self._next()
        if token is None:
            return "its end"
        return f"Step {token}" if isinstance(token, int) else in_quotes(token)


class Decomposer:
    """Has the model decompose tasks of one episode, with the templates in ``folder`` (``"adapt"``, for example)."""

    def __init__(self, episode: Episode, prompts: Prompts, folder: str) -> None:
        self._episode, self._prompts, self._folder = episode, prompts, folder

    def decompose(self, task: Task, notes: tuple[str, ...] = ()) -> Decomposition | None:
        """The plan for a task. The model gets one chance to correct an invalid plan; if that fails too, the result is
        None.
        """
        reply = problem = ""
        for _ in range(2):
            reply = self._ask_plan(task, notes, reply, problem)
            try:
                return parse_decomposition(reply)
            except DecompositionError as e:
                problem = str(e)
        self._episode.record(WarningIssued(message=f"a plan in sub-tasks was refused: {problem}"))
        return None

    def _ask_plan(self, task: Task, notes: tuple[str, ...], reply: str, problem: str) -> str:
        goal = self._episode.goal_of(task)
        return ask_template(
            self._episode,
            self._prompts,
            f"{self._folder}/plan",
            "decompose",
            forms=self._episode.action_space.forms,
            tools=self._episode.has_tools,
            sample=sample_for(self._prompts, self._folder, self._episode.env.name, goal),
            observation=self._episode.first_observation.text,
            goal=goal,
            notes=(*task.notes, *notes),
            reply=reply,
            problem=problem,
        )


def progress_note(episode: Episode) -> str | None:
    """A success's information for the next attempt: the agent's belongings if an action shows them, otherwise the last
    action.

    ADaPT passes information on in this way (Prasad et al., 2024, section 3.1, and its appendix for each environment).
    With tools, the note is the value that the sub-task returned. None if no action was taken yet.
    """
    if status := episode.action_space.status:
        return str(Turn(status, episode.act(status).text))
    if episode.has_tools and episode.finished and episode.finished.value is not None:
        return f"What the step before came to: {show_value(episode.finished.value)}"
    last = deque(answered_calls(episode.trace.events), 1)
    return str(call_turn(last[0].call, last[0].answer)) if last else None


def judge_parts(episode: Episode, ending: Ending) -> Ending:
    """Have the environment judge the last sub-task's result as the value of the whole task.

    ``ending`` is what the method believes. It holds if the environment has no verifier.
    """
    if episode.success or not episode.has_tools:
        return ending
    last = episode.finished or Finished(value=None)
    verdict = episode.judge(last)
    if verdict is None or verdict.verdict is None or episode.success:
        return ending
    return NotSolved(verdict.verdict.text)


def make_subtask(task: Task, goal: str, *notes: str) -> Task:
    """The same task with another goal, and with more notes for the method that attempts it."""
    return msgspec.structs.replace(task.with_notes(*notes), goal=goal)
