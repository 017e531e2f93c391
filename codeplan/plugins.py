"""Environments and methods by name: those of codeplan and those that other packages register as entry points."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, get_type_hints

import msgspec

from codeplan.errors import UsageError

Group = Literal["codeplan.envs", "codeplan.methods"]

_WORD = {"codeplan.envs": "environment", "codeplan.methods": "method"}


def names(group: Group) -> tuple[str, ...]:
    """The names registered in a group, sorted."""
    return tuple(sorted(_found(group)))


def load_factory(group: Group, name: str) -> Callable[..., Any]:
    """What is registered under a name: a callable that makes it. Raises UsageError for an unknown name."""
    found = _found(group)
    if name not in found:
        raise UsageError(f"there is no {_WORD[group]} {name!r}; {suggest_names(name, found)}")
    try:
        factory: Callable[..., Any] = found[name].load()
    except ImportError as e:
        raise UsageError(f"the {_WORD[group]} {name!r} cannot be loaded: {e}; is its extra installed?") from e
    except AttributeError as e:
        raise UsageError(f"the {_WORD[group]} {name!r} cannot be loaded: {e}; its package registers it wrongly") from e
    return factory


def setting_names(factory: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the settings that a factory takes."""
    return tuple(p.name for p in _settings(factory))


def build(factory: Callable[..., Any], settings: Mapping[str, Any], what: str) -> Any:
    """Call a factory with settings.

    Raises UsageError for a setting that it does not take, or not of that type, and where one that it needs is missing.
    """
    valid, types = setting_names(factory), _types(factory)
    for name, value in settings.items():
        if name not in valid:
            raise UsageError(f"{what} has no setting {name!r}; {suggest_names(name, valid)}")
        if fault := _misfit(value, types.get(name, Any)):
            takes = inspect.formatannotation(types[name])
            raise UsageError(f"the setting {name}={value!r} of {what} does not fit: {fault}; it takes {takes}")
    if missing := [name for name in _needed(factory) if name not in settings]:
        raise UsageError(f"{what} needs a value for its setting {missing[0]}; give one, as in --set {missing[0]}=…")
    return factory(**settings)


def suggest_names(name: str, valid: Iterable[str]) -> str:
    """The half sentence that helps who mistyped: the nearest name first, then all there are."""
    listed = sorted(valid)
    near = difflib.get_close_matches(name, listed, 1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"there are: {', '.join(listed) or 'none'}"


def _settings(factory: Callable[..., Any]) -> list[inspect.Parameter]:
    parameters = inspect.signature(factory).parameters.values()
    return [p for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _needed(factory: Callable[..., Any]) -> list[str]:
    """The names of the settings that have no default."""
    return [p.name for p in _settings(factory) if p.default is p.empty]


@cache
def _found(group: str) -> dict[str, EntryPoint]:
    return {e.name: e for e in entry_points(group=group)}


def _types(factory: Callable[..., Any]) -> dict[str, Any]:
    """Types of the parameters; empty where they name what cannot be imported, as in a foreign factory they may."""
    by_fields = inspect.isclass(factory) and issubclass(factory, msgspec.Struct)
    try:
        return get_type_hints(factory.__init__ if inspect.isclass(factory) and not by_fields else factory)
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
