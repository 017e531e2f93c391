"""What there is, and whether it works here: ``envs``, ``tasks``, ``methods``, ``doctor``, ``sandbox``, ``trust`` …"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from codeplan.cli import options
from codeplan.cli.commands import add_command, add_group
from codeplan.cli.output import counting_progress, make_console, print_json, print_output
from codeplan.untrusted.texts import echo, echo_message, one_line, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.audit.auditor import AttackVerdict
    from codeplan.doctor import Finding
    from codeplan.protocols import Environment
    from codeplan.runner.settings_files import TrustedFile
    from codeplan.standin.server import StandInServer


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    add_command(app, "envs", list_envs, "codeplan envs household")
    add_command(app, "tasks", list_tasks, "codeplan tasks household --kind clean")
    add_command(app, "methods", list_methods, "codeplan methods react")
    add_command(app, "doctor", doctor, "codeplan doctor --online")
    group = add_group(app, "sandbox", "Test the sandbox of this machine.", "codeplan sandbox audit")
    add_command(group, "audit", audit, "codeplan sandbox audit --unrestricted")
    add_command(app, "trust", trust, "codeplan trust .")
    example = "codeplan serve-scripted --latency 100 --faults all=0.1,seed=7 --log requests.jsonl"
    add_command(app, "serve-scripted", serve, example)


def list_envs(
    env: Annotated[
        str | None, typer.Argument(metavar="[ENV]", help="Show this environment alone; a name, or FILE.py:NAME.")
    ] = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
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
        print_json(found)
        return
    for about in found:
        _print_env(about, env or about["name"])


def list_tasks(
    env: options.Env,
    split: Annotated[
        str | None, typer.Option("--split", metavar="NAME", help="The split; default: the first one.")
    ] = None,
    kind: options.OnlyKind = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, help="List at most N tasks.")] = 20,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """List an environment's tasks: what codeplan run takes after --task, and each task's goal."""
    from contextlib import closing

    from codeplan import envs, plugins
    from codeplan.envs import registry
    from codeplan.errors import UsageError
    from codeplan.untrusted.values import in_quotes

    with closing(envs.make(env, **({"data": data} if data else {}))) as environment:
        splits = envs.splits(environment)
        if split is not None and split not in splits:
            raise UsageError(f"{env} has no split {in_quotes(split)}; {plugins.suggest_names(split, splits)}")
        tasks = registry.list_tasks(environment, split or splits[0], kind)
    if as_json:
        print_json(tasks[:n])
        return
    width = max(len(one_line(task.id)) for task in tasks[:n])
    for task in tasks[:n]:
        echo_message(one_line(task.goal), f"{one_line(task.id):{width}}  ")
    if len(tasks) > n:
        echo(f"and {len(tasks) - n:,} more; -n {len(tasks)} lists all")


def list_methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show this method alone: its settings and their defaults.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the methods: the ways to solve a task."""
    from codeplan import methods, plugins
    from codeplan.errors import UsageError

    if name is not None:
        _show_method(name, as_json)
        return
    found: list[dict[str, Any]] = []
    for name in methods.names():
        try:
            method = plugins.load_factory("codeplan.methods", name)
        except UsageError as e:  # list the other methods all the same
            found.append({"name": name, "about": str(e), "settings": []})
            continue
        found.append({"name": name, "about": _first_line(method), "settings": list(plugins.setting_names(method))})
    if as_json:
        print_json(found)
        return
    for about in found:
        echo(about["name"])
        echo_message(about["about"], "  ")
        echo_message(", ".join(about["settings"]) or "none", "  settings  ")
        echo(f"  run       codeplan run household --method {about['name']}")


def _show_method(name: str, as_json: bool) -> None:
    """Print a method's settings, with what they mean and their defaults."""
    from codeplan import plugins

    method = plugins.load_factory("codeplan.methods", name)
    specs = plugins.setting_specs(method)
    if as_json:
        settings = [{"name": s.name, "help": s.help, "default": json.loads(_as_json(s.default))} for s in specs]
        print_json({"name": name, "about": _first_line(method), "settings": settings})
        return
    echo(name)
    echo_message(_first_line(method), "  ")
    width = max((len(spec.name) for spec in specs), default=0)
    for spec in specs:
        shown = spec.default if isinstance(spec.default, str) else _as_json(spec.default)
        default = "" if spec.default in (None, "", ()) else f" [{shown}]"
        echo_message(f"{spec.help}{default}".strip(), f"  {spec.name:{width}}  ")


def _as_json(default: object) -> str:
    """A default in the form that --set takes; for an object of a class, its text."""
    return json.dumps(default, default=str)


def doctor(
    online: Annotated[bool, typer.Option("--online", help="Ask the model's endpoint whether it answers.")] = False,
    as_json: options.Json = False,
) -> None:
    """Examine this machine: Python, sandbox, model, extras.

    Exit codes: 0 a fully locked sandbox runs, 1 it does not.
    """
    from codeplan.doctor import examine, is_safe

    findings = examine(online=online)
    if as_json:
        print_json({"ok": is_safe(findings), "findings": findings})
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

    console = make_console()
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


