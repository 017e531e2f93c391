"""``codeplan skills``: inspect, curate and exchange a library of skills."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from codeplan.cli import options
from codeplan.cli.command_groups import WholeSummaries
from codeplan.cli.skill_library import (
    DEFAULT_FOLDER,
    LibraryFolder,
    find_skill,
    open_library,
    parse_status,
    print_faults,
    skill_figures,
)
from codeplan.untrusted.texts import echo, with_count

Name = Annotated[str, typer.Argument(metavar="SKILL", help="The skill's name, or environment/name.")]
EnvFilter = Annotated[str | None, typer.Option("--env", metavar="ENV", help="Only skills for this environment.")]
Status = Annotated[str | None, typer.Option(metavar="S", help="Only candidate, active or retired skills.")]


def add_to(app: typer.Typer) -> None:
    """Add this group of commands."""
    from codeplan.cli import skill_acquisition, skill_curation

    group = typer.Typer(
        name="skills",
        cls=WholeSummaries,
        help="The skill library: inspect, curate, test, exchange.",
        rich_markup_mode=None,
        epilog="Example: codeplan skills list",
    )
    group.command("list", epilog="Example: codeplan skills list --status active")(list_skills)
    group.command("show", epilog="Example: codeplan skills show heat-d71c11ea")(show)
    group.command("diff", epilog="Example: codeplan skills diff heat-d71c11ea@1 heat-d71c11ea")(diff)
    group.command("search", epilog="Example: codeplan skills search 'a hot apple in the fridge'")(search)
    group.command("stats", epilog="Example: codeplan skills stats --json")(stats)
    group.command("promote", epilog="Example: codeplan skills promote heat-d71c11ea")(promote)
    group.command("retire", epilog="Example: codeplan skills retire heat-d71c11ea")(retire)
    group.command("pin", epilog="Example: codeplan skills pin heat-d71c11ea")(pin)
    group.command("merge", epilog="Example: codeplan skills merge heat-d71c11ea heat-0a1b2c3d")(merge)
    group.command("export", epilog="Example: codeplan skills export household.zip --env household")(export)
    group.command("import", epilog="Example: codeplan skills import household.zip")(import_skills)
    group.command("rebuild", epilog="Example: codeplan skills rebuild")(rebuild)
    skill_acquisition.add_to(group)
    skill_curation.add_to(group)
    app.add_typer(group)


def list_skills(
    env: EnvFilter = None,
    kind: Annotated[str | None, typer.Option(metavar="K", help="Only skills for this kind of task.")] = None,
    status: Status = None,
    run: Annotated[str | None, typer.Option(metavar="RUN", help="Only skills that this episode made or tried.")] = None,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """List the skills: status, version, and how often tasks were solved with and without them."""
    from codeplan.cli.skill_tables import entries_table

    opened = open_library(library)
    entries = opened.entries_of_run(run) if run else opened.entries(env, kind, parse_status(status))
    if as_json:
        options.print_json({"skills": entries, "faults": opened.faults()})
        return
    echo("\n".join(entries_table(entries)))
    print_faults(opened)


def show(name: Name, library: LibraryFolder = DEFAULT_FOLDER, as_json: options.Json = False) -> None:
    """Show a skill: description, origins, statistics, evidence and plan."""
    from codeplan.cli.skill_tables import skill_page
    from codeplan.report.json_output import to_plain_data

    opened = open_library(library)
    skill = find_skill(opened, name)
    records = opened.read_evidence(skill)
    statistics = skill_figures(opened, skill)
    document = {**to_plain_data(skill), "evidence": records, "statistics": statistics}
    options.print_output(document, as_json, lambda: skill_page(skill, records, statistics))


def diff(
    one: Annotated[str, typer.Argument(metavar="SKILL", help="A skill; NAME@2 is its version 2.")],
    other: Annotated[str, typer.Argument(metavar="SKILL", help="Another, or another version.")],
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Show the differences between the plans of two skills, or of two versions of one.

    Exit codes: 0 the plans are equal, 1 they differ.
    """
    from codeplan.untrusted.comparison import diff_lines

    opened = open_library(library)
    first, second = find_skill(opened, one), find_skill(opened, other)
    lines = list(diff_lines(first.plan, second.plan))
    document = [{"mark": mark, "line": line} for mark, line in lines]
    options.print_output(document, as_json, lambda: _shown(lines))
    raise typer.Exit(1 if lines else 0)


def _shown(lines: list[tuple[str, str]]) -> list[str]:
    return [f"{mark} {line}".rstrip() for mark, line in lines] or ["the plans are equal"]


