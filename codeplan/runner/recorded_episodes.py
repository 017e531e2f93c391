"""Resumes an episode from its trace, replays it offline, or forks it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from codeplan import plugins
from codeplan.budget import Budget
from codeplan.episode.method import Method
from codeplan.errors import UsageError
from codeplan.flows import Flows
from codeplan.llm import endpoint
from codeplan.llm.callable_model import ModelFunction
from codeplan.llm.routing import ROUTES
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.plugins import MAX_FOREIGN_CHARS, SettingSpec, build, is_secret_name, setting_specs
from codeplan.protocols import LLM, ActsForReal, BaseEnvironment, Environment
from codeplan.recording.event_log import MAX_EVENT_BYTES, JoinedEvents, events_of, limits_changed_since
from codeplan.recording.events import (
    ApprovalAnswered,
    CallBegun,
    CallDecided,
    CallRepeated,
    CallsByAnswer,
    CarriedAnswer,
    DoubtDecided,
    EpisodeContinued,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventHandler,
    ModelCalled,
    PlanDrafted,
    ToolFailed,
    TurnStarted,
    WarningIssued,
    answered_calls,
)
from codeplan.recording.trace import Trace, asks_user, write_trace
from codeplan.runner import models, telemetry
from codeplan.runner.approval_answers import take_answer
from codeplan.runner.environment_files import require_recorded
from codeplan.runner.episodes import TRACE_NAME, find_trace
from codeplan.runner.setup import (
    AnyEnvironment,
    EnvironmentToOpen,
    EpisodeSetup,
    OfflineModel,
    accepted_settings,
    require_handler,
    require_out,
)
from codeplan.runner.start_state import recorded_start, verify_checkpoint
from codeplan.runner.tools import (
    ToolSources,
    latest_turn,
    open_recorded_tools,
    require_same_returns,
    require_same_tools,
    with_type,
    with_typed_value,
)
from codeplan.sandbox.language.extraction import in_fence
from codeplan.skills.library import MissingStore
from codeplan.tools import ToolEnvironment
from codeplan.tools.approvals import Approver, Asker, DoubtAsker, DoubtRules, User, WayOn, longest_match
from codeplan.tools.environment import ToolErrors, Verdict, recorded_environment
from codeplan.tools.failures import unknown_answer
from codeplan.tools.mcp import DEFAULT_SECONDS, ServerAddress
from codeplan.tools.tool import ErrorTest
from codeplan.types import BudgetSpent, GaveUp, NoProgress, NotSolved, Refused, Result, TraceFull
from codeplan.untrusted.texts import parser_reason
from codeplan.untrusted.values import in_quotes

MODEL_NAMES = (*ROUTES, "embeddings")
"""Settings that name a model. A recorded name is used at the endpoint that the user configured, if there is one."""

_ADDRESS_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_MAX_SHOWN = 80


class _RecordedRoute(msgspec.Struct):
    """A header's data about the model of one purpose."""

    model: str


class _RecordedModel(msgspec.Struct):
    """The part of a header's data about its model that codeplan reads."""

    main_model: str | None = None
    base_url: str | None = None
    routes: dict[str, _RecordedRoute] = {}


def main_model_name(header: EpisodeStarted) -> str:
    """The main model's name; ``header.model`` also names the models for other purposes.

    Raises: UsageError: the header's model settings are malformed, or the name has an address in it.
    """
    _recorded_model(header)
    name = recorded_model_name(header)
    if not _is_plain_name(name):
        raise UsageError(f"the trace names the model {in_quotes(name)}; a model from a trace has a plain name")
    return name


