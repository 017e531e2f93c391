"""Turns an event into the view that every display shows: a title and blocks of content.

Only this module knows the kinds of events. The terminal (``codeplan.report.live``) and the page
(``codeplan.report.pages.episode_pages``) render the same views; each clips and cleans the texts for its own medium.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, assert_never, get_args

import msgspec

from codeplan.recording import events
from codeplan.recording.event_log import events_of
from codeplan.recording.events import (
    ApprovalAnswered,
    CallAnswered,
    CallBegun,
    CallDecided,
    CallsByAnswer,
    DoubtDecided,
    Event,
    SpanClosed,
)
from codeplan.types import (
    Answer,
    BudgetSpent,
    Call,
    Checkpoint,
    Claimed,
    Crashed,
    Diagnostic,
    EnvironmentEnded,
    Failed,
    Finished,
    Fix,
    GaveUp,
    GiveUp,
    InfrastructureFailed,
    Interrupted,
    Message,
    NeedsInput,
    NoProgress,
    NotSolved,
    Observation,
    Outcome,
    Refused,
    Replan,
    Result,
    Stopped,
    Success,
    TooLarge,
    TraceFull,
    TrialEnded,
    Usage,
    Waiting,
)
from codeplan.untrusted.texts import one_line, with_count
from codeplan.untrusted.values import in_quotes, shown_answer, shown_call

STAND_IN_LABEL = "scripted stand-in, not a language model"
"""The label of the scripted model wherever a reader could take its figures for a language model's."""


EndState = Literal["success", "claimed", "waiting", "failure"]
"""An episode's outcome: solved; only claimed, without confirmation or denial; waiting for a person; or not solved."""


def end_state(result: Result) -> EndState:
    """The episode's outcome, without regard to its infrastructure."""
    if result.success:
        return "success"
    match result.ending:
        case Claimed():
            return "claimed"
        case Waiting() | NeedsInput():
            return "waiting"
        case Success() | GaveUp() | NoProgress() | Refused() | NotSolved() | TooLarge() | EnvironmentEnded():
            return "failure"
        case TraceFull():
            return "failure"
        case TrialEnded() | BudgetSpent() | Interrupted() | InfrastructureFailed() | Crashed():
            return "failure"
        case _:
            assert_never(result.ending)


def model_label(name: str) -> str:
    """The model's name; for the scripted one, its label."""
    return STAND_IN_LABEL if name == "scripted" else one_line(name)


_TASKS = {
    "plan": "write a plan",
    "check": "repair the plan",
    "refine": "refine the plan",
    "resume": "name the step to resume at",
    "ask": "answer the plan",
    "bind": "set the parameters of a skill",
    "plan_text": "write a plan in words",
    "refine_text": "refine a plan in words",
    "decompose": "split the goal into sub-tasks",
    "act": "choose the next action",
    "formalise": "put an action into a valid form",
    "reflect": "look back at what was done",
    "generalise": "write one plan from several lessons",
    "rate": "rate a plan",
    "embed": "embed texts",
}


def describe_purpose(purpose: str) -> str:
    """The purpose of a call in words that follow "The model was called to"."""
    return _TASKS.get(purpose, f"{purpose} (purpose)")


_MAX_SHOWN: Final = 20_000  # characters of an argument; each display shortens the whole to its own room

_DECIDERS = {
    "pattern": "by the pattern {pattern}",
    "approver": "by the user",
    "always": "by the user's earlier answer",
    "flows": "by your flows",
    "nobody": "because there was nobody to ask",
    "no_answer": "because the user was not there",
}


_WAYS = {"retry": "is made again", "skip": "is not made again"}
_DOUBT_DECIDERS = {
    "option": "as --in-doubt says",
    "pattern": "as the pattern {pattern} says",
    "user": "as the user says",
}


