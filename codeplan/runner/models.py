"""Builds models from their names and settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from codeplan import plugins
from codeplan.errors import UsageError
from codeplan.llm.callable_model import CallableModel, is_model_function
from codeplan.llm.native_models import NativeModel, is_native
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.reply_cache import CachedModel
from codeplan.llm.routing import ROUTES, RoutedModel
from codeplan.plugins import Setting, SettingSpec
from codeplan.protocols import LLM, require_members
from codeplan.tools.python_tools import is_file, object_of_file
from codeplan.untrusted.values import in_quotes
from codeplan.version import VERSION

_ROUTE_SETTINGS = {
    "ask_model": Setting("Another model for a plan's ask_llm; NAME@URL is at another endpoint.", "recordable"),
    "refine_model": Setting("Another model for refining plans.", "recordable"),
    "executor_model": Setting("Another model for choosing single actions.", "recordable"),
}

_CACHE_SETTING = SettingSpec(
    "reply_cache",
    str | Path | None,
    declared=Setting("A folder of replies, asked for once and shared by runs.", "trusted", repeat="never"),
)

_SEED = SettingSpec("model_seed", int | None, declared=Setting("The seed that the function gets.", "safe"))

_own: dict[str, LLM] = {}

ANY_ENDPOINT_MODEL = "any other"
"""Represents every model behind an endpoint, because all of them have the same settings."""


def register(model: LLM) -> str:
    """Have a model of the user's known by its own name in this process from now on; returns the name.

    It takes no settings but ``model_seed``, if it is a function with a seed.

    Raises: UsageError: it has the name of the stand-in.
    """
    if model.name == "scripted":
        raise UsageError("a model of yours has the name scripted, which is the stand-in's; rename it")
    _own[model.name] = model
    return model.name


def is_own(name: str) -> bool:
    """Whether a model of the user's was registered under this name in this process."""
    return name in _own


def setting_specs(name: str) -> tuple[SettingSpec, ...]:
    """The settings that ``connect`` takes for the model of this name."""
    if name in _own:
        model = _own[name]
        return (_SEED,) if isinstance(model, CallableModel) and model.takes_seed else ()
    own = (spec for spec in plugins.setting_specs(_model_class(name)) if spec.name != "name")
    routes = (SettingSpec(route, str, declared=declared) for route, declared in _ROUTE_SETTINGS.items())
    return (*own, *routes, _CACHE_SETTING)


def setting_names(name: str) -> tuple[str, ...]:
    """The names of the settings that ``connect`` takes for the model of this name."""
    return tuple(spec.name for spec in setting_specs(name))


def connect(name: str, **given: Any) -> LLM:
    """Build a model: ``"scripted"`` is the stand-in, ``"anthropic:NAME"`` and ``"google:NAME"`` are models at these
    companies' own APIs, and any other name is one at an endpoint, unless it was registered.

    Nothing is sent yet.

    The settings are those of the model's class. ``ask_model``, ``refine_model`` and ``executor_model`` name another
    model for those purposes; it shares the settings that it takes. ``NAME@URL`` is a model at another endpoint, whose
    key is in ``CODEPLAN_ASK_API_KEY`` (``…REFINE…``, ``…EXECUTOR…``): the main model's key never goes there.
    ``reply_cache`` is a folder for the replies of all of them.

    Raises: UsageError: the name is empty, a key is missing, or a setting is unknown or has the wrong type.
    """
    for key in given:
        if key not in (valid := setting_names(name)):
            raise UsageError(
                f"the model {in_quotes(name)} has no setting {in_quotes(key)}; {plugins.suggest_names(key, valid)}"
            )
    common = {key: value for key, value in given.items() if key not in ROUTES}
    main = _build_model(name, common)
    others = {
        route: _build_other_model(route, given[route], common) for route in ROUTES if given.get(route) is not None
    }
    if not others:
        return main
    return RoutedModel(main, {purpose: model for route, model in others.items() for purpose in ROUTES[route]})


def _build_model(name: str, given: dict[str, Any]) -> LLM:
    if ".py:" in name:
        raise UsageError(
            f"the model {in_quotes(name)} would be a function of a file, which --model alone "
            "takes; here a model is scripted, or the name of one at an endpoint"
        )
    if name in _own:
        mine = _own[name]
        seed = given.get("model_seed")
        _SEED.check(seed, f"the model {in_quotes(name)}")
        return mine.with_seed(seed) if seed is not None and isinstance(mine, CallableModel) else mine
    scripted = name == "scripted"
    own = {key: value for key, value in given.items() if key != "reply_cache"}
    what = f"the model {in_quotes(name)}"
    model: LLM = plugins.build(_model_class(name), {**({} if scripted else {"name": name}), **own}, what)
    folder = given.get("reply_cache")
    if folder is None:
        return model
    _CACHE_SETTING.check(folder, what)
    identity = {"codeplan": VERSION, **own} if scripted else {}  # the stand-in reports no settings
    return CachedModel(model, Path(folder), identity)


def _build_other_model(route: str, spec: object, common: dict[str, Any]) -> LLM:
    """The model of one route, from ``NAME`` or ``NAME@URL``."""
    if not isinstance(spec, str):
        raise UsageError(f"the setting {route} is {in_quotes(spec)}; give a model's name, or NAME@URL")
    name, url = _split_address(spec)
    valid = (*plugins.setting_names(_model_class(name)), "reply_cache")
    given = {key: value for key, value in common.items() if key in valid}
    if url:
        variable = f"CODEPLAN_{route.removesuffix('_model').upper()}_API_KEY"
        address = urlsplit(url)
        if address.username is not None or address.query or address.fragment:
            raise UsageError(f"the address in {route} has a login or a query in it; put a key into {variable} instead")
        given |= {"base_url": url, "key_variable": variable}
        given.pop("api_key", None)
    return _build_model(name, given)


def _split_address(spec: str) -> tuple[str, str]:
    """Name and address; the name may itself contain an @."""
    for scheme in ("@https://", "@http://"):
        name, found, rest = spec.partition(scheme)
        if found:
            return name, scheme[1:] + rest
    return spec, ""


def _model_class(name: str) -> Callable[..., LLM]:
    if is_native(name):
        return NativeModel
    if name != "scripted":
        return OpenAIModel
    from codeplan.standin.model import ScriptedModel

    return ScriptedModel


_FORM = "write FILE.py:NAME, a function of messages, or an LLM"


def model_of_file(given: str) -> Any:
    """The function or object of ``FILE.py:NAME``. Raises: UsageError: the file has no such object, or it is a text."""
    if given.endswith(".py"):
        raise UsageError(f"a model in a file needs the name of its function: --model {given}:NAME")
    found = object_of_file(given, f"names no single model; {_FORM}")
    if isinstance(found, str):
        raise UsageError(f"{in_quotes(given)} is a text; {_FORM}")
    return found


def use_model(given: str) -> str:
    """The name under which the model of ``FILE.py:NAME`` is known in this process from now on.

    Any other text is a model's name already. Raises: UsageError: the file offers no model, or one with a name that is
    taken.
    """
    if not is_file(given):
        return given
    found = model_of_file(given)
    if isinstance(found, type):
        raise UsageError(f"{in_quotes(given)} is a class; {_FORM}")
    return register(as_model(found, f"the model {in_quotes(given)}"))


def as_model(found: Any, what: str = "the model") -> LLM:
    """A model of the user's: a function of messages, or an LLM. Raises: UsageError: it is neither."""
    if is_model_function(found):
        return CallableModel(found)
    require_members(found, LLM, what)
    model: LLM = found
    return model
