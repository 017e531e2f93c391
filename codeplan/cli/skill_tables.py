"""Tables of skills as lines of text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codeplan.cli.text_tables import format_table, terminal_width
from codeplan.untrusted.texts import clean, one_line

if TYPE_CHECKING:
    from codeplan.curation.filtering import FilterOutcome, LibraryComparison, SkillCheck
    from codeplan.skills.index import IndexEntry
    from codeplan.skills.skill import EvidenceRecord, Skill, SkillStatistics

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
    return _table(head, [_figures(f) for f in rows])


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
    for origin in skill.origins:
        run = f", {origin.run}" if origin.run else ""
        lines.append("from        " + one_line(f"{origin.task} ({origin.goal}) by {origin.model}{run}", 300))
    lines += ["", *figures_table([figures]), ""]
    lines += [_record(t) for t in records[-_MAX_RECORDS:]]
    if len(records) > _MAX_RECORDS:
        lines.append(f"… {len(records):,} records in all; --json has them")
    return [*lines, "", *clean(skill.plan).rstrip("\n").split("\n")]


def _record(t: EvidenceRecord) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(t.at)) if 0 < t.at < 1e11 else "-"
    with_it, came = "with" if t.shown else "without", "solved" if t.success else "failed"
    return f"{when}  v{t.version}  {t.phase:7}  {with_it:7}  {came}  " + one_line(f"{t.task}, {t.model}, {t.run}", 200)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
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
