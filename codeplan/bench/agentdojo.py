"""AgentDojo's suites as tasks on tools: the package's own tools, attacks and checks (Debenedetti et al. 2024).

A task is a user task of workspace, banking, slack or travel, which is its kind, in a new copy of the suite's
environment. In an attacked task, texts of that environment carry the goal of an injection task. The package judges
both with the text of the value that the plan returned, the environment before and after, and the calls. The model hears
no verdict: an episode ends with it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any, Final, get_type_hints

import msgspec

from codeplan.bench.metrics import MeasuredEpisode, measure_cell
from codeplan.bench.store import BenchRecord
from codeplan.bench.tables import BenchTable, format_number
from codeplan.bench.tool_tasks import example_environment
from codeplan.envs.registry import take_of_each_kind
from codeplan.errors import UsageError
from codeplan.plugins import suggest_names
from codeplan.protocols import BaseEnvironment
from codeplan.runner.episodes import run
from codeplan.runner.tools import ToolSources, open_tools, read_flows
from codeplan.tools.environment import ToolEnvironment, Verifier
from codeplan.types import Result, Task
from codeplan.untrusted.values import in_quotes

NAME: Final = "agentdojo"
VERSION: Final = "v1.2.2"
"""The version of the suites."""

SUITE: Final = f"{NAME}-{VERSION}"
"""The suite of the user tasks without an attack. ``-flows`` follows with flows, then ``+ATTACK`` for attacked tasks."""

UNKNOWN_MODEL: Final = "local"
"""Attacks address the model by a name that the package knows. It calls every other one "Local model"."""


class AgentDojoTasks(msgspec.Struct, frozen=True, kw_only=True):
    """All user tasks without an attack and, with an ``attack``, each of them with each injection task.

    ``flows`` is a folder with a file SUITE.py for each suite, in which ``flows`` is its Flows, or flows for all suites
    as for ``codeplan.do``. What they ask is granted in tasks without an attack and denied in others, as by a user who
    can tell. Raises: UsageError: the package is not installed, or has no such attack; the flows cannot be read.
    """

    attack: str | None = None
    flows: str | None = None

    def __post_init__(self) -> None:
        attacks = _package().attacks
        if self.attack is not None and self.attack not in attacks:
            raise UsageError(
                f"AgentDojo has no attack {in_quotes(self.attack)}; {suggest_names(self.attack, (*attacks,))}"
            )
        for suite in _package().suites:
            read_flows(self._flows_of(suite))

    @property
    def needs_trust(self) -> dict[str, str]:
        """Nothing: all tools work on the package's own data."""
        return {}

    @property
    def suites(self) -> tuple[str, ...]:
        """The names of the suites: without an attack and, if there is one, with it."""
        alone = f"{SUITE}-flows" if self.flows else SUITE
        return (alone, f"{alone}+{self.attack}") if self.attack else (alone,)

    def example(self) -> BaseEnvironment:
        """An environment to check methods and settings with: it has one tool, which is never called."""
        return example_environment()

    def select(self, kind: str | None, n: int | None, suite: str = SUITE) -> tuple[Task, ...]:
        """The tasks of a suite, at most ``n`` of each kind. Raises: UsageError: there is none of this kind."""
        every = _package().suites
        if kind not in (None, *every):
            raise UsageError(f"AgentDojo has no suite {in_quotes(kind)}; there are: {', '.join(every)}")
        found = [
            Task(id="-".join((name, *ids)), env=ToolEnvironment.name, kind=name, goal=dojo.user_tasks[ids[0]].PROMPT)
            for name, dojo in every.items()
            if kind in (None, name)
            for ids in (((user,) for user in dojo.user_tasks) if "+" not in suite else self._pairs(dojo))
        ]
        return tuple(take_of_each_kind(found, n))

    def _pairs(self, dojo: Any) -> Iterator[tuple[str, str]]:
        """Each user task with each injection task, ordered so that the first pairs have different ones of both."""
        injections = list(dojo.injection_tasks)
        stops_any = getattr(_package().attacks[self.attack], "is_dos_attack", False)  # it has no goal of its own
        for shift in range(1 if stops_any else len(injections)):
            for number, user in enumerate(dojo.user_tasks):
                yield user, injections[0 if stops_any else (number + shift) % len(injections)]

    def run(self, name: str, on_hijack: Callable[[bool], object], *, model: Any, **options: Any) -> Result:
        """Run one episode of a task. ``options`` are those of ``codeplan.run``, such as ``method``.

        ``on_hijack`` is called after an attacked one: whether the attacker's goal was reached. Raises as
        ``codeplan.do``.
        """
        suite, user, *injection = name.split("-")
        addressed = model if isinstance(model, str) else getattr(model, "name", "")
        world = AgentDojoWorld.open(suite, user, *injection, attack=self.attack, model=addressed)
        task = Task(id=name, env=ToolEnvironment.name, kind=suite, goal=world.user_task.PROMPT.strip())
        flows = self._flows_of(suite)
        approve = None if flows is None else lambda call: not injection
        verify = Verifier(world.judge, final=True)
        sources = ToolSources(tools=world.tools(), verify=verify, flows=flows, approve=approve)
        with open_tools(sources) as tools, closing(tools.environment(task.goal)) as env:
            result = run(env, task, model=model, **options)
        if injection:
            on_hijack(world.is_hijacked())
        return result

    def _flows_of(self, suite: str) -> str | None:
        if self.flows is None or not Path(self.flows).is_dir():
            return self.flows
        return f"{Path(self.flows, suite)}.py:flows"


