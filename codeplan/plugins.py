"""Environments and methods by name (codeplan's own and other packages' entry points), and the settings they take."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from codeplan.errors import UsageError
from codeplan.untrusted.comparison import nearest_name
from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import in_quotes

Group = Literal["codeplan.envs", "codeplan.methods"]

Trust = Literal["trusted", "recordable", "safe"]
"""Where the value of a setting may come from.

- ``trusted``: from the user alone: the command line, Python arguments, environment variables, configuration. This
applies to addresses, keys, paths, programs and settings that protect this machine.
- ``recordable``: also from a recording that is replayed offline. A live episode takes it only from the user.
- ``safe``: from anywhere. Strangers' traces, tapes, skills and manifests can set it.
"""

MAX_SEED = 2**63
"""The largest seed that a file from elsewhere may set."""

MAX_FOREIGN_CHARS = 200
"""Maximum length of a text that a file from elsewhere may give to a setting, in characters."""

MAX_FOREIGN_ITEMS = 20
"""Maximum number of entries of a list or a table that a file from elsewhere may give to a setting."""

MAX_EXECUTORS = 8
"""Maximum number of methods that a file from elsewhere may nest as one another's executors."""

_MAX_SHOWN = 80

_own: dict[Group, dict[str, Callable[..., Any]]] = {"codeplan.envs": {}, "codeplan.methods": {}}

_WORD = {"codeplan.envs": "environment", "codeplan.methods": "method"}


@dataclass(frozen=True)
class Setting:
    """The declaration of a setting: ``tries: Annotated[int, Setting("Runs at most.", "safe", most=1000)] = 6``.

    ``help`` is one line. Without ``trust`` the setting counts as trusted. A recording may not set every setting of its
    episode: ``repeat`` says whether the user must then give the setting always, only if the episode continues live, or
    never. ``most`` is the largest number that a file from elsewhere may set. If ``group`` is given, the value names a
    plugin of this group, or is a table of its ``name`` and settings.
    """

    help: str
    trust: Trust | None = None
    _: KW_ONLY
    repeat: Literal["always", "live", "never"] = "always"
    most: float | None = None
    group: Group | None = None


@dataclass(frozen=True)
class SettingSpec:
    """A setting as its factory declares it. ``type`` is Any without an annotation; ``default`` None if required."""

    name: str
    type: Any = Any
    default: Any = None
    required: bool = False
    declared: Setting = Setting("")

    @property
    def help(self) -> str:
        """The help text; empty if there is none."""
        return self.declared.help

    @property
    def trust(self) -> Trust | None:
        """Where a value may come from; None if that is not declared, which means from the user alone."""
        return self.declared.trust

    def allows_foreign(self, value: object) -> bool:
        """Whether a file from elsewhere, such as a trace or a manifest, may give the setting this value."""
        return self.trust == "safe" and _misfit(value, self.type) == "" and _is_harmless(value, self.declared, 0)

    def check(self, value: object, owner: str) -> None:
        """Check a value against the declared type; ``owner`` (as in "the method react") is for the message.

        Raises: UsageError: the value does not have the type.
        """
        if fault := one_line(_misfit(value, self.type)):
            what = f"the setting {self.name}={in_quotes(value)} of {owner}"
            raise UsageError(f"{what} does not fit: {fault}; it takes {_words(self.type)}")

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
            raise UsageError(
                f"the setting {self.name}={text} does not fit: {e}; it takes {_words(self.type)}"
            ) from None


def _words(declared: Any) -> str:
    """The declared type in words: a choice by what it offers."""
    parts, origin = get_args(declared), get_origin(declared)
    if origin in (Literal, Union, UnionType):
        return " or ".join(map(in_quotes if origin is Literal else _words, parts))
    if isinstance(declared, type) and not parts:
        return "None" if declared is NoneType else declared.__name__
    return inspect.formatannotation(declared)


