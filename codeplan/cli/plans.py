"""``codeplan check``, ``exec``, ``mcp``, ``test``, ``mutate`` and ``new-test``: plans from files, without planning."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from codeplan.cli import commands, options, questions
from codeplan.cli.commands import add_command
from codeplan.cli.options import OutputOptions, TapeOptions, TaskOptions, ToolOptions, ToolSourceOptions
from codeplan.cli.output import counting_progress, end_episode, print_json, reserved_for_json, show_value
from codeplan.untrusted.texts import echo, echo_message, one_line, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.mcp_server.plan_runner import RunnerSettings, ToolPlanRunner
    from codeplan.runner.given_plans import Execution
    from codeplan.sandbox import Sandbox
    from codeplan.testing.mutation import MutationScore
    from codeplan.tools import ToolEnvironment
    from codeplan.tools.flow_checks import CallPreview
    from codeplan.tools.mcp import ServerAddress
    from codeplan.types import Diagnostic, Plan, Rejected


MAX_PLAN_BYTES = 1_000_000
"""Larger files are not read. The sandbox's own limit is far lower."""

PlanFile = Annotated[str, typer.Argument(metavar="PLAN", help="The plan's file; - is standard input.")]

FixesOption = Annotated[
    Literal["on", "off"], typer.Option("--fixes", help="Whether the check mends what has only one meaning.")
]

StrictOption = Annotated[bool, typer.Option("--strict", help="Refuse a plan with warnings.")]


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    add_command(app, "check", check, "codeplan check my_plan.py --env household")
    example = "codeplan exec my_plan.py --env household --task clean/3"
    add_command(app, "exec", execute, example, *commands.MODEL_SETTINGS, "temperature", "imports", budget=True)
    example = "codeplan mcp --tools tools.py --mcp 'npx -y @modelcontextprotocol/server-filesystem docs'"
    add_command(app, "mcp", serve, example)
    passed = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": ["-h", "--help"]}
    add_command(app, "test", run_tests, "codeplan test tests/plans --plan-cov", context_settings=passed)
    add_command(app, "mutate", mutate, "codeplan mutate tests/plans/heat.plan.toml")
    add_command(app, "new-test", new_test, "codeplan new-test runs/one")


def check(
    plan: PlanFile,
    env: options.EnvOption = None,
    *,
    sources: ToolSourceOptions,
    fix: Annotated[bool, typer.Option("--fix", help="Write the mended plan to the file.")] = False,
    fixes: FixesOption = "on",
    strict: StrictOption = False,
    flows: options.FlowsOption = None,
    imports: options.Imports = "",
    allow_weak_sandbox: options.AllowWeak = False,
    as_json: options.Json = False,
) -> None:
    """Check a plan without running it: against an environment's agent, or against your tools.

    What has only one meaning is mended. Each fix, warning and error is printed as PLAN:line:column: message [rule]. The
    lines of warnings and errors are those of the mended plan, which --fix writes to the file; - is standard output.
    With --flows, each call is listed with the origins of its arguments, and what would be asked or refused.

    Exit codes: 0 accepted, 1 refused, 2 usage, 4 infrastructure.
    """
    from codeplan.runner.given_plans import check_on
    from codeplan.sandbox import Sandbox
    from codeplan.types import Rejected, refuse_warnings

    sandbox = Sandbox(allow_weak=allow_weak_sandbox, imports=imports)
    with options.open_environment(env, sources, "check a plan", flows=flows) as environment:
        outcome = check_on(read_plan(plan), environment, sandbox, fixes)
        calls = _preview(outcome, environment, sandbox)
    outcome = refuse_warnings(outcome) if strict else outcome
    written = fix and _write_plan(plan, outcome)
    if as_json:
        found = _check_as_json(outcome)
        print_json(found if flows is None else {"found": found, "calls": list(map(_call_as_json, calls))})
    elif not (fix and plan == "-"):
        _print_check(plan, outcome)
        for call in calls:
            echo(f"{_display_name(plan)}:{call.line}: {call}")
        if written:
            echo(f"{_display_name(plan)}: the mended plan was written to the file")
    raise typer.Exit(1 if isinstance(outcome, Rejected) else 0)


