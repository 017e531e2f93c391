"""``codeplan do``: reach a goal with the user's own tools."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from codeplan.cli import model_options, options, setting_options
from codeplan.cli.default_folders import new_run_folder
from codeplan.cli.episode import Method, make_event_handler, playing
from codeplan.cli.tool_options import ToolOptions, show_value, tell_unverified
from codeplan.untrusted.texts import shell_word

Goal = Annotated[str, typer.Argument(metavar="GOAL", help="What is to be done, in a sentence.")]
_MODEL_SETTINGS = tuple(name for name in setting_options.MODEL_SETTINGS if name != "mistakes")
_SETTINGS = (*_MODEL_SETTINGS, *setting_options.ROUTE_SETTINGS, "temperature", "tries")


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    with_settings = setting_options.command_class(*_SETTINGS, budget=True)
    example = "Example: codeplan do 'Which file is the largest?' --tools tools.py --model gpt-5"
    app.command("do", cls=with_settings, epilog=example)(options.with_groups(do))


def do(
    context: typer.Context,
    goal: Goal,
    *,
    sources: ToolOptions,
    method: Method = "adaplanner",
    model: model_options.LiveModel = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    out: options.Out = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Reach a goal with your own tools and MCP servers: a model writes plans that call them, in the sandbox.

    With another --method (react, adapt …) the model makes one call at a time instead.

    Calls of an MCP server's tools are asked for on a terminal, and refused elsewhere unless --allow names them.

    Without --verify the result is not verified: the episode ends as claimed at best, with exit code 1.

    Exit codes: 0 verified, 1 not solved or only claimed, 2 usage, 3 budget spent, 4 infrastructure, 130 interrupted.
    """
    from codeplan.errors import UsageError
    from codeplan.report.json_output import result_as_json
    from codeplan.runner.tool_episodes import do as do_with_tools

    given = options.command_run(context)
    if not sources.name_tools:
        raise UsageError("there are no tools; name a Python file with --tools FILE.py, or an MCP server with --mcp")
    new = contextlib.nullcontext(out) if out else new_run_folder("do", goal)
    with new as folder:
        show = make_event_handler(as_json, quiet)
        arguments = {**sources.arguments(), **given, "method": method}
        again = f"run: codeplan resume {shell_word(folder)}; name the tools again, as for this command"
        with playing(again, as_json=as_json):
            result = do_with_tools(goal, out=folder, on_event=show, **arguments)
    if not as_json:
        show_value(result)
    tell_unverified(result, sources)
    options.end_episode(result, result_as_json(result) if as_json else None)