def choose_settings(
    header: EpisodeStarted,
    participants: Mapping[str, object],
    given: Mapping[str, Any],
    configured: Mapping[str, Any],
    *,
    live: bool,
) -> dict[str, Any]:
    """The settings of an episode that continues from a recording, or replays it (not ``live``).

    ``participants`` are ``env``, ``method`` and ``model``, by name, as objects, or FixedPlan as a class. ``given`` are
    the user's settings for this episode. Of the settings that are ``configured`` for models, the trusted ones apply,
    and so does a recordable one that equals the recorded value. Raises: UsageError: the recording sets an unknown
    setting or a wrong value, or a setting that only the user can set and has not set.
    """
    accepted = {name: spec for part, who in participants.items() for name, spec in _specs(part, who).items()}
    configured = {n: v for n, v in configured.items() if _is_usable(accepted.get(n), v, header.settings.get(n))}
    named = {"env": header.env, "method": header.method, "model": recorded_model_name(header)}
    replaced = {part for part, who in participants.items() if not isinstance(who, str)}
    chosen: dict[str, Any] = {}
    missing: dict[str, Any] = {}
    # any other model is the user's own, or has an address, which is configured or missing
    offline = participants["model"] == "scripted" and not _names_endpoint()
    for name, value in _with_address(header, accepted, live).items():
        if name in given or name in configured:
            continue
        if name not in accepted:
            _check_known(name, named, replaced)
            continue
        accepted[name].check(value, "the trace")
        if _may_take(accepted[name], value, live=live, offline=offline):
            chosen[name] = value
        elif _must_repeat(accepted[name], value, live):
            missing[name] = _without_defaults(accepted[name], value)
    if missing:
        raise UsageError(_missing_message(missing))
    return {**chosen, **configured, **given}


def check_budget(recorded: Budget, own: Budget) -> None:
    """Check that a live episode's recorded budget stays within the user's own.

    Raises: UsageError: a limit exceeds the user's.
    """
    exceeded = {
        name: (limit, most)
        for name in Budget.__struct_fields__
        if (most := getattr(own, name)) is not None and ((limit := getattr(recorded, name)) is None or limit > most)
    }
    if exceeded:
        limits = ", ".join(f"{name}={_limit_text(r)} (yours: {m:g})" for name, (r, m) in exceeded.items())
        options = (budget_option(name, limit) for name, (limit, _) in exceeded.items())
        ways = " ".join(f"the variable {o}" if o.startswith("CODEPLAN") else o for o in options)
        raise UsageError(f"the budget in the trace exceeds your own: {limits}; allow it with {ways}")


def _limit_text(limit: float | None) -> str:
    return "unlimited" if limit is None else str(limit)


def budget_option(name: str, limit: float | None) -> str:
    """What sets a limit of the budget: an option, or a variable of the environment."""
    text = "null" if limit is None else f"{limit:g}" if limit < 1e6 else str(limit)
    if name == "refinements":
        return f"CODEPLAN_BUDGET_REFINEMENTS={text}"
    return f"--max-{name.replace('_', '-')} {text}"


def _recorded_model(header: EpisodeStarted) -> _RecordedModel:
    try:
        return msgspec.convert(header.model_settings, _RecordedModel)
    except msgspec.ValidationError as e:
        raise UsageError(f"the trace's header is damaged: its model_settings: {parser_reason(e)}") from None


def recorded_model_name(header: EpisodeStarted) -> str:
    """The main model's name as the header has it; it may be anything."""
    name = header.model_settings.get("main_model")
    return name if isinstance(name, str) else header.model


def _specs(part: str, who: object) -> dict[str, SettingSpec]:
    """The settings of a participant that is given by name; for FixedPlan, its declared settings."""
    if who is FixedPlan:
        return {spec.name: spec for spec in plugins.setting_specs(FixedPlan) if spec.trust}
    if not isinstance(who, str):
        return {}
    if part == "model":
        found = models.setting_specs(who)
    else:
        found = plugins.setting_specs(
            plugins.load_factory("codeplan.envs" if part == "env" else "codeplan.methods", who)
        )
    return {spec.name: spec for spec in found}


def _is_usable(spec: SettingSpec | None, configured: object, recorded: object) -> bool:
    """Whether a configured setting applies to the episode: it is trusted, or confirms what was recorded."""
    if spec is None:
        return False
    return spec.trust == "trusted" or (spec.trust == "recordable" and configured == recorded)


def _names_endpoint() -> bool:
    """Whether a variable of the user names the models' endpoint."""
    return any(os.environ.get(name) for name in _ADDRESS_VARIABLES)


