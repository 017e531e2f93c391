"""The events of an episode, as values. ``codeplan.recording.trace`` keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from codeplan.budget import Budget
from codeplan.recording.plan_events import PlanDrafted as PlanDrafted
from codeplan.recording.plan_events import PlanFailed as PlanFailed
from codeplan.recording.plan_events import PlanFinished as PlanFinished
from codeplan.recording.plan_events import PlanFixed as PlanFixed
from codeplan.recording.plan_events import PlanGaveUp as PlanGaveUp
from codeplan.recording.plan_events import PlanRejected as PlanRejected
from codeplan.recording.plan_events import PlanReplanned as PlanReplanned
from codeplan.recording.plan_events import PlanStarted as PlanStarted
from codeplan.recording.plan_events import PlanStopped as PlanStopped
from codeplan.recording.plan_events import PlanWarned as PlanWarned
from codeplan.recording.plan_events import StepEntered as StepEntered
from codeplan.recording.plan_events import TextPrinted as TextPrinted
from codeplan.recording.plan_events import TraceEvent
from codeplan.recording.tool_events import CallBegun as CallBegun
from codeplan.recording.tool_events import CallDecided as CallDecided
from codeplan.recording.tool_events import DoubtDecided as DoubtDecided
from codeplan.recording.tool_events import ReportsEvents as ReportsEvents
from codeplan.recording.tool_events import ToolFailed as ToolFailed
from codeplan.recording.tool_events import ValueJudged as ValueJudged
from codeplan.types import AgentTool, Completion, Message, Observation, Purpose, Result, Task, Usage
from codeplan.types.value import Amount, Count

TRACE_FORMAT = 2
"""The version of the trace format. It increases when events change; other versions are refused."""


class EpisodeStarted(TraceEvent, frozen=True, tag="episode_started"):
    """The header of a trace: everything needed to run the episode again.

    ``settings`` are those given by name; ``model_settings`` come from the model. Neither contains secrets. ``tools``
    describe the tools of an episode in an environment of tools, ``tools_doc`` is the text that models read above them,
    and ``has_verifier`` says whether it judges values.
    """

    task: Task
    env: str
    method: str
    model: str
    codeplan_version: str
    format: int = msgspec.field(default_factory=lambda: TRACE_FORMAT)  # a factory: always written
    settings: dict[str, Any] = {}
    model_settings: dict[str, Any] = {}
    budget: Budget = Budget()
    tools: tuple[AgentTool, ...] = ()
    tools_doc: str = ""
    has_verifier: bool = False


class EnvironmentReset(TraceEvent, frozen=True, tag="environment_reset"):
    """The environment began the task. Later events of this kind restart it.

    ``cut_from`` is the number of characters of the whole observation if the event holds only its start, otherwise 0.
    """

    observation: Observation
    cut_from: Count = 0


class ActionTaken(TraceEvent, frozen=True, tag="action_taken"):
    """One action and the environment's observation; ``seconds`` is the environment's time, ``cut_from`` as above."""

    action: str
    observation: Observation
    seconds: Amount
    cut_from: Count = 0


class ModelCalled(TraceEvent, frozen=True, tag="model_called"):
    """One complete model call. ``prompt`` names the template and its digest; empty without a template.

    ``cut_from`` is the number of characters of the whole reply if the event holds only its start, otherwise 0.
    """

    purpose: Purpose
    messages: list[Message]
    completion: Completion
    seconds: Amount
    prompt: str = ""
    cut_from: Count = 0

    @property
    def question(self) -> str:
        """The text of the last message; empty if there is none, as in a forged event."""
        return self.messages[-1]["content"] if self.messages else ""


class ModelCallFailed(TraceEvent, frozen=True, tag="model_call_failed"):
    """One model call without an answer: ``error`` says why, ``usage`` is the call's usage nonetheless.

    ``prompt_too_long``: the model had no room for the prompt. ``reply_cut``: its reply reached the limit of tokens.
    """

    purpose: Purpose
    messages: list[Message]
    error: str
    seconds: Amount
    usage: Usage = Usage()
    prompt: str = ""
    prompt_too_long: bool = False
    reply_cut: bool = False


class TextsEmbedded(TraceEvent, frozen=True, tag="texts_embedded"):
    """One embedding call: the number of texts, the embedding model and a digest of the texts.

    The trace does not keep vectors; later events hold the results derived from them. A failed call is a
    ModelCallFailed.
    """

    model: str
    texts: Count
    digest: str
    seconds: Amount
    usage: Usage = Usage()


class SpanOpened(TraceEvent, frozen=True, tag="span_opened"):
    """A part of the episode begins: a trial, a sub-task, a batch. Events until its end carry its ``id``."""

    id: int
    kind: str
    name: str


class SpanClosed(TraceEvent, frozen=True, tag="span_closed"):
    """The part with this ``id`` ends."""

    id: int


class ChosenSkill(msgspec.Struct, frozen=True):
    """A skill chosen for a prompt or to be run, with its plan at that time; higher scores fit better."""

    name: str
    version: int
    score: float
    plan: str


class SkillsChosen(TraceEvent, frozen=True, tag="skills_chosen"):
    """The skills found for the task, best first. ``purpose`` says what they are for."""

    purpose: Purpose | Literal["reuse"]
    chosen: tuple[ChosenSkill, ...]


class PictureSaved(TraceEvent, frozen=True, tag="picture_saved"):
    """A picture after the latest action or reset: a PNG file, its path relative to the trace."""

    file: str


class WarningIssued(TraceEvent, frozen=True, tag="warning_issued"):
    """A warning for readers of the results, such as a weaker sandbox."""

    message: str


class EpisodeEnded(TraceEvent, frozen=True, tag="episode_ended"):
    """The last event: the result. A trace without it belongs to an episode that is running or was killed.

    ``broken_off`` means that the episode was interrupted or its infrastructure failed. The result then says nothing
    about the method, and the episode can be resumed.
    """

    result: Result
    broken_off: bool = False


Event = (
    EpisodeStarted
    | EnvironmentReset
    | ActionTaken
    | CallDecided
    | CallBegun
    | DoubtDecided
    | ToolFailed
    | ValueJudged
    | ModelCalled
    | ModelCallFailed
    | TextsEmbedded
    | PlanDrafted
    | PlanFixed
    | PlanWarned
    | PlanRejected
    | PlanStarted
    | StepEntered
    | TextPrinted
    | PlanFailed
    | PlanStopped
    | PlanReplanned
    | PlanGaveUp
    | PlanFinished
    | SpanOpened
    | SpanClosed
    | SkillsChosen
    | PictureSaved
    | WarningIssued
    | EpisodeEnded
)

EventHandler = Callable[[Event], None]
