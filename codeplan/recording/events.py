"""The events of an episode, as values. ``codeplan.recording.trace`` keeps them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol, cast, runtime_checkable

import msgspec

from codeplan.budget import Budget
from codeplan.protocols import BaseEnvironment
from codeplan.types import (
    AgentTool,
    Answer,
    Call,
    Checkpoint,
    Completion,
    Diagnostic,
    Fix,
    Message,
    Observation,
    Outcome,
    Purpose,
    Result,
    ReturnType,
    Task,
    Usage,
)
from codeplan.types.value import Amount, Count, is_empty, short_repr


class TraceEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """Base of the events. ``seq`` counts from 0, ``at`` is Unix time, ``span`` the innermost open span or None."""

    seq: int = -1
    at: float = 0.0
    span: int | None = None

    def __repr__(self) -> str:
        return short_repr(self, {"seq": self.seq, **self._shown()})

    def _shown(self) -> dict[str, object]:
        """The event's own fields by name, without those that are empty."""
        parts = {n: getattr(self, n) for n in self.__struct_fields__ if n not in TraceEvent.__struct_fields__}
        return {name: part for name, part in parts.items() if not is_empty(part)}


class PlanDrafted(TraceEvent, frozen=True, tag="plan_drafted"):
    """A plan's source, extracted from a reply. ``number`` counts the plans of this episode from 1.

    ``steps`` are the numbers of the steps in a reply that held only these: ``source`` is the previous plan with these
    steps, or only their text if they could not be merged (``steps`` is then empty). None: the reply held the whole
    plan.
    """

    number: int
    origin: Purpose
    source: str
    steps: tuple[int, ...] | None = None


class PlanFixed(TraceEvent, frozen=True, tag="plan_fixed"):
    """The check mended the plan by these fixes; ``source`` is the plan after them."""

    number: int
    fixes: tuple[Fix, ...]
    source: str


class PlanWarned(TraceEvent, frozen=True, tag="plan_warned"):
    """The check accepted the plan with these warnings."""

    number: int
    warnings: tuple[Diagnostic, ...]


class PlanRejected(TraceEvent, frozen=True, tag="plan_rejected"):
    """The check refused the plan; none of it ran."""

    number: int
    diagnostics: tuple[Diagnostic, ...]


class PlanStarted(TraceEvent, frozen=True, tag="plan_started"):
    """A plan starts at ``start_from`` with the ``restored`` variables; if these come from outside, ``checkpoint``
    holds them.
    """

    number: int
    start_from: int
    restored: tuple[str, ...] = ()
    dropped: dict[str, str] = {}
    checkpoint: Checkpoint | None = None


class SiteOrigins(msgspec.Struct, frozen=True, array_like=True):
    """A place of a plan that calls ``tool`` (``*``: any), and where the arguments come from: by position, by name, or
    ``*``. ``control`` decides about the call. ``is_new``: no plan before data was shown calls the tool.
    """

    tool: str
    line: Count
    end_line: Count
    arguments: dict[str, tuple[str, ...]]
    control: tuple[str, ...]
    is_new: bool


class VariableOrigins(msgspec.Struct, frozen=True, array_like=True):
    """Where a variable's value comes from. Variables that share a number in ``cells`` share an object."""

    name: str
    origins: tuple[str, ...]
    cells: tuple[Count, ...]


class PlanOrigins(TraceEvent, frozen=True, tag="plan_origins"):
    """Where the arguments of the plan's calls come from, found before it starts, if there are flows.

    ``asks`` says what each question to the model was given, by number. Unless the plan was ``followed``, every argument
    may come from anywhere. Origins are written as in ``codeplan.sandbox.analysis.origins``.
    """

    sites: tuple[SiteOrigins, ...]
    asks: dict[str, tuple[str, ...]]
    variables: tuple[VariableOrigins, ...]
    followed: bool


class StepEntered(TraceEvent, frozen=True, tag="step_entered"):
    """The plan enters a step; ``checkpoint`` holds its variables at this point."""

    step: int
    title: str
    checkpoint: Checkpoint


class TextPrinted(TraceEvent, frozen=True, tag="text_printed"):
    """Output of the plan. Untrusted."""

    text: str


