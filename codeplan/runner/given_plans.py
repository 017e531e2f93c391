"""A plan that is given, on an environment or on the user's tools: what it is checked against, and where it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import msgspec

from codeplan import envs, plugins
from codeplan.agent_interface import agent_api
from codeplan.episode.episode import agent_class
from codeplan.errors import UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.planning.plan_run import Fixes
from codeplan.protocols import LLM, BaseEnvironment
from codeplan.runner.episodes import run
from codeplan.runner.start_state import Start, read_start, require_step
from codeplan.runner.tools import ToolSources, open_goal, with_typed_value
from codeplan.sandbox import BackendName, Limits, Sandbox
from codeplan.skills.skill import Skill
from codeplan.types import Outcome, Plan, Rejected, Result, Task, refuse_warnings
from codeplan.untrusted.values import in_quotes

_FOR_PROMPTS: Final = {"feedback", "instructions", "variables"}
TOOL_OPTIONS: Final = frozenset(field.name for field in fields(ToolSources)) - _FOR_PROMPTS
"""The parameters of ``codeplan.do`` that say which tools there are, and what holds for their calls."""


class Execution(msgspec.Struct, frozen=True):
    """The outcome of a plan (None if a spent budget ended it), and the episode's result."""

    outcome: Outcome | Rejected | None
    result: Result

    def __repr__(self) -> str:
        return f"Execution(outcome={self.outcome!r}, result={self.result!r})"

    def _repr_html_(self) -> str:
        """The outcome above the result, for a notebook."""
        return (self.outcome._repr_html_() if self.outcome else "") + self.result._repr_html_()


def execute(
    source: str,
    env: str | BaseEnvironment | None = None,
    task: Task | str | None = None,
    model: str | LLM | ModelFunction = "scripted",
    *,
    tools: object = (),
    limits: Limits | None = None,
    allow_weak_sandbox: bool = False,
    backend: BackendName = "auto",
    imports: str | tuple[str, ...] = "",
    fixes: Fixes = "on",
    strict: bool = False,
    start_from: int | None = None,
    checkpoint: Start | None = None,
    skill: Skill | None = None,
    **options: Any,
) -> Execution:
    """Check a plan and run it once, without planning or refining; ``model`` answers its ``ask_llm``.

    It acts in ``env``, or on ``tools`` as for ``do``; the parameters of ``do`` about tools are then among ``options``.

    ``fixes="off"`` keeps the check from mending the plan; ``strict`` refuses a plan with warnings. The plan starts at
    step ``start_from`` (None: at its first) with the variables of ``checkpoint``: a Checkpoint, plain values by name,
    or a file of either kind that ``codeplan.runner.start_state`` describes. If it is the plan of a ``skill``, it ends
    where a tool answers otherwise than when that was proven. ``options`` are the other parameters of ``run``, and
    ``imports`` packages that the plan may import. Raises as ``run``; a refused plan is an outcome.
    """
    if checkpoint is not None and start_from is None:
        raise UsageError("variables to start with need a step to start from: give start_from (--start-from K)")
    own: dict[str, Any] = {"limits": limits, "allow_weak_sandbox": allow_weak_sandbox, "backend": backend}
    own |= {"imports": imports, "fixes": fixes, "strict": strict}
    own |= {} if start_from is None else {"start_from": require_step(start_from)}
    own |= {} if skill is None else {"skill": skill}
    if checkpoint is not None and start_from is not None:
        most = limits if isinstance(limits, Limits) else Limits()
        own["checkpoint"] = read_start(checkpoint, start_from, most.checkpoint_bytes)
    given: FixedPlan = plugins.build(FixedPlan, {"source": source, **own}, "the method exec")
    offered = {"tools": tools} | {name: options.pop(name) for name in TOOL_OPTIONS & options.keys()}
    with open_world(env, "run a plan", options.get("out"), offered) as world:
        result = run(world, task, given, model, **options)
        if env is None and not isinstance(world, str):
            result = with_typed_value(result, world)
    return Execution(given.outcome, result)


def check(
    source: str,
    env: str | BaseEnvironment | None = None,
    *,
    tools: object = (),
    fixes: Fixes = "on",
    strict: bool = False,
    imports: str | tuple[str, ...] = "",
    allow_weak_sandbox: bool = False,
    **tool_options: Any,
) -> Plan | Rejected:
    """Check a plan without running it, against an environment's agent or against your tools.

    Returns the Plan with its fixes and warnings, or what is wrong with it. ``tools`` and ``tool_options`` are as for
    ``do``; the other settings are as for ``execute``.

    Raises: UsageError: the input is wrong, such as both an environment and tools. EnvironmentFailure: a server does not
    start.
    """
    if odd := next((name for name in tool_options if name not in TOOL_OPTIONS), None):
        raise UsageError(f"check has no parameter {in_quotes(odd)}; beside its own it takes those of do about tools")
    sandbox = Sandbox(allow_weak=allow_weak_sandbox, imports=imports)
    with open_world(env, "check a plan", None, {"tools": tools, **tool_options}) as world:
        outcome = check_on(source, world, sandbox, fixes)
    return refuse_warnings(outcome) if strict else outcome


def check_on(source: str, world: str | BaseEnvironment, sandbox: Sandbox, fixes: Fixes) -> Plan | Rejected:
    """What the check says about a plan for this environment; one given by its name is made and closed."""
    if not isinstance(world, str):
        return sandbox.check(source, agent_api(agent_class(world)), fixes=fixes == "on")
    with closing(envs.make(world)) as made:
        return sandbox.check(source, agent_api(agent_class(made)), fixes=fixes == "on")


@contextmanager
def open_world(
    env: str | BaseEnvironment | None, goal: str, out: Path | str | None, options: Mapping[str, Any]
) -> Iterator[str | BaseEnvironment]:
    """The environment of a plan: the given one, or one made of tools, whose servers end with the context.

    Raises: UsageError: there is neither an environment nor a tool, or both. Otherwise as ``open_tools``.
    """
    sources = ToolSources(**options)
    if env is None and not sources.name_tools:
        raise UsageError("the plan needs something to act on: give an environment (env), or tools")
    if env is None:
        with open_goal(goal, sources, out, sources.user()) as world:
            yield world
        return
    if odd := next((name for name, value in options.items() if name != "tools" or sources.name_tools), None):
        raise UsageError(f"{odd} is for tools, and the plan acts in an environment; leave one of them out")
    yield env
