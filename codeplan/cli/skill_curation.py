"""``codeplan skills discover``, ``filter`` and ``check``: what is found out by running episodes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.cli.skills import DEFAULT_FOLDER, LibraryFolder, find_skill, open_library

if TYPE_CHECKING:
    from codeplan.curation.curation_runner import CurationRunner
    from codeplan.curation.filtering import FilterRule

Split = Annotated[str, typer.Option(metavar="SPLIT", help="The split whose tasks are played. [train]")]
Pairs = Annotated[
    int, typer.Option("--pairs", min=1, metavar="N", help="Pairs of episodes, with and without, a candidate.")
]
Level = Annotated[float, typer.Option(metavar="A", help="The chance of promoting any useless one that is accepted.")]
Test = Annotated[str, typer.Option(metavar="T", help="sequential (stops as soon as it knows) or fixed (McNemar's).")]
MaxCandidates = Annotated[int, typer.Option(min=1, metavar="N", help="Candidates of a kind that are tried in a round.")]
AloneTasks = Annotated[
    int, typer.Option(min=0, metavar="N", help="Tasks on which a candidate's own plan must run alone.")
]
ComparisonTasks = Annotated[
    int, typer.Option("--compare", min=0, metavar="N", help="Unseen tasks of each kind at the end.")
]
OnlySkill = Annotated[
    str | None, typer.Option("--skill", metavar="SKILL", help="Only this skill, whatever its status.")
]
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Episodes at a time.")]


def add_to(group: typer.Typer) -> None:
    """Add this module's commands to the group."""
    example = "Example: codeplan skills discover household -n 16 --pairs 24 --set gaps=0.8 --set sample_kinds=pick"
    group.command("discover", epilog=example)(discover)
    group.command("filter", epilog="Example: codeplan skills filter household --pairs 30 --test fixed")(filter_skills)
    group.command("check", epilog="Example: codeplan skills check --library skills")(check)