class PlanEnded(TraceEvent, frozen=True, tag="plan_ended"):
    """The plan's run ended; ``outcome`` without what other events hold: output, entries, and the value of a plan that
    ran to its end.
    """

    outcome: Outcome


class CallBegun(TraceEvent, frozen=True, tag="call_begun"):
    """A call is about to be made. ``id`` counts the calls of the episode from 1.

    ``line`` is the plan's line that makes it, None without a plan. Its CallAnswered has the same ``id``; several calls
    may be open at once. If none follows, the episode was ended during the call: where calls act for real it may have
    been done, and is in doubt.
    """

    id: Count
    call: Call
    line: Count | None = None


class CallAnswered(TraceEvent, frozen=True, tag="call_answered"):
    """The answer to the call with this ``id``; ``seconds`` is the time of the tool or the environment.

    ``cut_from`` is the number of characters of the whole observation if the event holds only its start, otherwise 0.
    """

    id: Count
    answer: Answer
    seconds: Amount
    cut_from: Count = 0


class TimePassed(TraceEvent, frozen=True, tag="time_passed"):
    """The plan waited for ``seconds`` beside open calls, and none of them was answered in this time."""

    seconds: Amount


class CallDecided(TraceEvent, frozen=True, tag="call_decided"):
    """The call with this ``id`` was allowed or refused, before it was begun.

    ``by`` says who decided: ``pattern`` is one of the user's patterns (the field ``pattern`` holds it), ``approver`` is
    the user, ``always`` the user's earlier answer that holds for this call as well, ``flows`` the user's flows.
    ``nobody`` means that the call needed approval and there was nobody to ask: the episode then waits. ``reason`` is
    why it was refused, or what the episode waits for. ``no_answer``: the call asks the user, who is not there.
    ``arguments`` are those that the user gave in place of the plan's,
    packed; None: unchanged. ``origins`` says where each argument comes from, if there are flows.
    """

    id: Count
    tool: str
    allowed: bool
    by: Literal["pattern", "approver", "always", "nobody", "flows", "no_answer"]
    pattern: str = ""
    reason: str = ""
    arguments: dict[str, Any] | None = None
    origins: dict[str, tuple[str, ...]] = {}


class ApprovalAnswered(TraceEvent, frozen=True, tag="approval_answered"):
    """The user's answer to the call for which an episode waited, given after its end.

    ``mac`` proves that it was made with the user's key, for the events before it
    (``codeplan.runner.approval_answers``).
    """

    id: Count
    call: Call
    allowed: bool
    reason: str = ""
    mac: str = ""


class CallRepeated(TraceEvent, frozen=True, tag="call_repeated"):
    """The call with this ``id`` is not made: it gets the answer of an equal call, made before with the number ``of``.

    ``of`` may be a call that the header carries over from another episode.
    """

    id: Count
    tool: str
    of: Count


class DoubtDecided(TraceEvent, frozen=True, tag="doubt_decided"):
    """The decision about a call in doubt: it is made again (``retry``), or the plan gets an error (``skip``).

    ``by`` says who decided: the user's option, the user's pattern for tools that may be called twice (``pattern``), or
    a person who was asked.
    """

    id: Count
    tool: str
    way: Literal["retry", "skip"]
    by: Literal["option", "pattern", "user"]
    pattern: str = ""


class ToolFailed(TraceEvent, frozen=True, tag="tool_failed"):
    """A tool raised an exception: its type, its message and its traceback, within bounds. The answer follows."""

    id: Count
    tool: str
    error: str
    message: str
    traceback: str


class ValueJudged(TraceEvent, frozen=True, tag="value_judged"):
    """The verdict on the value that a plan returned; None if there was no verifier."""

    verdict: Observation | None


class CarriedAnswer(msgspec.Struct, frozen=True):
    """A call that was answered in the episode before this one, where its number was ``id``, in this ``step``.

    ``step`` is None if the answer may be given anywhere.
    """

    id: Count
    call: Call
    answer: Answer
    step: Count | None = None


TRACE_FORMAT = 3
"""The version of the trace format. It increases when events change; other versions are refused."""


