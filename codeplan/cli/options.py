"""Options that several commands share, and the values that commands make of them."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from codeplan.cli.setting_options import given_limits, given_settings
from codeplan.untrusted.texts import echo, echo_message

if TYPE_CHECKING:
    from rich.console import Console

    from codeplan.budget import Budget
    from codeplan.runner.configuration import UserConfig
    from codeplan.sandbox import Limits
    from codeplan.types import Result

_PARTICIPANTS = {"env", "task", "kind", "seed", "method", "model"}
_NO_SETTINGS = _PARTICIPANTS | {"source", "budget", "out", "on_event", "record", "tape", "model_overrides"}
"""Parameters of a run that --set refuses: they are not settings, or have no form on a command line."""


def environment_name(given: str | None) -> str | None:
    """The environment's name that an argument stands for: itself, or that of the environment in ``FILE.py:NAME``."""
    if given is None or ".py" not in given:
        return given
    from codeplan.runner.environment_files import use_environment

    return use_environment(given)


def complete(group: Literal["codeplan.envs", "codeplan.methods"]) -> Callable[[str], list[str]]:
    """Names of environments or methods, for a shell that completes them."""

    def names(incomplete: str) -> list[str]:
        from codeplan import plugins

        return [name for name in plugins.names(group) if name.startswith(incomplete)]

    return names


_ENV_HELP = "The environment: a name that 'codeplan envs' lists, or FILE.py:NAME."
Env = Annotated[
    str,
    typer.Argument(metavar="ENV", help=_ENV_HELP, callback=environment_name, autocompletion=complete("codeplan.envs")),
]
EnvOption = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="ENV",
        help="The environment whose agent the plan uses, or FILE.py:NAME.",
        callback=environment_name,
        autocompletion=complete("codeplan.envs"),
    ),
]
OwnEnv = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="FILE.py:NAME",
        help="The recorded environment, if no package registers it.",
        callback=environment_name,
    ),
]
TaskId = Annotated[str | None, typer.Option("--task", metavar="ID", help="The task's id, such as clean/3.")]
Kind = Annotated[str | None, typer.Option(metavar="K", help="A kind of task, instead of --task.")]
OnlyKind = Annotated[str | None, typer.Option("--kind", metavar="K", help="Only tasks of this kind.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="The seed that makes the task, instead of --task.")]
BaseUrl = Annotated[str | None, typer.Option(metavar="URL", help="The endpoint. [OPENAI_BASE_URL, or OpenAI's own]")]
Cache = Annotated[
    Path | None, typer.Option("--cache", metavar="DIR", help="A folder of replies, asked for once and shared by runs.")
]
ExecutorModel = Annotated[str | None, typer.Option(metavar="NAME", help="Another model for choosing single actions.")]
Mistakes = Annotated[str | None, typer.Option(metavar="HOW", help="The mistakes that the scripted model makes.")]
ModelSeed = Annotated[int | None, typer.Option(metavar="N", help="The scripted model's seed.")]
AllowWeak = Annotated[bool, typer.Option("--allow-weak-sandbox", help="Run even if a sandbox layer is missing.")]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="The folder for the trace; must not contain one.")]
Record = Annotated[Path | None, typer.Option(metavar="FILE", help="Record model replies and observations on a tape.")]
Replay = Annotated[Path | None, typer.Option(metavar="FILE", help="Play from a tape, offline; differences are errors.")]
Run = Annotated[
    Path, typer.Argument(metavar="RUN", help="The episode's folder, as given to --out, or the trace in it.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="The port on 127.0.0.1; 0 takes a free one.")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON to standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show the summary only.")]
Data = Annotated[
    str | None, typer.Option("--data", metavar="FOLDER", help="The folder of the environment's data, if it needs one.")
]
Metrics = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="The columns, with commas: success,reward,tokens … Each has its interval."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting of environment, method or model; repeatable."),
]


def collect_settings(more: list[str] | None, **given: Any) -> dict[str, Any]:
    """The settings that were given, without None and False, and those of ``--set``, read as JSON or else as text."""
    from codeplan.errors import UsageError
    from codeplan.plugins import parse_assignment

    settings = {name: value for name, value in given.items() if value is not None and value is not False}
    for item in more or []:
        name, value = parse_assignment(item, "--set")
        if name in _NO_SETTINGS:
            raise UsageError(f"--set cannot set {name!r}; see the options that --help lists")
        settings[name] = value
    if isinstance(settings.get("limits"), dict):
        settings["limits"] = _read_limits(settings["limits"])
    return settings


