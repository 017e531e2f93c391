"""Finds where the arguments of a plan's calls come from, before it starts, for the flows of an episode."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from codeplan.episode.episode import Episode
from codeplan.errors import SandboxError
from codeplan.plain_data import unpack
from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    Event,
    ModelCalled,
    PlanDrafted,
    PlanFixed,
    PlanOrigins,
    TurnStarted,
)
from codeplan.sandbox import Sandbox
from codeplan.tools.environment import ToolEnvironment
from codeplan.tools.flow_checks import FlowChecks
from codeplan.types import ASK_USER, AgentApi, Checkpoint, Plan, Rejected

NOT_FOLLOWED: Final = PlanOrigins(sites=(), asks={}, variables=(), followed=False)
"""The origins of a plan of which nothing is known."""


def note_origins(
    sandbox: Sandbox, episode: Episode, plan: Plan, start: int, checkpoint: Checkpoint | None, *, shows_data: bool
) -> None:
    """Record the origins of the plan that starts next, and hand them to the environment, if it has flows.

    ``shows_data`` says whether prompts for revised plans show what tools answered. A replay without the tools repeats
    the recorded origins, and no environment relies on recorded ones.
    """
    trace = episode.trace
    checks = episode.env.flow_checks if isinstance(episode.env, ToolEnvironment) else None
    if checks is not None:
        known: Sequence[str] | None = checks.known
        said = _said_by_user(trace.events) if episode.asks_user else {}
        if known is None and shows_data:
            known = _plans_before_data(trace.events, checks.flows.trusts, said)
        names = {*(checkpoint.names if checkpoint else ()), *episode.history.variables}
        checks.said = tuple(said.values())
        of_user = episode.history.of_user
        checks.origins = find_plan_origins(sandbox, plan, episode.api, checks, start, names, known, of_user)
        if not trace.is_replaying or trace.peek_recorded(PlanOrigins) is not None:
            episode.record(checks.origins)
    elif recorded := trace.peek_recorded(PlanOrigins):
        episode.record(recorded)


def find_plan_origins(
    sandbox: Sandbox,
    plan: Plan,
    api: AgentApi,
    checks: FlowChecks,
    start: int = 1,
    names: Collection[str] = (),
    known: Sequence[str] | None = None,
    of_user: Collection[str] = (),
) -> PlanOrigins:
    """The origins of a plan that starts at a step with the variables of these names.

    ``checks`` has the origins of the plan that set them; what that did not set may come from anywhere. ``known`` are
    the texts of the plans before data was shown, None if this is one of them. Variables ``of_user`` are as good as the
    goal, until a plan has had them.
    """
    before = checks.origins if names else None
    rows = {row.name: row for row in before.variables} if before and before.followed else {}
    fresh = of_user if before is None or before.followed else ()
    variables = [
        [name, list(rows[name].origins), list(rows[name].cells)]
        if name in rows
        else [name, [] if name in fresh else ["unknown"], []]
        for name in sorted(names)
    ]
    tools = [method.name for method in api.methods]
    arguments: dict[str, Any] = {"tools": tools, "start_from": start, "variables": variables}
    if known is not None:
        arguments |= {"known": list(known), "goal": checks.words}
    if before is not None:
        arguments["asks"] = {number: list(given) for number, given in before.asks.items()}
    try:
        found = sandbox.analyse("origins", plan.source, arguments)
    except SandboxError:
        return NOT_FOLLOWED
    return verified_origins(found, plan.source, {*tools, "*"})


def verified_origins(found: object, source: str, tools: set[str]) -> PlanOrigins:
    """The worker's answer as an event. Anything that cannot be true of this source counts as not followed."""
    if isinstance(found, Rejected):
        return NOT_FOLLOWED
    try:
        origins = msgspec.convert(found, PlanOrigins)
    except msgspec.ValidationError:
        return NOT_FOLLOWED
    last = source.count("\n") + source.count("\r") + 1
    sites = origins.sites
    fits = all(s.tool in tools and 0 < s.line <= s.end_line <= last for s in sites)
    return origins if fits else NOT_FOLLOWED


def _said_by_user(events: Sequence[Event]) -> dict[int, str]:
    """The user's answers so far, by the id of their call."""
    asked = {e.id for e in events if isinstance(e, CallBegun) and e.call.name == ASK_USER.name}
    answers = (e for e in events if isinstance(e, CallAnswered) and e.id in asked and not e.answer.error)
    return {event.id: str(unpack(event.answer.value)) for event in answers}


def _plans_before_data(
    events: Sequence[Event], trusts: Callable[[str], bool], said: Mapping[int, str]
) -> list[str] | None:
    """The texts of the plans that were written before a prompt could show data that is not trusted; None if that
    holds for the latest plan. What the user ``said`` is trusted.
    """
    texts: list[str] = []
    names: dict[int, str] = {}
    is_shown = is_later = False
    for event in events:
        match event:
            case CallBegun():
                names[event.id] = event.call.name
            case CallAnswered():
                is_shown = is_shown or not (event.id in said or trusts(f"tool:{names.get(event.id, '')}"))
            case ModelCalled(purpose="ask"):
                is_shown = True
            case TurnStarted():  # its first plan sees shapes of what the turns before were told
                texts, is_shown, is_later = [], False, False
            case PlanDrafted() | PlanFixed():
                is_later = is_shown
                texts += [] if is_later else [event.source]
    return texts if is_later else None