def _with_address(header: EpisodeStarted, accepted: Mapping[str, SettingSpec], live: bool) -> dict[str, Any]:
    """The recorded settings, with the model's address if the user's environment variables name none."""
    recorded = dict(header.settings)
    address = recorded.pop("base_url", None) or _recorded_model(header).base_url
    if live and "base_url" in accepted and not _names_endpoint():
        recorded["base_url"] = address or endpoint.OPENAI_URL
    return recorded


def _check_known(name: str, named: Mapping[str, str], replaced: set[str]) -> None:
    """Raise UsageError for a recorded setting that no participant accepts, unless an object may have replaced the
    participant that accepted it.
    """
    known = {n for part, who in named.items() if part not in replaced for n in _specs(part, who)}
    if "model" in replaced:
        known |= {*_specs("model", named["model"])}
    if name not in known and replaced <= {"model"}:
        suggestion = plugins.suggest_names(name[:_MAX_SHOWN], known)
        raise UsageError(f"the trace has the setting {in_quotes(name)}, which does not exist here; {suggestion}")


def _may_take(spec: SettingSpec, value: object, *, live: bool, offline: bool) -> bool:
    """Whether a recorded value applies. ``offline``: the user has named no endpoint for a recorded model's name."""
    if spec.trust == "recordable" and spec.name in MODEL_NAMES and live:
        return value in (None, "scripted") or (not offline and _is_plain_name(value))
    if spec.trust == "recordable" and not live:
        return value is None or _is_plain_name(value)
    return spec.allows_foreign(value)


def _must_repeat(spec: SettingSpec, value: object, live: bool) -> bool:
    if not spec.required and (value == spec.default or _without_defaults(spec, value) == {}):
        return False
    return spec.declared.repeat == "always" or (live and spec.declared.repeat == "live")


def _without_defaults(spec: SettingSpec, value: object) -> object:
    """The value; for a table with defaults, such as the sandbox's limits, only the entries that differ from them."""
    built = plugins.with_structs(value, spec.type)
    if not isinstance(built, msgspec.Struct):
        return value
    usual = {field.name: field.default for field in msgspec.structs.fields(built)}
    return {name: found for name, found in msgspec.structs.asdict(built).items() if found != usual[name]}


def _is_plain_name(value: object) -> bool:
    """Whether the value is a short name without an address."""
    return isinstance(value, str) and len(value) <= MAX_FOREIGN_CHARS and "://" not in value


def _missing_message(missing: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name}={_value_shown(name, value)}" for name, value in missing.items())
    ways = " ".join(_options(missing))
    what = "this setting, which is" if len(missing) == 1 else "these settings, which are"
    return f"the trace was recorded with {what} not taken from a trace: {shown}; if you trust it, give {ways}"


def _options(missing: Mapping[str, Any]) -> Iterator[str]:
    for name, value in missing.items():
        if name == "base_url":
            yield f"--base-url {value if value == endpoint.OPENAI_URL else '…'}"
        else:
            yield f"--set {name}=…"


def _value_shown(name: str, value: object) -> str:
    if is_secret_name(name):
        return "(not shown)"
    if name == "base_url" and isinstance(value, str):
        return in_quotes(_without_login(value))
    return in_quotes(value)


def _without_login(url: str) -> str:
    try:
        return endpoint.without_credentials(url[: 4 * _MAX_SHOWN])
    except ValueError:
        return "(not an address)"


PLAN_PURPOSES = ("plan", "check", "refine", "plan_text", "refine_text")
"""Purposes of the model calls whose answer is a plan."""


