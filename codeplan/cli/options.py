"""Options that several commands share, and the values that commands make of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from codeplan.cli import questions
from codeplan.cli.commands import given_limits, given_settings
from codeplan.cli.output import make_event_handler
from codeplan.untrusted.texts import echo_message, on_terminal, shell_word

if TYPE_CHECKING:
    from codeplan.budget import Budget, Spending, TotalBudget
    from codeplan.recording.events import Event
    from codeplan.runner.settings_files import UserConfig
    from codeplan.sandbox import Limits
    from codeplan.tools import ToolEnvironment


_PARTICIPANTS = {"env", "task", "kind", "seed", "method", "model"}
_NO_SETTINGS = _PARTICIPANTS | {"split", "source", "budget", "out", "on_event", "record", "tape", "model_overrides"}
"""Parameters of a run that --set refuses: they are not settings, or have no form on a command line."""


_FILES_KEY = "codeplan.named_files"


def named_files(context: typer.Context) -> str:
    """The options that name the user's own files once more, where a recording names none, as in
    " --env boxes.py:Boxes --model models.py:answer"; empty if the command got no such file.
    """
    named: dict[str, str] = context.meta.get(_FILES_KEY, {})
    return "".join(f" {option} {shell_word(given)}" for option, given in sorted(named.items()))


def _take_environment(context: typer.Context, given: str | None) -> str | None:
    """The name that an argument for an environment stands for; the command keeps that of a file as it was given."""
    name = environment_name(given)
    if name != given and given is not None:
        context.meta.setdefault(_FILES_KEY, {})["--env"] = given
    return name


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
    typer.Argument(metavar="ENV", help=_ENV_HELP, callback=_take_environment, autocompletion=complete("codeplan.envs")),
]
EnvOption = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="ENV",
        help="The environment whose agent the plan uses, or FILE.py:NAME.",
        callback=_take_environment,
        autocompletion=complete("codeplan.envs"),
    ),
]
OwnEnv = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="FILE.py:NAME",
        help="The recorded environment, if no package registers it.",
        callback=_take_environment,
    ),
]
OnlyKind = Annotated[str | None, typer.Option("--kind", metavar="K", help="Only tasks of this kind.")]
BaseUrl = Annotated[str | None, typer.Option(metavar="URL", help="The endpoint. [OPENAI_BASE_URL, or OpenAI's own]")]
Cache = Annotated[
    Path | None, typer.Option("--cache", metavar="DIR", help="A folder of replies, asked for once and shared by runs.")
]
Mistakes = Annotated[str | None, typer.Option(metavar="HOW", help="The mistakes that the scripted model makes.")]
ModelSeed = Annotated[int | None, typer.Option(metavar="N", help="The scripted model's seed.")]
Imports = Annotated[
    str, typer.Option("--imports", metavar="NAMES", help="Packages that plans may import, such as numpy,pandas.")
]
AllowWeak = Annotated[bool, typer.Option("--allow-weak-sandbox", help="Run even if a sandbox layer is missing.")]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="The folder for the trace; must not contain one.")]
Run = Annotated[
    Path, typer.Argument(metavar="RUN", help="The episode's folder, as given to --out, or the trace in it.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="The port on 127.0.0.1; 0 takes a free one.")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON to standard output.")]
Jobs = Annotated[
    int | None,
    typer.Option("-j", "--jobs", metavar="N", min=1, help="Episodes at a time. [one for each processor, 2 to 8]"),
]
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


@dataclass(frozen=True)
class TaskOptions:
    """Which task of an environment an episode is about."""

    task: Annotated[str | None, typer.Option("--task", metavar="ID", help="The task's id, such as clean/3.")] = None
    kind: Annotated[str | None, typer.Option(metavar="K", help="A kind of task, instead of --task.")] = None
    seed: Annotated[int | None, typer.Option(metavar="N", help="The seed that makes the task, instead of --task.")] = (
        None
    )
    split: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The split to choose from. [the first; for --task and --seed any]"),
    ] = None
    data: Data = None


@dataclass(frozen=True)
class TapeOptions:
    """The tape that episodes are recorded on, or play from."""

    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record model replies and observations on a tape.")
    ] = None
    replay: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Play from a tape, offline; differences are errors.")
    ] = None

    @contextlib.contextmanager
    def open(self) -> Iterator[dict[str, Any]]:
        """The arguments of a run that records a tape, or plays from one."""
        from codeplan.recording.tape import Tape, TapeRecorder

        recorder = TapeRecorder(self.record) if self.record else None
        try:
            yield {"record": recorder, "tape": Tape(self.replay) if self.replay else None}
        finally:
            if recorder:
                recorder.close()


@dataclass(frozen=True)
class OutputOptions:
    """How an episode is shown."""

    as_json: Json = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show the summary only.")] = False

    def event_handler(self) -> Callable[[Event], None]:
        """The handler that shows the episode."""
        return make_event_handler(self.as_json, self.quiet)


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


def command_settings(context: typer.Context, more: list[str] | None = None) -> dict[str, Any]:
    """All settings that a command got: its own options, those made from declarations, and ``--set``, or ``more``."""
    called = context.params
    own = {name: called.get(name) for name in ("data", "allow_weak_sandbox")}
    return collect_settings(called["more"] if more is None else more, **(own | given_settings(context)))


def load_config() -> UserConfig:
    """The configuration from environment variables and the current folder's file. Options override it.

    One line on standard error names what is ignored in a file that the user does not trust.
    """
    import os

    from codeplan.runner.settings_files import load_config

    config = load_config(Path(), os.environ)
    if config.ignored:
        ignored = f"ignored in {config.file}, which you do not trust: {', '.join(config.ignored)}"
        echo_message(f"{ignored}; to trust it, run: codeplan trust", "codeplan: ", err=True)
    return config


def select_model(config: UserConfig, model: str | None, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The model's name, and the given settings on top of the configured ones that this model takes.

    A model that is an object stands for itself, and takes no configured setting.
    """
    from codeplan.runner.settings_files import settings_for_model

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