def _read_limits(table: dict[str, Any]) -> Limits:
    """The sandbox's limits. Raises: UsageError: one is unknown or has a wrong value."""
    import msgspec

    from codeplan.errors import UsageError
    from codeplan.sandbox import Limits

    try:
        return msgspec.convert(table, Limits)
    except msgspec.ValidationError as e:
        raise UsageError(f"--set limits does not fit: {e}") from None


def command_settings(context: typer.Context) -> dict[str, Any]:
    """All settings that a command got: its own options, those made from declarations, and ``--set``."""
    called = context.params
    own = {name: called.get(name) for name in ("data", "allow_weak_sandbox")}
    return collect_settings(called["more"], **(own | given_settings(context)))


def load_config() -> UserConfig:
    """The configuration from environment variables and the current folder's file. Options override it.

    One line on standard error names what is ignored in a file that the user does not trust.
    """
    import os

    from codeplan.runner.configuration import load_config

    config = load_config(Path(), os.environ)
    if config.ignored:
        ignored = f"ignored in {config.file}, which you do not trust: {', '.join(config.ignored)}"
        echo_message(f"{ignored}; to trust it, run: codeplan trust", "codeplan: ", err=True)
    return config


def select_model(config: UserConfig, model: str | None, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The model's name, and the given settings on top of the configured ones that this model takes.

    A model that is an object stands for itself, and takes no configured setting.
    """
    from codeplan.runner.configuration import settings_for_model

    name = (config.model or "scripted") if model is None else model
    if not isinstance(name, str):
        return name, given
    return name, {**settings_for_model(name, config.settings), **given}


def make_budget(config: UserConfig, **limits: float | None) -> Budget:
    """The budget with the given limits, then the configured ones, then its defaults. None is no limit."""
    from codeplan.budget import Budget

    return Budget(**{**config.budget, **limits})


def command_run(context: typer.Context) -> dict[str, Any]:
    """Model, budget and settings of a run from a command's options, the configuration and the defaults."""
    config = load_config()
    model, given = select_model(config, context.params["model"], command_settings(context))
    return {"model": model, "budget": make_budget(config, **given_limits(context)), **given}


@contextlib.contextmanager
def open_tapes(record: Path | None, replay: Path | None) -> Iterator[dict[str, Any]]:
    """The arguments of a run that records a tape, or plays from one."""
    from codeplan.recording.tape import Tape, TapeRecorder

    recorder = TapeRecorder(record) if record else None
    try:
        yield {"record": recorder, "tape": Tape(replay) if replay else None}
    finally:
        if recorder:
            recorder.close()


def make_console() -> Console:
    """The console of standard output: colours on a terminal, plain text elsewhere."""
    from codeplan.untrusted.console import CleanConsole

    return CleanConsole()


def print_json(value: Any) -> None:
    """Print plain data, and the frozen values in it, as JSON in ASCII."""
    from codeplan.report.json_output import to_plain_data

    text = json.dumps(to_plain_data(value), indent=2)
    echo(text.replace("\x7f", "\\u007f"))  # the one control character that JSON in ASCII may hold


def print_output(document: Any, as_json: bool, lines: Callable[[], Iterable[str]]) -> None:
    """Print the document as JSON, or else the lines of text."""
    if as_json:
        print_json(document)
    else:
        echo("\n".join(lines()))


def warn_unpriced_models(names: Iterable[str]) -> None:
    """Say on stderr that a budget of money does not limit these models, for which no price is known."""
    for name in names:
        unpriced = f"no price is known for the model {name}: its calls do not count in the budget of money"
        echo_message(f"{unpriced}; give a table with --prices FILE", "codeplan: ", err=True)


def end_episode(result: Result, document: Any) -> NoReturn:
    """Print the document as JSON unless it is None. Exit with 0 for success, 3 for a spent budget, otherwise 1."""
    from codeplan.types import BudgetSpent

    if document is not None:
        print_json(document)
    raise typer.Exit(0 if result.success else 3 if isinstance(result.ending, BudgetSpent) else 1)


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of its dataclass parameters. It still gets the dataclasses."""
    parameters = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {
        name: p.annotation for name, p in parameters.items() if dataclasses.is_dataclass(p.annotation)
    }
    members = {name: inspect.signature(group, eval_str=True).parameters for name, group in groups.items()}

    def flat(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{member: given.pop(member) for member in members[name]})
        command(**given)

    options = [option for name, p in parameters.items() for option in members.get(name, {name: p}).values()]
    keywords = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
    flat.__dict__["__signature__"] = inspect.Signature(keywords)
    flat.__annotations__ = {option.name: option.annotation for option in options}
    flat.__doc__ = command.__doc__
    return flat
