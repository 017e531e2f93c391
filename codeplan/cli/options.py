"""Options that commands share, and what becomes of them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from codeplan.budget import Budget
    from codeplan.runner.configuration import UserConfig
    from codeplan.types.result import Result

RUNS = Path("runs")
"""Where traces go when no folder is named."""

_NO_SETTINGS = {"env", "task", "kind", "seed", "method", "model", "budget", "out", "listen", "limits", "record", "tape"}
"""Parameters of a run that are no settings, or cannot be written on a command line."""

_SETTINGS = (
    "data",
    "base_url",
    *("ask_model", "refine_model", "executor_model", "api", "prices"),
    *("mistakes", "model_seed", "temperature"),
    *("tries", "resume_by", "code_check"),
    "allow_weak_sandbox",
)
"""The options that are settings of environment, method or model, in the order in which a trace keeps them."""

_LIMITS = ("actions", "model_calls", "tokens", "money", "seconds")
"""The limits of a budget that have an option, ``--max-`` before their name."""

Env = Annotated[str, typer.Argument(metavar="ENV", help="The environment's name; 'codeplan envs' lists them.")]
EnvOption = Annotated[str, typer.Option("--env", metavar="ENV", help="The environment whose agent the plan uses.")]
TaskId = Annotated[str | None, typer.Option("--task", metavar="ID", help="The task's id, such as clean/3.")]
Kind = Annotated[str | None, typer.Option(metavar="K", help="A kind of task, where no --task is given.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="The seed that makes the task, where no --task is given.")]
Model = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="'scripted' (a stand-in, no key needed), or a model of the endpoint. [scripted]"),
]
AskModel = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Another model for a plan's ask_llm; NAME@URL is at another endpoint."),
]
RefineModel = Annotated[str | None, typer.Option(metavar="NAME", help="Another model for refining plans.")]
ExecutorModel = Annotated[str | None, typer.Option(metavar="NAME", help="Another model for choosing single actions.")]
Api = Annotated[str | None, typer.Option(metavar="API", help="The endpoint's API: chat or responses. [chat]")]
Prices = Annotated[
    str | None, typer.Option(metavar="FILE", help="A table of prices (TOML) that goes before the built-in one.")
]
MaxMoney = Annotated[float | None, typer.Option(metavar="USD", help="Budget: US dollars, where prices are known.")]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="The model's endpoint; default OPENAI_BASE_URL, or OpenAI.")
]
Mistakes = Annotated[str | None, typer.Option(metavar="HOW", help="Which mistakes the scripted model makes.")]
ModelSeed = Annotated[int | None, typer.Option(metavar="N", help="The model's seed; a real one may ignore it.")]
Temperature = Annotated[float | None, typer.Option(metavar="T", help="Sampling temperature; left to the endpoint.")]
MaxActions = Annotated[int | None, typer.Option(metavar="N", help="Budget: actions.")]
MaxModelCalls = Annotated[int | None, typer.Option(metavar="N", help="Budget: model calls of any purpose. [100]")]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Budget: tokens, in and out.")]
MaxSeconds = Annotated[float | None, typer.Option(metavar="S", help="Budget: seconds.")]
AllowWeak = Annotated[
    bool, typer.Option("--allow-weak-sandbox", help="Run even where a layer of the sandbox is missing.")
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="The folder for the trace; must not hold one yet.")]
Record = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Put everything on a new tape: model replies and observations.")
]
Replay = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Play from a tape, offline; any difference is an error.")
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="The episode's folder, as --out named it.")]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="The port on 127.0.0.1; 0 is any that is free.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, to standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show the summary only.")]
Data = Annotated[
    str | None,
    typer.Option("--data", metavar="FOLDER", help="The folder of the environment's data, where it needs one."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting of environment, method or model; repeatable."),
]


def collect_settings(more: list[str] | None, **given: Any) -> dict[str, Any]:
    """The settings that were given; a flag that is off was not.

    Those of ``--set`` are read as JSON where they are, else as text.
    """
    from codeplan.errors import UsageError

    found = {name: value for name, value in given.items() if value is not None and value is not False}
    for item in more or []:
        name, equals, text = item.partition("=")
        if not (name.isidentifier() and equals):
            raise UsageError(f"--set takes NAME=VALUE, not {item!r}; for instance --set timeout=60")
        if name in _NO_SETTINGS:
            raise UsageError(f"{name!r} is no setting for --set; see the options that --help lists")
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def command_settings(context: typer.Context) -> dict[str, Any]:
    """The settings among the options that a command was called with, ``--set`` included."""
    called = context.params
    return collect_settings(called["more"], **{name: called[name] for name in _SETTINGS if name in called})


def load_config() -> UserConfig:
    """What the environment and the current folder's file set; flags go before it."""
    import os

    from codeplan.runner.configuration import load_config

    return load_config(Path(), os.environ)


def select_model(config: UserConfig, model: str | None, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The model's name, and the settings that were given with those that were found and fit the model."""
    from codeplan.runner.configuration import settings_for_model

    name = (config.model or "scripted") if model is None else model
    return name, {**settings_for_model(name, config.settings), **given}


def make_budget(config: UserConfig, **limits: float | None) -> Budget:
    """The budget with the limits that were given or found, and its own defaults for the others."""
    from codeplan.budget import Budget

    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    return Budget(**{**config.budget, **given})


def command_budget(context: typer.Context, config: UserConfig) -> Budget:
    """The budget with the limits among the options that a command was called with, or found, or its own defaults."""
    return make_budget(config, **{name: context.params[f"max_{name}"] for name in _LIMITS})


@contextlib.contextmanager
def open_tapes(record: Path | None, replay: Path | None) -> Iterator[dict[str, Any]]:
    """The arguments of a run that is to be put on a tape, or played from one."""
    from codeplan.recording.tape import Tape, TapeRecorder

    recorder = TapeRecorder(record) if record else None
    try:
        yield {"record": recorder, "tape": Tape(replay) if replay else None}
    finally:
        if recorder:
            recorder.close()


@contextlib.contextmanager
def new_run_folder(*words: str | int | None) -> Iterator[Path]:
    """A new folder in ``runs/``, named by the time and the words; gone again where nothing was written to it."""
    from codeplan.errors import UsageError

    try:
        folder = _made("-".join(str(w) for w in words if w is not None))
    except OSError as e:
        raise UsageError(f"no folder for the trace can be made in {RUNS}: {e.strerror}; name one with --out") from None
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _made(name: str) -> Path:
    import time

    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:80]
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        folder = RUNS / (f"{stamp}-{safe}" + (f"-{number}" if number > 1 else ""))
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise FileExistsError(17, "too many runs within a second")


def make_console() -> Console:
    """The console of standard output: colours on a terminal, plain text elsewhere."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def print_json(value: Any) -> None:
    """Print a value as JSON, readable and in plain ASCII."""
    typer.echo(json.dumps(value, indent=2))


def exit_code(result: Result) -> int:
    """0 for success, 3 for a spent budget, 1 for any other ending."""
    from codeplan.types.ending import BudgetSpent

    if result.success:
        return 0
    return 3 if isinstance(result.ending, BudgetSpent) else 1