def describe_decision(event: CallDecided | DoubtDecided | ApprovalAnswered) -> str:
    """The decision in a sentence."""
    if isinstance(event, DoubtDecided):
        decided = _DOUBT_DECIDERS[event.by].format(pattern=event.pattern)
        return f"The episode was ended during a call of {event.tool}, which {_WAYS[event.way]}, {decided}"
    if isinstance(event, ApprovalAnswered):
        return f"The user {'allows' if event.allowed else 'does not allow'} this call of {event.call.name}{_why(event)}"
    if event.by == "no_answer":
        return f"The user is not there: {event.reason}"
    if event.by == "nobody" and event.reason:
        return f"A call of {event.tool} needs approval, and there was nobody to ask"
    decided = "refused" if not event.allowed else "allowed" if event.arguments is None else "changed"
    by = _DECIDERS[event.by].format(pattern=event.pattern)
    return f"A call of {event.tool} was {decided} {by}{_why(event)}{_from(event)}"


def _from(event: CallDecided) -> str:
    """Where the arguments come from, as far as that is not the goal; empty if it is not known."""
    given = {name: " and ".join(each) for name, each in event.origins.items() if each != ("goal",)}
    shown = "; ".join(f"{name} from {each}" for name, each in given.items())
    return f" ({shown})" if shown and not event.reason else ""


def _why(event: CallDecided | ApprovalAnswered) -> str:
    return f": {event.reason}" if event.reason else ""


Part = Literal["plans", "actions", "model", "failures", "other"]
"""The groups of events."""

PARTS: Final[tuple[Part, ...]] = get_args(Part)

Tone = Literal["heading", "start", "step", "good", "bad", "warning", "quiet", "plain"]
Role = Literal[
    "start",
    "action",
    "observation",
    "question",
    "answer",
    "reply",
    "reasoning",
    "failure",
    "traceback",
    "output",
    "note",
]


class TextBlock(msgspec.Struct, frozen=True):
    """A text of the environment, the model or the plan; ``role`` says which. A ``reply`` and its
    ``reasoning`` are shown on demand.
    """

    role: Role
    text: str


class PlanBlock(msgspec.Struct, frozen=True):
    """A plan's source; ``before`` is the plan that it replaces, None for the first."""

    number: int
    source: str
    before: str | None = None


class FixesBlock(msgspec.Struct, frozen=True):
    """The check's changes to a plan, and the plan's source after them."""

    number: int
    fixes: tuple[Fix, ...]
    source: str


class DiagnosticsBlock(msgspec.Struct, frozen=True):
    """Why the check refused ``source``, or its warnings."""

    diagnostics: tuple[Diagnostic, ...]
    source: str
    only_warnings: bool = False


class VariablesBlock(msgspec.Struct, frozen=True):
    """The plan's variables at a checkpoint."""

    checkpoint: Checkpoint


class PromptBlock(msgspec.Struct, frozen=True):
    """The messages of a model call, the template they come from, and the model that answered."""

    messages: list[Message]
    template: str
    model: str = ""


class PairsBlock(msgspec.Struct, frozen=True):
    """Names with values: the episode's identity, and its settings (shown on demand)."""

    facts: dict[str, str]
    settings: dict[str, Any]


class PictureBlock(msgspec.Struct, frozen=True):
    """A picture file that the episode recorded."""

    file: str


class ResultBlock(msgspec.Struct, frozen=True):
    """How the episode ended."""

    result: Result
    broken_off: bool


Block = (
    TextBlock
    | PlanBlock
    | FixesBlock
    | DiagnosticsBlock
    | VariablesBlock
    | PromptBlock
    | PairsBlock
    | PictureBlock
    | ResultBlock
)


class EventView(msgspec.Struct, frozen=True):
    """One event as displays show it. ``aside`` is its cost; ``title`` is empty if the blocks say everything."""

    title: str = ""
    tone: Tone = "plain"
    aside: str = ""
    blocks: tuple[Block, ...] = ()


