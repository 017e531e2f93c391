"""Resumes an episode from its trace, replays it offline, or forks it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from codeplan.budget import Budget
from codeplan.episode.method import Method
from codeplan.errors import UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.plugins import build, setting_specs
from codeplan.protocols import LLM, ActsForReal, Environment
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event, EventHandler, ModelCalled, PlanDrafted
from codeplan.recording.trace import Trace, write_trace
from codeplan.runner import telemetry
from codeplan.runner.arguments import require_handler, require_out
from codeplan.runner.environment_files import require_recorded
from codeplan.runner.new_episodes import TRACE_NAME
from codeplan.runner.recorded_settings import check_budget, choose_settings, main_model_name
from codeplan.runner.run_folders import find_trace
from codeplan.runner.setting_shares import accepted_settings
from codeplan.runner.setup import AnyEnvironment, EnvironmentToOpen, EpisodeSetup, OfflineModel
from codeplan.runner.start_state import recorded_start
from codeplan.runner.tool_setup import ToolSources, open_recorded_tools, require_same_tools
from codeplan.sandbox.language.extraction import in_fence
from codeplan.skills.stores import MissingStore
from codeplan.tools import ToolEnvironment
from codeplan.tools.approvals import Approver
from codeplan.tools.doubts import DoubtAsker, WayOn
from codeplan.tools.environment import ToolErrors
from codeplan.tools.mcp import DEFAULT_SECONDS, ServerAddress
from codeplan.tools.recorded_tools import recorded_environment
from codeplan.tools.verification import Verdict
from codeplan.types import Result
from codeplan.untrusted.values import in_quotes

PLAN_PURPOSES = ("plan", "check", "refine", "plan_text", "refine_text")
"""Purposes of the model calls whose answer is a plan."""


def resume(
    folder: Path | str,
    *,
    env: Environment | None = None,
    method: Method | None = None,
    model: LLM | ModelFunction | None = None,
    on_event: EventHandler | None = None,
    model_overrides: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
    tools: object = (),
    mcp: Iterable[str | ServerAddress] = (),
    mcp_config: Path | str | None = None,
    mcp_timeout: float = DEFAULT_SECONDS,
    verify: Callable[..., Verdict | Awaitable[Verdict]] | str | None = None,
    approve: Approver | None = None,
    allow: Iterable[str] = (),
    ask: Iterable[str] | None = None,
    deny: Iterable[str] = (),
    tool_errors: ToolErrors = "plan",
    in_doubt: WayOn | DoubtAsker = "stop",
    idempotent: Iterable[str] = (),
    **settings: Any,
) -> Result:
    """Finish an episode that was killed or interrupted; its trace in ``folder`` is continued.

    The same method runs again while the trace answers: the model is not asked again, and no budget is spent twice. Then
    the environment is reset, repeats the recorded actions, and the episode goes on. An episode that has ended does not
    run: ``on_event`` gets its end, and its result is returned; a recorded success must be confirmed by ``verify``, if
    you give one together with the tools. ``env``, ``method`` and ``model`` are required if the
    episode had objects instead of names.

    A trace may come from a stranger, so only harmless settings are taken from it. ``settings`` override them.
    ``model_overrides`` say how this machine reaches models: addresses, keys' names, retries. The budget is as recorded,
    and must not exceed ``budget`` (default: that of ``run``).

    An episode with tools continues in the present state of the world: the trace answers the recorded calls, and only
    calls that were never made are made. Its tools are never taken from the trace: ``tools`` to ``tool_errors`` are as
    for ``do``. If the episode was ended during a call, that call may have been done. Then ``in_doubt`` says what to
    do: ``"stop"``, ``"retry"`` (make it again), ``"skip"`` (the plan gets an OSError in its place), or a function
    ``in_doubt(tool, arguments)``, sync or async, that returns one of these. Calls of tools whose names fit a pattern
    in ``idempotent`` are made again in any case.

    Raises:
        UsageError: there is no such trace, its episode is still running, its header is damaged, or it needs a setting,
            a budget or tools that are not taken from a trace; the message names them.
        CallInDoubt: the episode was ended during a call of a tool, and the decision is to stop.
        Diverged: the method or the environment does not repeat what was recorded.
    """
    sources = ToolSources(
        tools=tools,
        mcp=mcp,
        mcp_config=mcp_config,
        mcp_timeout=mcp_timeout,
        verify=verify,
        approve=approve,
        allow=allow,
        ask=ask,
        deny=deny,
        tool_errors=tool_errors,
        in_doubt=in_doubt,
        idempotent=idempotent,
    )
    require_handler(on_event)
    path = find_trace(folder)
    trace = Trace.resume(path, telemetry.with_telemetry(on_event))
    with closing(trace):
        header = _header(trace.recording, folder)
        end = trace.recording[-1]
        if isinstance(end, EpisodeEnded):
            if end.result.success and verify is not None and header.env == ToolEnvironment.name:
                live = _live_environment(header, env, sources, path.parent)
                _confirm_success(header, trace.recording, live, method=method, settings=settings)
            if on_event:
                on_event(end)
            return end.result
        live = _live_environment(header, env, sources, path.parent)
        with _recorded_setup(
            header, trace.recording, live, method, model, settings, model_overrides or {}, budget or Budget()
        ) as setup:
            return setup.run(header, trace)


def replay(
    folder: Path | str,
    *,
    env: Environment | None = None,
    method: Method | None = None,
    on_event: EventHandler | None = None,
    **settings: Any,
) -> Result:
    """Repeat a recorded episode offline: the trace answers for the environment and for the model.

    Returns the result if every event equals the recorded one. ``env``, ``method`` and ``settings`` as for ``resume``;
    the header of an episode with tools describes them, so it needs no ``env``.

    Raises: Diverged: an event differs from the recording, or the recording has no end.
    """
    require_handler(on_event)
    recording = Trace.read_resumable(find_trace(folder))
    header = _header(recording, folder)
    with _recorded_setup(header, recording, env, method, _silent_model(header, recording), settings, {}) as setup:
        return setup.replay(recording, on_event)


def fork(
    folder: Path | str,
    at: int,
    out: Path | str,
    *,
    plan: str | None = None,
    answer: str | None = None,
    env: Environment | None = None,
    method: Method | None = None,
    model: LLM | ModelFunction | None = None,
    on_event: EventHandler | None = None,
    model_overrides: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
    **settings: Any,
) -> Result:
    """Branch off from a recorded episode at event ``at``, into a new episode in the folder ``out``.

    Everything before ``at`` is as recorded, everything after it is live. With ``plan``, this plan answers the first
    call from ``at`` on that asked for one; with ``answer``, this text answers the first call of any purpose. Otherwise
    as ``resume``.

    Raises: UsageError: there is no such event or call, or as for ``resume``.
    """
    require_out(out)
    require_handler(on_event)
    recording = Trace.read(find_trace(folder))
    header = _header(recording, folder)
    if header.env == ToolEnvironment.name or isinstance(env, ActsForReal):
        raise UsageError(
            f"an episode in the environment {in_quotes(header.env)} has no branches: its actions are real, and those "
            "that a branch would leave out are done"
        )
    if not 1 <= at < len(recording):
        what = f"the events 1 to {len(recording) - 1}" if len(recording) > 1 else "only its first event, 0"
        raise UsageError(f"there is no event {at} to branch off at; {folder} has {what}")
    branch = _branch(recording, at, plan, answer)
    with _recorded_setup(
        header, branch, env, method, model, settings, model_overrides or {}, budget or Budget()
    ) as setup:
        write_trace(Path(out) / TRACE_NAME, branch)
        with closing(Trace.resume(Path(out) / TRACE_NAME, telemetry.with_telemetry(on_event))) as trace:
            return setup.run(header, trace)


def _confirm_success(header: EpisodeStarted, recording: list[Event], env: AnyEnvironment | None, **given: Any) -> None:
    """Have the user's verifier judge the value of an episode that has ended; the trace answers everything else.

    Raises: Diverged: it does not confirm the recorded success, or the recording has another end than it leads to.
    """
    model = _silent_model(header, recording)
    with _recorded_setup(header, recording, env, model=model, overrides={}, budget=header.budget, **given) as setup:
        setup.run(header, Trace(recording=recording))


def _live_environment(
    header: EpisodeStarted, env: Environment | None, sources: ToolSources, folder: Path
) -> AnyEnvironment | None:
    """The environment object in which the episode continues; None if its name is enough."""
    if header.env != ToolEnvironment.name and (sources.name_tools or sources.verify is not None):
        raise UsageError(
            f"the environment {in_quotes(header.env)} of the episode takes neither tools nor a verifier; leave them out"
        )
    if env is not None and sources.name_tools:
        raise UsageError("give an environment or tools, not both")
    if header.env == ToolEnvironment.name and env is None:
        return EnvironmentToOpen(open_recorded_tools(header, sources, folder))
    if isinstance(env, ToolEnvironment):
        require_same_tools(header.tools, env.described_tools)
    return env


def _branch(recording: list[Event], at: int, plan: str | None, answer: str | None) -> list[Event]:
    """The events that the branch begins with."""
    if plan is None and answer is None:
        return recording[:at]
    if plan is not None and answer is not None:
        raise UsageError("a branch takes a plan or an answer, not both")
    for i, event in enumerate(recording[at:], at):
        if isinstance(event, ModelCalled) and (plan is None or event.purpose in PLAN_PURPOSES):
            text = answer if plan is None else in_fence(plan)
            completion = replace(event.completion, text=text or "")
            return [*recording[:i], replace(event, completion=completion, cut_from=0)]
    raise UsageError(f"no model call follows event {at} that could be answered otherwise; branch off earlier")


def _header(recording: list[Event] | tuple[Event, ...], folder: Path | str) -> EpisodeStarted:
    if not recording or not isinstance(recording[0], EpisodeStarted):
        raise UsageError(f"the trace in {folder} has no header; it cannot run again")
    return recording[0]


def _silent_model(header: EpisodeStarted, recording: list[Event]) -> OfflineModel:
    """The model of a replay, named as at the episode's end: a resumed episode may continue with another model."""
    end = recording[-1]
    return OfflineModel((isinstance(end, EpisodeEnded) and end.result.model) or header.model)