@dataclass(frozen=True)
class ExecutionOptions:
    """How a plan is checked, and where it starts: the settings of ``codeplan.execute`` of these names."""

    fixes: FixesOption = "on"
    strict: StrictOption = False
    start_from: Annotated[
        int | None, typer.Option("--start-from", metavar="K", help="Start the plan at step K instead of its first.")
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", metavar="FILE", help="The variables for step K: a JSON object, or a run's trace.jsonl."
        ),
    ] = None


def execute(
    context: typer.Context,
    plan: PlanFile,
    env: options.EnvOption = None,
    *,
    what: TaskOptions,
    sources: ToolOptions,
    model: options.OwnModel = None,
    how: ExecutionOptions,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    out: options.Out = None,
    tapes: TapeOptions,
    output: OutputOptions,
) -> None:
    """Check and run a plan once, without planning or refining: in an environment, or on your tools (see do).

    --start-from K starts the plan at step K, with the variables of --checkpoint FILE: a JSON object of plain values, or
    a run's trace.jsonl, whose last run of a plan entered step K. The environment begins anew.

    The model only answers the plan's ask_llm. With --json, the plan's variables take at most 256 kB; "truncated" says
    whether some are missing, and "omitted" which and why.

    Exit codes: 0 success, 1 not solved, 2 usage, 3 budget spent, 4 infrastructure, 5 waiting for an approval, 130
    interrupted. With --out, the command writes a trace.
    """
    from codeplan.runner.given_plans import execute as execute_plan

    source = read_plan(plan)
    given, on_event = asdict(how) | options.command_run(context), output.event_handler()
    given |= {"kind": what.kind, "seed": what.seed, "split": what.split, "out": out, "on_event": on_event}
    goal = f"run the plan {_display_name(plan)}"
    with (
        tapes.open() as tape,
        reserved_for_json(output.as_json),
        options.open_environment(env, sources, goal, out) as where,
    ):
        execution = execute_plan(source, where, what.task, **tape, **given)
    if not output.as_json:
        show_value(execution.result)
    document = _summary(execution) if output.as_json else None
    files = options.named_files(context)
    end_episode(execution.result, document, unverified=sources.verify is None, files=files)