class EventViewer:
    """Turns the events of an episode, in order, into views.

    ``plan`` is the plan before the first event, or None; ``begun`` are the calls that were open then.
    """

    def __init__(self, plan: str | None = None, begun: Iterable[events.CallBegun] = ()) -> None:
        self._plan, self._calls = plan, CallsByAnswer(begun)
        self._plans = [(-1, plan)]  # each with the event from which on it was the latest

    def view(self, event: Event) -> EventView:
        """The view of the next event."""
        call, plan = self._calls.take(event), self._plan
        self._note_plan(event)
        match event:
            case events.EpisodeStarted():
                return _episode_started_view(event)
            case events.EnvironmentReset():
                return EventView(blocks=(TextBlock("start", event.observation.text),))
            case events.EnvironmentRestored():
                return EventView(f"Back to the state after event {event.to}", "heading")
            case events.CallDecided() | events.ApprovalAnswered():
                return EventView(describe_decision(event), "quiet" if event.allowed else "warning")
            case events.DoubtDecided():
                return EventView(describe_decision(event), "warning")
            case events.CallRepeated():
                again = f"A call of {event.tool} is not made again: it gets the answer of call {event.of}"
                return EventView(again, "quiet")
            case events.CallBegun():
                return EventView("A call began", "quiet", blocks=(_call_block(event.call),))
            case events.CallAnswered():
                return _answer_view(call, event.answer)
            case events.TimePassed():
                return EventView(f"{event.seconds:g} s passed without an answer", "quiet")
            case events.ToolFailed():
                trace = (TextBlock("traceback", event.traceback),)  # on a terminal it stands on standard error
                return EventView(f"The tool {event.tool} failed: {event.error}", "bad", blocks=trace)
            case events.ValueJudged():
                return _verdict_view(event.verdict)
            case events.ModelCalled() | events.ModelCallFailed() | events.TextsEmbedded():
                return _model_view(event)
            case events.PlanDrafted() | events.PlanFixed() | events.PlanWarned() | events.PlanRejected():
                return _written_plan_view(event, plan)
            case events.PlanStarted():
                return _plan_started_view(event)
            case events.StepEntered():
                variables = VariablesBlock(event.checkpoint)
                return EventView(f"[Step {event.step}] {event.title}", "step", blocks=(variables,))
            case events.TextPrinted():
                return EventView(blocks=(TextBlock("output", event.text),))
            case events.PlanEnded():
                return outcome_text(event.outcome).view
            case events.SpanOpened():
                return EventView(f"{event.kind} {event.name}", "heading")
            case events.SkillsChosen():
                return _skills_view(event)
            case events.PictureSaved():
                return EventView(blocks=(PictureBlock(event.file),))
            case events.WarningIssued():
                return EventView(f"Warning: {event.message}", "warning")
            case events.EpisodeContinued():
                return EventView(f"The episode had ended ({event.ended}), and goes on", "heading")
            case events.TurnStarted():
                return _turn_view(event)
            case events.EpisodeEnded():
                return EventView(blocks=(ResultBlock(event.result, event.broken_off),))
            case events.SpanClosed() | events.ReplyWritten() | events.PlanOrigins():
                return EventView()
            case _:
                assert_never(event)

    def _note_plan(self, event: Event) -> None:
        """Keep which plan is the latest one after the event."""
        if isinstance(event, events.PlanDrafted | events.PlanFixed):
            self._plan = event.source
        elif isinstance(event, events.EnvironmentRestored):
            self._plan = next(source for seq, source in reversed(self._plans) if seq <= max(event.to, -1))
        else:
            return
        self._plans.append((event.seq, self._plan))


def _turn_view(event: events.TurnStarted) -> EventView:
    before = f"The turn before ended: {event.before.reason}"
    return EventView(f"Turn: {event.message}", "heading", blocks=(TextBlock("note", before),))


def _skills_view(event: events.SkillsChosen) -> EventView:
    names = ", ".join(f"{c.name} (version {c.version}, score {c.score:.2f})" for c in event.chosen)
    left_out = "".join(f"; not offered: {one}" for one in event.left_out)
    runs = "the model adapts it: its tools have changed" if event.changes else "runs without the model"
    sure = f"; the first knows this goal, and {runs}" if event.bound else ""
    return EventView(f"Skills for this task: {names or 'none fits'}{sure}{left_out}", "quiet")