def _recorded_setup(
    header: EpisodeStarted,
    recording: list[Event] | tuple[Event, ...],
    env: AnyEnvironment | None,
    method: Method | None,
    model: LLM | ModelFunction | None,
    settings: dict[str, Any],
    overrides: Mapping[str, Any],
    budget: Budget | None = None,
) -> EpisodeSetup:
    """What the header names, or what is given instead. ``budget`` is None for a replay."""
    live = budget is not None
    if budget is not None:
        check_budget(header.budget, budget)
    if not live and env is None and header.env == ToolEnvironment.name and header.tools:
        env = recorded_environment(header.task.goal, header.tools, header.tools_doc)
    if env is None:
        require_recorded(header.env)
    is_exec = header.method == FixedPlan.name and method is None
    if live and model is None and header.env == ToolEnvironment.name and not header.model_settings:
        raise UsageError(
            f"the model {in_quotes(header.model)} of the episode is a function or an object of yours, which is never "
            "taken from a trace; name it again: --model FILE.py:NAME"
        )
    participants: dict[str, Any] = {"env": env or header.env, "model": model or main_model_name(header)}
    participants["method"] = FixedPlan if is_exec else method or header.method
    chosen = choose_settings(header, participants, settings, overrides, live=live)
    if is_exec:
        participants["method"] = _recorded_plan(recording, chosen)
    if not live and isinstance(participants["method"], str):
        chosen |= _missing_library(header, participants["method"], chosen)
    return EpisodeSetup(**participants, settings=chosen)


def _missing_library(header: EpisodeStarted, method: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The store that replaces a replayed episode's skill library: the recording has the skills that the episode
    chose.
    """
    recorded = header.settings.get("library")
    if recorded is None or "library" in chosen or "library" not in accepted_settings({"method": method})["method"]:
        return {}
    return {"library": MissingStore("the library of the recording")}


def _recorded_plan(recording: list[Event] | tuple[Event, ...], settings: dict[str, Any]) -> FixedPlan:
    """The plan of an episode without planning; takes its own settings out of the ``settings``."""
    source = next((e.source for e in recording if isinstance(e, PlanDrafted)), None)
    if source is None:
        raise UsageError("the episode ended before its plan was recorded; run it again")
    own = {s.name: settings.pop(s.name) for s in setting_specs(FixedPlan) if s.trust and s.name in settings}
    state = recorded_start(recording) if "start_from" in own else None
    plan: FixedPlan = build(FixedPlan, {"source": source, "checkpoint": state, **own}, "the method exec")
    return plan
