"""``codeplan skills run``, ``test`` and ``promote``: a skill's own plan with given values, without a model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.cli.commands import add_command
from codeplan.cli.options import OutputOptions, ToolOptions
from codeplan.cli.output import end_episode, playing, print_json, show_value
from codeplan.cli.skills import DEFAULT_FOLDER, LibraryFolder, Name, find_skill, form_lines, open_library, set_status
from codeplan.untrusted.texts import echo, one_line, shell_word

if TYPE_CHECKING:
    from codeplan.curation.trials import TrialOutcome
    from codeplan.skills.library import SkillLibrary
    from codeplan.skills.skill import Skill
    from codeplan.types import Result


def add_to(group: typer.Typer) -> None:
    """Add this module's command to the group ``skills``."""
    example = "codeplan skills run order-fruit-1a2b3c4d the_item=pears --tools shop.py"
    add_command(group, "run", run, example, "temperature", "imports", "base_url", budget=True)
    example = "codeplan skills test order-fruit-1a2b3c4d the_item=pears --trial shop_stand_in.py"
    add_command(group, "test", try_out, example, "temperature", "imports", "base_url", budget=True)
    add_command(group, "promote", promote, "codeplan skills promote order-fruit-1a2b3c4d --trial shop_stand_in.py")


Values = Annotated[
    list[str] | None,
    typer.Argument(metavar="[KEY=VALUE …]", help='A value for each parameter: a text, or a list: \'["a", "b"]\'.'),
]
Trial = Annotated[
    list[str] | None,
    typer.Option(
        "--trial", metavar="FILE.py[:NAME,…]", help="Functions that stand in for your tools, and do nothing real."
    ),
]


def run(
    context: typer.Context,
    name: Name,
    values: Values = None,
    *,
    sources: ToolOptions,
    library: LibraryFolder = DEFAULT_FOLDER,
    model: options.LiveModel = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    out: options.Out = None,
    output: OutputOptions,
) -> None:
    """Run a skill's own plan on your tools with the values that you give. Nothing is planned, and no model is called.

    Every parameter needs a value; codeplan skills show lists them. The tools must have the signatures that the skill
    needs. A plan that asks a model (ask_llm) is stopped there, unless --model names one. What needs approval is asked
    as for codeplan do; without a terminal, the run ends there and waits for codeplan approve.

    Exit codes: 0 verified, 1 not solved or only claimed, 2 usage, 3 budget spent, 4 infrastructure, 5 waiting for an
    approval or an answer, 130 interrupted.
    """
    from codeplan.curation.trials import record_trial
    from codeplan.report.json_output import result_as_json
    from codeplan.runner.given_plans import execute
    from codeplan.sandbox import Limits

    opened = open_library(library)
    skill = _require_runnable(find_skill(opened, name))
    goal = " ".join([f"run the skill {skill.name}", *(values or ())])[:1_000]
    plan = bind_values(skill, goal, values or ())
    sources.require_tools()
    given: dict[str, Any] = options.command_run(context) | ({} if model else {"limits": Limits(asks=0)})
    files = options.named_files(context)
    with options.run_folder(out, "skill", skill.name) as folder:
        again = f"run: codeplan resume {shell_word(folder)}{files}; name the tools again, as for this command"
        with playing(again, as_json=output.as_json), options.open_environment(None, sources, goal, folder) as tools:
            _require_tools(skill, tools)
            result = execute(plan, tools, skill=skill, out=folder, on_event=output.event_handler(), **given).result
    record_trial(opened, skill, result, str(folder), "use")
    if not output.as_json:
        show_value(result)
    document = result_as_json(result) if output.as_json else None
    end_episode(result, document, unverified=sources.verify is None, files=files)