def _part(event: Event) -> Part:
    match event:
        case events.PlanEnded():
            return outcome_text(event.outcome).part
        case events.PlanRejected() | events.ModelCallFailed() | events.ToolFailed() | events.WarningIssued():
            return "failures"
        case events.EnvironmentRestored():
            return "actions"
        case events.EnvironmentReset() | events.CallBegun() | events.CallAnswered() | events.TimePassed():
            return "actions"
        case events.CallDecided() | events.DoubtDecided() | events.ApprovalAnswered() | events.CallRepeated():
            return "actions"
        case events.ModelCalled() | events.TextsEmbedded() | events.ReplyWritten():
            return "model"
        case events.PlanDrafted() | events.PlanFixed() | events.PlanWarned() | events.PlanStarted():
            return "plans"
        case events.PlanOrigins():
            return "other"
        case events.StepEntered() | events.TextPrinted():
            return "plans"
        case events.EpisodeStarted() | events.EpisodeContinued() | events.TurnStarted() | events.EpisodeEnded():
            return "other"
        case events.SpanOpened() | events.SpanClosed():
            return "other"
        case events.ValueJudged() | events.SkillsChosen() | events.PictureSaved():
            return "other"
        case _:
            assert_never(event)


class OutcomeText(NamedTuple):
    """What a plan's outcome is called in JSON, its message there, its group of events, and its view."""

    status: str
    message: str
    part: Part
    view: EventView


def outcome_text(outcome: Outcome) -> OutcomeText:
    """All that displays say of an outcome."""
    match outcome:
        case Finished():
            return OutcomeText("finished", "", "plans", EventView("The plan ran to its end", "quiet"))
        case Failed(error="AssertionError", message=message):
            return OutcomeText("failed", message, "failures", _ended_view("An assertion failed", outcome, message))
        case Failed(error=error, message=message):
            view = _ended_view(f"The plan raised {error}", outcome, message)
            return OutcomeText("failed", f"{error}: {message}", "failures", view)
        case Stopped(limit=limit, message=message):
            title = f"The plan exceeded its limit {in_quotes(limit)} {_place(outcome)}"
            view = EventView(title, "bad", blocks=(TextBlock("failure", message),))
            return OutcomeText("stopped", message, "failures", view)
        case Replan(reason=reason):
            blocks = (TextBlock("note", reason), VariablesBlock(outcome.checkpoint))
            view = EventView(f"The plan asked to replan {_place(outcome)}", "start", blocks=blocks)
            return OutcomeText("replan", reason, "plans", view)
        case GiveUp(reason=reason):
            return OutcomeText("gave_up", reason, "failures", _ended_view("The plan gave up", outcome, reason))
        case _:
            assert_never(outcome)


OUTCOME_WORDS: Final = {
    "finished": "finished",
    "failed": "failed",
    "stopped": "stopped",
    "replan": "replanned",
    "give_up": "gave up",
}
"""An outcome in a word, by its tag in a trace."""


# ------------------------------------------------------------------ the views of single events


def _written_plan_view(
    event: events.PlanDrafted | events.PlanFixed | events.PlanWarned | events.PlanRejected, plan: str | None
) -> EventView:
    """The view of a plan, or of what the check found in it; ``plan`` is the source before."""
    match event:
        case events.PlanDrafted():
            title = f"Plan {event.number}{_ORIGINS.get(event.origin, '')}{_what_changed(event.steps)}"
            return EventView(title, "heading", blocks=(PlanBlock(event.number, event.source, plan),))
        case events.PlanFixed():
            fixed = FixesBlock(event.number, event.fixes, event.source)
            return EventView(f"The check mended plan {event.number}", "quiet", blocks=(fixed,))
        case events.PlanWarned():
            warnings = DiagnosticsBlock(event.warnings, plan or "", only_warnings=True)
            return EventView(f"The check accepted plan {event.number}, with warnings", "warning", blocks=(warnings,))
        case events.PlanRejected():
            faults = DiagnosticsBlock(event.diagnostics, plan or "")
            return EventView(f"Plan {event.number} was refused before any of it ran", "bad", blocks=(faults,))


def _what_changed(steps: tuple[int, ...] | None) -> str:
    """The steps in a reply that held only these, to be appended to a title."""
    if not steps:
        return ""
    named = ", ".join(map(str, steps[:_MAX_STEPS])) + (" …" if len(steps) > _MAX_STEPS else "")
    return f": {'steps' if len(steps) > 1 else 'step'} {named}"