_ENDS = ("rejected", "failed", "stopped", "finished")


def audit(
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The folder of hostile plans; default tests/escapes, here or beside codeplan."
        ),
    ] = None,
    unrestricted: Annotated[
        bool, typer.Option("--unrestricted", help="Give plans all of Python, to test the cage alone.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Run hostile plans on this machine and report which got through.

    Exit codes: 0 none got through, 1 one did.
    """
    from codeplan import audit as auditing

    plans = auditing.read_corpus(corpus or _default_corpus())
    if not as_json:
        echo(f"{len(plans)} hostile plans; each may take a second or two.", err=True)
    began, tried = time.monotonic(), itertools.count(1)
    with counting_progress("tried") as show:
        show(0, len(plans))
        verdicts = auditing.audit_plans(
            plans, unrestricted=unrestricted, hosts=_hosts(), on_event=lambda _: show(next(tried), len(plans))
        )
    seconds = time.monotonic() - began
    if as_json:
        _print_verdicts_as_json(verdicts, seconds, unrestricted)
    else:
        _print_table(verdicts)
        _print_summary(verdicts, seconds, unrestricted)
    raise typer.Exit(1 if any(v.got_through for v in verdicts) else 0)


def _hosts() -> int:
    """The number of parallel host processes."""
    return max(1, min(8, os.cpu_count() or 1))


def _default_corpus() -> Path:
    """``tests/escapes`` in the current folder, or in the checkout that contains codeplan."""
    import codeplan
    from codeplan.errors import UsageError

    beside = Path(codeplan.__file__ or "").resolve().parents[1]
    for folder in (Path("tests/escapes"), beside / "tests" / "escapes"):
        if folder.is_dir():
            return folder
    raise UsageError("there is no folder tests/escapes here; name the folder of hostile plans with --corpus")


def _print_verdicts_as_json(verdicts: list[AttackVerdict], seconds: float, unrestricted: bool) -> None:
    through = [v.id for v in verdicts if v.got_through]
    summary = {"plans": len(verdicts), "through": through, "unrestricted": unrestricted, "seconds": round(seconds, 2)}
    print_json({**summary, "verdicts": verdicts})


def _print_table(verdicts: list[AttackVerdict]) -> None:
    """One line per kind: the number of plans, how they ended, how many got through."""
    echo(_row("kind", ["plans", *_ENDS, "through"]))
    for kind in sorted({v.kind for v in verdicts}):
        echo(_row(kind, _counts([v for v in verdicts if v.kind == kind])))
    echo(_row("all", _counts(verdicts)))


def _counts(verdicts: list[AttackVerdict]) -> list[int]:
    ends: Counter[str] = Counter(v.ending for v in verdicts)
    return [len(verdicts), *(ends[e] for e in _ENDS), sum(v.got_through for v in verdicts)]


def _row(name: str, cells: list[int] | list[str]) -> str:
    return f"{name:<12}" + "".join(f"{cell:>10}" for cell in cells)


def _print_summary(verdicts: list[AttackVerdict], seconds: float, unrestricted: bool) -> None:
    from codeplan.untrusted.texts import one_line

    through = [v for v in verdicts if v.got_through]
    for v in through:
        ending = f"{v.ending}:{v.detail}" if v.detail else v.ending
        echo(f"THROUGH  {v.id} ({v.kind}), {ending}: {one_line(v.problem, 300)}")
    mode = "with all of Python, in the cage alone" if unrestricted else "language and cage"
    echo(f"{len(through)} of {len(verdicts)} hostile plans got through ({mode}; {seconds:.0f} s).")


class _Candidate(NamedTuple):
    """A file to trust: its path, the SHA-256 of its bytes, and its settings as text."""

    path: Path
    sha256: str
    settings: dict[str, str]


def trust(
    place: Annotated[
        Path,
        typer.Argument(
            metavar="[FOLDER]",
            help="The folder of the settings file, or a bench's file. [this folder]",
            show_default=False,
        ),
    ] = Path(),
    list_all: Annotated[bool, typer.Option("--list", help="List the trusted files instead.")] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Trust this folder's files, or this file, no longer.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Trust the settings file of a folder, as it is now: codeplan.toml, or [tool.codeplan] in pyproject.toml.

    Until then it cannot choose a model, an endpoint, a key, a file or anything else on this machine. The file of a
    bench (codeplan bench grid.toml) needs the same. The command prints what the file sets. If the file changes, it is
    not trusted until you repeat the command.
    """
    from codeplan.errors import UsageError

    if list_all and forget:
        raise UsageError("--list and --forget exclude each other; give one of them")
    if list_all:
        _print_list(as_json)
    elif forget:
        _forget(place, as_json)
    else:
        _trust(place, as_json)


def _trust(place: Path, as_json: bool) -> None:
    from codeplan.runner import settings_files
    from codeplan.runner.settings_files import SETTINGS_FILES

    folder = place.parent if place.name in SETTINGS_FILES else place
    found = _read_folder(folder) if folder.is_dir() else _read_bench(place)
    path = settings_files.real_path(found.path)
    settings_files.trust(found.path, found.sha256)
    document = {"trusted": path, "sha256": found.sha256, "settings": found.settings}
    print_output(document, as_json, lambda: _describe(path, found.settings))


def _read_folder(folder: Path) -> _Candidate:
    from codeplan.errors import UsageError
    from codeplan.runner.settings_files import describe_settings, read_settings_file

    file = read_settings_file(folder)
    if file is None:
        raise UsageError(f"there is no codeplan.toml in {folder}, and no [tool.codeplan] in a pyproject.toml there")
    return _Candidate(file.path, file.sha256, describe_settings(file.settings))


def _read_bench(path: Path) -> _Candidate:
    """The file of a bench, with those of its settings that need trust."""
    from codeplan.bench.bench_spec import read_spec, untrusted_settings
    from codeplan.errors import UsageError
    from codeplan.runner.settings_files import describe_settings

    if not path.is_file():
        raise UsageError(f"there is no folder or file {path}; name the folder of a settings file, or a bench's file")
    digests: list[str] = []

    def accept(sha256: str) -> bool:
        digests.append(sha256)
        return True

    spec = read_spec(path, accept)
    if not digests:
        raise UsageError(
            f"the bench in {path} sets nothing that needs your trust; run it with: codeplan bench {shell_word(path)}"
        )
    return _Candidate(path.resolve(), digests[0], describe_settings(untrusted_settings(spec)))


def _describe(path: str, settings: dict[str, str]) -> list[str]:
    if not settings:
        return [f"{_shown(path)} is trusted; it sets nothing."]
    lines = [f"  {name} = {value}" for name, value in settings.items()]
    return [f"{_shown(path)} is trusted until it changes. It sets:", *lines]


def _forget(place: Path, as_json: bool) -> None:
    from codeplan.errors import UsageError
    from codeplan.runner import settings_files

    gone = settings_files.forget(place)
    if not gone:
        raise UsageError(f"no file in {place} is trusted; codeplan trust --list names those that are")
    print_output({"forgotten": list(gone)}, as_json, lambda: [f"{_shown(path)} is trusted no longer." for path in gone])


def _print_list(as_json: bool) -> None:
    from codeplan.runner import settings_files

    listed = [{"path": entry.path, "state": _state(entry)} for entry in settings_files.trusted_files()]
    print_output(listed, as_json, lambda: _list_lines(listed))


def _list_lines(listed: list[dict[str, Any]]) -> list[str]:
    if not listed:
        return ["No file is trusted."]
    return [f"{entry['state']:8} {_shown(entry['path'])}" for entry in listed]


def _state(entry: TrustedFile) -> str:
    """Whether the file is as it was when the user trusted it: "trusted", "changed" or "missing"."""
    from codeplan.runner.settings_files import MAX_SETTINGS_BYTES
    from codeplan.untrusted import files

    try:
        content = files.read_bytes(entry.path, MAX_SETTINGS_BYTES)
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "changed"
    return "trusted" if hashlib.sha256(content).hexdigest() == entry.sha256 else "changed"


def _shown(path: str) -> str:
    from codeplan.untrusted.texts import one_line

    return one_line(path, 1000)


def serve(
    port: options.Port = 0,
    latency: Annotated[float, typer.Option(min=0, metavar="MS", help="Milliseconds before each answer.")] = 0.0,
    faults: Annotated[
        str,
        typer.Option(
            "--faults",
            metavar="SPEC",
            help="Simulated faults, KIND=RATE separated by commas: 429, 500, slow, cut, garbage, null, length; "
            "all=RATE divides a rate among them; seed=N, retry_after=S, slow_by=S.",
        ),
    ] = "",
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new file with a JSON line per request and its usage.")
    ] = None,
    streams: Annotated[
        Literal["yes", "no", "only", "bare"],
        typer.Option(help="Send streams if asked, never, only these, or only these without stream_options."),
    ] = "yes",
    mistakes: options.Mistakes = None,
    model_seed: options.ModelSeed = None,
) -> None:
    """Serve the scripted stand-in with OpenAI's API on this machine, until Ctrl-C.

    The first line on standard output is the base URL. The server offers Chat Completions, the Responses API (both with
    streams) and the list of models. A request with the header X-Codeplan-Fault gets the fault that the header names.
    """
    import asyncio

    from codeplan.runner import models
    from codeplan.standin.server import FaultSettings, StandInServer

    given = options.collect_settings(None, mistakes=mistakes, model_seed=model_seed)
    model = models.connect("scripted", **given)
    faults_made = FaultSettings.parse(faults)
    endpoint = StandInServer(model, latency=latency / 1000, faults=faults_made, log=log, streams=streams)
    try:
        asyncio.run(_run(endpoint, port))
    except KeyboardInterrupt:
        echo(f"served {with_count(endpoint.request_count, 'request')}", err=True)


async def _run(endpoint: StandInServer, port: int) -> None:
    import asyncio

    echo(await endpoint.start(port))
    try:
        await asyncio.Event().wait()
    finally:
        await endpoint.stop()
