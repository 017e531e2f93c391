"""The globals in which a plan's segments run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import StringIO
from typing import Any, NoReturn

from codeplan.sandbox.protocol.plain_data import ARGUMENT_RULES, find_non_plain
from codeplan.sandbox.runtime.attributes import AgentProxy, make_getattr
from codeplan.sandbox.runtime.guards import (
    CurrentRun,
    HostCalls,
    PlanStopper,
    SizeGuard,
    count_turns,
    make_guards,
    set_name,
    truncate_message,
)
from codeplan.sandbox.runtime.names import RESERVED_NAMES
from codeplan.sandbox.runtime.safe_builtins import literal_eval, make_builtins, make_modules
from codeplan.sandbox.runtime.termination import GiveUpRequested, PlanTermination, ReplanRequested
from codeplan.untrusted.texts import with_article


class NotSaved(NameError):
    """The plan read a name whose value the checkpoint could not hold."""


class _Builtins(dict[str, object]):
    """Builtins that explain dropped names. Python asks them only for names found nowhere else."""

    def __init__(self, names: dict[str, object], dropped: dict[str, str]) -> None:
        super().__init__((n, value) for n, value in names.items() if n not in dropped or not _is_plans_own(n))
        self._dropped = dropped

    def __missing__(self, name: str) -> object:
        if name in self._dropped:
            raise NotSaved(f"{name} was not saved ({self._dropped[name]}); compute it again in this step")
        raise KeyError(name)


class PlanRuntime:
    """What plans reach beside their own variables: guards, builtins, modules, and the functions that call the host.

    Making it takes longer than a short plan, so a zygote makes it and the workers inherit it. It serves one run after
    the other and keeps nothing of a run for the next.
    """

    def __init__(self) -> None:
        self._run = CurrentRun()
        self._stopper = PlanStopper(self._run)
        self._agent_methods: dict[str, Callable[..., object]] = {}
        self._names = self._make_names()
        self._builtins: dict[str, object] = self._names
        self._has_imports = False

    def begin(
        self,
        host: HostCalls,
        *,
        turns: int,
        seed: int,
        start_from: int,
        variables: dict[str, object],
        dropped: dict[str, str],
    ) -> dict[str, object]:
        """Return the globals for a run of a plan's segments.

        ``turns`` caps loop iterations and calls of the plan's functions. ``variables`` are restored, except runtime
        names. ``dropped`` maps the variables that a checkpoint could not hold to the reason.
        """
        self._run.begin(host, seed)
        self._agent_methods.clear()
        if self._has_imports:
            self._names, self._has_imports = self._make_names(), False
        space = {name: value for name, value in variables.items() if _is_plans_own(name)}
        self._names |= {"start_from": start_from, "_keep_": space.update, **count_turns(self._stopper, turns)}
        # Only an exact dict keeps the interpreter's fast path for builtins.
        self._builtins = _Builtins(self._names, dropped) if dropped else self._names
        space["__builtins__"] = self._builtins
        return space

    def _make_names(self) -> dict[str, object]:
        """The names that are the same for every run."""
        run, stopper = self._run, self._stopper
        size_guard = SizeGuard(stopper.stop_at_limit)
        ask = _make_ask(run, stopper)
        guarded_getattr = make_getattr(_make_agent_reader(run, stopper, self._agent_methods), size_guard)
        modules = make_modules(run, size_guard, ask, literal_eval)
        return {
            **make_builtins(guarded_getattr, size_guard),
            **make_guards(stopper, size_guard),
            **{name: module for name, module in modules.items() if name != "large_language_model"},
            **modules["collections"].members,
            "__import__": _ignore_import,
            "_getattr_": guarded_getattr,
            "_import_": self._import,
            "_modules_": modules,
            "agent": AgentProxy(),
            "ask_llm": ask,
            "ask": ask,
            "replan": _make_ending("replan", stopper, ReplanRequested),
            "_replan_at_end_": _make_ending("replan", stopper, partial(ReplanRequested, step_done=True)),
            "give_up": _make_ending("give_up", stopper, GiveUpRequested),
            "literal_eval": literal_eval,
            "print": _make_print(run, stopper),
        }

    def _import(self, name: str, module: str, member: str | None) -> None:
        modules: Any = self._names["_modules_"]
        self._has_imports = True
        self._builtins[name] = modules[module] if member is None else modules[module].members[member]


def plan_variables(namespace: dict[str, object]) -> dict[str, object]:
    """Return the plan's own variables, which a checkpoint saves."""
    return {name: value for name, value in namespace.items() if _is_plans_own(name)}


def _is_plans_own(name: str) -> bool:
    return not name.startswith("_") and name not in RESERVED_NAMES


def _ignore_import(*_: object) -> None:
    """Accept imports by the interpreter's C code (such as ``Pattern.sub``), which reads ``sys.modules`` itself."""


def _make_agent_reader(
    run: CurrentRun, stopper: PlanStopper, methods: dict[str, Callable[..., object]]
) -> Callable[[str], object]:
    """Return what reads ``agent.x``. It keeps the functions that it made for a run's ``methods`` there."""

    def bound(method: str) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            stopper.raise_if_failed()
            for argument in (*args, *kwargs.values()):
                problem = find_non_plain(argument, ARGUMENT_RULES)
                if problem is not None:
                    raise TypeError(f"agent.{method} was given {problem}; give it texts, numbers, lists and dicts")
            return run.host.call(method, args, kwargs)

        return set_name(method, call)

    def read(name: str) -> object:
        if name in methods:
            return methods[name]
        host = run.host
        if name in host.methods:
            methods[name] = bound(name)
            return methods[name]
        if name in host.attributes:
            stopper.raise_if_failed()
            return host.read(name)
        raise AttributeError(f"the agent has no '{name}'; it has: {', '.join(sorted(host.methods | host.attributes))}")

    return read


def _make_ask(run: CurrentRun, stopper: PlanStopper) -> Callable[[str], str]:
    def ask_llm(question: str) -> str:
        if type(question) is not str:
            raise TypeError(f"ask_llm takes one text, not {with_article(type(question).__name__)}; write ask_llm(f'…')")
        stopper.raise_if_failed()
        return run.host.ask(question)

    return set_name("ask_llm", ask_llm)


def _make_ending(
    name: str, stopper: PlanStopper, termination: Callable[[str], PlanTermination]
) -> Callable[[str], NoReturn]:
    def end_plan(reason: str) -> NoReturn:
        if type(reason) is not str:
            raise TypeError(f"{name} takes one text, not {with_article(type(reason).__name__)}; write {name}(f'…')")
        stopper.stop(termination(truncate_message(reason)))

    return set_name(name, end_plan)


def _make_print(run: CurrentRun, stopper: PlanStopper) -> Callable[..., None]:
    def print_(*values: object, file: None = None, **named: Any) -> None:
        if file is not None:
            raise TypeError("print writes to the plan's output only; leave out file=")
        text = StringIO()
        print(*values, file=text, **named)
        stopper.raise_if_failed()
        run.host.print(text.getvalue())

    return set_name("print", print_)
