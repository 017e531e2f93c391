"""Fake agents without an environment: they have exactly the members of an environment's Agent class."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from codeplan import envs, plugins
from codeplan.agent_interface import agent_api
from codeplan.episode.agent import agent_class
from codeplan.errors import AgentError, UsageError
from codeplan.protocols import Environment
from codeplan.types import AgentMethod
from codeplan.untrusted.values import in_quotes

FakeCall = tuple[str, tuple[Any, ...], dict[str, Any]]
"""A method's name and the arguments of the call."""


def fake_agent(env: str | Environment | type, **given: Any) -> Any:
    """Make an agent with the methods and attributes of an environment's Agent class, and given answers.

    ``env`` is an environment, its name, or an Agent class. A method's answer is a value, a list of values in order, or
    a function; an attribute has a value. ``calls_of(agent)`` returns the calls so far. A method without an answer
    raises AgentError, as does a call that does not fit the real signature.

    Raises: UsageError: the real agent lacks a name.
    """
    real = _class_of(env)
    api = agent_api(real)
    for name in given:
        if name not in api.names:
            raise UsageError(f"{real.__name__} has no {in_quotes(name)}; {plugins.suggest_names(name, api.names)}")
    methods = {m.name: _method(real, m, given.get(m.name, _NO_ANSWER)) for m in api.methods}
    values = {a.name: given.get(a.name) for a in api.attributes}
    about: dict[str, Any] = {"__doc__": real.__doc__, "__annotations__": dict.fromkeys(values, "object"), "_calls": []}
    return type(f"Fake{real.__name__}", (), {**about, **values, **methods})()


def calls_of(agent: Any) -> list[FakeCall]:
    """Return the calls of a fake agent's methods, in order."""
    calls: list[FakeCall] = agent._calls
    return calls


_NO_ANSWER = object()


def _class_of(env: str | Environment | type) -> type:
    if isinstance(env, type):
        return env
    return agent_class(envs.make(env) if isinstance(env, str) else env)


def _method(real: type, method: AgentMethod, given: Any) -> Callable[..., Any]:
    signature = inspect.signature(getattr(real, method.name))
    answers = _answers(method.name, given)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            signature.bind(self, *args, **kwargs)
        except TypeError as error:
            why = method.explain_misfit(kwargs, error)
            raise AgentError(f"call it as {method.name}{method.signature}: {why}") from None
        self._calls.append((method.name, args, kwargs))
        return answers(*args, **kwargs)

    call.__name__ = call.__qualname__ = method.name
    call.__doc__, call.__signature__ = method.doc, signature  # type: ignore[attr-defined]  # what inspect reads
    return call


def _answers(name: str, given: Any) -> Callable[..., Any]:
    """Return the function that answers a method's calls."""
    if callable(given):
        return given  # type: ignore[no-any-return]  # a test's own function
    if isinstance(given, Sequence) and not isinstance(given, str):
        left: Iterator[Any] = iter(list(given))
        return lambda *args, **kwargs: _next(name, left)
    if given is not _NO_ANSWER:
        return lambda *args, **kwargs: given
    return lambda *args, **kwargs: _next(name, iter(()))


def _next(name: str, left: Iterator[Any]) -> Any:
    for answer in left:
        return answer
    raise AgentError(f"the fake agent has no further answer for {name}")