class EpisodeStarted(TraceEvent, frozen=True, tag="episode_started"):
    """The header of a trace: everything needed to run the episode again.

    ``settings`` are those given by name; ``model_settings`` come from the model. Neither contains secrets. ``tools``
    describe the tools of an episode in an environment of tools, ``tools_doc`` is the text that models read above
    them, ``has_verifier`` says whether a verifier judges values (``verifier`` is its name with a digest of its source;
    empty in older traces), ``has_flows`` whether flows decide about calls, and
    ``is_blind`` whether prompts for revised plans have shapes in place of what tools answered. ``instructions`` are
    the user's own system text, and ``returns`` is the type that the value of a plan must have. ``asks_user`` says
    whether plans may ask the user. ``variables`` are those that the user gave. ``once`` are the tools of which
    prompts say that their calls are made once. ``carried`` are calls of the episode from which this one was branched
    off, or that it goes on with: they were made there, and are not made again. ``branched_at`` is the number of the
    first event that is its own, if the episode was branched off from another.
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
    verifier: str = ""
    has_flows: bool = False
    is_blind: bool = False
    instructions: str = ""
    returns: ReturnType | None = None
    asks_user: bool = False
    variables: Checkpoint | None = None
    once: tuple[str, ...] = ()
    carried: tuple[CarriedAnswer, ...] = ()
    branched_at: Count | None = None


class EnvironmentReset(TraceEvent, frozen=True, tag="environment_reset"):
    """The environment began the task. Later events of this kind restart it.

    ``cut_from`` is the number of characters of the whole observation if the event holds only its start, otherwise 0.
    """

    observation: Observation
    cut_from: Count = 0


class EnvironmentRestored(TraceEvent, frozen=True, tag="environment_restored"):
    """The environment went back to where it stood after the event with the number ``to``. What came in between has no
    effect on what follows (``codeplan.recording.event_log.standing_events``).
    """

    to: Count


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
    """The skills found for the task, best first. ``purpose`` says what they are for.

    ``left_out`` names those that fit the task and not the tools at hand, each with the reason. ``bound`` is the plan of
    the first with the task's values, if a rule is sure of these; otherwise empty. ``answers`` are the shapes of tools'
    answers that the plan of the first knows, if it is to run (``codeplan.skills.answer_shapes``). ``changes`` says how
    its tools have changed, if a model is to adapt it first.
    """

    purpose: Purpose | Literal["reuse"]
    chosen: tuple[ChosenSkill, ...]
    left_out: tuple[str, ...] = ()
    bound: str = ""
    answers: dict[str, Any] = {}
    changes: str = ""


class PictureSaved(TraceEvent, frozen=True, tag="picture_saved"):
    """A picture after the latest action or reset: a PNG file, its path relative to the trace."""

    file: str


class WarningIssued(TraceEvent, frozen=True, tag="warning_issued"):
    """A warning for readers of the results, such as a weaker sandbox."""

    message: str


class EpisodeContinued(TraceEvent, frozen=True, tag="episode_continued"):
    """The episode had ended, as ``ended`` says in a sentence, and goes on here with what was missing.

    ``budget`` is its budget from here on; ``tries`` are further runs of a plan, at most.
    """

    ended: str
    budget: Budget
    tries: Count = 0


class TurnStarted(TraceEvent, frozen=True, tag="turn_started"):
    """The user's next ``message`` in a session: a goal of its own, in the world as it is.

    ``before`` is how the turn before ended, without its plan and variables. ``tools``, with ``tools_doc`` and ``once``,
    are those from here on, None if they are as before. ``returns`` is the type that the turn's value must have, and
    ``variables`` are those that the user gave with the message.
    """

    message: str
    before: Result
    tools: tuple[AgentTool, ...] | None = None
    tools_doc: str = ""
    once: tuple[str, ...] = ()
    returns: ReturnType | None = None
    variables: Checkpoint | None = None


class EpisodeEnded(TraceEvent, frozen=True, tag="episode_ended"):
    """The last event: the result. A trace without it belongs to an episode that is running or was killed.

    ``broken_off`` means that the episode was interrupted or its infrastructure failed. The result then says nothing
    about the method, and the episode can be resumed.
    """

    result: Result
    broken_off: bool = False


class ReplyWritten(TraceEvent, frozen=True, tag="reply_written"):
    """A piece of the reply that a model writes just now: told, but in no trace, which has the whole reply.

    ``start`` is the place of ``text`` in the reply, in characters. At 0 a reply begins, perhaps anew after a failure.
    The pieces are as the endpoint sends them: the reply may be cut at a stop sequence, and have secrets masked.
    """

    purpose: Purpose
    start: Count
    text: str


RecordedEvent = (
    EpisodeStarted
    | EnvironmentReset
    | EnvironmentRestored
    | CallDecided
    | CallRepeated
    | ApprovalAnswered
    | CallBegun
    | CallAnswered
    | TimePassed
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
    | PlanOrigins
    | PlanStarted
    | StepEntered
    | TextPrinted
    | PlanEnded
    | SpanOpened
    | SpanClosed
    | SkillsChosen
    | PictureSaved
    | WarningIssued
    | EpisodeContinued
    | TurnStarted
    | EpisodeEnded
)

"""What a trace holds."""

Event = RecordedEvent | ReplyWritten
"""What a handler of events is called with."""

EventHandler = Callable[[Event], None]


class CallSite(NamedTuple):
    """Where a call comes from: the plan's step and line, None without a plan, and the episode's events before it.

    ``answer`` is the user's own answer to the question whether this call may be made, given while the episode waited.
    """

    step: int | None = None
    line: int | None = None
    events: Sequence[Event] = ()
    answer: ApprovalAnswered | None = None

    @property
    def place(self) -> str:
        """The step and the line in words; empty if both are unknown."""
        parts = {"step": self.step, "line": self.line}
        return ", ".join(f"{name} {number}" for name, number in parts.items() if number is not None)


def call_key(call: Call) -> Hashable:
    """The same for calls that are equal, and for no others: 1 and 1.0 are equal, True and 1 are not, and the order of
    names does not count.
    """
    return call.name, _frozen(call.arguments)


def _frozen(packed: Any) -> Hashable:
    """Packed data as a value that can be a key."""
    if isinstance(packed, dict):
        return frozenset((name, _frozen(value)) for name, value in packed.items())
    if isinstance(packed, list):
        return tuple(map(_frozen, packed))
    return ("bool", packed) if isinstance(packed, bool) else cast(Hashable, packed)


NO_SITE: Final = CallSite()
"""Where a call comes from that no plan of an episode makes."""


@runtime_checkable
class AnswersCalls(BaseEnvironment, Protocol):
    """An environment that answers calls of tools, which are data on the whole way."""

    def call(self, id: int, call: Call, record: EventHandler, site: CallSite = NO_SITE) -> Answer:
        """Make the call with this ``id``, or refuse it. A call that cannot be made is answered with an error.

        ``record`` takes the events of this call: the decisions about it and, immediately before anything happens
        outside, CallBegun.
        """
        ...


@runtime_checkable
class TakesTurns(AnswersCalls, Protocol):
    """An environment of tools in which one goal can follow another."""

    def begin_turn(self, turn: TurnStarted, number: int, *, recalls: bool, lately: Sequence[str]) -> Task:
        """Offer the tools for the next goal, and return it as a task.

        ``recalls``: plans may look up earlier turns. ``lately`` are the tools that the turns before called.
        """
        ...


class BegunCall(NamedTuple):
    """A call that an environment takes up: its number in the episode, and where it comes from.

    ``record`` takes its events. ``drain`` waits until all calls that are being made are answered: what ends an episode
    comes last. If ``is_decided``, it may be made; the decision is in the trace.
    """

    id: int
    call: Call
    record: EventHandler
    site: CallSite
    drain: Callable[[], None]
    is_decided: bool = False


class CallEnd(NamedTuple):
    """The answer of a call that was begun; ``seconds`` is the time of the tool."""

    id: int
    answer: Answer
    seconds: float


@runtime_checkable
class KeepsCallsOpen(AnswersCalls, Protocol):
    """An environment that makes several calls at the same time. Everything but the tools' own work happens in the
    thread that asks.
    """

    def begin(self, begun: BegunCall) -> Answer | None:
        """Decide about a call, which then waits for its turn; an answer if it is not to be made. Raises as ``call``."""
        ...

    def settle_doubts(self, in_doubt: Sequence[BegunCall]) -> dict[int, Answer]:
        """Decide about calls that were begun when the episode was ended: the answers of those that are not made again.

        Raises: CallInDoubt: no setting decides about one.
        """
        ...

    def next_answer(self, seconds: float | None) -> CallEnd | None:
        """Make the calls whose turn it is, and wait for the next answer; None: ``seconds`` have passed."""
        ...

    def answers_now(self) -> list[CallEnd]:
        """Start the calls whose turn it is. Returns the answers that are there."""
        ...

    def drop(self, id: int) -> bool:
        """Drop a call that waits for its turn; False if it does not."""
        ...

    def leave_open(self) -> None:
        """Drop the calls that wait for their turn, and end the wait for those that are being made."""
        ...


class CallsByAnswer:
    """Finds the calls that answers belong to, while the events of a trace pass by in order."""

    def __init__(self, begun: Iterable[CallBegun] = ()) -> None:
        self._open = {event.id: event.call for event in begun}
        self._refused: int | None = None  # the call that was refused, or not made again, just before
        self._unmade: set[int] = set()

    def take(self, event: Event) -> Call | None:
        """The call that this event answers; None for every other event, and for a forged answer without a call."""
        match event:
            case CallBegun():
                self._open.pop(event.id, None)  # the latest stands last
                self._open[event.id] = event.call
                (self._unmade.add if event.id == self._refused else self._unmade.discard)(event.id)
                self._refused = None
            case CallDecided():
                self._refused = None if event.allowed else event.id
            case CallRepeated():
                self._refused = event.id
            case CallAnswered():
                return self._open.pop(event.id, None)
            case TurnStarted():  # nobody decides any more about what the turn before left open
                self._open.clear()
        return None

    @property
    def in_doubt(self) -> Call | None:
        """The latest call that was begun and has no answer; None if there is none. A refused or repeated call was
        not made."""
        return next(reversed(self.all_in_doubt), None)

    @property
    def all_in_doubt(self) -> list[Call]:
        """The calls that were begun and have no answer, in the order in which they were begun."""
        return [call for id, call in self._open.items() if id not in self._unmade]


class AnsweredCall(NamedTuple):
    """A call with the event of its answer."""

    call: Call
    event: CallAnswered

    @property
    def answer(self) -> Answer:
        """The answer."""
        return self.event.answer


def answered_calls(events: Iterable[Event]) -> Iterator[AnsweredCall]:
    """Each call of a trace with its answer, in the order of the answers."""
    calls = CallsByAnswer()
    for event in events:
        if (call := calls.take(event)) is not None and isinstance(event, CallAnswered):
            yield AnsweredCall(call, event)


class EarlierCalls:
    """What the ``events`` of an episode so far say about its plan and its calls. Each of them is looked at once.

    There may be very many calls, so it keeps only the places of their events.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.events, self._seen, self._plan = events, 0, ""
        self._begun: dict[int, tuple[int, int]] = {}  # the hash and the place of each open call
        self._unmade: set[int] = set()
        self._answered: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)  # the places, by the calls' hash

    @property
    def plan(self) -> str:
        """The source of the latest plan; empty if there was none."""
        self._follow()
        return self._plan

    def answers_to(self, call: Call) -> list[Answer]:
        """The answers to equal calls that were made."""
        self._follow()
        key = call_key(call)
        pairs = [(self.events[begun], self.events[answered]) for begun, answered in self._answered.get(hash(key), ())]
        return [
            answered.answer
            for begun, answered in pairs
            if isinstance(begun, CallBegun) and isinstance(answered, CallAnswered) and call_key(begun.call) == key
        ]

    def _follow(self) -> None:
        start, self._seen = self._seen, len(self.events)
        for place, event in enumerate(self.events[start:], start):
            match event:
                case PlanDrafted() | PlanFixed():
                    self._plan = event.source
                case CallDecided(allowed=False) | CallRepeated():
                    self._unmade.add(event.id)
                case CallBegun():
                    self._begun[event.id] = hash(call_key(event.call)), place
                case TurnStarted():
                    self._begun.clear()
                case CallAnswered() if event.id in self._begun:
                    hashed, begun = self._begun.pop(event.id)
                    if event.id not in self._unmade:
                        self._answered[hashed].append((begun, place))
