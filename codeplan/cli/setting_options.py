"""Command-line options made from the settings that a method, a model and a budget declare.

``command_class`` gives a command one option for each named setting: its help, default and type are those of the
declaration. Declarations are loaded when the command parses its arguments, not before.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer

from codeplan.cli.option_groups import GroupedOptions

if TYPE_CHECKING:
    from codeplan.plugins import SettingSpec

MODEL_SETTINGS = ("base_url", "api", "prices", "mistakes", "model_seed", "reply_cache")
ROUTE_SETTINGS = ("ask_model", "refine_model", "executor_model")
METHOD_SETTINGS = ("resume_by", "code_check")

_LIMITS = {
    "actions": "Actions.",
    "model_calls": "Model calls of any purpose.",
    "tokens": "Tokens, in and out.",
    "money": "US dollars, if prices are known.",
    "seconds": "Seconds.",
}
"""The limits of a budget that have an option (``--max-`` and their name), with its help."""

_SETTINGS_KEY, _LIMITS_KEY = "codeplan.settings", "codeplan.limits"
_METAVARS = {"base_url": "URL", "prices": "FILE", "mistakes": "HOW", "model_seed": "N", "reply_cache": "DIR"}
_FLAGS = {"reply_cache": "--cache"}


def command_class(*names: str, budget: bool = False) -> type[GroupedOptions]:
    """A command with an option for each of these settings, and for the limits of an episode's budget if asked for."""

    class SettingsCommand(GroupedOptions):
        def get_params(self, ctx: Any) -> Any:
            *declared, last = super().get_params(ctx)  # the last is --help
            return [*declared, *_options(names, budget), last]

    return SettingsCommand


def given_settings(context: typer.Context) -> dict[str, Any]:
    """The settings that were given by such options."""
    return dict(context.meta.get(_SETTINGS_KEY, {}))


def given_limits(context: typer.Context) -> dict[str, Any]:
    """The limits of the budget that were given by such options."""
    return dict(context.meta.get(_LIMITS_KEY, {}))


@functools.cache
def _options(names: tuple[str, ...], budget: bool) -> list[Any]:
    """The options, as the command line's library makes them from a signature."""
    parameters = [*_setting_parameters(names), *(_limit_parameters() if budget else ())]

    def command(**_: Any) -> None: ...

    command.__dict__["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return list(typer.main.get_command(app).params)


def _setting_parameters(names: tuple[str, ...]) -> Iterator[inspect.Parameter]:
    specs = _declared_settings()
    for name in names:
        yield _parameter(specs[name], _FLAGS.get(name, f"--{name.replace('_', '-')}"), _SETTINGS_KEY)


def _limit_parameters() -> Iterator[inspect.Parameter]:
    from codeplan.budget import Budget
    from codeplan.plugins import setting_specs

    specs = {spec.name: spec for spec in setting_specs(Budget)}
    for name, help_text in _LIMITS.items():
        yield _parameter(
            replace(specs[name], declared=replace(specs[name].declared, help=help_text)),
            f"--max-{name.replace('_', '-')}",
            _LIMITS_KEY,
        )


@functools.cache
def _declared_settings() -> dict[str, SettingSpec]:
    """The declarations, by name. A setting of several methods or models is declared alike in all of them."""
    from codeplan.methods.adaplanner import AdaPlanner
    from codeplan.plugins import setting_specs
    from codeplan.runner import models

    known_models = ("scripted", models.ANY_ENDPOINT_MODEL)
    specs = (*setting_specs(AdaPlanner), *(spec for name in known_models for spec in models.setting_specs(name)))
    return {spec.name: spec for spec in specs}


def _parameter(spec: SettingSpec, flag: str, key: str) -> inspect.Parameter:
    default = "" if spec.default in (None, "", ()) else f" [{spec.default}]"
    option = typer.Option(
        flag, metavar=_metavar(spec), help=f"{spec.help}{default}", expose_value=False, callback=_keep(spec, key)
    )
    name = f"{key.rpartition('.')[2]}_{spec.name}"
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=None, annotation=Annotated[str | None, option])


def _metavar(spec: SettingSpec) -> str:
    if spec.name in _METAVARS:
        return _METAVARS[spec.name]
    literals = next((t for t in (spec.type, *get_args(spec.type)) if get_origin(t) is Literal), None)
    if literals is not None:
        return "|".join(map(str, get_args(literals)))
    return "N" if {int, float} & {spec.type, *get_args(spec.type)} else "NAME"


def _keep(spec: SettingSpec, key: str) -> Callable[[typer.Context, str | None], None]:
    """The callback that keeps a given value, as the declared type, in the command's context."""

    def keep(context: typer.Context, text: str | None) -> None:
        if text is not None:
            context.meta.setdefault(key, {})[spec.name] = spec.parse(text)

    return keep