def read_plan(path: str) -> str:
    """The text of a plan's file; ``"-"`` reads standard input.

    Raises: UsageError: the file cannot be read, is empty, too large, or not UTF-8 text.
    """
    from codeplan.errors import UsageError

    name = _display_name(path)
    data = _bytes(path)
    if len(data) > MAX_PLAN_BYTES:
        raise UsageError(f"{name} is larger than {MAX_PLAN_BYTES:,} bytes, which is too large for a plan")
    if not data.strip():
        raise UsageError(f"{name} is empty; a plan defines solution(agent, start_from=1)")
    if b"\0" in data:
        raise UsageError(f"{name} is binary; a plan is Python text in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise UsageError(f"{name} is not UTF-8 (byte {e.start}); save it as UTF-8") from None


def _bytes(path: str) -> bytes:
    from codeplan.errors import UsageError
    from codeplan.untrusted.files import open_user_file

    try:
        if path == "-":
            return sys.stdin.buffer.read(MAX_PLAN_BYTES + 1)
        with open_user_file(path) as file:
            return file.read(MAX_PLAN_BYTES + 1)
    except (OSError, ValueError) as e:
        why = getattr(e, "strerror", None) or "not a path"
        raise UsageError(f"cannot read the plan {path}: {why}") from None


def _preview(outcome: Plan | Rejected, env: str | ToolEnvironment, sandbox: Sandbox) -> list[CallPreview]:
    """What the flows say about each call of a plan that passed the check; empty without flows."""
    from codeplan.agent_interface import agent_api
    from codeplan.episode.episode import agent_class
    from codeplan.planning.plan_run import find_plan_origins
    from codeplan.types import Plan

    checks = None if isinstance(env, str) else env.flow_checks
    if checks is None or isinstance(env, str) or not isinstance(outcome, Plan):
        return []
    checks.origins = find_plan_origins(sandbox, outcome, agent_api(agent_class(env)), checks)
    if not checks.origins.followed:
        echo_message("the plan cannot be followed, so each argument of its calls may come from anywhere", err=True)
    return checks.preview(env.toolset)


def _call_as_json(call: CallPreview) -> dict[str, Any]:
    verdict = call.verdict
    origins = {name: list(each) for name, each in verdict.origins.items()}
    way = {"tool": call.tool, "line": call.line, "origins": origins, "way": verdict.way}
    return way | ({"why": verdict.why} if verdict.findings else {})


def _write_plan(path: str, outcome: Plan | Rejected) -> bool:
    """Write the mended plan back, if anything was mended; returns whether the file was changed."""
    from codeplan.errors import UsageError
    from codeplan.untrusted.files import write_atomically

    if path == "-":
        echo(outcome.source.rstrip("\n"))
    elif outcome.fixes:
        try:
            write_atomically(path, outcome.source)
        except OSError as e:
            raise UsageError(f"the mended plan cannot be written to {path}: {e.strerror}") from None
        return True
    return False


def _print_check(path: str, outcome: Plan | Rejected) -> None:
    from codeplan.types import Plan

    for fix in outcome.fixes:
        echo_message(f"mended: {one_line(fix.change, 1000)} [{fix.rule}]", f"{_display_name(path)}:{fix.line}: ")
    if isinstance(outcome, Plan):
        _print_diagnostics(path, outcome.source, outcome.warnings, "warning: ")
        echo(f"{_display_name(path)}: accepted")
    else:
        _print_diagnostics(path, outcome.source, outcome.diagnostics)


def _print_diagnostics(path: str, source: str, diagnostics: Iterable[Diagnostic], kind: str = "") -> None:
    from codeplan.untrusted.texts import source_excerpt, terminal_columns

    columns = terminal_columns(sys.stdout)
    room = {"width": columns - 6} if columns else {}
    for d in diagnostics:
        label = f"{_display_name(path)}{d.place}: "
        echo_message(f"{kind}{one_line(d.message, 1000)} [{d.rule}]", label)
        for line in source_excerpt(source, d.line, d.column, **room):
            echo(f"    {line}")


def _check_as_json(outcome: Plan | Rejected) -> list[dict[str, Any]]:
    """What the check found: errors; warnings, with ``warning`` true; fixes, with the line before and after."""
    from codeplan.report.json_output import to_plain_data
    from codeplan.types import Plan

    if isinstance(outcome, Plan):
        found = [to_plain_data(w) | {"warning": True} for w in outcome.warnings]
    else:
        found = [to_plain_data(d) for d in outcome.diagnostics]
    return found + [to_plain_data(f) for f in outcome.fixes]


def _summary(execution: Execution) -> dict[str, Any]:
    """The JSON for scripts: the plan's outcome and the episode's counts."""
    from codeplan.report.json_output import outcome_as_json

    result = execution.result
    counts = {"success": result.success, "actions": result.actions, "asks": result.asks}
    return {**outcome_as_json(execution.outcome, result.reason), **counts}


def _display_name(path: str) -> str:
    return "standard input" if path == "-" else one_line(path, 400)


MAX_SERVER_RESTARTS = 1_000
"""How often an MCP server that has ended is started again: this server lives for days."""


@dataclass(frozen=True)
class RunOptions:
    """What holds for each run of a plan."""

    allow: options.Allow = None
    ask: options.Ask = None
    deny: options.Deny = None
    tool_errors: options.ToolErrors = "plan"
    plan_seconds: Annotated[
        float, typer.Option(min=0.1, max=3600, metavar="S", help="Seconds that a plan may run, without its calls.")
    ] = 5.0
    max_calls: Annotated[int, typer.Option(min=0, max=1_000_000, metavar="N", help="Calls of tools in a run.")] = 500
    max_printed: Annotated[
        int, typer.Option(min=0, max=10_000_000, metavar="N", help="Characters that a run may print.")
    ] = 64_000
    max_seconds: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="Seconds of a run in all; after them no call begins.")
    ] = None
    imports: options.Imports = ""
    allow_weak_sandbox: options.AllowWeak = False
    tool_timeout: options.ToolTimeout = None
    error_if: options.ErrorIf = None
    once: options.Once = None
    flows: options.FlowsOption = None
    readonly: options.Readonly = None