def discover(
    env: options.Env,
    n: Annotated[int, typer.Option("-n", min=1, help="Tasks of each kind that are played in a round.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Rounds: acquire, filter, again.")] = 1,
    split: Split = "train",
    pairs: Pairs = 20,
    level: Level = 0.05,
    test: Test = "sequential",
    most: MaxCandidates = 2,
    alone: AloneTasks = 5,
    shown: ComparisonTasks = 10,
    unseen: Annotated[str, typer.Option(metavar="SPLIT", help="Where the unseen tasks are from.")] = "test",
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    more: options.Set = None,
    jobs: Jobs = 2,
    out: options.Out = None,
    record: options.Record = None,
    replay: options.Replay = None,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Discover skills: play tasks, make candidates of the successes, promote those that raise success; and again.

    At the end tasks of another split are played with the library and without.
    """
    from codeplan.cli.skill_tables import comparison_table, filter_table
    from codeplan.curation.comparison import compare_library
    from codeplan.curation.curation_runner import take_of_each_kind
    from codeplan.curation.discovery import discover_skills as run_rounds
    from codeplan.report.json_output import to_plain_data
    from codeplan.skills.library import SkillLibrary

    with (
        options.open_tapes(record, replay) as tapes,
        _curation_runner(env, "discover", model, base_url, more, jobs, out, tapes) as lab,
    ):
        rule, opened, tasks = _rule(pairs, level, test, alone), SkillLibrary(library), lab.tasks(split)
        later = take_of_each_kind(lab.tasks(unseen), shown) if shown else []
        found = run_rounds(
            lab,
            opened,
            tasks,
            per_kind=n,
            rounds=rounds,
            max_candidates=most,
            rule=rule,
            on_progress=_progress_printer(as_json),
        )
        compared = compare_library(lab, opened, later) if later else []
    if as_json:
        options.print_json(
            {"rounds": to_plain_data(found), "compared": to_plain_data(compared), "failures": lab.failures}
        )
        return
    for each in found:
        typer.echo(f"\nround {each.number}: {each.solved} of {each.episodes} solved, {len(each.acquired)} skills\n")
        typer.echo("\n".join(filter_table(each.filtered)))
    if compared:
        typer.echo(f"\nwith the library and without, on unseen tasks ({unseen})\n")
        typer.echo("\n".join(comparison_table(compared)))
    _print_failures(lab)


def filter_skills(
    env: options.Env,
    name: OnlySkill = None,
    split: Split = "train",
    pairs: Annotated[int, typer.Option("-n", "--pairs", min=1, help="Tasks, each with and without, a candidate.")] = 20,
    level: Level = 0.05,
    test: Test = "sequential",
    most: MaxCandidates = 2,
    alone: AloneTasks = 5,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    more: options.Set = None,
    jobs: Jobs = 2,
    out: options.Out = None,
    record: options.Record = None,
    replay: options.Replay = None,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Try candidates with and without, on paired tasks that they do not come from; promote and retire by the test."""
    from codeplan.cli.skill_tables import filter_table
    from codeplan.curation.filtering import filter_candidates, list_candidates
    from codeplan.report.json_output import to_plain_data

    opened = open_library(library)
    candidates = [find_skill(opened, name)] if name else list_candidates(opened, env, most)
    with (
        options.open_tapes(record, replay) as tapes,
        _curation_runner(env, "filter", model, base_url, more, jobs, out, tapes) as lab,
    ):
        rows = filter_candidates(lab, opened, lab.tasks(split), candidates, _rule(pairs, level, test, alone))
    if as_json:
        options.print_json({"filtered": to_plain_data(rows), "failures": lab.failures})
        return
    typer.echo("\n".join(filter_table(rows)))
    _print_failures(lab)


def check(
    name: OnlySkill = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Tasks a skill.")] = 5,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    more: options.Set = None,
    jobs: Jobs = 2,
    out: options.Out = None,
    record: options.Record = None,
    replay: options.Replay = None,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Run every active skill again, on tasks that it came from or has solved: tests for a library.

    Its own plan is run, its parameters bound by one question; nothing is planned. Exit code 1 where a task is not
    solved.
    """
    from codeplan.cli.skill_tables import check_table
    from codeplan.curation.checks import SkillCheck
    from codeplan.curation.checks import check_skills as run_again
    from codeplan.report.json_output import to_plain_data

    opened = open_library(library)
    active = [find_skill(opened, f"{e.env}/{e.name}") for e in opened.entries(status="active")]
    skills = [find_skill(opened, name)] if name else active
    rows: list[SkillCheck] = []
    failures: list[str] = []
    with options.open_tapes(record, replay) as tapes:
        for env in dict.fromkeys(s.env for s in skills):
            with _curation_runner(env, "check", model, base_url, more, jobs, out and out / env, tapes) as lab:
                rows += run_again(lab, opened, [s for s in skills if s.env == env], n)
                failures += lab.failures
    if as_json:
        options.print_json({"checked": to_plain_data(rows), "failures": failures})
    else:
        typer.echo("\n".join(check_table(rows)))
    raise typer.Exit(1 if failures or any(r.unsolved for r in rows) else 0)


# ------------------------------------------------------------------ shared


@contextlib.contextmanager
def _curation_runner(
    env: str,
    what: str,
    model: str | None,
    base_url: str | None,
    more: list[str] | None,
    jobs: int,
    out: Path | None,
    tapes: dict[str, Any],
) -> Iterator[CurationRunner]:
    """Where the episodes are run, with a folder for their traces; those from a tape leave none."""
    from codeplan.curation.curation_runner import CurationRunner
    from codeplan.errors import UsageError

    if out and tapes["tape"]:
        raise UsageError("episodes that are played from a tape leave no traces; leave --out or --replay out")
    found = options.load_config()
    given: dict[str, Any] = options.collect_settings(more, base_url=base_url)
    name, given = options.select_model(found, model, given)
    given |= {"budget": options.make_budget(found), **tapes}
    kept = contextlib.nullcontext(out) if out or tapes["tape"] else options.new_run_folder("skills", what, env)
    with kept as folder:
        yield CurationRunner(env, name, folder=folder, workers=jobs, **given)


def _rule(pairs: int, level: float, test: str, alone: int) -> FilterRule:
    from codeplan.curation.filtering import FilterRule
    from codeplan.errors import UsageError

    if test not in ("sequential", "fixed"):
        raise UsageError(f"{test!r} is no test; give sequential or fixed")
    return FilterRule(alone=alone, pairs=pairs, level=level, test="fixed" if test == "fixed" else "sequential")


def _progress_printer(quiet: bool) -> Any:
    """Tells what is done on stderr, unless it is to be quiet."""
    return (lambda what: None) if quiet else (lambda what: typer.echo(what, err=True))


def _print_failures(lab: CurationRunner) -> None:
    from codeplan.report.text import one_line

    for failure in lab.failures[:5]:
        typer.echo(f"codeplan: an episode broke, and does not count: {one_line(failure, 300)}", err=True)
    if len(lab.failures) > 5:
        typer.echo(f"codeplan: and {len(lab.failures) - 5} more", err=True)