def try_out(
    context: typer.Context,
    name: Name,
    values: Values = None,
    *,
    trial: Trial = None,
    sources: ToolOptions,
    library: LibraryFolder = DEFAULT_FOLDER,
    model: options.LiveModel = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    out: options.Out = None,
    output: OutputOptions,
) -> None:
    """Try a skill over tools: its recorded test, or its plan on a stand-in of the tools. Nothing real is done.

    Without tools, the test in the skill's folder runs, on recorded answers. With --trial FILE.py, the plan runs on the
    functions of that file, which have the signatures of your tools. With --tools, it runs on tools that you mark
    --readonly. Parameters without a value keep that of the recorded success. --verify judges what the plan returns.

    Exit codes: 0 passed, 1 failed, 2 usage, 3 budget spent, 4 infrastructure, 130 interrupted.
    """
    from codeplan.curation.trials import record_trial
    from codeplan.errors import UsageError
    from codeplan.report.json_output import result_as_json
    from codeplan.runner.recorded_calls import is_accepted

    opened = open_library(library)
    skill = _require_runnable(find_skill(opened, name))
    if not trial and not sources.name_tools:
        if values:
            raise UsageError("values need tools to be tried on; give a stand-in with --trial FILE.py")
        if not _require_test(opened, name):
            raise UsageError(f"{skill.env}/{skill.name} has no recorded test; give a stand-in with --trial FILE.py")
        echo("its test passes")
        return
    given: dict[str, Any] = options.command_run(context)
    given["model"] = model
    with options.run_folder(out, "trial", skill.name) as folder, playing("repeat the command", as_json=output.as_json):
        result = _try_on_tools(skill, values or (), trial, sources, folder, output, given)
    record_trial(opened, skill, result, str(folder))
    if not output.as_json:
        show_value(result)
    if output.as_json:
        print_json(result_as_json(result))
    raise typer.Exit(0 if is_accepted(result) else 1)


def _try_on_tools(
    skill: Skill,
    values: Sequence[str],
    trial: Sequence[str] | None,
    sources: ToolOptions,
    folder: Path | None,
    output: OutputOptions | None,
    given: Mapping[str, Any],
) -> Result:
    """Run the skill's plan on a stand-in, or on the user's tools if they only read. Raises: UsageError."""
    from codeplan.curation.trials import try_skill
    from codeplan.errors import UsageError
    from codeplan.runner.tools import ToolSources

    if trial and sources.name_tools:
        raise UsageError("--trial stands in for the tools; leave --tools, --mcp and --mcp-config out")
    named: dict[str, Any] = sources.arguments() | ({"tools": trial} if trial else {})
    goal = " ".join([f"try the skill {skill.name}", *values])[:1_000]
    plan = bind_values(skill, goal, values, keeps_own=True)
    show = output.event_handler() if output else None
    return try_skill(
        skill, plan, goal, ToolSources(**named), is_stand_in=bool(trial), out=folder, on_event=show, **given
    )


def promote(
    name: Name,
    trial: Trial = None,
    library: LibraryFolder = DEFAULT_FOLDER,
    untested: Annotated[bool, typer.Option("--untested", help="Even if its test fails.")] = False,
) -> None:
    """Make a skill active by hand: prompts show it from now on, whatever its evidence says.

    A skill over tools has a test of its recorded success, which must pass: its plan runs on recorded answers. With
    --trial FILE.py, the plan must also run to its end on the functions of that file, with its recorded values. If a
    model named words that stand for values, they are shown: check them.
    """
    from codeplan.errors import UsageError
    from codeplan.runner.recorded_calls import is_accepted

    opened = open_library(library)
    if not untested and _require_test(opened, name):
        echo("its test passes")
    skill = find_skill(opened, name)
    if tables := form_lines(skill, tables_only=True):
        echo("\n".join(["a model named these values; codeplan-forms in its SKILL.md has them:", *tables]))
    if trial:
        skill = _require_runnable(skill)
        result = _try_on_tools(skill, (), trial, ToolOptions(), None, None, {"model": None})
        if not is_accepted(result):
            raise UsageError(f"the trial of {skill.env}/{skill.name} fails: {result.reason}")
        echo("its trial passes")
    set_status(library, name, "active")


def _require_test(library: SkillLibrary, name: str) -> bool:
    """Run the test in the skill's folder; False: there is none. Raises: UsageError: it fails, or tests another plan."""
    from codeplan.errors import UsageError
    from codeplan.testing.scaffold import SKILL_TEST, tests_own_plan

    skill = find_skill(library, name)
    test = library.path / skill.env / skill.name / SKILL_TEST
    if not os.path.lexists(test):
        return False
    if not tests_own_plan(test):
        raise UsageError(
            f'{shell_word(test)} does not say that the skill\'s own plan succeeds; write skill = "." in it, or give '
            "--untested"
        )
    # -P: Python must not import what lies in the current folder
    done = subprocess.run([sys.executable, "-P", "-m", "codeplan", "test", str(test)], capture_output=True)
    if done.returncode:
        raise UsageError(
            f"the test of {skill.env}/{skill.name} fails; codeplan test {shell_word(test)} shows why, and "
            "--untested promotes the skill all the same"
        )
    return True


