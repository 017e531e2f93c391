"""The user's tools as an environment: a plan's calls are actions, their answers observations."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import NoneType, SimpleNamespace
from typing import Any, Literal

from codeplan.errors import AgentError, EnvironmentFailure, UsageError
from codeplan.recording.tool_events import CallBegun, CallDecided, DoubtDecided, EnvironmentEvent, ToolFailed
from codeplan.tools import wire
from codeplan.tools.approvals import Approvals
from codeplan.tools.doubts import DoubtRules
from codeplan.tools.event_loop import LoopThread
from codeplan.tools.failures import error_for_plan, failure_message, failure_sentence, refusal, require_failure
from codeplan.tools.json_data import MAX_VALUES, NotPlain
from codeplan.tools.shown_calls import shown_answer, shown_call
from codeplan.tools.tool import Tool
from codeplan.tools.tool_agent import agent_class_for
from codeplan.tools.toolset import Toolset
from codeplan.tools.verification import Verifier
from codeplan.types import ActionSpace, AgentTool, Observation, Task
from codeplan.untrusted.scalars import type_name
from codeplan.untrusted.surrogates import is_utf8
from codeplan.untrusted.terminal import echo
from codeplan.untrusted.tracebacks import traceback_text
from codeplan.untrusted.values import in_quotes

ToolErrors = Literal["plan", "stop"]
"""What a tool's exception does: the plan gets it as an error, or the episode ends."""

MAX_TURNS = 50
"""Maximum number of model calls of an executor that acts by one call at a time, unless its settings say otherwise."""

_FIRST = "No tool was called yet."
_AT_ONCE = frozenset({NoneType, bool, int, float, str, list, tuple, dict})  # spares the slower look at other types