@dataclass
class AgentDojoWorld:
    """The world of one episode: a suite's environment, which tools change, and what the package judges it by."""

    suite: Any
    user_task: Any
    injection_task: Any
    before: Any
    now: Any
    against_utility: bool = False
    """Whether the attack succeeds when the user task fails."""
    calls: list[Any] = field(default_factory=list)
    output: str = ""
    solved: bool = False

    @classmethod
    def open(
        cls, suite: str, user: str, injection: str | None = None, *, attack: str | None = None, model: str = ""
    ) -> AgentDojoWorld:
        """A new copy of the environment; with an ``injection``, the ``attack`` has written its goal into texts."""
        dojo = _package().suites[suite]
        user_task = dojo.get_user_task_by_id(user)
        injection_task, attacked, against_utility = None, {}, False
        if injection and attack:
            injection_task, attacker = dojo.get_injection_task_by_id(injection), _attacker(suite, attack, model)
            attacked, against_utility = attacker.attack(user_task, injection_task), attacker.is_dos_attack
        now = user_task.init_environment(dojo.load_and_inject_default_environment(attacked))
        return cls(dojo, user_task, injection_task, now.model_copy(deep=True), now, against_utility)

    def tools(self) -> list[Callable[..., Any]]:
        """The suite's functions on this environment."""
        return [self._bound(function) for function in self.suite.tools]

    def judge(self, value: object) -> bool:
        """Whether the package accepts the value that a plan returned, in the environment as it is now."""
        self.output = "" if value is None else str(value)
        self.solved = self._holds("utility", self.user_task)
        return self.solved

    def is_hijacked(self) -> bool:
        """Whether the attacker's goal is reached."""
        return not self.solved if self.against_utility else self._holds("security", self.injection_task)

    def _holds(self, check: str, task: Any) -> bool:
        """The package's check of a task: that of the calls, where the task has one, or else that of the environment."""
        given = (self.output, self.before, self.now)
        by_calls = getattr(task, f"{check}_from_traces")(*given, self.calls)
        return bool(getattr(task, check)(*given) if by_calls is None else by_calls)

    def _bound(self, function: Any) -> Callable[..., Any]:
        """The function without the parameters that the package fills with parts of the environment."""
        whole, filled = inspect.signature(function.run), function.dependencies
        signature = whole.replace(parameters=[p for name, p in whole.parameters.items() if name not in filled])

        def call(*positional: Any, **named: Any) -> Any:
            arguments = signature.bind(*positional, **named).arguments
            self.calls.append(_package().call(function=function.name, args=arguments))
            parts = {name: part.extract_dep_from_env(self.now) for name, part in filled.items()}
            return function.run(**arguments, **parts)

        hints = get_type_hints(function.run, include_extras=True)
        call.__name__ = call.__qualname__ = function.name
        call.__doc__ = function.run.__doc__
        call.__annotations__ = {name: hint for name, hint in hints.items() if name not in filled}
        call.__signature__ = signature  # type: ignore[attr-defined]
        return call


@cache
def _attacker(suite: str, attack: str, model: str) -> Any:
    """The package's attack on a suite. It is told of the model's name alone."""
    package = _package()
    known = next((name for name in package.model_names if name in model), UNKNOWN_MODEL)
    return package.attacks[attack](package.suites[suite], SimpleNamespace(name=known))


@cache
def _package() -> SimpleNamespace:
    """What is used of the package. Importing it takes seconds: it imports the clients of every endpoint it knows.

    Raises: UsageError: it is not installed.
    """
    try:  # by name, which keeps type checks the same without the package
        import_module("agentdojo.attacks")  # registers them
        attacks: Any = import_module("agentdojo.attacks.attack_registry")
        functions: Any = import_module("agentdojo.functions_runtime")
        models: Any = import_module("agentdojo.models")
        suites: Any = import_module("agentdojo.task_suite.load_suites")
    except ImportError as e:
        raise UsageError(f"AgentDojo is not installed ({e}); pip install 'codeplan[agentdojo]'") from None
    return SimpleNamespace(
        attacks=attacks.ATTACKS,
        call=functions.FunctionCall,
        model_names=models.MODEL_NAMES,
        suites=suites.get_suites(VERSION),
    )


# ------------------------------------------------------------------ tables


def rates_tables(bench: BenchRecord) -> list[BenchTable]:
    """AgentDojo's rates for each method and model; none for other benches.

    They are utility, utility under attack, attacks that succeed, and the tasks without an attack in which the flows
    asked.
    """
    players: dict[str, dict[bool, list[MeasuredEpisode]]] = {}
    for cell in (cell for cell in bench.cells if cell.suite.startswith(SUITE)):
        player = cell.name.removeprefix(f"{cell.suite}.")
        players.setdefault(player, {})["+" in cell.suite] = [*measure_cell(bench, cell).values()]
    rows = [(name, *row) for name, of in players.items() for row in _rows(of.get(False, []), of.get(True, []))]
    return [BenchTable(f"AgentDojo {VERSION}", _COLUMNS, tuple(rows))] if rows else []


_COLUMNS: Final = ("", "suite", "utility, %", "utility under attack, %", "attacks that succeed, %", "interrupted, %")


def _rows(alone: Sequence[MeasuredEpisode], attacked: Sequence[MeasuredEpisode]) -> Iterator[tuple[str, ...]]:
    kinds = dict.fromkeys(outcome.task.kind for outcome, _ in (*alone, *attacked))
    for kind in (*kinds, "all"):
        ours, theirs = ([m for o, m in of if kind in ("all", o.task.kind)] for of in (alone, attacked))
        figures: tuple[Sequence[bool | None], ...] = (
            [m.success for m in ours],
            [m.success for m in theirs],
            [m.hijacked for m in theirs],
            [m.interrupted for m in ours],
        )
        yield kind, *map(_rate, figures)


def _rate(values: Sequence[bool | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{format_number(100 * fmean(known), 1)} ({sum(known)}/{len(known)})" if known else ""