@dataclass(frozen=True)
class KeepingOptions:
    """Where the runs stand, and how many."""

    runs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the runs' traces there; without it they go when the server ends."),
    ] = None
    keep: Annotated[int, typer.Option(min=1, max=50_000, metavar="N", help="Runs to keep; the oldest go first.")] = (
        1_000
    )
    at_once: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Plans that run at a time.")] = 4


@dataclass(frozen=True)
class InstallOptions:
    """Which client's file gets the server."""

    client: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="With install: claude (Desktop), claude-code, cursor, vscode, windsurf, zed or gemini."
        ),
    ] = None
    project: Annotated[
        bool, typer.Option("--project", help="With install: the client's file of this folder, not of all folders.")
    ] = False
    name: Annotated[str, typer.Option(metavar="NAME", help="With install: the server's name.")] = "codeplan"
    yes: Annotated[bool, typer.Option("--yes", help="With install: write without asking.")] = False


_INSTALL_ONLY = frozenset({"action", "server", "client", "project", "name", "yes"})


ClientId = Annotated[
    str | None,
    typer.Option(
        "--client-id",
        metavar="ID",
        help="With login: a registration of yours; its secret is in CODEPLAN_MCP_CLIENT_SECRET.",
    ),
]


def serve(
    context: typer.Context,
    *,
    action: Annotated[
        Literal["install", "login", "logout"] | None,
        typer.Argument(
            metavar="[install|login|logout]",
            help="Write this server into a client's own file, or log in at an MCP server or out, instead of serving.",
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Argument(metavar="[SERVER]", help="With login and logout: the URL, or the name in --mcp-config."),
    ] = None,
    given: ToolSourceOptions,
    each: RunOptions,
    kept: KeepingOptions,
    into: InstallOptions,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Serve streamable HTTP there, such as 127.0.0.1:8000, in place of stdio."
        ),
    ] = None,
    library: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A skill library, which clients search with find_skills.")
    ] = None,
    client_id: ClientId = None,
) -> None:
    """Serve plans to an MCP client: it checks, runs and resumes them, in place of calling your tools one by one.

    The client's model writes plans. They call the tools of --tools and --mcp in the sandbox, and each run leaves a
    trace. The server offers describe_tools, check_plan, run_plan and resume_plan, and find_skills with --library.

    Calls that need approval are put to the client's user, if the client can ask: the calls of MCP servers' tools unless
    --allow names them, and those that --ask names. Otherwise the run waits for codeplan approve.

    With install, nothing is served: the file of --client gets this server, with the other options, after you have seen
    what is written and where. With login, you log in at a server that wants it, in your browser; logout forgets that.

    Exit codes: 0 the client has left, or the server was interrupted; 1 you said no; 2 usage, 4 infrastructure.
    """
    if action == "install" and server is None:
        given.require_tools()
        _install(context, given, into, http)
        return
    from codeplan.errors import UsageError

    if into != InstallOptions():
        raise UsageError("--client, --project, --name and --yes belong to codeplan mcp install")
    if client_id is not None and action != "login":
        raise UsageError("--client-id belongs to codeplan mcp login")
    if action is not None:
        named = _find_server(action, server, given.mcp_config)
        _log_out(named) if action == "logout" else _log_in(named, client_id)
        return
    given.require_tools()
    _serve_plans(given, each, kept, http, library)


