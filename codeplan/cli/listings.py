"""``codeplan envs``, ``tasks``, ``methods`` and ``doctor``: list what is available and whether it works here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.untrusted.texts import echo, echo_message, one_line, shell_word

if TYPE_CHECKING:
    from codeplan.doctor import Finding
    from codeplan.protocols import Environment

EnvName = Annotated[
    str | None, typer.Argument(metavar="[ENV]", help="Show this environment alone; a name, or FILE.py:NAME.")
]
Split = Annotated[str | None, typer.Option("--split", metavar="NAME", help="The split; default: the first one.")]
Number = Annotated[int, typer.Option("-n", metavar="N", min=1, help="List at most N tasks.")]
Online = Annotated[bool, typer.Option("--online", help="Ask the model's endpoint whether it answers.")]


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("envs", epilog="Example: codeplan envs household")(list_envs)
    app.command("tasks", epilog="Example: codeplan tasks household --kind clean")(list_tasks)
    app.command("methods", epilog="Example: codeplan methods --json")(list_methods)
    app.command("doctor", epilog="Example: codeplan doctor --online")(doctor)


def list_envs(env: EnvName = None, data: options.Data = None, as_json: options.Json = False) -> None:
    """List the environments: kinds of tasks, splits, how to run one.

    For a named environment it also checks the data files.
    """
    from codeplan import envs
    from codeplan.errors import UsageError

    if data and not env:
        raise UsageError(
            "--data is the folder of one environment; name it, as in: codeplan envs alfworld --data FOLDER"
        )
    name = options.environment_name(env)
    found = [_about(name, data, closely=True)] if name else [_about_any(name) for name in envs.names()]
    if as_json:
        options.print_json(found)
        return
    for about in found:
        _print_env(about, env or about["name"])


def list_tasks(
    env: options.Env,
    split: Split = None,
    kind: options.OnlyKind = None,
    n: Number = 20,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """List an environment's tasks: what codeplan run takes after --task, and each task's goal."""
    from contextlib import closing

    from codeplan import envs, plugins
    from codeplan.envs import selection
    from codeplan.errors import UsageError
    from codeplan.untrusted.values import in_quotes

    with closing(envs.make(env, **({"data": data} if data else {}))) as environment:
        splits = envs.splits(environment)
        if split is not None and split not in splits:
            raise UsageError(f"{env} has no split {in_quotes(split)}; {plugins.suggest_names(split, splits)}")
        tasks = selection.list_tasks(environment, split or splits[0], kind)
    if as_json:
        options.print_json(tasks[:n])
        return
    width = max(len(one_line(task.id)) for task in tasks[:n])
    for task in tasks[:n]:
        echo_message(one_line(task.goal), f"{one_line(task.id):{width}}  ")
    if len(tasks) > n:
        echo(f"and {len(tasks) - n:,} more; -n {len(tasks)} lists all")


def list_methods(as_json: options.Json = False) -> None:
    """List the methods: the ways to solve a task."""
    from codeplan import methods, plugins
    from codeplan.errors import UsageError

    found: list[dict[str, Any]] = []
    for name in methods.names():
        try:
            method = plugins.load_factory("codeplan.methods", name)
        except UsageError as e:  # list the other methods all the same
            found.append({"name": name, "about": str(e), "settings": []})
            continue
        found.append({"name": name, "about": _first_line(method), "settings": list(plugins.setting_names(method))})
    if as_json:
        options.print_json(found)
        return
    for about in found:
        echo(about["name"])
        echo_message(about["about"], "  ")
        echo_message(", ".join(about["settings"]) or "none", "  settings  ")
        echo(f"  run       codeplan run household --method {about['name']}")


def doctor(online: Online = False, as_json: options.Json = False) -> None:
    """Examine this machine: Python, sandbox, model, extras.

    Exit codes: 0 a fully locked sandbox runs, 1 it does not.
    """
    from codeplan.doctor import examine, is_safe

    findings = examine(online=online)
    if as_json:
        options.print_json({"ok": is_safe(findings), "findings": findings})
    else:
        _print_findings(findings)
    raise typer.Exit(0 if is_safe(findings) else 1)


def _first_line(thing: object) -> str:
    """The first line of the module's docstring, or else of its own."""
    import inspect

    doc = inspect.getdoc(inspect.getmodule(thing)) or inspect.getdoc(thing) or ""
    return doc.partition("\n")[0].replace("``", "")


