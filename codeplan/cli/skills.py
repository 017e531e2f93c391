"""``codeplan skills``: inspect, curate and exchange a library of skills."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli import options
from codeplan.cli.commands import add_command, add_group
from codeplan.cli.options import require_no_link
from codeplan.cli.output import print_json, print_output
from codeplan.untrusted.texts import clean, echo, echo_message, one_line, with_count

if TYPE_CHECKING:
    from codeplan.curation.filtering import FilterOutcome, LibraryComparison, SkillCheck
    from codeplan.skills.index import IndexEntry
    from codeplan.skills.library import SkillLibrary
    from codeplan.skills.selection import SureSkill
    from codeplan.skills.skill import EvidenceRecord, Skill, SkillStatistics, SkillStatus


LibraryFolder = Annotated[Path, typer.Option("--library", metavar="DIR", help="The library's folder.")]
DEFAULT_FOLDER = Path("skills")


def open_library(folder: Path, create: bool = False) -> SkillLibrary:
    """The library.

    Raises: UsageError: the folder does not exist (unless ``create`` is given), or is the default one and a link.
    """
    from codeplan.errors import UsageError
    from codeplan.skills.library import SkillLibrary

    if folder == DEFAULT_FOLDER:
        require_no_link(folder, "--library")
    if not create and not folder.is_dir():
        raise UsageError(
            f"there is no skill library at {folder}; name one with --library, or "
            "make one: codeplan skills add RUN, codeplan do GOAL --acquire, or codeplan skills discover ENV"
        )
    return SkillLibrary(folder)


def find_skill(library: SkillLibrary, name: str) -> Skill:
    """The skill of a name such as ``heat-1`` or ``heat-1@2``.

    Raises: UsageError: there is no such skill or version.
    """
    from codeplan.errors import UsageError

    name, at, version = name.partition("@")
    if at and not (version.isascii() and version.isdigit()):
        raise UsageError(f"{version!r} is not a version of {name}; give a number, as in {name}@1")
    return library.get_by_name(name, int(version) if at else None)


def skill_figures(library: SkillLibrary, skill: Skill) -> SkillStatistics:
    """Statistics of a skill's evidence."""
    from codeplan.skills.skill import skill_statistics

    return skill_statistics(skill, library.read_evidence(skill))


def print_faults(library: SkillLibrary) -> None:
    """Print the library's faults on stderr."""
    for fault in library.faults():
        echo_message(f"left out: {one_line(fault, 400)}", "codeplan: ", err=True)


def parse_status(status: str | None) -> SkillStatus | None:
    """The status, checked.

    Raises: UsageError: it is not a status.
    """
    from codeplan.errors import UsageError

    match status:
        case None | "candidate" | "active" | "retired":
            return status
    raise UsageError(f"there is no status {status!r}; give candidate, active or retired")


_MAX_RECORDS = 40


def entries_table(entries: Sequence[IndexEntry], scores: bool = False) -> list[str]:
    """One line per skill."""
    if not entries:
        return ["no skills"]
    head = ["skill", "kind", "status", "version", "with", "without", *(["score"] if scores else [])]
    kinds = {kind: one_line(kind, 40) for kind in {e.kind for e in entries}}
    return _table(head, [_entry(e, kinds[e.kind], scores) for e in entries])


def _entry(e: IndexEntry, kind: str, scores: bool) -> list[str]:
    t = e.evidence
    status = e.status + (" pinned" if e.pinned else "") + (" failing" if t.failing else "")
    cells = [f"{e.env}/{e.name}", kind, status, str(e.version)]
    return [
        *cells,
        _share(t.solved, t.shown),
        _share(t.baseline_solved, t.baseline),
        *([f"{e.score:.2f}"] if scores else []),
    ]


def figures_table(rows: Sequence[SkillStatistics]) -> list[str]:
    """One line per skill, with intervals."""
    if not rows:
        return ["no skills"]
    head = ["skill", "status", "with", "95 %", "without", "95 %", "wins", "losses", "p", "e"]
    failed = [f"{f.env}/{f.skill} failed last: {one_line(f.last_failure, 300)}" for f in rows if f.last_failure]
    return [*_table(head, [_figures(f) for f in rows]), *failed]