def _ended_view(what: str, outcome: Failed | GiveUp, text: str) -> EventView:
    blocks = (TextBlock("failure", text), VariablesBlock(outcome.checkpoint))
    return EventView(f"{what} {_place(outcome)}", "bad", blocks=blocks)


def _place(outcome: Failed | Stopped | Replan | GiveUp) -> str:
    place = f"in step {outcome.step}" if outcome.step is not None else "outside all steps"
    return f"{place}, line {outcome.line}" if outcome.line is not None else place


def _plan_started_view(event: events.PlanStarted) -> EventView:
    if event.checkpoint is not None:
        names = ", ".join(event.restored) or "none"
        title = f"Plan {event.number} starts at step {event.start_from} with the given variables: {names}"
    elif event.restored or event.start_from > 1:
        names = ", ".join(event.restored) or "none"
        title = f"Plan {event.number} resumes at step {event.start_from} with its variables: {names}"
    else:
        title = f"Plan {event.number} runs from step {event.start_from}"
    dropped = "; ".join(f"{name} ({reason})" for name, reason in event.dropped.items())
    blocks: tuple[Block, ...] = (TextBlock("note", f"Not restored: {dropped}"),) if dropped else ()
    blocks += (VariablesBlock(event.checkpoint),) if event.checkpoint is not None else ()
    return EventView(title, "start", blocks=blocks)


def _model_view(event: events.ModelCalled | events.ModelCallFailed | events.TextsEmbedded) -> EventView:
    match event:
        case events.TextsEmbedded():
            title = f"{with_count(event.texts, 'text')} to the embedding model {event.model}"
            return EventView(title, "quiet", _cost(event.usage, event.seconds))
        case events.ModelCallFailed():
            title = f"The model was called to {describe_purpose(event.purpose)} and did not answer"
            failure = (TextBlock("failure", event.error), PromptBlock(event.messages, event.prompt))
            return EventView(title, "bad", _cost(event.usage, event.seconds), failure)
        case events.ModelCalled():
            done = event.completion
            prompt = PromptBlock(event.messages, event.prompt, done.model)
            asked = next((m["content"] for m in reversed(event.messages) if m["role"] == "user"), "")
            question = TextBlock("question", asked)
            texts = (question, TextBlock("answer", done.text)) if event.purpose == "ask" else ()
            cut = (TextBlock("note", f"finish reason: {done.finish_reason}"),) if done.finish_reason != "stop" else ()
            thoughts = (TextBlock("reasoning", done.reasoning),) if done.reasoning else ()
            blocks = (*thoughts, *(texts or (TextBlock("reply", done.text),)), prompt, *cut)
            aside = _cost(done.usage, event.seconds, done.retries)
            return EventView(f"The model was called to {describe_purpose(event.purpose)}", "quiet", aside, blocks)


def _answer_view(call: Call | None, answer: Answer) -> EventView:
    """The view of a call with its answer; ``call`` is None if the trace does not have it."""
    action = (_call_block(call),) if call else ()
    seen = answer.observation
    if seen is None:
        return EventView(
            blocks=(*action, TextBlock("observation", shown_answer(answer) or "''"), *_end_note(answer.done))
        )
    blocks = (*action, TextBlock("observation", seen.text), *_end_note(seen.done and not seen.success))
    return EventView(tone="good" if seen.success else "plain", blocks=blocks)


def _call_block(call: Call) -> TextBlock:
    return TextBlock("action", shown_call(call, _MAX_SHOWN, _MAX_SHOWN))


def _end_note(done: bool) -> tuple[TextBlock, ...]:
    return (TextBlock("note", "The environment says: done"),) if done else ()


def _verdict_view(verdict: Observation | None) -> EventView:
    if verdict is None:
        return EventView("Nobody verified the result", "warning")
    return EventView(tone="good" if verdict.success else "bad", blocks=(TextBlock("note", verdict.text),))