class ToolEnvironment:
    """Offers a toolset for one goal. Tools act in the real world, so an episode cannot start over.

    Without a ``verifier``, what plans return is not judged, and an episode ends as claimed at best. ``doubts`` decide
    about the call during which a resumed episode was ended; without them the episode stays as it is. Asynchronous tools
    run in ``loop``, if several episodes share one.

    Raises: UsageError: the goal is empty, or is not text in UTF-8.
    """

    name = "tools"
    splits = ("test",)

    def __init__(
        self,
        goal: str,
        toolset: Toolset,
        *,
        verifier: Verifier | None = None,
        approvals: Approvals | None = None,
        doubts: DoubtRules | None = None,
        tool_errors: ToolErrors = "plan",
        loop: LoopThread | None = None,
    ) -> None:
        require_goal(goal)
        self.toolset = toolset
        self.described_tools = tuple(AgentTool(tool.method, tool.types) for tool in toolset.tools)
        self.agent = agent_class_for(toolset, goal)
        self.space = _action_space(toolset)
        self.on_event: Callable[[EnvironmentEvent], None] = lambda event: None
        self._task = Task(id="goal", env=self.name, kind="goal", goal=goal.strip())
        self.tools_doc, self.has_verifier = toolset.doc, verifier is not None
        self._verifier, self._approvals, self._doubts = verifier, approvals or Approvals(), doubts or DoubtRules()
        self._stops_at_errors = tool_errors == "stop"
        self._loop, self._owns_loop = loop or LoopThread(), loop is None
        self._begun = self._over = self._in_doubt = False

    def tasks(self, split: str) -> Sequence[Task]:
        """The one task."""
        return (self._task,) if split == "test" else ()

    def reset(self, task: Task) -> Observation:
        """Begin the task. Raises: EnvironmentFailure: it has begun before."""
        if self._begun:
            raise EnvironmentFailure(
                "tools act in the real world, which has no start to go back to; use a method and settings that do not "
                "start over"
            )
        self._begun = True
        return Observation(_FIRST)

    def take_up(self, in_doubt: str | None) -> None:
        """Continue a recorded episode; ``in_doubt`` is the call that the next step decides about."""
        self._begun, self._in_doubt = True, in_doubt is not None

    def step(self, action: str) -> Observation:
        """Make a call, and answer with its result or its error. Raises: CallInDoubt: see ``take_up``."""
        try:
            name, arguments = wire.read_call(action)
            tool = self._find(name)
            self._decide_doubt(tool, arguments)
            return self._call(tool, arguments, action)
        except AgentError as error:
            return Observation(wire.error_text(*refusal(error)), done=self._over)

    @staticmethod
    def show_action(action: str, answer: str) -> tuple[str, str]:
        """A call in Python, and what it returned: a text as it is, other data in Python's notation."""
        return shown_call(action), shown_answer(answer)

    def judge(self, value: object) -> Observation | None:
        """The verifier's verdict on the value that a plan returned; None without a verifier. Raises: VerifierBroken."""
        if self._verifier is None:
            return None
        tools = SimpleNamespace(**{tool.name: partial(self._call_for_verifier, tool) for tool in self.toolset.tools})
        verdict = self._verifier.judge(value, tools, self._finish)
        if verdict is True:
            return Observation("The result was verified.", reward=1.0, done=True, success=True)
        why = f": {verdict}" if isinstance(verdict, str) and verdict else ""
        return Observation(f"The result was not accepted{why}")

    def close(self) -> None:
        """End the tasks that asynchronous tools left running, if the loop is this environment's own."""
        if self._owns_loop:
            self._loop.close()

    def _find(self, name: str) -> Tool:
        tool = self.toolset.get(name)
        if tool is None:
            raise AgentError(f"there is no tool {in_quotes(name)}; there are: {', '.join(self.toolset.names)}")
        return tool

    def _call(self, tool: Tool, arguments: Mapping[str, Any], action: str) -> Observation:
        tool.require_fit(arguments)
        self._require_approval(tool, arguments)
        if tool.prepare:
            tool.prepare()
        self.on_event(CallBegun(action=action))
        try:
            return Observation(wire.result_text(self._finish(tool.call(arguments))))
        except NotPlain as reason:
            raise AgentError(f"{tool.name} returned {reason}", "ValueError") from None
        except AgentError:  # the tool refuses the call
            raise
        except BaseException as error:  # reading a result may also run the tool's code
            require_failure(error)
            raise self._report_failure(tool, error) from None

    def _report_failure(self, tool: Tool, error: BaseException) -> AgentError:
        """Show the developer the traceback, on standard error and in the trace; returns the error for the plan."""
        trace, name, message = traceback_text(error), type_name(error), failure_message(error)
        echo(f"The tool {tool.name} failed:\n{trace}", err=True)
        self.on_event(ToolFailed(tool=tool.name, error=name, message=message, traceback=trace))
        self._over = self._stops_at_errors
        return error_for_plan(error)

    def _decide_doubt(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """If this call is in doubt, return only if it is to be made again. Raises: CallInDoubt; AgentError: it is
        skipped.
        """
        if not self._in_doubt:
            return
        way, by, pattern = self._doubts.decide(tool.name, arguments, self._finish)
        self._in_doubt = False
        self.on_event(DoubtDecided(tool=tool.name, way=way, by=by, pattern=pattern))
        if way == "skip":
            raise AgentError(
                f"codeplan was ended during this call of {tool.name}, and it is not made again; whether it was done is "
                "unknown",
                "ConnectionError",
            )

    def _require_approval(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """Raises: AgentError: the call may not be made."""
        approval, pattern = self._approvals.rule_for(tool)
        if approval == "ask" and self._approvals.approve:
            allowed = self._ask_approver(tool, arguments)
            self.on_event(CallDecided(tool=tool.name, allowed=allowed, by="approver", pattern=pattern))
            if not allowed:
                raise AgentError(f"the user did not approve this call of {tool.name}", "PermissionError")
        elif approval == "ask":
            self.on_event(CallDecided(tool=tool.name, allowed=False, by="nobody", pattern=pattern))
            needs = f"{tool.name} needs the user's approval, and there is nobody to ask"
            wins = len(pattern) >= len(tool.name)  # takes precedence over an --allow with the name
            way = f"--allow {tool.name}{f' in place of --ask {in_quotes(pattern)}' if wins else ''} would allow it"
            raise AgentError(f"{needs}; {way}", "PermissionError")
        elif pattern:
            self.on_event(CallDecided(tool=tool.name, allowed=approval == "allow", by="pattern", pattern=pattern))
        if approval == "deny":
            raise AgentError(f"the user does not allow {tool.name}", "PermissionError")

    def _ask_approver(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Only True allows the call. Raises: EnvironmentFailure: ``approve`` fails."""
        try:
            return self._finish(self._approvals.ask(tool, arguments)) is True
        except BaseException as error:
            require_failure(error)
            raise EnvironmentFailure(f"the function that approves calls failed: {failure_sentence(error)}") from error

    def _call_for_verifier(self, tool: Tool, /, *args: Any, **kwargs: Any) -> object:
        """Call a tool outside the episode, for a verifier that inspects the world. An asynchronous verifier awaits
        it.
        """
        bound = tool.signature.bind(None, *args, **kwargs).arguments
        result = tool.call({name: value for name, value in bound.items() if name != "_agent_"})
        if not self._loop.is_current:
            return self._finish(result)
        return _collect(result) if isinstance(result, AsyncIterator) else result

    def _finish(self, result: object) -> object:
        """Wait for an asynchronous result."""
        if type(result) in _AT_ONCE:
            return result
        if isinstance(result, Awaitable):
            return self._loop.run(result)
        return self._loop.run(_collect(result)) if isinstance(result, AsyncIterator) else result


def _action_space(toolset: Toolset) -> ActionSpace:
    """The tools for models that plan in words: one line for each, as where there are too many to show them in full."""
    return ActionSpace(tuple(tool.method.first_line for tool in toolset.tools), calls=MAX_TURNS)


def require_goal(goal: object) -> None:
    """Raises: UsageError: the goal is empty, or not a text that a trace can hold."""
    if not isinstance(goal, str):
        raise UsageError(f"the goal is a text, not {in_quotes(goal)}")
    if not goal.strip():
        raise UsageError("the goal is empty; say in a sentence what is to be done")
    if not is_utf8(goal):
        raise UsageError(f"the goal {in_quotes(goal)} is not text in UTF-8; type it again")


async def _collect(items: AsyncIterator[Any]) -> list[Any]:
    """As many items as one result may have, and one more, so that too many are refused."""
    found = []
    async for item in items:
        found.append(item)
        if len(found) > MAX_VALUES:
            break
    return found