def _serve_plans(
    given: ToolSourceOptions, each: RunOptions, kept: KeepingOptions, http: str | None, library: Path | None
) -> None:
    from codeplan.mcp_server.server import serve as serve_plans
    from codeplan.mcp_server.transports import claim_standard_streams, parse_http_address
    from codeplan.skills.selection import open_store
    from codeplan.tools.mcp.servers import require_package

    require_package()
    importlib.import_module("mcp.server")  # before Python looks for modules in the folders of tools as well
    address = parse_http_address(http) if http is not None else None
    if address is None and sys.stdin.isatty():
        idle = "an MCP client starts this command and talks to it; there is nothing to type (Ctrl-C ends it)"
        echo_message(idle, err=True)
    with ExitStack() as stack:
        where = address or stack.enter_context(claim_standard_streams())
        skills = open_store(library)
        runner = stack.enter_context(_open_runner(given, each, kept))
        if address and not address.is_loopback:
            anyone = f"anyone who reaches {address.name} can run plans with these tools"
            echo_message(f"{anyone}; there is no login", err=True)
        serve_plans(runner, skills, kept.at_once, where, echo)


def _install(context: typer.Context, given: ToolSourceOptions, into: InstallOptions, http: str | None) -> None:
    """Write this server into a client's file, once the user has seen it. Raises: UsageError."""
    from codeplan.errors import UsageError
    from codeplan.mcp_server.clients import CLIENTS, InstalledServer, find_client, plan_change
    from codeplan.runner.tools import collect_tools

    if http is not None:
        raise UsageError("clients start an installed server themselves, over standard input; leave --http out")
    if into.client is None:
        raise UsageError(f"name the client with --client: {', '.join(CLIENTS)}")
    client = find_client(into.client)
    collect_tools(given.tools or [])  # a wrong file is found here, where somebody reads the message
    command, *args = own_command()
    server = InstalledServer(into.name, command, (*args, "mcp", *_given_options(context)))
    change = plan_change(client, server, into.project)
    if not change.is_needed:
        echo_message(f"{change.path} has this server already; nothing was written")
        return
    echo_message(f"{client.title} reads {change.path}. This is written there; the rest of the file stays as it is:")
    echo(change.entry)
    if change.replaces:
        echo_message(f"It replaces the server {into.name} that is there now.")
    if not into.yes and not questions.confirm(
        "Write it? [y/N] ", "nothing was written: --yes writes it without asking"
    ):
        echo_message("nothing was written")
        raise typer.Exit(1)
    change.write()
    echo_message(f"written; {client.title} has the server after its next start")


def _find_server(action: str, server: str | None, config: Path | None) -> ServerAddress:
    """The server of a URL, or of a name in the file of servers. Raises: UsageError: there is none."""
    from codeplan.errors import UsageError
    from codeplan.tools.mcp import parse_address, read_config
    from codeplan.untrusted.values import in_quotes

    if action == "install":
        raise UsageError("codeplan mcp install takes no further argument")
    if not server:
        raise UsageError(f"name the server: codeplan mcp {action} URL, or codeplan mcp {action} NAME --mcp-config FILE")
    found = [a for a in read_config(config) if server in (a.name, a.url)] if config else []
    if found:
        return found[0]
    if server.startswith(("http://", "https://")):
        return parse_address(server)
    place = f"{config} has no server {in_quotes(server)}" if config else f"{in_quotes(server)} is not a URL"
    raise UsageError(f"{place}; name one by its URL, or by its name with --mcp-config FILE")


def _log_in(address: ServerAddress, client_id: str | None) -> None:
    from codeplan.tools.mcp.servers import log_in

    count = log_in(address, client_id, os.environ.get("CODEPLAN_MCP_CLIENT_SECRET"))
    echo_message(f"{address.name} can be used; it offers {with_count(count, 'tool')}")