def _figures(f: SkillStatistics) -> list[str]:
    shown, plain = _share(f.solved, f.shown), _share(f.baseline_solved, f.baseline)
    status = f.status + (" failing" if f.failing else "")
    cells = [f"{f.env}/{f.skill}", status, shown, _interval(*f.interval), plain, _interval(*f.baseline_interval)]
    return [*cells, str(f.wins), str(f.losses), _p(f.p_value), f"{f.e_value:.3g}"]


def filter_table(rows: Sequence[FilterOutcome]) -> list[str]:
    """One line per tested candidate."""
    if not rows:
        return ["no candidates were tried"]
    head = ["skill", "now", "alone", "pairs", "with", "without", "wins", "losses", "difference", "p", "e", "1/level"]
    return _table(head, [_filtered(r) for r in rows])


def _filtered(r: FilterOutcome) -> list[str]:
    shown, plain = _share(r.solved, r.pairs), _share(r.baseline_solved, r.pairs)
    alone = _share(r.alone_solved, r.alone)
    found = [f"{r.env}/{r.skill}", r.status, alone, str(r.pairs), shown, plain, str(r.wins), str(r.losses)]
    return [*found, _difference(r), _p(r.p_value), f"{r.e_value:.3g}", f"{1 / r.level:.3g}"]


def comparison_table(rows: Sequence[LibraryComparison]) -> list[str]:
    """One line per kind of task."""
    head = ["kind", "pairs", "with", "without", "wins", "losses", "difference", "p"]
    return _table(head, [_compared(r) for r in rows])


def _compared(r: LibraryComparison) -> list[str]:
    shown, plain = _share(r.solved, r.pairs), _share(r.baseline_solved, r.pairs)
    return [one_line(r.kind, 40), str(r.pairs), shown, plain, str(r.wins), str(r.losses), _difference(r), _p(r.p_value)]


def check_table(rows: Sequence[SkillCheck]) -> list[str]:
    """One line per skill that was checked."""
    if not rows:
        return ["no skills were checked"]
    cells = [[f"{r.env}/{r.skill}", _share(r.solved, r.tasks), one_line(", ".join(r.unsolved), 100)] for r in rows]
    return _table(["skill", "solved", "unsolved tasks"], cells)


def skill_page(skill: Skill, records: Sequence[EvidenceRecord], figures: SkillStatistics) -> list[str]:
    """The description, statistics, evidence and plan of a skill."""
    lines = [f"{skill.env}/{skill.name}, version {skill.version}, {skill.status}{', pinned' if skill.pinned else ''}"]
    lines += [one_line(skill.description, 500)] if skill.description else []
    lines += [
        "",
        f"kind        {one_line(skill.kind) or 'any'}",
        f"parameters  {one_line(', '.join(skill.parameters), 500) or 'none'}",
    ]
    lines += [f"said as     {one_line(phrase, 300)}" for phrase in skill.said]
    lines += [
        f"says        {one_line('; '.join(ways), 300)}" for ways in (*skill.pieces.does, skill.pieces.has) if ways
    ]
    lines += [f"is not      {one_line(phrase, 300)}" for phrase in skill.pieces.other]
    lines += [f"same words  {one_line(', '.join(group), 300)}" for group in skill.words]
    lines += [f"value       {line}" for line in form_lines(skill)]
    lines += [
        f"names       {one_line(source.name, 80)} as {one_line(source.tool, 80)} lists them" for source in skill.sources
    ]
    lines += [f"needs       {one_line(t.method.name + t.method.signature, 300)}" for t in skill.tools]
    for origin in skill.origins:
        run = f", {origin.run}" if origin.run else ""
        lines.append("from        " + one_line(f"{origin.task} ({origin.goal}) by {origin.model}{run}", 300))
    lines += ["", *figures_table([figures]), ""]
    lines += [_record(t) for t in records[-_MAX_RECORDS:]]
    if len(records) > _MAX_RECORDS:
        lines.append(f"… {len(records):,} records in all; --json has them")
    return [*lines, "", *clean(skill.plan).rstrip("\n").split("\n")]


def form_lines(skill: Skill, *, tables_only: bool = False) -> list[str]:
    """What words of a goal stand for which value of the plan."""
    from codeplan.untrusted.values import in_quotes

    lines = [
        f"{one_line(form.name, 80)} is {in_quotes(value, 200)} where a goal says {in_quotes(words, 100)}"
        for form in skill.forms
        for words, value in form.table
    ]
    days = {form.name: f", on {form.day}" if form.day else "" for form in skill.forms}
    known = (form for form in skill.forms if not form.table and not tables_only)
    return lines + [f"{one_line(f.name, 80)} is said as {in_quotes(f.words, 100)}{days[f.name]}" for f in known]