def model_or_name(context: typer.Context, given: str | None) -> Any:
    """What an argument stands for: the object of ``FILE.py:NAME``, which runs a file that the user names, or a name.

    Raises: UsageError: the file has no such object, or it is a text.
    """
    if given is None or ".py" not in given:
        return given
    from codeplan.runner.models import model_of_file
    from codeplan.tools.python_tools import is_file

    if not is_file(given):
        return given
    context.meta.setdefault(_FILES_KEY, {})["--model"] = given
    return model_of_file(given)


MODEL_HELP = "'scripted' (a stand-in, no key needed), an endpoint's model, or FILE.py:FUNCTION. [scripted]"
OwnModel = Annotated[str | None, typer.Option("--model", metavar="NAME", help=MODEL_HELP, callback=model_or_name)]
LiveModel = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="An endpoint's model, or FILE.py:FUNCTION.", callback=model_or_name),
]


Allow = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Make these tools' calls; repeatable.")]
Ask = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Ask before calls of these tools; repeatable.")]
Deny = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Refuse calls of these tools; repeatable.")]
Once = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Make equal calls of these tools once in an episode; repeatable."),
]
ToolErrors = Annotated[
    Literal["plan", "stop"],
    typer.Option(help="A tool's exception is an error that the plan can catch, or it stops the episode."),
]
ToolTimeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="How long a call of your own tools may take. [no limit]")
]
ErrorIf = Annotated[
    str | None, typer.Option(metavar="KEY", help="A tool's answer that is a dict with this key is an error.")
]
FlowsOption = Annotated[
    str | None,
    typer.Option(
        "--flows",
        metavar="FILE.py:NAME|FILE.toml|default",
        help="Which data may reach which argument of a call (codeplan.flows).",
    ),
]
Readonly = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help="For flows: these tools only read; repeatable.")
]
Instructions = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Your own system text, for every prompt that plans or acts for you.")
]
WayOn = Literal["retry", "skip", "stop"]


@dataclass(frozen=True)
class ToolSourceOptions:
    """Where tools come from."""

    tools: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE.py[:NAME,…]", help="Functions and objects of a Python file; repeatable."),
    ] = None
    mcp: Annotated[
        list[str] | None,
        typer.Option(metavar="COMMAND|URL", help="An MCP server to start or to connect to; repeatable."),
    ] = None
    mcp_config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A JSON file of MCP servers (mcpServers), as other programs have."),
    ] = None
    mcp_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long a call of an MCP server's tool may take.")
    ] = 60.0

    @property
    def name_tools(self) -> bool:
        """Whether the user names any tools."""
        return bool(self.tools or self.mcp or self.mcp_config)

    def require_tools(self) -> None:
        """Raise UsageError if the user names no tools."""
        from codeplan.errors import UsageError

        if not self.name_tools:
            raise UsageError("there are no tools; name a Python file with --tools FILE.py, or an MCP server with --mcp")

    def arguments(self) -> dict[str, Any]:
        """The fields of ToolSources."""
        return asdict(self) | {"tools": self.tools or (), "mcp": self.mcp or ()}


