"""Environments and methods by name (codeplan's own and other packages' entry points), and the settings they take."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from codeplan.errors import UsageError

Group = Literal["codeplan.envs", "codeplan.methods"]

_WORD = {"codeplan.envs": "environment", "codeplan.methods": "method"}


@dataclass(frozen=True)
class Setting:
    """The help text of a setting, one line: ``tries: Annotated[int, Setting("Runs of a plan at most.")] = 6``."""

    help: str


@dataclass(frozen=True)
class SettingSpec:
    """A setting as its factory declares it. ``type`` is Any without an annotation; ``default`` None if required."""

    name: str
    type: Any = Any
    default: Any = None
    required: bool = False
    help: str = ""

    def check(self, value: object, owner: str) -> None:
        """Check a value against the declared type; ``owner`` (as in "the method react") is for the message.

        Raises: UsageError: the value does not have the type.
        """
        if fault := _misfit(value, self.type):
            raise UsageError(
                f"the setting {self.name}={value!r} of {owner} does not fit: {fault}; it takes {self.type_name}"
            )

    def parse(self, text: str) -> Any:
        """The value that a text stands for: JSON if that has the declared type, otherwise the text, converted.

        Raises: UsageError: the text stands for no value of the type.
        """
        for candidate in (parse_json(text), text):
            if not _misfit(candidate, self.type):
                return candidate
        try:
            return msgspec.convert(text, self.type, strict=False)
        except msgspec.ValidationError as e:
            raise UsageError(f"the setting {self.name}={text} does not fit: {e}; it takes {self.type_name}") from None

    @property
    def type_name(self) -> str:
        """The declared type as text."""
        return inspect.formatannotation(self.type)


def parse_json(text: str) -> Any:
    """The value that a text spells in JSON, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def names(group: Group) -> tuple[str, ...]:
    """The names registered in a group, sorted."""
    return tuple(sorted(_registered(group)))


def load_factory(group: Group, name: str) -> Callable[..., Any]:
    """The callable registered under a name.

    Raises: UsageError: the name is unknown, or its package cannot be imported.
    """
    found = _registered(group)
    if name not in found:
        raise UsageError(f"there is no {_WORD[group]} {name!r}; {suggest_names(name, found)}")
    try:
        factory: Callable[..., Any] = found[name].load()
    except ImportError as e:
        raise UsageError(f"the {_WORD[group]} {name!r} cannot be loaded: {e}; is its extra installed?") from e
    except AttributeError as e:
        raise UsageError(f"the {_WORD[group]} {name!r} cannot be loaded: {e}; its package registers it wrongly") from e
    return factory


def setting_specs(factory: Callable[..., Any]) -> tuple[SettingSpec, ...]:
    """The settings that a factory takes: its keyword parameters, in their order."""
    types = _types(factory)
    parameters = inspect.signature(factory).parameters.values()
    return tuple(
        _spec(p, types.get(p.name, Any)) for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
    )


def setting_names(factory: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the settings that a factory takes."""
    return tuple(spec.name for spec in setting_specs(factory))


def build(factory: Callable[..., Any], settings: Mapping[str, Any], owner: str) -> Any:
    """Call a factory with settings; ``owner`` (as in "the method react") is for messages.

    Raises: UsageError: a setting is unknown, has another type, or is missing.
    """
    specs = {spec.name: spec for spec in setting_specs(factory)}
    for name, value in settings.items():
        if name not in specs:
            raise UsageError(f"{owner} has no setting {name!r}; {suggest_names(name, specs)}")
        specs[name].check(value, owner)
    if missing := [name for name, spec in specs.items() if spec.required and name not in settings]:
        raise UsageError(f"{owner} needs a value for its setting {missing[0]}; give one, as in --set {missing[0]}=…")
    return factory(**settings)


def suggest_names(name: str, valid: Iterable[str]) -> str:
    """The part of an error message that lists the valid names, the nearest to ``name`` first."""
    listed = sorted(valid)
    near = difflib.get_close_matches(name, listed, 1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"there are: {', '.join(listed) or 'none'}"


@cache
def _registered(group: str) -> dict[str, EntryPoint]:
    return {e.name: e for e in entry_points(group=group)}


def _spec(parameter: inspect.Parameter, annotation: Any) -> SettingSpec:
    declared, help_text = annotation, ""
    if get_origin(annotation) is Annotated:
        declared, *metadata = get_args(annotation)
        help_text = next((m.help for m in metadata if isinstance(m, Setting)), "")
    required = parameter.default is parameter.empty
    return SettingSpec(parameter.name, declared, None if required else parameter.default, required, help_text)


def _types(factory: Callable[..., Any]) -> dict[str, Any]:
    """The parameters' types; empty if a foreign factory's annotations name what cannot be imported."""
    by_fields = inspect.isclass(factory) and issubclass(factory, msgspec.Struct)
    target = factory.__init__ if inspect.isclass(factory) and not by_fields else factory
    try:
        return get_type_hints(target, include_extras=True)
    except Exception:
        return {}


def _misfit(value: object, wanted: Any) -> str:
    """Why ``value`` does not have the type ``wanted``; empty if it has, or if msgspec cannot check the type."""
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError as e:
        return str(e)
    except TypeError:
        return ""
    return ""