def resume(
    folder: Path | str,
    *,
    env: Environment | None = None,
    method: Method | None = None,
    model: str | LLM | ModelFunction | None = None,
    on_event: EventHandler | None = None,
    model_overrides: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
    tools: object = (),
    mcp: Iterable[str | ServerAddress] = (),
    mcp_config: Path | str | None = None,
    mcp_timeout: float = DEFAULT_SECONDS,
    verify: Callable[..., Verdict | Awaitable[Verdict]] | str | None = None,
    approve: Approver | str | None = None,
    allow: Iterable[str] = (),
    ask: Iterable[str] | None = None,
    deny: Iterable[str] = (),
    tool_errors: ToolErrors = "plan",
    in_doubt: WayOn | DoubtAsker = "stop",
    idempotent: Iterable[str] = (),
    once: Iterable[str] = (),
    tries: int | None = None,
    tool_timeout: float | None = None,
    error_if: ErrorTest | None = None,
    flows: Flows | str | None = None,
    readonly: Iterable[str] = (),
    returns: Any = None,
    ask_user: Asker | User | str | None = None,
    answer: str | None = None,
    **settings: Any,
) -> Result:
    """Finish an episode that was killed, interrupted, or ended for want of something; its trace in ``folder`` goes on.

    The same method runs again while the trace answers: the model is not asked again, and no budget is spent twice. Then
    the environment is reset, repeats the recorded actions, and the episode goes on. ``env``, ``method`` and ``model``
    are required if the episode had objects instead of names; another ``model`` than the recorded one may go on.

    An episode whose budget was spent goes on if ``budget`` allows more of that kind. One without success (it gave up,
    made no progress, its plan was refused or its tries were used up) goes on with ``tries`` further runs of a plan; one
    that has not ended goes on with those it has. Any other episode that has ended does not run: ``on_event`` gets its
    end, and its result is returned; a recorded success must be confirmed by ``verify``, if you give one together with
    the tools.

    A trace may come from a stranger, so only harmless settings are taken from it. ``settings`` override them.
    ``model_overrides`` say how this machine reaches models: addresses, keys' names, retries. The budget is as recorded,
    and must not exceed ``budget`` (default: that of ``run``).

    An episode with tools continues in the present state of the world: the trace answers the recorded calls, and only
    calls that were never made are made. If it waits for an approval, it goes on at that call: ``codeplan.approve`` has
    answered, or ``allow`` or ``approve`` decides. If it asks you (``NeedsInput``), ``answer`` is your answer, or
    ``ask_user`` gives it. Its tools are never taken from the trace: ``tools`` to ``tool_errors``, ``once``,
    ``tool_timeout``, ``error_if``, ``flows``, ``readonly`` and ``returns`` are as for ``do``; tools that were called
    once before stay so. If the episode was ended during a call, that call may have been done. Then ``in_doubt`` says
    what to do: ``"stop"``, ``"retry"`` (make it again), ``"skip"`` (the plan gets an OSError in its place), or a
    function ``in_doubt(tool, arguments)``, sync or async, that returns one of these. Calls of tools whose names fit a
    pattern in ``idempotent`` are made again in any case.

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
        once=once,
        tool_timeout=tool_timeout,
        error_if=error_if,
        flows=flows,
        readonly=readonly,
        returns=returns,
        ask_user=ask_user,
    )
    require_handler(on_event)
    path = find_trace(folder)
    trace = Trace.resume(path, telemetry.with_telemetry(on_event))
    with closing(trace):
        header = _header(trace.recording, folder)
        take_answer(trace)
        if answer is not None and not (trace.last_end and asks_user(trace.last_end)):
            raise UsageError(f"the episode of {folder} asks you nothing; leave the answer out")
        end = trace.recording[-1]
        continuation = None if not isinstance(end, EpisodeEnded) else _continuation(end, trace.recording, budget, tries)
        if continuation:
            trace.go_on(continuation)
        elif isinstance(end, EpisodeEnded):
            if end.result.success and verify is not None and header.env == ToolEnvironment.name:
                live = _live_environment(trace.recording, env, sources, path.parent)
                _confirm_success(header, trace.recording, live, method=method, settings=settings)
            if on_event:
                on_event(end)
            return with_type(end.result, trace.recording, returns)
        live = _live_environment(trace.recording, env, sources, path.parent, answer)
        with recorded_setup(
            header, trace.recording, live, method, model, settings, model_overrides or {}, budget or Budget()
        ) as setup:
            return with_typed_value(setup.run(header, trace), setup.env)


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
    recording = Trace.read_replayable(find_trace(folder))
    header = _header(recording, folder)
    if isinstance(env, ToolEnvironment):
        env.let_ask(User() if header.asks_user else None)
    with recorded_setup(header, recording, env, method, _silent_model(header, recording), settings, {}) as setup:
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
    as ``resume``, with the same arguments for an episode with tools.

    The world of tools does not go back: calls that the recorded episode made from ``at`` on are done. The branch does
    not make them again: an equal call gets the recorded answer, unless its tool fits a pattern in ``idempotent``.

    Raises: UsageError: there is no such event or call, or as for ``resume``.
    """
    require_out(out)
    require_handler(on_event)
    recording = Trace.read(find_trace(folder))
    header = _header(recording, folder)
    sources = ToolSources(**{f.name: settings.pop(f.name) for f in fields(ToolSources) if f.name in settings})
    if isinstance(env, ActsForReal) and not isinstance(env, ToolEnvironment):
        raise UsageError(
            f"an episode in the environment {in_quotes(header.env)} has no branches: its actions are real, and those "
            "that a branch would leave out are done"
        )
    if not 1 <= at < len(recording):
        what = f"the events 1 to {len(recording) - 1}" if len(recording) > 1 else "only its first event, 0"
        raise UsageError(f"there is no event {at} to branch off at; {folder} has {what}")
    branch = _branch(recording, at, plan, answer)
    if header.env == ToolEnvironment.name:
        branch = _with_later_calls(branch, recording, DoubtRules(sources.in_doubt, sources.idempotent).idempotent)
    live = _live_environment(branch, env, sources, Path(out))
    with recorded_setup(
        header, branch, live, method, model, settings, model_overrides or {}, budget or Budget()
    ) as setup:
        header = replace(_header(branch, folder), branched_at=len(branch) - (plan is not None or answer is not None))
        write_trace(Path(out) / TRACE_NAME, JoinedEvents([header], branch[1:]))
        with closing(Trace.resume(Path(out) / TRACE_NAME, telemetry.with_telemetry(on_event))) as trace:
            return with_typed_value(setup.run(header, trace), setup.env)


