"""Environments by name: the entry points of the group ``codeplan.envs``."""

from __future__ import annotations

import difflib
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.protocols import Environment

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "codeplan.envs"


def names() -> tuple[str, ...]:
    """The names of all environments that are installed, sorted. Loads none of them."""
    return tuple(sorted(_entry_points()))


def make(name: str, **settings: Any) -> Environment:
    """Build the environment of this name.

    ``settings`` are the environment's own, such as ``make("household", actions=30)``. Raises UsageError for a name or
    a setting that there is not, and for a value that does not fit; EnvironmentFailure where the environment's package
    cannot be loaded.
    """
    entry = _entry_points().get(name)
    if entry is None:
        raise UsageError(f"there is no environment {name!r}; installed are: {_nearest_first(name) or 'none'}")
    factory = _load(entry)
    _check_settings(name, factory, settings)
    env = factory(**settings)
    if not isinstance(env, Environment):
        raise EnvironmentFailure(f"the environment {name!r} of {entry.value} is a {type(env).__name__}, no Environment")
    return env


def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # costs 20 ms: not for those who make no environment by name

    return {e.name: e for e in entry_points(group=GROUP)}


def _nearest_first(name: str) -> str:
    def distance(other: str) -> float:
        return -difflib.SequenceMatcher(None, name, other).ratio()

    return ", ".join(sorted(names(), key=distance))


def _load(entry: EntryPoint) -> Callable[..., object]:
    try:
        factory: Callable[..., object] = entry.load()
    except Exception as e:
        raise EnvironmentFailure(f"the environment {entry.name!r} ({entry.value}) cannot be loaded: {e}") from e
    return factory


def _check_settings(name: str, factory: Callable[..., object], settings: Mapping[str, object]) -> None:
    """Raises UsageError for a setting that ``factory`` does not take, lacks, or takes in another type."""
    try:
        signature = inspect.signature(factory)
        signature.bind(**settings)
    except TypeError as e:
        raise UsageError(f"wrong settings for {name}: {e}; {_valid(name, signature)}") from None
    types = _annotations(factory)
    for key, value in settings.items():
        if key in types and (fault := _misfit(value, types[key])):
            raise UsageError(f"the setting {key}={value!r} of {name} does not fit: {fault}; {_valid(name, signature)}")


def _valid(name: str, signature: inspect.Signature) -> str:
    shown = ", ".join(str(p) for p in signature.parameters.values())
    return f"valid settings of {name}: {shown}" if shown else f"{name} takes no settings"


def _annotations(factory: Callable[..., object]) -> dict[str, Any]:
    """Types of the parameters as far as they can be told; those of a foreign factory may name what is not importable."""
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
