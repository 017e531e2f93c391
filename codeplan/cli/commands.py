"""How commands are made: their groups in the help, and options from typed settings."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Command, Context
    from typer._click.formatting import HelpFormatter

    from codeplan.plugins import SettingSpec


COMMAND_GROUPS: Final = {
    "Episodes": ("run", "do", "chat", "resume", "approve", "replay", "show", "fork"),
    "Plans": ("check", "exec", "mcp", "test", "mutate", "new-test"),
    "Experiments": ("bench", "papers", "compare", "export", "report", "view", "learn", "skills"),
    "What there is": ("envs", "tasks", "methods"),
    "This machine": ("doctor", "sandbox", "trust", "serve-scripted"),
}
"""The commands, by group."""


class SuggestingGroup(TyperGroup):
    """A group of commands that suggests the nearest for one that there is not, for short names as well."""

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Find the command; a wrong name is a usage error."""
        from codeplan.untrusted.comparison import nearest_name
        from codeplan.untrusted.values import in_quotes

        near = None if args[0] in self.commands or args[0].startswith("-") else nearest_name(args[0], self.commands)
        if near:
            ctx.fail(f"No such command {in_quotes(args[0])}. Did you mean {in_quotes(near)}?")
        return super().resolve_command(ctx, args)


class GroupedCommands(SuggestingGroup):
    """The group of all commands. Help lists a command that is in no group under "More"."""

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the groups with their commands."""
        left = dict.fromkeys(self.list_commands(ctx))
        for title, names in {**COMMAND_GROUPS, "More": [name for name in left if name not in _GROUPED]}.items():
            rows = [(name, _summary(self.commands[name].help or "")) for name in names if name in self.commands]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class WholeSummaries(SuggestingGroup):
    """A group of commands whose help never shortens a summary, and is what the group prints without a command."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse the arguments; none are ``--help``."""
        return super().parse_args(ctx, args or ["--help"])

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands in the order of their registration."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(self.commands[name].help or "")) for name in self.list_commands(ctx)])


_GROUPED: Final = frozenset(name for names in COMMAND_GROUPS.values() for name in names)


def _summary(text: str) -> str:
    """The first paragraph of a help text, without its last full stop."""
    return " ".join(text.split("\n\n")[0].split()).rstrip(".")


OPTION_GROUPS: Final = {
    "Task": ("--env", "--task", "--split", "--kind", "--seed", "-n", "--repeats", "--trainings", "--data"),
    "Tools": (
        "--tools",
        "--mcp",
        "--mcp-config",
        "--mcp-timeout",
        "--verify",
        "--allow",
        "--ask",
        "--deny",
        "--tool-errors",
        "--in-doubt",
    ),
    "Options": (),
    "Model": (
        "--model",
        "--base-url",
        "--api",
        "--prices",
        "--temperature",
        "--mistakes",
        "--model-seed",
        "--cache",
        "--ask-model",
        "--refine-model",
        "--executor-model",
    ),
    "Budget": ("--max-actions", "--max-model-calls", "--max-tokens", "--max-money", "--max-seconds"),
    "Recording": ("--out", "--record", "--replay"),
}
"""The options by group. "Options" holds all that no other group names."""

_TITLES: Final = {option: title for title, options in OPTION_GROUPS.items() for option in options}


class GroupedOptions(TyperCommand):
    """A command whose help shows its options in groups."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the arguments, then each group that the command has options of."""
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", *OPTION_GROUPS)}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                is_argument = parameter.param_type_name == "argument"
                rows["Arguments" if is_argument else _TITLES.get(parameter.opts[0], "Options")].append(row)
        for title, found in rows.items():
            if found:
                with formatter.section(title):
                    formatter.write_dl(found)


MODEL_SETTINGS = ("base_url", "api", "prices", "mistakes", "model_seed", "reply_cache")
ROUTE_SETTINGS = ("ask_model", "refine_model", "executor_model")
DO_SETTINGS = (
    *(name for name in MODEL_SETTINGS if name != "mistakes"),
    *ROUTE_SETTINGS,
    *("temperature", "tries", "imports"),
)
METHOD_SETTINGS = ("resume_by", "code_check", "imports")

_LIMITS = {
    "actions": "Actions.",
    "model_calls": "Model calls of any purpose.",
    "tokens": "Tokens, in and out.",
    "money": "US dollars, if prices are known.",
    "seconds": "Seconds.",
}
"""The limits of a budget that have an option (``--max-`` and their name), with its help."""

_SETTINGS_KEY, _LIMITS_KEY = "codeplan.settings", "codeplan.limits"
_METAVARS = {
    "imports": "NAMES",
    "base_url": "URL",
    "prices": "FILE",
    "mistakes": "HOW",
    "model_seed": "N",
    "reply_cache": "DIR",
}
_FLAGS = {"reply_cache": "--cache"}


def _command_class(*names: str, budget: bool = False) -> type[GroupedOptions]:
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

    app = typer.Typer(add_completion=False)
    app.command()(_with_signature(lambda **_: None, parameters))
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


def add_group(app: typer.Typer, name: str, help_text: str, example: str) -> typer.Typer:
    """Add a group of commands, whose help never shortens a summary."""
    group = typer.Typer(cls=WholeSummaries, help=help_text, rich_markup_mode=None, epilog=f"Example: {example}")
    group.callback()(lambda: None)
    app.add_typer(group, name=name)
    return group


def add_command(
    group: typer.Typer,
    name: str,
    command: Callable[..., None],
    example: str,
    *settings: str,
    budget: bool = False,
    **more: Any,
) -> None:
    """Add a command, which has an option for each field of its dataclass parameters and each of the ``settings``.

    It has the limits of an episode's budget as options if ``budget`` is true. ``more`` is for typer.
    """
    with_settings = _command_class(*settings, budget=budget) if settings or budget else None
    group.command(name, cls=with_settings, epilog=f"Example: {example}", **more)(_with_flat_options(command))


def _with_flat_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of its dataclass parameters. It still gets the dataclasses."""
    parameters = _parameters(command)

    def flat(**given: Any) -> None:
        command(**_filled(parameters, given))

    options = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in _flattened(parameters)]
    flat.__doc__ = command.__doc__
    return _with_signature(flat, options)


def _with_signature(command: Callable[..., None], parameters: Sequence[inspect.Parameter]) -> Callable[..., None]:
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _parameters(of: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(of, eval_str=True).parameters.values())


def _group(parameter: inspect.Parameter) -> type[Any] | None:
    """The dataclass that a parameter takes; None for an option or argument of its own."""
    of = parameter.annotation
    return of if isinstance(of, type) and dataclasses.is_dataclass(of) else None


def _flattened(parameters: Iterable[inspect.Parameter]) -> Iterator[inspect.Parameter]:
    for parameter in parameters:
        yield from _flattened(_parameters(group)) if (group := _group(parameter)) else [parameter]


def _filled(parameters: Iterable[inspect.Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a command or dataclass, from the values of its options by name."""
    return {
        p.name: group(**_filled(_parameters(group), given)) if (group := _group(p)) else given[p.name]
        for p in parameters
    }