def _record(t: EvidenceRecord) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(t.at)) if 0 < t.at < 1e11 else "-"
    with_it, came = "with" if t.shown else "without", "solved" if t.success else "failed"
    told = ", ".join((t.task, t.model, t.run)) + (f": {t.reason}" if t.reason else "")
    return f"{when}  v{t.version}  {t.phase:7}  {with_it:7}  {came}  {one_line(told, 300)}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    from codeplan.cli.tables import format_table, terminal_width

    return format_table(head, rows, width=terminal_width())


def _share(solved: int, of: int) -> str:
    return f"{solved}/{of}" if of else "-"


def _interval(low: float, high: float) -> str:
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def _difference(r: FilterOutcome | LibraryComparison) -> str:
    if not r.pairs:
        return "-"
    d = r.difference
    return f"{100 * d.value:+.0f} % ({100 * d.low:+.0f} to {100 * d.high:+.0f})"


def _p(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


Name = Annotated[str, typer.Argument(metavar="SKILL", help="The skill's name, or environment/name.")]
EnvFilter = Annotated[str | None, typer.Option("--env", metavar="ENV", help="Only skills for this environment.")]
Status = Annotated[str | None, typer.Option(metavar="S", help="Only candidate, active or retired skills.")]


def add_to(app: typer.Typer) -> typer.Typer:
    """Add this group of commands, and return it: further ones are in ``curation``."""
    group = add_group(app, "skills", "The skill library: inspect, curate, test, exchange.", "codeplan skills list")
    add_command(group, "list", list_skills, "codeplan skills list --status active")
    add_command(group, "show", show, "codeplan skills show heat-d71c11ea")
    add_command(group, "diff", diff, "codeplan skills diff heat-d71c11ea@1 heat-d71c11ea")
    add_command(group, "search", search, "codeplan skills search 'a hot apple in the fridge'")
    add_command(group, "match", match, "codeplan skills match 'Order pears up to 25'")
    say_example = "codeplan skills say order-1a2b3c4d 'Buy {the_item} until there are {the_number}'"
    add_command(group, "say", say, say_example)
    add_command(group, "stats", stats, "codeplan skills stats --json")
    add_command(group, "retire", retire, "codeplan skills retire heat-d71c11ea")
    add_command(group, "pin", pin, "codeplan skills pin heat-d71c11ea")
    add_command(group, "merge", merge, "codeplan skills merge heat-d71c11ea heat-0a1b2c3d")
    add_command(group, "export", export, "codeplan skills export household.zip --env household")
    add_command(group, "import", import_skills, "codeplan skills import household.zip")
    add_command(group, "rebuild", rebuild, "codeplan skills rebuild")
    return group


def list_skills(
    env: EnvFilter = None,
    kind: Annotated[str | None, typer.Option(metavar="K", help="Only skills for this kind of task.")] = None,
    status: Status = None,
    run: Annotated[str | None, typer.Option(metavar="RUN", help="Only skills that this episode made or tried.")] = None,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """List the skills: status, version, and how often tasks were solved with and without them."""

    opened = open_library(library)
    entries = opened.entries_of_run(run) if run else opened.entries(env, kind, parse_status(status))
    if as_json:
        print_json({"skills": entries, "faults": opened.faults()})
        return
    echo("\n".join(entries_table(entries)))
    print_faults(opened)


def show(name: Name, library: LibraryFolder = DEFAULT_FOLDER, as_json: options.Json = False) -> None:
    """Show a skill: description, origins, statistics, evidence and plan."""
    from codeplan.report.json_output import to_plain_data

    opened = open_library(library)
    skill = find_skill(opened, name)
    records = opened.read_evidence(skill)
    statistics = skill_figures(opened, skill)
    document = {**to_plain_data(skill), "evidence": records, "statistics": statistics}
    print_output(document, as_json, lambda: skill_page(skill, records, statistics))


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
    print_output(document, as_json, lambda: _shown(lines))
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

    found = open_library(library).search(text, n, env)
    print_output(found, as_json, lambda: entries_table(found, scores=True))


def match(
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="A goal, as for codeplan do.")],
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Show the active skill that codeplan do --reuse would run for a goal without a model, and the values.

    Nothing runs. Whether the tools at hand are those that the skill needs is not looked at.

    Exit codes: 0 one skill is sure, 1 none or several.
    """
    from codeplan.skills.selection import match_goal

    found = match_goal(open_library(library), goal)
    document = [{"skill": f"{skill.env}/{skill.name}", "values": values} for skill, values in found]
    print_output(document, as_json, lambda: _matches(found))
    raise typer.Exit(0 if len(found) == 1 else 1)


def _matches(found: Sequence[SureSkill]) -> list[str]:
    from codeplan.untrusted.values import in_quotes

    lines = [
        f"{skill.env}/{skill.name} {' '.join(f'{name}={in_quotes(value)}' for name, value in values.items())}"
        for skill, values in found
    ]
    return lines or ["no active skill is sure of this goal; codeplan do --reuse asks the model"]


def say(
    name: Name,
    phrases: Annotated[
        list[str], typer.Argument(metavar="PHRASE", help="Other words for its goal, with {PARAMETER} for each value.")
    ],
    library: LibraryFolder = DEFAULT_FOLDER,
) -> None:
    """Teach a skill how else its goal is stated, so that codeplan do --reuse knows it without a model."""
    from codeplan.errors import UsageError
    from codeplan.skills.phrases import MAX_PHRASES, valid_phrases
    from codeplan.untrusted.values import in_quotes

    opened = open_library(library)
    skill = find_skill(opened, name)
    for phrase in phrases:
        if not valid_phrases(skill, [phrase]):
            names = ", ".join(f"{{{p}}}" for p in skill.parameters) or "a parameter, and this skill has none"
            raise UsageError(
                f"the phrase {in_quotes(phrase, 200)} needs each of these, with words between them: {names}"
            )
    said = valid_phrases(skill, [*skill.said, *phrases])
    if len({*skill.said, *phrases}) > MAX_PHRASES:
        raise UsageError(f"{skill.name} would have more than {MAX_PHRASES} phrases; delete some in its SKILL.md")
    opened.change(skill, said=said)
    echo(f"{skill.env}/{skill.name} knows {with_count(len(said), 'further phrase')}")


def stats(
    env: EnvFilter = None, status: Status = None, library: LibraryFolder = DEFAULT_FOLDER, as_json: options.Json = False
) -> None:
    """Show the evidence for each skill: success with and without it, intervals, discordant pairs, p, e-value."""

    opened = open_library(library)
    found = [
        skill_figures(opened, find_skill(opened, f"{e.env}/{e.name}"))
        for e in opened.entries(env, None, parse_status(status))
    ]
    print_output(found, as_json, lambda: figures_table(found))
    if not as_json:
        print_faults(opened)


def retire(name: Name, library: LibraryFolder = DEFAULT_FOLDER) -> None:
    """Retire a skill: prompts never show it again. Its folder and its evidence stay."""
    set_status(library, name, "retired")


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
    changed: list[Skill] = []
    count, faults = opened.rebuild(changed.append), opened.faults()
    now = [{"skill": f"{c.env}/{c.name}", "version": c.version, "status": c.status} for c in changed]
    if as_json:
        print_json({"folders": count, "faults": faults, "changed": now})
    else:
        echo(f"{with_count(count, 'skill folder')} indexed")
        for each in now:
            echo("{skill} has version {version} now, {status}".format_map(each))
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
    print_output({"file": str(file), "skills": count}, as_json, lambda: [f"{with_count(count, 'skill')} in {file}"])


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

    rows = import_skills(open_library(library, create=True), file)
    if not rows:
        raise UsageError(f"there are no skills in {file}; name a zip file of skills, or a library's folder")
    results = ((row.source, f"candidate {row.name}" if row.name else f"left out: {row.reason}") for row in rows)
    print_output(rows, as_json, lambda: (one_line(f"{source}: {result}", 300) for source, result in results))
    raise typer.Exit(0 if all(row.name for row in rows) else 1)


def set_status(folder: Path, name: str, status: str) -> None:
    """Set a skill's status, and say so."""
    library = open_library(folder)
    skill = library.change(find_skill(library, name), status=status)
    echo(f"{skill.env}/{skill.name} is {skill.status}")