def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Words of the name, the description or the goals.")],
    env: EnvFilter = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, help="Maximum number of results.")] = 20,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Search the skills of any status by their words; best first."""
    from codeplan.cli.skill_tables import entries_table

    found = open_library(library).search(text, n, env)
    options.print_output(found, as_json, lambda: entries_table(found, scores=True))


def stats(
    env: EnvFilter = None, status: Status = None, library: LibraryFolder = DEFAULT_FOLDER, as_json: options.Json = False
) -> None:
    """Show the evidence for each skill: success with and without it, intervals, discordant pairs, p, e-value."""
    from codeplan.cli.skill_tables import figures_table

    opened = open_library(library)
    found = [
        skill_figures(opened, find_skill(opened, f"{e.env}/{e.name}"))
        for e in opened.entries(env, None, parse_status(status))
    ]
    options.print_output(found, as_json, lambda: figures_table(found))
    if not as_json:
        print_faults(opened)


def promote(name: Name, library: LibraryFolder = DEFAULT_FOLDER) -> None:
    """Make a skill active by hand: prompts show it from now on, whatever its evidence says."""
    _set_status(library, name, "active")


def retire(name: Name, library: LibraryFolder = DEFAULT_FOLDER) -> None:
    """Retire a skill: prompts never show it again. Its folder and its evidence stay."""
    _set_status(library, name, "retired")


def pin(
    name: Name,
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
    library: LibraryFolder = DEFAULT_FOLDER,
) -> None:
    """Pin a skill: filtering does not change its status."""
    opened = open_library(library)
    skill = opened.change(find_skill(opened, name), pinned=not off)
    echo(f"{skill.env}/{skill.name} is {'no longer pinned' if off else 'pinned'}")


def merge(
    into: Annotated[str, typer.Argument(metavar="SKILL", help="The skill that stays.")],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The skill that is merged into it and retired.")],
    library: LibraryFolder = DEFAULT_FOLDER,
) -> None:
    """Merge a skill into another, which takes over its origins and history. The merged skill is retired."""
    opened = open_library(library)
    merged = opened.merge(find_skill(opened, into), find_skill(opened, other))
    echo(f"{merged.env}/{merged.name} replaces both; {other} is retired")


def rebuild(library: LibraryFolder = DEFAULT_FOLDER, as_json: options.Json = False) -> None:
    """Build the index anew from the folders. A plan edited by hand becomes a new version, a candidate.

    Exit codes: 0 no faults, 1 something cannot be used; it is named.
    """
    opened = open_library(library)
    count, faults = opened.rebuild(), opened.faults()
    if as_json:
        options.print_json({"folders": count, "faults": faults})
    else:
        echo(f"{with_count(count, 'skill folder')} indexed")
        print_faults(opened)
    raise typer.Exit(1 if faults else 0)


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The new zip file; '.zip' is added.")],
    env: EnvFilter = None,
    status: Status = None,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Write skills, with their evidence, to a zip file."""
    from codeplan.skills.import_export import export_skills as write

    file = file if file.suffix or not file.name else file.with_name(f"{file.name}.zip")
    opened = open_library(library)
    entries = opened.entries(env, None, parse_status(status))
    count = write(opened, file, (find_skill(opened, f"{e.env}/{e.name}") for e in entries))
    options.print_output(
        {"file": str(file), "skills": count}, as_json, lambda: [f"{with_count(count, 'skill')} in {file}"]
    )


def import_skills(
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="A zip file of skills, or a library's folder.")],
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Import foreign skills as candidates. Their plans are checked, and the evidence must be found here.

    Exit codes: 0 all imported, 1 some refused.
    """
    from codeplan.errors import UsageError
    from codeplan.skills.import_export import import_skills
    from codeplan.untrusted.texts import one_line

    rows = import_skills(open_library(library, create=True), file)
    if not rows:
        raise UsageError(f"there are no skills in {file}; name a zip file of skills, or a library's folder")
    results = ((row.source, f"candidate {row.name}" if row.name else f"left out: {row.reason}") for row in rows)
    options.print_output(rows, as_json, lambda: (one_line(f"{source}: {result}", 300) for source, result in results))
    raise typer.Exit(0 if all(row.name for row in rows) else 1)


def _set_status(folder: Path, name: str, status: str) -> None:
    library = open_library(folder)
    skill = library.change(find_skill(library, name), status=status)
    echo(f"{skill.env}/{skill.name} is {skill.status}")