MORE_TRIES = (NotSolved, GaveUp, NoProgress, Refused)
"""Endings after which an episode goes on with further runs of a plan."""


def _continuation(
    end: EpisodeEnded, recording: Sequence[Event], budget: Budget | None, tries: int | None
) -> EpisodeContinued | None:
    """How an episode that has ended goes on; None if the user gave nothing that it lacked.

    Raises: UsageError: its method has no tries to add.
    """
    ending, spent = end.result.ending, current_budget(recording)
    if isinstance(ending, BudgetSpent) and budget is not None:
        more, limit = getattr(budget, ending.kind, None), getattr(spent, ending.kind, None)
        if more is None or limit is None or more <= limit:
            return None
        return EpisodeContinued(ended=end.result.reason, budget=_raised(spent, ending.kind, budget))
    if isinstance(ending, TraceFull) and limits_changed_since(ending.limit):
        return EpisodeContinued(ended=end.result.reason, budget=spent)
    if not isinstance(ending, MORE_TRIES) or not tries:
        return None
    if end.result.method != AdaPlanner.name:
        raise UsageError(f"the method {in_quotes(end.result.method)} of the episode has no tries to add; run it again")
    if type(tries) is not int or tries < 1:
        raise UsageError(f"tries is a whole number from 1 on, not {in_quotes(tries)}")
    return EpisodeContinued(ended=end.result.reason, budget=spent, tries=tries)


def current_budget(recording: Sequence[Event]) -> Budget:
    """The budget that a recorded episode has at its end."""
    return [e.budget for e in events_of(recording, EpisodeStarted, EpisodeContinued)][-1]


def _raised(recorded: Budget, kind: str, given: Budget) -> Budget:
    """The recorded budget with the given limit of this kind, and with those of the given limits that are higher."""
    limits = {name: (getattr(recorded, name), getattr(given, name)) for name in Budget.__struct_fields__}
    higher = {n: new for n, (old, new) in limits.items() if old is not None and new is not None and new > old}
    return replace(recorded, **higher | {kind: getattr(given, kind)})


