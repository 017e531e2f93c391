"""``codeplan check`` and ``codeplan exec``: check or run a plan from a file, without planning."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from codeplan.cli import model_options, options, setting_options
from codeplan.cli.episode import make_event_handler
from codeplan.cli.standard_output import reserved_for_json
from codeplan.cli.tool_options import ToolOptions, ToolSourceOptions, open_environment, show_value, tell_unverified
from codeplan.untrusted.texts import echo, echo_message, one_line

if TYPE_CHECKING:
    from codeplan.planning.plan_check import Fixes
    from codeplan.runner.new_episodes import Execution
    from codeplan.tools import ToolEnvironment
    from codeplan.types import Diagnostic, Plan, Rejected

MAX_PLAN_BYTES = 1_000_000
"""Larger files are not read. The sandbox's own limit is far lower."""

PlanFile = Annotated[str, typer.Argument(metavar="PLAN", help="The plan's file; - is standard input.")]

FixesOption = Annotated[
    Literal["on", "off"], typer.Option("--fixes", help="Whether the check mends what has only one meaning.")
]

StrictOption = Annotated[bool, typer.Option("--strict", help="Refuse a plan with warnings.")]
StartFrom = Annotated[
    int | None, typer.Option("--start-from", metavar="K", help="Start the plan at step K instead of its first.")
]
StartVariables = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint", metavar="FILE", help="The variables for step K: a JSON object, or a run's trace.jsonl."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("check", epilog="Example: codeplan check my_plan.py --env household")(options.with_groups(check))
    with_settings = setting_options.command_class(*setting_options.MODEL_SETTINGS, "temperature", budget=True)
    example = "Example: codeplan exec my_plan.py --env household --task clean/3"
    app.command("exec", cls=with_settings, epilog=example)(options.with_groups(execute))


def check(
    plan: PlanFile,
    env: options.EnvOption = None,
    *,
    sources: ToolSourceOptions,
    fix: Annotated[bool, typer.Option("--fix", help="Write the mended plan to the file.")] = False,
    fixes: FixesOption = "on",
    strict: StrictOption = False,
    allow_weak_sandbox: options.AllowWeak = False,
    as_json: options.Json = False,
) -> None:
    """Check a plan without running it: against an environment's agent, or against your tools.

    What has only one meaning is mended. Each fix, warning and error is printed as PLAN:line:column: message [rule]. The
    lines of warnings and errors are those of the mended plan, which --fix writes to the file; - is standard output.

    Exit codes: 0 accepted, 1 refused, 2 usage, 4 infrastructure.
    """
    from codeplan.types import Rejected, refuse_warnings

    with open_environment(env, sources, "check a plan") as environment:
        outcome = _check(read_plan(plan), environment, allow_weak_sandbox, fixes)
    outcome = refuse_warnings(outcome) if strict else outcome
    written = fix and _write_plan(plan, outcome)
    if as_json:
        options.print_json(_check_as_json(outcome))
    elif not (fix and plan == "-"):
        _print_check(plan, outcome)
        if written:
            echo(f"{_display_name(plan)}: the mended plan was written to the file")
    raise typer.Exit(1 if isinstance(outcome, Rejected) else 0)


def execute(
    context: typer.Context,
    plan: PlanFile,
    env: options.EnvOption = None,
    task: options.TaskId = None,
    kind: options.Kind = None,
    seed: options.Seed = None,
    data: options.Data = None,
    *,
    sources: ToolOptions,
    model: model_options.OwnModel = None,
    fixes: FixesOption = "on",
    strict: StrictOption = False,
    start_from: StartFrom = None,
    checkpoint: StartVariables = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    out: options.Out = None,
    record: options.Record = None,
    replay: options.Replay = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Check and run a plan once, without planning or refining: in an environment, or on your tools (see do).

    --start-from K starts the plan at step K, with the variables of --checkpoint FILE: a JSON object of plain values, or
    a run's trace.jsonl, whose last run of a plan entered step K. The environment begins anew.

    The model only answers the plan's ask_llm. With --json, the plan's variables take at most 256 kB; "truncated" says
    whether some are missing, and "omitted" which and why.

    Exit codes: 0 success, 1 not solved, 2 usage, 3 budget spent, 4 infrastructure, 130 interrupted.
    With --out, the command writes a trace.
    """
    from codeplan.runner.new_episodes import execute as execute_plan

    source = read_plan(plan)
    own = {"fixes": fixes, "strict": strict, "start_from": start_from, "checkpoint": checkpoint}
    given, on_event = own | options.command_run(context), make_event_handler(as_json, quiet)
    goal = f"run the plan {_display_name(plan)}"
    with contextlib.ExitStack() as stack:
        tapes = stack.enter_context(options.open_tapes(record, replay))
        stack.enter_context(reserved_for_json(as_json))
        where = stack.enter_context(open_environment(env, sources, goal, out))
        execution = execute_plan(
            source, where, task, kind=kind, seed=seed, out=out, on_event=on_event, **tapes, **given
        )
    if not as_json:
        show_value(execution.result)
    tell_unverified(execution.result, sources)
    options.end_episode(execution.result, _summary(execution) if as_json else None)


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


def _check(source: str, env: str | ToolEnvironment, allow_weak: bool, fixes: Fixes) -> Plan | Rejected:
    from contextlib import closing

    from codeplan import envs
    from codeplan.agent_interface import agent_api
    from codeplan.episode.episode import agent_class
    from codeplan.sandbox import Sandbox

    with closing(envs.make(env) if isinstance(env, str) else env) as environment:
        return Sandbox(allow_weak=allow_weak).check(source, agent_api(agent_class(environment)), fixes=fixes == "on")


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