def _episode_started_view(event: events.EpisodeStarted) -> EventView:
    may_stay_silent = event.method == "exec" and event.model == "scripted"  # the user need not have named it
    model = "" if may_stay_silent else model_label(event.model)
    facts = {"Goal": event.task.goal, "Method": event.method, "Model": model}
    limits = {f"budget: {name}": value for name, value in msgspec.structs.asdict(event.budget).items()}
    settings = {**event.settings, **event.model_settings, **limits}
    known = {name: value for name, value in settings.items() if value is not None}
    pairs = PairsBlock({name: value for name, value in facts.items() if value}, known)
    return EventView(f"{event.task.env or 'task'} · {event.task.id}", "heading", blocks=(pairs,))


_MAX_STEPS = 20  # steps named in a title
_ORIGINS = {"check": ", repaired", "refine": ", refined"}


def _cost(usage: Usage, seconds: float, retries: int = 0) -> str:
    """The known ones of a call's tokens, money, time and retries."""
    if usage.input_tokens is None or usage.output_tokens is None:
        parts = ["tokens unknown"]
    else:
        parts = [f"{usage.input_tokens:,} in + {usage.output_tokens:,} out"]
    parts += [f"{usage.cached_tokens:,} cached"] if usage.cached_tokens else []
    parts += ["from the cache of replies"] if usage.reused_replies else []
    parts += [f"${usage.money:.4f}"] if usage.money else []
    return ", ".join([*parts, f"{seconds:.1f} s", *([f"retries: {retries}"] if retries else [])])


MAX_LINE: Final = 1000
"""Maximum number of characters of an event in a line."""


class EventRow(msgspec.Struct, frozen=True):
    """An event as one line of a list. ``number`` is its ``seq`` in the trace."""

    number: int
    part: Part
    text: str


def event_rows(recorded: Sequence[Event]) -> Iterator[EventRow]:
    """Yield the row of each event, in order. Reads the events twice, and keeps none of them.

    The ends of spans have none, nor have calls whose answer follows, nor a step's title that the plan prints again.
    """
    left_open = _calls_left_open(recorded)
    viewer = EventViewer()
    step_title = ""
    for event in recorded:
        if isinstance(event, events.StepEntered):
            step_title = f"[Step {event.step}] {event.title}"
        elif isinstance(event, events.TextPrinted) and event.text.strip() == step_title:
            continue
        row = EventRow(event.seq, _part(event), one_line(_text(viewer.view(event)), MAX_LINE))
        if not isinstance(event, SpanClosed) and not (isinstance(event, CallBegun) and event.id not in left_open):
            yield row


def _calls_left_open(recorded: Sequence[Event]) -> set[int]:
    """The calls that were begun and never answered."""
    left_open: set[int] = set()
    for event in events_of(recorded, CallBegun, CallAnswered):
        if isinstance(event, CallBegun):
            left_open.add(event.id)
        else:
            left_open.discard(event.id)
    return left_open


_SIGNS: Final = {"action": ">", "answer": "->", "observation": "->", "output": "|"}
_ENDS: Final = {"success": "Success", "claimed": "Claimed", "waiting": "Waiting", "failure": "Not solved"}


def _text(view: EventView) -> str:
    """The title and the texts of a view, without those that are shown on demand only."""
    line = view.title
    for sign, text in (part for block in view.blocks for part in _parts(block)):
        if sign == ";" or (sign == ":" and ": " in line):
            line = f"{line.removesuffix('.')};" if line else ""
        elif sign == ":":
            line += sign if line else ""
        else:
            text = f"{sign} {text}"
        line += f" {text}" if line else text
    return line


def _parts(block: Block) -> Iterator[tuple[str, str]]:
    """The texts of a block, each with the sign that separates it from what stands before."""
    match block:
        case TextBlock(role=role, text=text) if role not in ("reply", "reasoning", "traceback"):
            yield _SIGNS.get(role, ":"), text
        case PairsBlock(facts=facts):
            yield from ((";", f"{name}: {value}") for name, value in facts.items())
        case ResultBlock(result=result):
            yield ":", _ENDS[end_state(result)] + ("" if result.success else f": {result.reason}")
        case _:
            pass
