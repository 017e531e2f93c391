"""The globals in which a plan's segments run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import StringIO
from typing import Any, NoReturn, Protocol

from codeplan.sandbox.protocol.plain_data import ARGUMENT_RULES, find_non_plain
from codeplan.sandbox.runtime.attributes import AgentProxy, make_getattr
from codeplan.sandbox.runtime.guards import PlanStopper, make_guards, truncate_message
from codeplan.sandbox.runtime.literal_reader import literal_eval
from codeplan.sandbox.runtime.module_facades import make_modules
from codeplan.sandbox.runtime.names import RESERVED_NAMES
from codeplan.sandbox.runtime.qualnames import set_name
from codeplan.sandbox.runtime.safe_builtins import make_builtins
from codeplan.sandbox.runtime.size_guard import SizeGuard
from codeplan.sandbox.runtime.termination import GiveUpRequested, PlanTermination, ReplanRequested
from codeplan.untrusted.noun_phrases import with_article


class HostCalls(Protocol):
    """The host's side of a run, as the namespace uses it.

    ``failure`` is set before it is raised, so that code that runs later (a ``finally``) cannot replace it. ``call``,
    ``read`` and ``ask`` raise RuntimeError with a message that the plan may see.
    """

    methods: frozenset[str]
    attributes: frozenset[str]
    failure: PlanTermination | None

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Call a method of the agent with plain data."""
        ...

    def read(self, attribute: str) -> object:
        """Return the current value of an attribute of the agent."""
        ...

    def ask(self, question: str) -> str:
        """Ask the model."""
        ...

    def print(self, text: str) -> None:
        """Receive a piece of the plan's output."""
        ...


class NotSaved(NameError):
    """The plan read a name whose value the checkpoint could not hold."""


class _Builtins(dict[str, object]):
    """Builtins that explain dropped names. Python asks them only for names found nowhere else."""

    def __init__(self, names: dict[str, object], dropped: dict[str, str]) -> None:
        super().__init__(names)
        self._dropped = dropped

    def __missing__(self, name: str) -> object:
        if name in self._dropped:
            raise NotSaved(f"{name} was not saved ({self._dropped[name]}); compute it again in this step")
        raise KeyError(name)


def make_namespace(
    host: HostCalls, *, turns: int, seed: int, start_from: int, variables: dict[str, object], dropped: dict[str, str]
) -> dict[str, object]:
    """Return the globals for one run of a plan's segments.

    ``turns`` caps loop iterations and calls of the plan's functions. ``variables`` are restored, except runtime names.
    ``dropped`` maps the variables that a checkpoint could not hold to the reason.
    """
    space: dict[str, object] = {name: value for name, value in variables.items() if _is_plans_own(name)}
    stopper = PlanStopper(host)
    names = _runtime_names(host, stopper, space, turns, seed, start_from)
    # Only an exact dict keeps the interpreter's fast path for builtins.
    space["__builtins__"] = _Builtins(names, dropped) if dropped else names
    names["_import_"] = _make_importer(space["__builtins__"], names)
    if dropped:
        space["__builtins__"]["_import_"] = names["_import_"]  # type: ignore[index]  # a dict, typed as any value
    return space


def plan_variables(namespace: dict[str, object]) -> dict[str, object]:
    """Return the plan's own variables, which a checkpoint saves."""
    return {name: value for name, value in namespace.items() if _is_plans_own(name)}


def _is_plans_own(name: str) -> bool:
    return not name.startswith("_") and name not in RESERVED_NAMES


def _runtime_names(
    host: HostCalls, stopper: PlanStopper, space: dict[str, object], turns: int, seed: int, start_from: int
) -> dict[str, object]:
    size_guard = SizeGuard(stopper.stop_at_limit)
    ask = _make_ask(host, stopper)
    guarded_getattr = make_getattr(_make_agent_reader(host, stopper), size_guard)
    modules = make_modules(size_guard, seed, ask, literal_eval)
    return {
        **make_builtins(guarded_getattr, size_guard),
        **make_guards(stopper, size_guard, space, turns),
        **{name: module for name, module in modules.items() if name != "large_language_model"},
        **modules["collections"].members,
        "__import__": _ignore_import,
        "_getattr_": guarded_getattr,
        "_modules_": modules,
        "agent": AgentProxy(),
        "ask_llm": ask,
        "ask": ask,
        "replan": _make_ending("replan", stopper, ReplanRequested),
        "_replan_at_end_": _make_ending("replan", stopper, partial(ReplanRequested, step_done=True)),
        "give_up": _make_ending("give_up", stopper, GiveUpRequested),
        "literal_eval": literal_eval,
        "print": _make_print(host, stopper),
        "start_from": start_from,
    }


def _ignore_import(*_: object) -> None:
    """Accept imports by the interpreter's C code (such as ``Pattern.sub``), which reads ``sys.modules`` itself."""


def _make_importer(names: Any, table: dict[str, Any]) -> Callable[[str, str, str | None], None]:
    modules = table["_modules_"]

    def import_(name: str, module: str, member: str | None) -> None:
        names[name] = modules[module] if member is None else modules[module].members[member]

    return import_


def _make_agent_reader(host: HostCalls, stopper: PlanStopper) -> Callable[[str], object]:
    methods: dict[str, Callable[..., object]] = {}

    def bound(method: str) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            stopper.raise_if_failed()
            for argument in (*args, *kwargs.values()):
                problem = find_non_plain(argument, ARGUMENT_RULES)
                if problem is not None:
                    raise TypeError(f"agent.{method} was given {problem}; give it texts, numbers, lists and dicts")
            return host.call(method, args, kwargs)

        return set_name(method, call)

    def read(name: str) -> object:
        if name in methods:
            return methods[name]
        if name in host.methods:
            methods[name] = bound(name)
            return methods[name]
        if name in host.attributes:
            stopper.raise_if_failed()
            return host.read(name)
        raise AttributeError(f"the agent has no '{name}'; it has: {', '.join(sorted(host.methods | host.attributes))}")

    return read


def _make_ask(host: HostCalls, stopper: PlanStopper) -> Callable[[str], str]:
    def ask_llm(question: str) -> str:
        if type(question) is not str:
            raise TypeError(f"ask_llm takes one text, not {with_article(type(question).__name__)}; write ask_llm(f'…')")
        stopper.raise_if_failed()
        return host.ask(question)

    return set_name("ask_llm", ask_llm)


def _make_ending(
    name: str, stopper: PlanStopper, termination: Callable[[str], PlanTermination]
) -> Callable[[str], NoReturn]:
    def end_plan(reason: str) -> NoReturn:
        if type(reason) is not str:
            raise TypeError(f"{name} takes one text, not {with_article(type(reason).__name__)}; write {name}(f'…')")
        stopper.stop(termination(truncate_message(reason)))

    return set_name(name, end_plan)


def _make_print(host: HostCalls, stopper: PlanStopper) -> Callable[..., None]:
    def print_(*values: object, file: None = None, **named: Any) -> None:
        if file is not None:
            raise TypeError("print writes to the plan's output only; leave out file=")
        text = StringIO()
        print(*values, file=text, **named)
        stopper.raise_if_failed()
        host.print(text.getvalue())

    return set_name("print", print_)
