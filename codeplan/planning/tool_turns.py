"""Turns of an executor that acts on tools: in each the model thinks and writes one call, as JSON.

``finish`` hands over the result, which the environment judges; ``give_up`` ends the attempt. Neither is a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from codeplan.agent_interface import describe_api
from codeplan.episode.episode import Episode
from codeplan.errors import AgentError, SizeExceeded
from codeplan.planning.asking import ask_template
from codeplan.planning.executor_turns import Turn
from codeplan.planning.json_calls import MAX_REPLY_CHARS, JsonCall, NoCall, read_reply, show_answer, show_value
from codeplan.planning.plan_run import ending_of_value, finished_with
from codeplan.prompts.templates import Prompts
from codeplan.sandbox.limits import shorten
from codeplan.tools import wire
from codeplan.types import Claimed, Ending, EnvironmentEnded, GaveUp, NotSolved, Task
from codeplan.untrusted.noun_phrases import with_count
from codeplan.untrusted.terminal import one_line

_MAX_REASON: Final = 500  # characters of a reason to give up, in the ending
_FOR_PLANS: Final = "report"  # the agent's method that gives assertions their messages
_DESCRIBE: Final = "describe"


class ToolTurns:
    """The turns for one task. ``claim`` is the model's opinion: whether it finished, or gave up; None if neither."""

    def __init__(self, prompts: Prompts, task: Task, episode: Episode, calls: int, max_idle_turns: int) -> None:
        self._prompts, self._episode = prompts, episode
        self._calls, self._max_idle_turns = calls, max_idle_turns
        self._is_subtask = episode.is_subtask(task)
        self._turns: list[Turn] = []
        self._idle = 0
        self.claim: bool | None = None
        api = episode.api
        methods = tuple(method for method in api.methods if method.name != _FOR_PLANS)
        tools = tuple(method.name for method in methods)
        self._finish, self._give_up = _free_name("finish", tools), _free_name("give_up", tools)
        self._special: dict[str, Callable[[JsonCall], str | Ending]] = {
            self._finish: self._take_value,
            self._give_up: self._take_reason,
        }
        if _DESCRIBE in tools:
            self._special[_DESCRIBE] = self._describe
        self._names = frozenset((*tools, *self._special))
        self._values: dict[str, Any] = {
            "api": describe_api(replace(api, methods=methods)),
            "finish": self._finish,
            "give_up": self._give_up,
            "goal": episode.goal_of(task),
            "notes": task.notes,
        }

    def take_turns(self) -> Ending:
        """Take turns until the task ends; returns how it ended."""
        for number in range(self._calls):
            if self._episode.observation.done:
                return EnvironmentEnded()
            left = self._calls - number
            if ending := self._take_turn(left):
                return ending
            if self._idle >= self._max_idle_turns:
                return NotSolved(f"{with_count(self._max_idle_turns, 'turn')} in a row made no call")
        return (
            EnvironmentEnded()
            if self._episode.observation.done
            else NotSolved(f"no end in {with_count(self._calls, 'turn')}")
        )

    def _take_turn(self, left: int) -> Ending | None:
        reply = ask_template(
            self._episode, self._prompts, "react/tools", "act", **self._values, turns=self._turns, left=left
        )
        self._idle += 1
        try:
            call = read_reply(reply, self._names)
        except NoCall as problem:
            self._turns.append(Turn(shorten(reply.strip(), MAX_REPLY_CHARS), str(problem)))
            return None
        answer = self._special[call.name](call) if call.name in self._special else self._act(call)
        if not isinstance(answer, str):
            return answer
        if call.more:
            answer += "\n(Only the first call of your reply was made.)"
        self._turns.append(Turn(shorten(call.text, MAX_REPLY_CHARS), answer))
        return None

    def _act(self, call: JsonCall) -> str:
        """Make the call; returns the answer as the model reads it."""
        try:
            action = wire.call_text(call.name, call.arguments)
        except AgentError as error:
            return f"{error.error}: {error}"
        self._idle = 0
        try:
            return show_answer(self._episode.act(action).text)
        except SizeExceeded as error:
            return f"The call was made, but its answer cannot be shown: {error}"

    def _describe(self, call: JsonCall) -> str:
        """A tool's description in full. It costs a turn, and no action."""
        if problem := _misfit(call, ("name",)):
            return problem
        try:
            return show_value(self._episode.agent().describe(call.arguments.get("name")))
        except AgentError as error:
            return str(error)

    def _take_value(self, call: JsonCall) -> str | Ending:
        """Have the environment judge the result. The answer says what is missing, if the verifier says so."""
        if problem := _misfit(call, ("value",)):
            return problem
        outcome = finished_with(call.arguments.get("value"))
        self._idle = 0
        if self._is_subtask:
            self._episode.note_outcome(outcome)
            self.claim = True
            return Claimed("it says that the sub-task is done")
        if ending_of_value(self._episode, outcome):
            self.claim = True
            return Claimed("it says that the goal is reached; nobody verified the result")
        if self._episode.success or self._episode.observation.done:
            self.claim = self._episode.success
            return EnvironmentEnded()
        return self._episode.observation.text

    def _take_reason(self, call: JsonCall) -> str | Ending:
        if problem := _misfit(call, ("reason",)):
            return problem
        self.claim = False
        reason = call.arguments.get("reason")
        said = one_line(reason, _MAX_REASON) if isinstance(reason, str) else ""
        return GaveUp(f"it gave up: {said}" if said else "it gave up")


def _misfit(call: JsonCall, known: Sequence[str]) -> str:
    """What is wrong with the arguments of ``finish``, ``give_up`` or another call that is no tool; empty if nothing is
    wrong.
    """
    if call.arguments.keys() <= set(known):
        return ""
    return f"{call.name} takes {', '.join(known)} and no other argument."


def _free_name(name: str, taken: Sequence[str]) -> str:
    """The name, with ``_task`` appended until no tool has it."""
    while name in taken:
        name += "_task"
    return name