@dataclass(frozen=True)
class ToolOptions(ToolSourceOptions):
    """What the user names for an episode with tools."""

    verify: Annotated[
        str | None, typer.Option(metavar="FILE.py:FUNCTION", help="Decides about the result: verify(value, tools).")
    ] = None
    allow: Allow = None
    ask: Ask = None
    deny: Deny = None
    tool_errors: ToolErrors = "plan"
    approve: Annotated[
        str | None,
        typer.Option(
            metavar="later|FILE.py:FUNCTION",
            help="Who decides about calls that need approval: approve(call), or you, later, with codeplan approve.",
        ),
    ] = None
    once: Once = None
    tool_timeout: ToolTimeout = None
    error_if: ErrorIf = None
    flows: FlowsOption = None
    readonly: Readonly = None
    returns: Annotated[
        str | None,
        typer.Option(metavar="FILE.py:NAME|FILE.json", help="The type that the value must have, or its JSON schema."),
    ] = None
    ask_user: Annotated[
        str | None,
        typer.Option(metavar="FILE.py:FUNCTION", help="Answers what plans ask you: ask_user(question). [the terminal]"),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``codeplan.do`` and ``codeplan.resume``. On a terminal, the user is asked."""
        lists = {name: getattr(self, name) or () for name in ("tools", "mcp", "allow", "deny", "once", "readonly")}
        lists |= {"ask": self.ask or (None if self.approve else ())}
        lists |= {"approve": self.approve or (questions.ask_for_approval if on_terminal() else None)}
        return asdict(self) | lists | {"ask_user": self.ask_user or questions.user_at_terminal()}


@contextlib.contextmanager
def open_environment(
    env: str | None, sources: ToolSourceOptions, goal: str, folder: Path | None = None, *, flows: str | None = None
) -> Iterator[str | ToolEnvironment]:
    """The environment of a plan: that of a name, or one made of the tools, whose servers end with the context. With
    tools, ``flows`` may name flows.

    Raises: UsageError: the user names neither an environment nor tools, or both.
    """
    from codeplan.errors import UsageError
    from codeplan.runner.tools import ToolSources, open_goal

    if (env is None) == (not sources.name_tools):
        forms = "--env ENV, or tools by --tools FILE.py or --mcp COMMAND"
        raise UsageError(f"the plan needs something to act on: {forms}" if env is None else f"give one of {forms}")
    if env is not None:
        _require_no_tool_options(env, sources.arguments() | ({} if flows is None else {"flows": flows}))
        yield env
        return
    given: dict[str, Any] = sources.arguments()
    given |= {} if flows is None else {"flows": flows}
    named = ToolSources(**given)
    with open_goal(goal, named, folder, named.user()) as tools:
        yield tools


def _require_no_tool_options(env: str, given: Mapping[str, Any]) -> None:
    """Raise UsageError if there is an option that needs tools, of which an environment has none."""
    from codeplan.errors import UsageError

    if option := next((name for name in ("allow", "ask", "deny", "flows") if given.get(name)), None):
        raise UsageError(f"--{option} names tools, and the environment {env} has none; leave it out")
    if given.get("returns"):
        raise UsageError(f"--returns is for tools, and the environment {env} has none; leave it out")


RUNS = Path("runs")
"""The folder for traces if --out names none."""


@contextlib.contextmanager
def run_folder(out: Path | None, *words: str | int | None) -> Iterator[Path]:
    """The folder for traces: ``out``, or a new one in ``runs/``, named after the time and the words.

    A new one that stays empty is removed at the end. Like all folders that the user did not type, it may not be a link:
    the current folder may come from a stranger.
    """
    from codeplan.errors import UsageError
    from codeplan.untrusted.files import create_folder

    if out:
        yield out
        return
    try:
        create_folder(RUNS)
        folder = _new_folder("-".join(str(w) for w in words if w is not None))
    except OSError as e:
        raise UsageError(f"cannot create a folder for the trace in {RUNS}: {e.strerror}; name one with --out") from None
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def require_no_link(folder: Path, option: str) -> None:
    """Check a default folder that is created only later. ``option`` names another one.

    Raises: UsageError: the folder, or one above it in the current folder, is a link.
    """
    from codeplan.errors import UsageError

    if link := next((part for part in (folder, *folder.parents) if part.is_symlink()), None):
        raise UsageError(f"{link} is a link; name the real folder with {option}")


def _new_folder(name: str) -> Path:
    import time

    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:80].rstrip(".")
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        folder = RUNS / (f"{stamp}-{safe}" + (f"-{number}" if number > 1 else ""))
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise FileExistsError(17, "1000 runs started within a second")


@dataclass(frozen=True)
class TotalBudgetOptions:
    """What all episodes together may spend."""

    max_money: Annotated[float | None, typer.Option(metavar="USD", help="US dollars for all episodes together.")] = None
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Tokens, in and out, for all episodes together.")
    ] = None
    max_seconds: Annotated[float | None, typer.Option(metavar="S", help="Seconds for all episodes together.")] = None

    def budget(self) -> TotalBudget:
        """The budget. Raises: UsageError: a limit is negative."""
        from codeplan.budget import TotalBudget

        return TotalBudget(money=self.max_money, tokens=self.max_tokens, seconds=self.max_seconds)

    def start(self) -> Spending:
        """Begin to count. Raises: UsageError: a limit is negative."""
        from codeplan.budget import Spending

        return Spending(self.budget())


def end_spending(spending: Spending, as_json: bool, saved: str) -> None:
    """Print what was spent; to standard error where standard output is for JSON.

    Raises: BudgetExceeded: it kept episodes from starting. ``saved`` says what is kept, and how to go on.
    """
    echo_message(f"spent: {spending}", err=as_json)
    if spending.stopped_by:
        spending.stopped_by.add_note(saved)
        raise spending.stopped_by
