"""The events of a plan's calls of tools, and the port of environments that report them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, runtime_checkable

from codeplan.recording.plan_events import TraceEvent
from codeplan.types import Observation


class CallDecided(TraceEvent, frozen=True, tag="call_decided"):
    """A call of a tool was allowed or refused, before it was made.

    ``by`` says who decided: ``pattern`` is one of the user's patterns (the field ``pattern`` holds it), ``approver`` is
    the user. ``nobody`` means that the call needed approval and there was no approver. It is then refused.
    """

    tool: str
    allowed: bool
    by: Literal["pattern", "approver", "nobody"]
    pattern: str = ""


class CallBegun(TraceEvent, frozen=True, tag="call_begun"):
    """A call of a tool is about to be made; ``action`` is the call.

    Its ActionTaken follows. If none follows, the episode was ended during the call. The call may have been done, and is
    in doubt.
    """

    action: str


class DoubtDecided(TraceEvent, frozen=True, tag="doubt_decided"):
    """The decision about a call in doubt: it is made again (``retry``), or the plan gets an error (``skip``).

    ``by`` says who decided: the user's option, the user's pattern for tools that may be called twice (``pattern``), or
    a person who was asked.
    """

    tool: str
    way: Literal["retry", "skip"]
    by: Literal["option", "pattern", "user"]
    pattern: str = ""


class ToolFailed(TraceEvent, frozen=True, tag="tool_failed"):
    """A tool raised an exception: its type, its message and its traceback, within bounds. The action follows."""

    tool: str
    error: str
    message: str
    traceback: str


class ValueJudged(TraceEvent, frozen=True, tag="value_judged"):
    """The verdict on the value that a plan returned; None if there was no verifier."""

    verdict: Observation | None


EnvironmentEvent = CallDecided | CallBegun | DoubtDecided | ToolFailed
"""The events that an environment reports while it does an action."""


@runtime_checkable
class ReportsEvents(Protocol):
    """An environment that reports events of its own. The episode sets ``on_event`` before it resets the environment."""

    on_event: Callable[[EnvironmentEvent], None]