def _log_out(address: ServerAddress) -> None:
    from codeplan.tools.mcp.login_store import LoginFile

    had_one = bool(address.url) and LoginFile(address.url).remove()
    echo_message(f"{address.name}: {'the login is removed' if had_one else 'there is no login'}")


def own_command() -> tuple[str, ...]:
    """The command that starts codeplan from any folder, without this environment's PATH."""
    program = Path(sys.executable).parent / "codeplan"
    return (str(program),) if program.is_file() else (sys.executable, "-m", "codeplan")


def _given_options(context: typer.Context) -> Iterator[str]:
    """The options for the server as they were given, with whole paths: clients start it in a folder of their own."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in _INSTALL_ONLY or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[parameter.name or ""]
        for each in value if isinstance(value, list | tuple) else [value]:
            yield parameter.opts[0]
            if each is not True:
                yield _whole_path(each, parameter.opts[0])


def _whole_path(value: object, option: str) -> str:
    """The value of an option, with the whole path of a file or folder that it begins with."""
    text = str(value)
    head, colon, rest = text.partition(":")
    is_path = isinstance(value, Path) or option in _FOLDERS or (option != "--mcp" and Path(head).is_file())
    return f"{Path(head).absolute()}{colon}{rest}" if is_path else text


_FOLDERS = ("--runs", "--library", "--mcp-config")


@contextmanager
def _open_runner(given: ToolSourceOptions, each: RunOptions, kept: KeepingOptions) -> Iterator[ToolPlanRunner]:
    """The tools, and what runs plans with them. Without a folder for the runs, they go at the end."""
    from codeplan.mcp_server.plan_runner import ToolPlanRunner
    from codeplan.mcp_server.run_folders import RunFolders
    from codeplan.runner.tools import ToolSources, open_tools

    with ExitStack() as stack:
        root = _existing(kept.runs) or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="codeplan-mcp-")))
        sources = ToolSources(
            tools=given.tools or [],
            mcp=given.mcp or (),
            mcp_config=given.mcp_config,
            mcp_timeout=given.mcp_timeout,
            allow=each.allow or (),
            ask=each.ask or (),
            deny=each.deny or (),
            tool_errors=each.tool_errors,
            tool_timeout=each.tool_timeout,
            error_if=each.error_if,
            once=each.once or (),
            flows=each.flows,
            readonly=each.readonly or (),
        )
        tools = stack.enter_context(open_tools(sources, root, restarts=MAX_SERVER_RESTARTS, may_log_in=True))
        runner = stack.enter_context(closing(ToolPlanRunner(tools, RunFolders(root, kept.keep), _settings(each))))
        yield runner


def _existing(runs: Path | None) -> Path | None:
    """The folder for the runs, made if it is not there. Raises: UsageError: it cannot be made."""
    from codeplan.errors import UsageError

    try:
        if runs is not None:
            runs.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise UsageError(f"--runs cannot use {one_line(str(runs), 400)}: {e.strerror}") from None
    return runs


def _settings(each: RunOptions) -> RunnerSettings:
    from codeplan.budget import Budget
    from codeplan.mcp_server.plan_runner import RunnerSettings
    from codeplan.sandbox import Limits

    limits = Limits()
    return RunnerSettings(
        limits=Limits(
            wall=each.plan_seconds,
            cpu=each.plan_seconds * limits.cpu / limits.wall,
            calls=each.max_calls,
            output=each.max_printed,
        ),
        budget=Budget(seconds=each.max_seconds),
        allow_weak_sandbox=each.allow_weak_sandbox,
        imports=each.imports,
    )


PLAN_TESTS = Path("tests/plans")
"""The folder for a new test, unless the user names one."""

MAX_SKIPPED = 5
"""Maximum number of lines about manifests that were left out."""

_ALREADY_IMPORTED = "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning"
_INTERRUPTED_HOOK = "ignore::pluggy.PluggyTeardownRaisedWarning"  # Ctrl-C within a hook: it shows KeyboardInterrupt
_WARNINGS = ("-W", _ALREADY_IMPORTED, "-W", _INTERRUPTED_HOOK)
"""The command line imports codeplan before pytest can rewrite its assertions. Without this filter pytest warns,
and fails in projects that turn warnings into errors.
"""


def run_tests(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[FILES AND PYTEST'S OPTIONS]", help="Passed to pytest.")
    ] = None,
) -> None:
    """Run tests of plans: every *.plan.toml in the given files and folders, or in this folder.

    This is pytest with codeplan's plugin and takes all its options. codeplan adds --plan-env FILE.py:NAME, --plan-cov,
    --plan-cov-html DIR, --plan-cov-fail-under PERCENT, --plan-max-seconds SECONDS, --plan-mutants, --plan-set
    NAME=VALUE and --live-llm. A folder may come from a stranger, so pytest's configuration, conftest.py and Python
    tests there are left alone;
    pytest itself runs these and the plans' tests.

    Exit codes: 0 all passed, 1 some failed, 2 usage, 3 the seconds of --plan-max-seconds are over.
    """
    import pytest

    from codeplan.errors import UsageError
    from codeplan.testing.only_plans import ARGUMENTS, SessionWatch
    from codeplan.untrusted.values import in_quotes

    given = arguments or []
    if (odd := next((word for word in given if not word.isprintable()), None)) is not None:
        raise UsageError(f"{in_quotes(odd, 200)} has characters that cannot be printed, and pytest prints it as it is")
    end = given.index("--") if "--" in given else len(given)
    plugin = [] if _is_installed() else ["-p", "codeplan.testing.plugin"]
    watch = SessionWatch()
    ours = [*plugin, *ARGUMENTS, *_storage(given)]
    code = int(pytest.main([*ours, *given[:end], *_WARNINGS, *given[end:]], plugins=[watch]))
    _print_skipped(sorted(watch.skipped))
    if watch.interrupted:
        raise typer.Exit(130)
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and watch.deselected:
        raise UsageError(f"no test ran: the options select none of the {with_count(watch.deselected, 'test')}")
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise UsageError("no test ran; tests are manifests (*.plan.toml), and one is made with: codeplan new-test RUN")
    raise typer.Exit({0: 0, 1: 1, 2: watch.exit_code}.get(code, 2))


def mutate(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A manifest, or a plan with a manifest beside it.")],
    env: options.OwnEnv = None,
    more: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the environment; repeatable.")
    ] = None,
    live_llm: Annotated[bool, typer.Option("--live-llm", help="Ask the real model that the manifest names.")] = False,
    as_json: options.Json = False,
) -> None:
    """Change a plan in many small ways and find the changes that its tests do not notice.

    Assertions are weakened, actions left out, names and numbers replaced, conditions negated. Survivors show where the
    tests, or the plan's own assertions, are weak.

    Exit codes: 0 the tests kill the share that the manifest asks for (90 % by default), 1 they do not, 2 usage.
    """
    given = options.collect_settings(more)
    scores = [_score(path, given, live_llm) for path in _manifests(plan)]
    if as_json:
        print_json([_as_json(score) for score in scores])
    else:
        for score in scores:
            _print(score)
    raise typer.Exit(1 if any(score.complaints for score in scores) else 0)


def new_test(
    folder: options.Run,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder for the new test.")] = PLAN_TESTS,
    env: options.OwnEnv = None,
) -> None:
    """Make a test from a recorded episode: its plan, a manifest, and a tape if the plan asked something."""
    from codeplan.testing.scaffold import new_test as write

    if out == PLAN_TESTS:
        options.require_no_link(out, "--out")
    for path in write(folder, out, _report_left_out):
        echo(str(path))
    own = " --plan-env FILE.py:NAME" if env else ""
    echo_message(f"run it with: codeplan test {shell_word(out)}{own}", err=True)


def _print_skipped(lines: list[str]) -> None:
    """Print what pytest left out of the folders."""
    for line in lines[:MAX_SKIPPED]:
        echo_message(f"left out: {line}", "codeplan: ", err=True)
    if len(lines) > MAX_SKIPPED:
        echo_message(f"and {len(lines) - MAX_SKIPPED:,} more", "codeplan: ", err=True)


def _storage(given: list[str]) -> tuple[str, ...]:
    """Arguments that have pytest and Hypothesis keep their files in the user's cache, not where links may wait.

    If the ``given`` arguments switch pytest's cache off, none name its folder: pytest would warn of the option.
    """
    import hashlib
    import os

    cache = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(cache if os.path.isabs(cache) else os.path.expanduser("~/.cache"))
    if not base.is_absolute():
        return ("-p", "no:cacheprovider")
    folder = base / "codeplan" / "tests" / hashlib.sha256(os.fsencode(os.getcwd())).hexdigest()[:16]
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(folder / "hypothesis"))
    if any(word in ("no:cacheprovider", "-pno:cacheprovider") for word in given):
        return ()
    return ("-o", f"cache_dir={folder / 'pytest'}")


def _report_left_out(names: list[str]) -> None:
    command = " ".join(("codeplan test", *(f"--plan-set {name}=…" for name in names)))
    echo_message(f"a manifest cannot set {', '.join(names)}; give {command}", "codeplan: ", err=True)


def _is_installed() -> bool:
    """Whether pytest finds the plugin on its own."""
    from importlib.metadata import entry_points

    return "codeplan" in entry_points(group="pytest11").names


def _manifests(plan: Path) -> list[Path]:
    """The given manifest, or the manifests beside a plan that test it."""
    from codeplan.errors import UsageError
    from codeplan.testing.manifest import MANIFEST_SUFFIX, read_manifest, read_text
    from codeplan.untrusted.files import list_folder

    if plan.name.endswith(MANIFEST_SUFFIX):
        return [plan]
    if not plan.is_file():
        wrong = f"{plan} is a folder" if plan.is_dir() else f"there is no file {plan}"
        raise UsageError(f"{wrong}; name a plan, or a manifest (*{MANIFEST_SUFFIX})")
    names = [entry.name for entry in list_folder(plan.parent) if not entry.is_folder]
    beside = [plan.parent / name for name in names if name.endswith(MANIFEST_SUFFIX)]
    found = [m for m in beside if read_manifest(m, read_text(m)).plan == plan.name]
    if not found:
        raise UsageError(f"no manifest beside {plan} is for it; write one (*{MANIFEST_SUFFIX}), or name it")
    return found


def _score(path: Path, given: dict[str, Any], live_llm: bool) -> MutationScore:
    from codeplan.testing.cases import CaseRunner, PlanSuite
    from codeplan.testing.mutation import run_mutants

    with closing(CaseRunner(PlanSuite(path, given), live_llm=live_llm)) as stage, counting_progress("mutants") as show:
        return run_mutants(stage, show)


def _print(score: MutationScore) -> None:
    from codeplan.testing.mutation import format_summary, survivor_lines

    echo("\n".join([format_summary(score), *survivor_lines(score)]))
    for mutant in score.explained:
        echo(f"explained: {one_line(mutant.name)}: {one_line(score.target.survivors[mutant.name], 500)}")
    for complaint in score.complaints:
        echo_message(complaint, err=True)


def _as_json(score: MutationScore) -> dict[str, Any]:
    mutants = [
        {
            "name": t.mutant.name,
            "kind": t.mutant.kind,
            "step": t.mutant.step,
            "line": t.mutant.line,
            "killed_by": t.killer or None,
            "explained": score.target.survivors.get(t.mutant.name),
        }
        for t in score.results
    ]
    return {"plan": score.label, "killed": score.killed, "total": len(score.results), "mutants": mutants}
