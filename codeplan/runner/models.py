"""Language models: the scripted stand-in, and whatever speaks OpenAI's protocol. ``connect`` makes one by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from codeplan import plugins
from codeplan.errors import UsageError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.routing import ROUTES, RoutedModel
from codeplan.plugins import SettingSpec
from codeplan.protocols import LLM

_ROUTE_HELP = {
    "ask_model": "Another model for a plan's ask_llm; NAME@URL is at another endpoint.",
    "refine_model": "Another model for refining plans.",
    "executor_model": "Another model for choosing single actions.",
}
_ROUTE_SPECS = tuple(SettingSpec(route, str, help=_ROUTE_HELP[route]) for route in ROUTES)


def setting_names(name: str) -> tuple[str, ...]:
    """The names of the settings that ``connect`` takes for the model of this name."""
    return tuple(spec.name for spec in setting_specs(name))


def setting_specs(name: str) -> tuple[SettingSpec, ...]:
    """The settings that ``connect`` takes for the model of this name."""
    return (*(spec for spec in plugins.setting_specs(_model_class(name)) if spec.name != "name"), *_ROUTE_SPECS)


def connect(name: str, **given: Any) -> LLM:
    """The model of this name: ``"scripted"`` is the stand-in without a network; any other is asked for at an endpoint.

    Settings are those of the model's class; ``model_seed`` is the stand-in's, or that of the requests (best effort).
    ``ask_model``, ``refine_model`` and ``executor_model`` name another model for those purposes, with the same settings
    as far as it takes them; ``NAME@URL`` is one at another endpoint, whose key is in ``CODEPLAN_ASK_API_KEY``
    (``…REFINE…``, ``…EXECUTOR…``): keys go to no endpoint but their own.

    Nothing is sent yet. Raises UsageError for an empty name, a missing key, or a setting that the model does not take,
    or not of that type.
    """
    for key in given:
        if key not in setting_names(name):
            raise UsageError(
                f"the model {name!r} has no setting {key!r}; {plugins.suggest_names(key, setting_names(name))}"
            )
    common = {key: value for key, value in given.items() if key not in ROUTES}
    main = _build_model(name, common)
    routed = {
        route: _build_routed_model(route, given[route], common) for route in ROUTES if given.get(route) is not None
    }
    if not routed:
        return main
    return RoutedModel(main, {purpose: model for route, model in routed.items() for purpose in ROUTES[route]})


def _build_model(name: str, given: dict[str, Any]) -> LLM:
    named = {} if name == "scripted" else {"name": name}
    model: LLM = plugins.build(_model_class(name), {**named, **given}, f"the model {name!r}")
    return model


def _build_routed_model(route: str, spec: object, common: dict[str, Any]) -> LLM:
    """The model of one route, from ``NAME`` or ``NAME@URL``."""
    if not isinstance(spec, str):
        raise UsageError(f"the setting {route} is {spec!r}; give a model's name, or NAME@URL")
    name, url = _split_address(spec)
    takes = plugins.setting_names(_model_class(name))
    given = {key: value for key, value in common.items() if key in takes}
    if url:
        address = urlsplit(url)
        if address.username is not None or address.query or address.fragment:
            raise UsageError(
                f"the address in {route} has a login or a query in it; put a key into {_key_variable(route)} instead"
            )
        given |= {"base_url": url, "key_variable": _key_variable(route)}
        given.pop("api_key", None)
    return _build_model(name, given)


def _split_address(spec: str) -> tuple[str, str]:
    """Name and address; a model's name may have an @ of its own."""
    for scheme in ("@https://", "@http://"):
        name, found, rest = spec.partition(scheme)
        if found:
            return name, scheme[1:] + rest
    return spec, ""


def _key_variable(route: str) -> str:
    return f"CODEPLAN_{route.removesuffix('_model').upper()}_API_KEY"


def _model_class(name: str) -> Callable[..., LLM]:
    if name != "scripted":
        return OpenAIModel
    from codeplan.standin.model import ScriptedModel

    return ScriptedModel