def _require_runnable(skill: Skill) -> Skill:
    from codeplan.errors import UsageError
    from codeplan.skills.skill_folder import TOOLS

    if skill.env != TOOLS:
        raise UsageError(
            f"{skill.env}/{skill.name} is a skill for tasks in {skill.env}; "
            f"run one with --set skill={skill.name} --set reuse=true"
        )
    if skill.status == "retired":
        raise UsageError(f"{skill.env}/{skill.name} is retired; codeplan skills promote makes it active again")
    return skill


def _require_tools(skill: Skill, tools: Any) -> None:
    """Raise UsageError if the tools at hand have other signatures than those that the skill needs."""
    from codeplan.errors import UsageError
    from codeplan.skills.skill import find_tool_difference

    if difference := find_tool_difference(skill.tools, tools.described_tools):
        raise UsageError(f"{skill.env}/{skill.name} does not fit the tools: {difference}")


def bind_values(skill: Skill, goal: str, given: Sequence[str], *, keeps_own: bool = False) -> str:
    """The skill's plan with values written as ``key=value``; with ``keeps_own``, the others keep those of the plan.

    Raises: UsageError: a parameter has no value, two, or one of another type, or there is no such parameter.
    """
    from codeplan.errors import UsageError
    from codeplan.skills.parameter_binding import fill_parameters, read_parameters
    from codeplan.untrusted.values import in_quotes

    own = {p.name: p.value for p in read_parameters(skill.plan).parameters}
    values: dict[str, object] = {}
    kept = dict(own) if keeps_own else {}
    for part in given:
        name, equals, text = part.partition("=")
        if not equals:
            raise UsageError(
                f"{in_quotes(part, 100)} is no KEY=VALUE; codeplan skills show {skill.name} lists the keys"
            )
        if name in values:
            raise UsageError(f"{name} has two values; give one")
        values[name] = text if isinstance(own.get(name, ""), str) else _read_json(text)
    return fill_parameters(skill.name, skill.plan, goal, kept | values)


def _read_json(text: str) -> object:
    """The value that the text writes; the text itself if it is no JSON."""
    import msgspec

    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return text


def filter_over_tools(
    library: SkillLibrary,
    skills: Sequence[Skill],
    trial: Sequence[str] | None,
    sources: ToolOptions,
    out: Path | None,
    model: str | None,
) -> Sequence[TrialOutcome]:
    """Try skills over tools on recorded answers, and on a stand-in or on tools that only read, if these are named.

    Raises: UsageError: one is retired, or no skill over tools.
    """
    from codeplan.curation.trials import filter_by_trial, record_trial

    with options.run_folder(out, "skills", "filter", "tools") as folder:

        def run_trial(skill: Skill) -> Result:
            result = _try_on_tools(skill, (), trial, sources, folder / skill.name, None, given)
            record_trial(library, skill, result, str(folder / skill.name))
            return result

        given: dict[str, Any] = {"model": model}
        tries = run_trial if trial or sources.name_tools else None
        runnable = [_require_runnable(skill) for skill in skills]

        def run_test(skill: Skill) -> bool:
            return _require_test(library, f"{skill.env}/{skill.name}")

        return [filter_by_trial(library, skill, run_test, tries) for skill in runnable]


def trials_table(rows: Sequence[TrialOutcome]) -> list[str]:
    """One line for each skill that was tried, and why it is not promoted."""
    from codeplan.cli.tables import format_table, terminal_width

    if not rows:
        return ["no candidates were tried"]
    words = {True: "passed", False: "failed", None: "-"}
    cells = [[f"{r.env}/{r.skill}", words[r.test], words[r.trial], r.status] for r in rows]
    reasons = [f"{r.env}/{r.skill}: {one_line(r.reason, 400)}" for r in rows if r.reason]
    return [*format_table(["skill", "test", "trial", "now"], cells, width=terminal_width()), *reasons]
