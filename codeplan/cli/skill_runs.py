"""``codeplan skills run``: a skill's own plan with given values, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.cli.commands import add_command
from codeplan.cli.options import OutputOptions, ToolOptions
from codeplan.cli.output import end_episode, playing, show_value
from codeplan.cli.skills import DEFAULT_FOLDER, LibraryFolder, Name, find_skill, open_library
from codeplan.untrusted.texts import one_line, shell_word

if TYPE_CHECKING:
    from codeplan.skills.library import SkillLibrary
    from codeplan.skills.skill import Skill
    from codeplan.types import Result


def add_to(group: typer.Typer) -> None:
    """Add this module's command to the group ``skills``."""
    example = "codeplan skills run order-fruit-1a2b3c4d the_item=pears --tools shop.py"
    add_command(group, "run", run, example, "temperature", "imports", "base_url", budget=True)


def run(
    context: typer.Context,
    name: Name,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE …]", help='A value for each parameter: a text, or a list: \'["a", "b"]\'.'),
    ] = None,
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
    from codeplan.report.json_output import result_as_json
    from codeplan.runner.given_plans import execute
    from codeplan.sandbox import Limits

    opened = open_library(library)
    skill = _require_runnable(find_skill(opened, name))
    goal = " ".join([f"run the skill {skill.name}", *(values or ())])[:1_000]
    plan = bind_values(skill, goal, values or ())
    sources.require_tools()
    given: dict[str, Any] = options.command_run(context) | ({} if model else {"limits": Limits(asks=0)})
    with options.run_folder(out, "skill", skill.name) as folder:
        again = f"run: codeplan resume {shell_word(folder)}; name the tools again, as for this command"
        with playing(again, as_json=output.as_json), options.open_environment(None, sources, goal, folder) as tools:
            _require_tools(skill, tools)
            result = execute(plan, tools, skill=skill, out=folder, on_event=output.event_handler(), **given).result
    _record_use(opened, skill, result, str(folder))
    if not output.as_json:
        show_value(result)
    end_episode(result, result_as_json(result) if output.as_json else None, unverified=sources.verify is None)


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


def bind_values(skill: Skill, goal: str, given: Sequence[str]) -> str:
    """The skill's plan with values written as ``key=value``.

    Raises: UsageError: a parameter has no value, two, or one of another type, or there is no such parameter.
    """
    from codeplan.errors import UsageError
    from codeplan.skills.parameter_binding import fill_parameters, read_parameters
    from codeplan.untrusted.values import in_quotes

    own = {p.name: p.value for p in read_parameters(skill.plan).parameters}
    values: dict[str, object] = {}
    for part in given:
        name, equals, text = part.partition("=")
        if not equals:
            raise UsageError(
                f"{in_quotes(part, 100)} is no KEY=VALUE; codeplan skills show {skill.name} lists the keys"
            )
        if name in values:
            raise UsageError(f"{name} has two values; give one")
        values[name] = text if isinstance(own.get(name, ""), str) else _read_json(text)
    return fill_parameters(skill.name, skill.plan, goal, values)


def _read_json(text: str) -> object:
    """The value that the text writes; the text itself if it is no JSON."""
    import msgspec

    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return text


def _record_use(library: SkillLibrary, skill: Skill, result: Result, folder: str) -> None:
    """Record the run as evidence if it was judged."""
    from codeplan.skills.skill import EvidenceRecord
    from codeplan.types import NotSolved, Success

    if library.writable and isinstance(result.ending, Success | NotSolved):
        done = result.success
        why = "" if done else one_line(result.reason, 500)
        record = EvidenceRecord(result.task.id, 0, "none", True, done, skill.version, "use", folder, reason=why)
        library.record(skill, record)