def parse_json(text: str) -> Any:
    """The value that a text spells in JSON, or the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def parse_assignment(text: str, option: str) -> tuple[str, Any]:
    """The name and the value in ``NAME=VALUE``, as given to a command line's ``option``; JSON is read as such.

    Raises: UsageError: the text has another form.
    """
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals):
        raise UsageError(f"{option} takes NAME=VALUE, not {in_quotes(text)}")
    return name, parse_json(value)


def register(group: Group, name: str, factory: Callable[..., Any]) -> None:
    """Make a factory known in this process, because the user named it. Names from recordings are never registered.

    Raises: UsageError: a package registers this name.
    """
    if name in _registered(group):
        raise UsageError(f"there is an installed {_WORD[group]} {in_quotes(name)}; give your own another name")
    _own[group][name] = factory


def names(group: Group) -> tuple[str, ...]:
    """The names registered in a group, sorted."""
    return tuple(sorted({*_registered(group), *_own[group]}))


def load_factory(group: Group, name: str) -> Callable[..., Any]:
    """The callable registered under a name.

    Raises: UsageError: the name is unknown, or its package cannot be imported.
    """
    if name in _own[group]:
        return _own[group][name]
    found = _registered(group)
    if name not in found:
        raise UsageError(f"there is no {_WORD[group]} {in_quotes(name)}; {suggest_names(name, names(group))}")
    try:
        factory: Callable[..., Any] = found[name].load()
    except ImportError as e:
        raise UsageError(f"the {_WORD[group]} {in_quotes(name)} cannot be loaded: {e}; is its extra installed?") from e
    except AttributeError as e:
        raise UsageError(
            f"the {_WORD[group]} {in_quotes(name)} cannot be loaded: {e}; its package registers it wrongly"
        ) from e
    return factory


def setting_specs(factory: Callable[..., Any]) -> tuple[SettingSpec, ...]:
    """The settings that a factory takes: its keyword parameters, in their order.

    A class can declare one trust for all of them, as ``setting_trust``, and a Struct whose fields they are, as
    ``settings_type``. They are read once for a factory.
    """
    return _read_specs(factory) if isinstance(factory, Hashable) else _read_specs.__wrapped__(factory)


@cache
def _read_specs(factory: Callable[..., Any]) -> tuple[SettingSpec, ...]:
    common = Setting("", getattr(factory, "setting_trust", None))
    fields = getattr(factory, "settings_type", None)
    return tuple(
        _spec(p, types.get(p.name, Any), common)
        for source, types in [(each, _types(each)) for each in (factory, fields) if each is not None]
        for p in inspect.signature(source).parameters.values()
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
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
            raise UsageError(f"{owner} has no setting {in_quotes(name)}; {suggest_names(name, specs)}")
        specs[name].check(value, owner)
    if missing := [name for name, spec in specs.items() if spec.required and name not in settings]:
        raise UsageError(f"{owner} needs a value for its setting {missing[0]}; give one, as in --set {missing[0]}=…")
    return factory(**{name: with_structs(value, specs[name].type) for name, value in settings.items()})


def with_structs(value: object, wanted: Any) -> object:
    """The value; a table becomes a Struct if the type ``wanted`` has one, as the sandbox's limits do."""
    structs = any(inspect.isclass(kind) and issubclass(kind, msgspec.Struct) for kind in (wanted, *get_args(wanted)))
    return msgspec.convert(value, wanted) if structs and isinstance(value, dict) else value


def suggest_names(name: str, valid: Iterable[str]) -> str:
    """The part of an error message that lists the valid names, the nearest to ``name`` first."""
    listed = sorted(valid)
    near = nearest_name(name, listed)
    return (f"did you mean {in_quotes(near)}? " if near else "") + f"there are: {', '.join(listed) or 'none'}"


@cache
def _registered(group: str) -> dict[str, EntryPoint]:
    return {e.name: e for e in entry_points(group=group)}


def _spec(parameter: inspect.Parameter, annotation: Any, common: Setting) -> SettingSpec:
    """``common`` is the declaration that applies to a parameter without one."""
    kind, declared = annotation, common
    if get_origin(annotation) is Annotated:
        kind, *metadata = get_args(annotation)
        declared = next((m for m in metadata if isinstance(m, Setting)), common)
    required = parameter.default is parameter.empty
    return SettingSpec(parameter.name, kind, None if required else parameter.default, required, declared)


def _is_harmless(value: object, declared: Setting, depth: int) -> bool:
    """Whether a value from elsewhere for a safe setting is plain and within its bounds."""
    if value is None or isinstance(value, bool):
        return True
    if declared.group and isinstance(value, str | dict):
        return depth < MAX_EXECUTORS and _is_harmless_plugin(value, declared.group, depth + 1)
    if isinstance(value, int | float):
        return declared.most is not None and abs(value) <= declared.most
    if isinstance(value, str):
        return len(value) <= MAX_FOREIGN_CHARS
    return (
        isinstance(value, list | tuple)
        and len(value) <= MAX_FOREIGN_ITEMS
        and all(isinstance(item, str) and len(item) <= MAX_FOREIGN_CHARS for item in value)
    )


def _is_harmless_plugin(value: str | dict[Any, Any], group: Group, depth: int) -> bool:
    """Whether a value from elsewhere names a plugin, and sets only what a file from elsewhere may set."""
    if isinstance(value, str):
        return value in _registered(group)
    name = value.get("name")
    if not isinstance(name, str) or name not in _registered(group) or len(value) > MAX_FOREIGN_ITEMS:
        return False
    specs = {spec.name: spec for spec in setting_specs(load_factory(group, name))}
    return all(
        key in specs
        and specs[key].trust == "safe"
        and _misfit(given, specs[key].type) == ""
        and _is_harmless(given, specs[key].declared, depth)
        for key, given in value.items()
        if key != "name"
    )


def _types(factory: Callable[..., Any]) -> dict[str, Any]:
    """The parameters' types; empty if a foreign factory's annotations name types that cannot be imported."""
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


# ------------------------------------------------------------------ settings that may hold secrets

_SECRET_NAMES = re.compile(
    r"(?:^|[_\W]|api|access|auth|bearer|client|private|secret|user)"
    r"(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|authorization|cookie|contact)$",
    re.IGNORECASE,
)


def is_secret_name(name: str) -> bool:
    """Whether a setting of this name may hold a secret, or a person's address."""
    return _SECRET_NAMES.search(name) is not None


def remove_secrets(value: Any) -> Any:
    """Plain data without the entries, at any depth, whose names suggest a secret."""
    if isinstance(value, Mapping):
        return {n: remove_secrets(v) for n, v in value.items() if not (isinstance(n, str) and is_secret_name(n))}
    if isinstance(value, list | tuple):
        return [remove_secrets(v) for v in value]
    return value
