"""Environments by name."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from codeplan import plugins
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.protocols import Environment


def names() -> tuple[str, ...]:
    """The names of all environments that are installed, sorted. Loads none of them."""
    return plugins.names("codeplan.envs")


def make(name: str, **settings: Any) -> Environment:
    """Build the environment of this name.

    ``settings`` are the environment's own, such as ``make("household", actions=30)``. Raises UsageError for a name or
    a setting that there is not, and for a value of another type than the setting's; EnvironmentFailure where what was
    built is no Environment.
    """
    factory = plugins.load("codeplan.envs", name)
    _check_types(name, factory, settings)
    env = plugins.build(factory, settings, name)
    if not isinstance(env, Environment):
        raise EnvironmentFailure(
            f"the environment {name!r} was built as a {type(env).__name__}, which is no Environment"
        )
    return env


def _check_types(name: str, factory: Callable[..., Any], settings: Mapping[str, object]) -> None:
    types = _annotations(factory)
    for key, value in settings.items():
        if key in types and (fault := _misfit(value, types[key])):
            valid = ", ".join(_shown(p) for p in inspect.signature(factory).parameters.values())
            raise UsageError(f"the setting {key}={value!r} of {name} does not fit: {fault}; its settings are: {valid}")


def _shown(parameter: inspect.Parameter) -> str:
    # An annotation that is kept as text would be shown in quotes.
    text = parameter.annotation
    return str(parameter).replace(repr(text), text) if isinstance(text, str) else str(parameter)


def _annotations(factory: Callable[..., Any]) -> dict[str, Any]:
    """Types of the parameters; empty where they name what cannot be imported, as in a foreign factory they may."""
    try:
        return typing.get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    except Exception:
        return {}


def _misfit(value: object, wanted: Any) -> str:
    """Why ``value`` is not a ``wanted``; empty where it is one, or where the type is beyond checking."""
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError as e:
        return str(e)
    except TypeError:
        return ""
    return ""
