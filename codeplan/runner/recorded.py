"""What can be done with the trace of an episode: go on where it died, do it again offline, branch off from it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from codeplan.episode.method import Method
from codeplan.errors import UsageError
from codeplan.llm import endpoint
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.protocols import LLM, Environment
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event, EventHandler, ModelCalled, PlanDrafted
from codeplan.recording.trace import Trace, write_trace
from codeplan.runner import telemetry
from codeplan.runner.live import TRACE_NAME
from codeplan.runner.setup import EpisodeSetup, OfflineModel, accepted_settings
from codeplan.sandbox.limits import Limits
from codeplan.skills.stores import MissingStore
from codeplan.types.result import Result

LOCAL_ONLY_SETTINGS = frozenset({"allow_weak_sandbox", "browser"})
"""Settings that are never taken from a trace, which may be somebody else's: what guards this machine, and what it
starts, is said by whoever runs it."""

PLAN_PURPOSES = ("plan", "check", "refine", "plan_text", "refine_text")
"""Purposes of the model calls that are answered with a plan."""


def resume(
    folder: Path | str,
    *,
    env: Environment | None = None,
    method: Method | None = None,
    model: LLM | None = None,
    on_event: EventHandler | None = None,
    model_overrides: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Result:
    """Finish an episode that died or was interrupted; the trace in ``folder`` is written on.

    The same method runs again while the trace answers, so the model is asked nothing that it answered, and no budget is
    spent twice; then the environment is reset, the recorded actions are played into it, and the episode goes on. One
    that had ended is not run: its end is told to ``listen``, its result returned. ``env``, ``method`` and ``model`` are
    needed where the episode had objects rather than names; ``settings`` (a key, say) go before the recorded ones, and
    so do those of ``beside`` that the model takes.

    Raises UsageError where there is no such trace or its episode still runs, and where the key that is found would go
    to an address that the trace alone names; Diverged where the method or the world does something else than was
    recorded.
    """
    trace = Trace.resume(Path(folder) / TRACE_NAME, telemetry.with_telemetry(on_event))
    with closing(trace):
        header = _header(trace.recording, folder)
        end = trace.recording[-1]
        if isinstance(end, EpisodeEnded):
            if on_event:
                on_event(end)
            return end.result
        with _recorded_setup(header, trace.recording, env, method, model, settings, model_overrides or {}) as cast:
            return cast.run(header, trace)


def replay(
    folder: Path | str,
    *,
    env: Environment | None = None,
    method: Method | None = None,
    on_event: EventHandler | None = None,
    **settings: Any,
) -> Result:
    """Do a recorded episode again, offline: the trace answers for the world and for the model, which are never touched.

    Returns the result when every event is the recorded one; raises Diverged with the first difference otherwise, and
    where the recording breaks off before its end. ``env``, ``method`` and ``settings`` as for ``resume``.
    """
    recording = Trace.read_resumable(Path(folder) / TRACE_NAME)
    header = _header(recording, folder)
    with _recorded_setup(header, recording, env, method, OfflineModel(header.model), settings, {}) as cast:
        return cast.replay(recording, on_event)


def fork(
    folder: Path | str,
    at: int,
    out: Path | str,
    *,
    plan: str | None = None,
    answer: str | None = None,
    env: Environment | None = None,
    method: Method | None = None,
    model: LLM | None = None,
    on_event: EventHandler | None = None,
    model_overrides: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Result:
    """Branch off from a recorded episode at event ``at`` into a new one in the folder ``out``.

    What came before ``at`` is as it was; from there on all is live. With ``plan``, the first model call from ``at`` on
    that was to write a plan is answered with this plan; with ``answer``, the first of any purpose is answered with this
    text. The rest as for ``resume``; raises UsageError where there is no such event or call.
    """
    recording = Trace.read(Path(folder) / TRACE_NAME)
    header = _header(recording, folder)
    if not 1 <= at < len(recording):
        raise UsageError(f"there is no event {at} to branch off at; {folder} has the events 1 to {len(recording) - 1}")
    branch = _branch(recording, at, plan, answer)
    with _recorded_setup(header, branch, env, method, model, settings, model_overrides or {}) as cast:
        write_trace(Path(out) / TRACE_NAME, branch)
        with closing(Trace.resume(Path(out) / TRACE_NAME, telemetry.with_telemetry(on_event))) as trace:
            return cast.run(header, trace)


def _branch(recording: list[Event], at: int, plan: str | None, answer: str | None) -> list[Event]:
    """The events that the branch begins with."""
    if plan is None and answer is None:
        return recording[:at]
    if plan is not None and answer is not None:
        raise UsageError("a branch takes a plan or an answer, not both")
    for i, event in enumerate(recording[at:], at):
        if isinstance(event, ModelCalled) and (plan is None or event.purpose in PLAN_PURPOSES):
            text = answer if plan is None else _fenced(plan)
            return [*recording[:i], replace(event, completion=replace(event.completion, text=text or ""))]
    raise UsageError(f"no model call follows event {at} that could be answered otherwise; branch off earlier")


def _fenced(plan: str) -> str:
    """The plan as a model writes it, in a fence longer than any in the plan itself."""
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", plan))])
    return f"{fence}python\n{plan}\n{fence}"


def _header(recording: list[Event] | tuple[Event, ...], folder: Path | str) -> EpisodeStarted:
    if not recording or not isinstance(recording[0], EpisodeStarted):
        raise UsageError(f"the trace in {folder} has no beginning; it cannot be run again")
    return recording[0]


def _recorded_setup(
    header: EpisodeStarted,
    recording: list[Event] | tuple[Event, ...],
    env: Environment | None,
    method: Method | None,
    model: LLM | None,
    settings: dict[str, Any],
    beside: Mapping[str, Any],
) -> EpisodeSetup:
    """The cast that the header names, or that is given in its place."""
    recorded = {n: v for n, v in header.settings.items() if n not in LOCAL_ONLY_SETTINGS}
    if "limits" in recorded and isinstance(recorded["limits"], dict):
        recorded["limits"] = Limits(**recorded["limits"])
    if header.method == FixedPlan.name and method is None:
        method = _recorded_plan(recording)
    who: dict[str, Any] = {"env": env or header.env, "method": method or header.method}
    who["model"] = model or _main_model_name(header)
    taken = accepted_settings(who)
    known = {n: v for n, v in recorded.items() if any(n in names for names in taken.values())}
    if "library" in taken["method"] and "library" in known:
        known["library"] = _resolve_library(known["library"], live=not isinstance(model, OfflineModel))
    known |= {n: v for n, v in beside.items() if n in taken["model"]}
    known |= settings
    if "base_url" in taken["model"] and "base_url" not in known:
        known |= _recorded_address(header, known)
    return EpisodeSetup(**who, settings=known)


def _resolve_library(recorded: object, *, live: bool) -> object:
    """The skill library that the episode had, or, where that is not here or nothing is live, one in its place."""
    here = live and isinstance(recorded, str) and Path(recorded).is_dir()
    return recorded if here or recorded is None else MissingStore(str(recorded))


def _main_model_name(header: EpisodeStarted) -> str:
    """The main model's name; ``header.model`` also names the models for other purposes."""
    return str(header.model_settings.get("main_model", header.model))


def _recorded_address(header: EpisodeStarted, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Where the model was asked, unless the environment names another address today.

    A trace may come from anywhere: the key that is found on this machine goes to no address that it alone names.
    """
    recorded = header.model_settings.get("base_url")
    if recorded in (None, endpoint.OPENAI_URL) or endpoint.resolve_base_url() != endpoint.OPENAI_URL:
        return {}
    variable = str(settings.get("key_variable", "OPENAI_API_KEY"))
    if "api_key" not in settings and os.environ.get(variable):
        raise UsageError(
            f"the trace names {recorded} as the model's endpoint; say so by --base-url {recorded}, or in the settings, "
            f"for the key in {variable} to be sent there"
        )
    return {"base_url": recorded}


def _recorded_plan(recording: list[Event] | tuple[Event, ...]) -> FixedPlan:
    source = next((e.source for e in recording if isinstance(e, PlanDrafted)), None)
    if source is None:
        raise UsageError("the episode died before its plan was recorded; run it anew")
    return FixedPlan(source)