def _confirm_success(
    header: EpisodeStarted, recording: Sequence[Event], env: AnyEnvironment | None, **given: Any
) -> None:
    """Have the user's verifier judge the value of an episode that has ended; the trace answers everything else.

    Raises: Diverged: it does not confirm the recorded success, or the recording has another end than it leads to.
    """
    model = _silent_model(header, recording)
    with recorded_setup(header, recording, env, model=model, overrides={}, budget=header.budget, **given) as setup:
        setup.run(header, Trace(recording=recording))


def _live_environment(
    recording: Sequence[Event],
    env: BaseEnvironment | None,
    sources: ToolSources,
    folder: Path,
    answer: str | None = None,
) -> AnyEnvironment | None:
    """The environment object in which the episode continues; None if its name is enough."""
    header, tools, returns = latest_turn(recording)
    if header.env != ToolEnvironment.name and (
        sources.name_tools or sources.verify is not None or any(sources.patterns)
    ):
        raise UsageError(
            f"the environment {in_quotes(header.env)} of the episode takes neither tools nor a verifier, nor patterns "
            "on tools; leave them out"
        )
    if header.env != ToolEnvironment.name and sources.returns is not None:
        raise UsageError(f"returns is for tools, and the episode's environment {in_quotes(header.env)} has none")
    if env is not None and sources.name_tools:
        raise UsageError("give an environment or tools, not both")
    if header.env == ToolEnvironment.name and env is None:
        return EnvironmentToOpen(open_recorded_tools(recording, sources, folder, answer))
    if isinstance(env, ToolEnvironment):
        require_same_tools(tools, env.described_tools)
        require_same_returns(returns, env.returns)
        if header.instructions != env.instructions:
            raise UsageError(
                "the instructions differ from those of the recorded episode; give the environment the same"
            )
        env.let_ask(sources.user(answer) if header.asks_user else None)
    return env


def _branch(recording: Sequence[Event], at: int, plan: str | None, answer: str | None) -> Sequence[Event]:
    """The events that the branch begins with."""
    if plan is None and answer is None:
        return recording[:at]
    if plan is not None and answer is not None:
        raise UsageError("a branch takes a plan or an answer, not both")
    for i, event in enumerate(recording[at:], at):
        if isinstance(event, ModelCalled) and (plan is None or event.purpose in PLAN_PURPOSES):
            text = answer if plan is None else in_fence(plan)
            completion = replace(event.completion, text=text or "")
            return JoinedEvents(recording[:i], [replace(event, completion=completion, cut_from=0)])
    raise UsageError(f"no model call follows event {at} that could be answered otherwise; branch off earlier")


_WITHIN_CALL = (CallDecided, ApprovalAnswered, CallRepeated, CallBegun, DoubtDecided, ToolFailed, WarningIssued)
"""What may stand before the answer of a call; a warning may stand elsewhere, too, and is then issued again."""


def _with_later_calls(
    branch: Sequence[Event], recording: Sequence[Event], idempotent: Iterable[str]
) -> Sequence[Event]:
    """The branch with the calls in its header that the recorded episode answered later, or left in doubt.

    Raises: UsageError: they are too large for a header.
    """
    while isinstance(branch[-1], _WITHIN_CALL):
        branch = branch[:-1]
    later, calls = recording[len(branch) :], CallsByAnswer()
    repeated = {event.id for event in later if isinstance(event, CallRepeated)}
    carried = [
        CarriedAnswer(answered.event.id, answered.call, answered.answer)
        for answered in answered_calls(later)
        if (not answered.answer.error or answered.answer.in_doubt) and answered.event.id not in repeated
    ]
    for event in later:
        calls.take(event)
    for call in calls.all_in_doubt:
        carried.append(CarriedAnswer(len(carried), call, unknown_answer(call.name)))
    kept = tuple(each for each in carried if longest_match(idempotent, each.call.name) is None)
    header = _header(branch, "the branch")
    header = replace(header, carried=(*header.carried, *kept))
    if len(msgspec.json.encode(header)) > MAX_EVENT_BYTES:
        raise UsageError(
            f"the calls after event {len(branch)} have answers of more than {MAX_EVENT_BYTES:,} bytes, which a branch "
            "cannot carry over; branch off later"
        )
    return JoinedEvents([header], branch[1:])