# ------------------------------------------------------------------ environments


MAX_FAULTS = 20
"""Faults of an environment's data that are printed. JSON has them all."""


MAX_KINDS = 12
"""Kinds of an environment that are printed."""


def _about_any(name: str) -> dict[str, Any]:
    """As ``_about``. If the environment cannot be created, ``missing`` says why, and the list goes on."""
    from codeplan.errors import CodeplanError

    try:
        return _about(name)
    except CodeplanError as e:
        return _nothing_of(name) | {"missing": str(e)}


def _nothing_of(name: str) -> dict[str, Any]:
    about: dict[str, Any] = {"name": name, "about": "", "kinds": [], "splits": {}, "example": None}
    return about | {"data": None, "notes": [], "faults": [], "missing": None}


def _about(name: str, data: str | None = None, closely: bool = False) -> dict[str, Any]:
    """The facts about an environment; ``missing`` is what it lacks, None if it can be used."""
    from contextlib import closing

    from codeplan import envs
    from codeplan.errors import UsageError

    with closing(envs.make(name, **({"data": data} if data else {}))) as environment:
        about = _nothing_of(name) | {"about": _first_line(type(environment)), "data": data}
        try:
            about |= _tasks_of(environment)
            if closely:
                about |= {part: list(getattr(environment, part, list)()) for part in ("notes", "faults")}
        except UsageError as e:
            about |= {"missing": str(e), "kinds": list(getattr(environment, "kinds", ()))}
        return about


def _tasks_of(environment: Environment) -> dict[str, Any]:
    from codeplan import envs

    splits = {split: list(envs.tasks_of(environment, split)) for split in envs.splits(environment)}
    tasks = [task for split in splits.values() for task in split]
    kinds = list(getattr(environment, "kinds", None) or dict.fromkeys(task.kind for task in tasks if task.kind))
    counts = {split: len(found) for split, found in splits.items()}
    return {"kinds": kinds, "splits": counts, "example": tasks[0].id if tasks else None}


def _print_env(about: dict[str, Any], given: str) -> None:
    """Print the facts; ``given`` is what commands take for the environment."""
    echo(about["name"])
    if about["about"]:
        echo_message(about["about"], "  ")
    echo_message(_kinds(about["kinds"]), "  kinds   ")
    if about["missing"]:
        echo_message(about["missing"], "  missing ")
        return
    splits = [f"{split} ({count:,})" for split, count in about["splits"].items() if count]
    echo_message(", ".join(splits) or "none", "  splits  ")
    for note in about["notes"]:
        echo_message(note, "  ")
    data = f" --data {about['data']}" if about["data"] else ""
    example = f" --task {about['example']}" if about["example"] else ""
    echo(f"  run     codeplan run {shell_word(given)}{data}{example}")
    _print_faults(about["faults"])


def _kinds(kinds: list[str]) -> str:
    more = [f"and {len(kinds) - MAX_KINDS} more, which --json lists"] if len(kinds) > MAX_KINDS else []
    return ", ".join([*kinds[:MAX_KINDS], *more]) or "none"


def _print_faults(faults: list[str]) -> None:
    for fault in faults[:MAX_FAULTS]:
        echo_message(fault, "  fault   ")
    if len(faults) > MAX_FAULTS:
        echo(f"  fault   and {len(faults) - MAX_FAULTS:,} more, which --json lists")


# ------------------------------------------------------------------ doctor


def _print_findings(findings: tuple[Finding, ...]) -> None:
    from rich.text import Text

    from codeplan.untrusted.console import print_wrapped

    console = options.make_console()
    marks = {"ok": ("✓", "green"), "missing": ("✗", "bold red"), "absent": ("·", "dim")}
    width = max(len(f.name) for f in findings)
    indent = width + 6
    group = None
    for f in findings:
        if f.group != group:
            console.print(Text(f.group, "bold"))
        group = f.group
        mark, style = marks[f.status]
        print_wrapped(console, Text.assemble("  ", (mark, style), f" {f.name:{width}}  ", one_line(f.detail)), indent)
        if f.advice:
            print_wrapped(console, Text(f"{'':{indent}}{f.advice}", "yellow"), indent)
