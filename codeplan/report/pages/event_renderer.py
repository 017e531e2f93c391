"""Events as what a page shows of them: plain data, every text visible and bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codeplan.recording.events import (
    ActionTaken,
    EnvironmentReset,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    ModelCalled,
    ModelCallFailed,
    PictureSaved,
    PlanDrafted,
    PlanFailed,
    PlanFinished,
    PlanRejected,
    PlanStarted,
    PlanStopped,
    SkillsChosen,
    SpanClosed,
    SpanOpened,
    StepEntered,
    TextPrinted,
    TextsEmbedded,
    WarningIssued,
)
from codeplan.report.json_output import to_plain_data
from codeplan.report.pages.plan_text import diff_rows, plan_layout
from codeplan.report.pages.trace_index import UnreadableEvent
from codeplan.report.pages.variable_text import dropped_variables, variable_texts
from codeplan.report.pages.visible_text import clip, label
from codeplan.types.model import Message, Usage
from codeplan.types.plan import Checkpoint

_VARIABLE_CHARACTERS = 2000
_MAX_NAMES = 200

EventItem = dict[str, Any]
PictureAddress = Callable[[int, str], str | None]
"""The address of a picture, from the event's number and its file; None where it cannot be shown."""


class EventRenderer:
    """Tells the events of one stretch of an episode, in order.

    ``most`` is how many characters of one text are shown. ``plan`` is the source of the plan before the first event,
    or None; what changed is told against the latest plan and the latest checkpoint.
    """

    def __init__(
        self, picture: PictureAddress, max_characters: int, started: float = 0.0, plan: str | None = None
    ) -> None:
        self._picture, self._most, self._started, self._plan = picture, max_characters, started, plan
        self._known: dict[str, str] = {}

    def render(self, number: int, event: Event | UnreadableEvent) -> EventItem:
        """What the page shows of the event with this number."""
        if isinstance(event, UnreadableEvent):
            return {"n": number, "event": "unreadable", "reason": label(event.reason), "size": event.size}
        item: EventItem = {"n": number, "event": event.__struct_config__.tag, "at": round(event.at - self._started, 3)}
        if event.span is not None:
            item["span"] = event.span
        item |= self._told(number, event)
        return item

    def _told(self, number: int, event: Event) -> EventItem:
        match event:
            case ModelCalled() | ModelCallFailed():
                return self._call(event)
            case PlanDrafted():
                return self._drafted(event)
            case PlanRejected():
                return {
                    "plan": event.number,
                    "diagnostics": [visible_data(to_plain_data(d)) for d in event.diagnostics[:50]],
                }
            case PlanStarted() | StepEntered() | PlanFailed() | PlanStopped() | PlanFinished():
                return self._ran(event)
            case PictureSaved():
                return {"file": label(event.file), "picture": self._picture(number, event.file)}
            case _:
                return self._plain(event)

    def _plain(self, event: Event) -> EventItem:
        match event:
            case EpisodeStarted():
                about = {
                    "settings": event.settings,
                    "model": event.model_settings,
                    "budget": to_plain_data(event.budget),
                }
                return {"task": visible_data(to_plain_data(event.task)), **visible_data(about)}
            case EnvironmentReset():
                return {"text": self._clip(event.observation.text)}
            case ActionTaken():
                seen = event.observation
                told: EventItem = {"action": self._clip(event.action), "text": self._clip(seen.text)}
                return told | _given(done=seen.done, success=seen.success, reward=seen.reward, seconds=event.seconds)
            case TextPrinted():
                return {"text": self._clip(event.text)}
            case SpanOpened():
                return {"id": event.id, "kind": label(event.kind), "name": label(event.name)}
            case SpanClosed():
                return {"id": event.id}
            case SkillsChosen():
                chosen = [[label(c.name), c.version, round(c.score, 3)] for c in event.chosen[:50]]
                return {"purpose": event.purpose, "chosen": chosen}
            case TextsEmbedded():
                about = {"model": label(event.model), "texts": event.texts, "seconds": round(event.seconds, 3)}
                return about | _usage(event.usage)
            case WarningIssued():
                return {"text": self._clip(event.message)}
            case EpisodeEnded():
                about = {"success": event.result.success, "broken_off": event.broken_off}
                return about | {"text": self._clip(event.result.reason)}
            case _:
                return {}

    def _call(self, event: ModelCalled | ModelCallFailed) -> EventItem:
        told: EventItem = {
            "purpose": event.purpose,
            "messages": [self._message(m) for m in event.messages],
            "seconds": round(event.seconds, 3),
            "prompt": label(event.prompt),
        }
        if isinstance(event, ModelCallFailed):
            return told | {"error": self._clip(event.error)} | _usage(event.usage)
        answer = event.completion
        about = _given(model=label(answer.model), retries=answer.retries)
        return (
            told
            | {"answer": self._clip(answer.text), "finish": label(answer.finish_reason)}
            | about
            | _usage(answer.usage)
        )

    def _message(self, message: Message) -> list[Any]:
        return [label(message["role"], 20), self._clip(message["content"])]

    def _drafted(self, event: PlanDrafted) -> EventItem:
        told: EventItem = {"plan": event.number, "origin": event.origin, **plan_layout(event.source)}
        if self._plan is not None:
            told["diff"] = diff_rows(self._plan, event.source)
        self._plan = event.source
        return told

    def _ran(self, event: PlanStarted | StepEntered | PlanFailed | PlanStopped | PlanFinished) -> EventItem:
        match event:
            case PlanStarted():
                lost = {label(n): label(why) for n, why in list(event.dropped.items())[:_MAX_NAMES]}
                restored = [label(n, 80) for n in event.restored[:_MAX_NAMES]]
                return {"plan": event.number, "start_from": event.start_from, "restored": restored, "dropped": lost}
            case StepEntered():
                return {"step": event.step, "title": label(event.title)} | self._state(event.checkpoint)
            case PlanFailed():
                where: EventItem = {"step": event.step, "line": event.line, "error": label(event.error)}
                return where | {"message": self._clip(event.message)} | self._state(event.checkpoint)
            case PlanStopped():
                where = {"step": event.step, "line": event.line, "limit": label(event.limit)}
                return where | {"message": self._clip(event.message)}
            case PlanFinished():
                return {"step": event.step}

    def _state(self, checkpoint: Checkpoint) -> EventItem:
        """The variables as [name, text, whether it is new or another than at the checkpoint before]."""
        now = variable_texts(checkpoint, min(_VARIABLE_CHARACTERS, self._most))
        names = list(now)[:_MAX_NAMES]
        told: EventItem = {"variables": [[name, now[name], self._known.get(name) != now[name]] for name in names]}
        if len(now) > len(names):
            told["more"] = len(now) - len(names)
        self._known = now
        return told | _given(dropped=dict(list(dropped_variables(checkpoint).items())[:_MAX_NAMES]))

    def _clip(self, text: str) -> Any:
        return clip(text, self._most)


def visible_data(value: Any) -> Any:
    """Plain data with every text in it visible and on one line."""
    if isinstance(value, str):
        return label(value, 2000)
    if isinstance(value, dict):
        return {label(str(k), 100): visible_data(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [visible_data(v) for v in value]
    return value


def _usage(usage: Usage) -> EventItem:
    """Tokens in and out, of which cached and reasoning, and US dollars; what is not known is left out."""
    counts = {"cached": usage.cached_tokens, "reasoning": usage.reasoning_tokens}
    known = {"input": usage.input_tokens, "output": usage.output_tokens, "money": usage.money}
    return {"usage": _given(**counts) | {name: n for name, n in known.items() if n is not None}}


def _given(**values: Any) -> EventItem:
    """The values that say something: neither zero nor empty."""
    return {name: value for name, value in values.items() if value}