def _header(recording: Sequence[Event], folder: Path | str) -> EpisodeStarted:
    if not recording or not isinstance(recording[0], EpisodeStarted):
        raise UsageError(f"the trace in {folder} has no header; it cannot run again")
    return recording[0]


def _silent_model(header: EpisodeStarted, recording: Sequence[Event]) -> OfflineModel:
    """The model of a replay, named as at the episode's end: a resumed episode may continue with another model."""
    end = recording[-1]
    return OfflineModel((isinstance(end, EpisodeEnded) and end.result.model) or header.model)


def recorded_setup(
    header: EpisodeStarted,
    recording: Sequence[Event],
    env: AnyEnvironment | None,
    method: Method | None,
    model: str | LLM | ModelFunction | None,
    settings: dict[str, Any],
    overrides: Mapping[str, Any],
    budget: Budget | None = None,
) -> EpisodeSetup:
    """What the header names, or what is given instead. ``budget`` is None for a replay."""
    live = budget is not None
    for event in events_of(recording, EpisodeStarted, TurnStarted):
        if event.variables is not None:
            verify_checkpoint(event.variables, f"the trace's event {event.seq}")
    if budget is not None:
        for begun in events_of(recording, EpisodeStarted, EpisodeContinued):
            check_budget(begun.budget, budget)
    if not live and env is None and header.env == ToolEnvironment.name and header.tools:
        what = (header.task.goal, header.tools, header.tools_doc, header.once)
        env = recorded_environment(
            *what,
            has_flows=header.has_flows,
            is_blind=header.is_blind,
            asks_user=header.asks_user,
            instructions=header.instructions,
            returns=header.returns,
        )
    if env is None:
        require_recorded(header.env)
    is_exec = header.method == FixedPlan.name and method is None
    participants: dict[str, Any] = {"env": env or header.env, "model": model or main_model_name(header)}
    if live and model is None and _was_object(header):
        raise UsageError(
            f"the model {in_quotes(header.model)} of the episode is a function or an object of yours, which is never "
            "taken from a trace; name it again: --model FILE.py:NAME"
        )
    participants["method"] = FixedPlan if is_exec else method or header.method
    chosen = choose_settings(header, participants, settings, overrides, live=live)
    if is_exec:
        participants["method"] = _recorded_plan(recording, chosen)
    if not live and isinstance(participants["method"], str):
        chosen |= _missing_library(header, participants["method"], chosen)
    return EpisodeSetup(**participants, settings=chosen)


def _was_object(header: EpisodeStarted) -> bool:
    """Whether the recorded model was a function or an object: it reported no settings, and took none of an
    endpoint's.
    """
    if header.model == "scripted" or models.is_own(header.model):
        return False
    of_endpoints = {*models.setting_names(models.ANY_ENDPOINT_MODEL)} - {"model_seed"}
    return not header.model_settings and not header.settings.keys() & of_endpoints


def _missing_library(header: EpisodeStarted, method: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The store that replaces a replayed episode's skill library: the recording has the skills that the episode
    chose.
    """
    recorded = header.settings.get("library")
    if recorded is None or "library" in chosen or "library" not in accepted_settings({"method": method})["method"]:
        return {}
    return {"library": MissingStore()}


def _recorded_plan(recording: Sequence[Event], settings: dict[str, Any]) -> FixedPlan:
    """The plan of an episode without planning; takes its own settings out of the ``settings``."""
    source = next((e.source for e in events_of(recording, PlanDrafted)), None)
    if source is None:
        raise UsageError("the episode ended before its plan was recorded; run it again")
    own = {s.name: settings.pop(s.name) for s in setting_specs(FixedPlan) if s.trust and s.name in settings}
    state = recorded_start(recording) if "start_from" in own else None
    plan: FixedPlan = build(FixedPlan, {"source": source, "checkpoint": state, **own}, "the method exec")
    return plan
