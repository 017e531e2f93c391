"""The overviews that the page opens with: of a bench with its branches, and of a library with each skill in full."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from codeplan.bench.cell_comparison import MAX_KIND_ROWS
from codeplan.bench.metrics import (
    METRICS,
    CellStatistics,
    EpisodeMeasures,
    cell_statistics,
    estimate_metric,
    usual_metrics,
)
from codeplan.bench.store import EpisodeOutcome
from codeplan.errors import UsageError
from codeplan.recording.event_log import MAX_LINE_BYTES
from codeplan.report.json_output import to_plain_data
from codeplan.report.pages.episode_pages import visible_data
from codeplan.report.pages.html_page import diff_rows, label, plan_layout
from codeplan.report.pages.report_source import MAX_EPISODES, SCRIPTED, ReportColumn, ReportData, ReportEpisode
from codeplan.runner.episodes import TRACE_NAME
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceSummary, Skill, summarise_evidence
from codeplan.statistics import mcnemar_exact, wilson_interval
from codeplan.untrusted.files import bounded_lines, open_to_read

_MAX_POINTS = 200
_MAX_VERSIONS = 5

MeasuredEpisodes = list[tuple[EpisodeOutcome, EpisodeMeasures]]


def build_overview(report: ReportData) -> dict[str, Any]:
    """All data of the first page: columns, rates by kind, curves, published figures, a row for each episode, and trees
    of branches.

    Columns and kinds are grouped by environment. ``single`` says that the page is one episode's, and opens as it.
    """
    env_of = {c.name: c.cell.env for c in report.columns}
    every_kind = dict.fromkeys((env_of[r.column], r.task.kind) for r in report.episodes)
    named = frozenset(islice(every_kind, MAX_KIND_ROWS // max(len(report.columns), 1)))
    kind_of = {kind: kind if kind in named else (kind[0], None) for kind in every_kind}
    kinds = list(dict.fromkeys(kind_of.values()))
    numbers = {c.name: at for at, c in enumerate(report.columns)}
    kind_numbers = {kind: at for at, kind in enumerate(kinds)}
    branches = find_branches(report.episodes[:MAX_EPISODES])
    left = frozenset(b.episode for b in branches if b.parent is not None)
    counted, broken = _counted(report, left), Counter(r.column for r in report.episodes if r.state == "broken")
    every = [m for episodes in counted.values() for _, m in episodes]
    names = [name for name in usual_metrics(every) if name != "success"]
    by_column = {c.name: cell_statistics(c.cell, counted[c.name], names) for c in report.columns}
    rates = {c.name: _rates_by_kind(c.cell.env, by_column[c.name], named) for c in report.columns}
    return {
        "name": label(report.name),
        "total": report.total,
        "done": sum(r.state != "open" for r in report.episodes),
        "leftOut": {"columns": report.columns_left_out, "episodes": max(0, len(report.episodes) - MAX_EPISODES)},
        "columns": [_column(c, broken[c.name], counted[c.name], by_column[c.name][-1], every) for c in report.columns],
        "kinds": ["other kinds" if kind is None else label(kind, 60) for _, kind in kinds],
        "groups": [_group(env, report.columns, kinds, rates) for env in dict.fromkeys(env_of.values())],
        **_provenance(report.episodes),
        "cost": cost_unit(every),
        "published": [visible_data(to_plain_data(p)) for p in report.published.rows],
        "unpublished": [label(reason, 1_000) for reason in report.published.reasons],
        "episodes": [
            _episode(r, numbers[r.column], kind_numbers[kind_of[env_of[r.column], r.task.kind]])
            for r in report.episodes[:MAX_EPISODES]
        ],
        "branches": [[b.episode, b.parent, b.at, label(report.episodes[b.episode].folder.name, 80)] for b in branches],
        "single": len(report.episodes) == 1 and report.total in (None, 1),
    }


def refinement_curve(episodes: Sequence[EpisodeMeasures], max_refinements: int) -> list[list[float]]:
    """[attempts, successes, episodes, low, high] for each number of renewed attempts up to ``max_refinements``.

    A success counts if it took at most this many refinements or further trials: AdaPlanner (Sun et al., NeurIPS 2023),
    figures 4a and 4b, with Wilson's interval.
    """
    rows = []
    for allowed in range(min(max_refinements, _MAX_POINTS) + 1):
        solved = sum(m.success and m.renewed_attempts <= allowed for m in episodes)
        rows.append([allowed, solved, len(episodes), *_rounded(wilson_interval(solved, len(episodes)))])
    return rows


def cost_curve(
    episodes: Sequence[EpisodeMeasures], cost: Callable[[EpisodeMeasures], float | None]
) -> list[list[float]]:
    """Points [cost, share of the episodes solved at this cost or less], ascending."""
    costs = sorted(c for m in episodes if m.success and (c := cost(m)) is not None)
    points = [[c, round((at + 1) / len(episodes), 4)] for at, c in enumerate(costs)]
    stride = -(-len(points) // _MAX_POINTS) if points else 1
    return points[::stride] + (points[-1:] if (len(points) - 1) % stride else [])


def cost_unit(episodes: Sequence[EpisodeMeasures]) -> str:
    """The unit of the episodes' cost: ``money`` or ``tokens`` if known for all episodes, else ``calls``."""
    asked = [m for m in episodes if m.calls]
    for name in ("money", "tokens"):
        costs = [_COSTS[name](m) for m in asked]
        if any(costs) and None not in costs:
            return name
    return "calls"


_COSTS: dict[str, Callable[[EpisodeMeasures], float | None]] = {
    "money": lambda m: m.money,
    "tokens": lambda m: m.tokens,
    "calls": lambda m: m.calls,
}


def _column(
    column: ReportColumn,
    broken: int,
    counted: MeasuredEpisodes,
    total: CellStatistics,
    every: Sequence[EpisodeMeasures],
) -> dict[str, Any]:
    """A column's method, model, figures over all kinds, and curves; ``every`` are the measures of all columns.

    ``broken`` counts its episodes that were broken off.
    """
    episodes = [m for _, m in counted]
    return {
        "name": label(column.name),
        "short": label(column.short_name),
        "env": label(column.cell.env),
        "method": label(column.cell.method),
        "model": label(column.cell.model),
        "scripted": column.cell.model == SCRIPTED,
        "settings": visible_data(column.cell.settings),
        "rate": _rate(total),
        "broken": broken,
        "means": {n: None if m.value is None else round(m.value, 6) for n, m in total.metrics.items()},
        "intervals": mean_intervals(counted, tuple(total.metrics)),
        "inadmissible": total.inadmissible,
        "passes": [round(p, 4) for p in total.pass_at_k],
        "refinements": refinement_curve(episodes, max((m.renewed_attempts for m in every), default=0)),
        "costs": cost_curve(episodes, _COSTS[cost_unit(every)]),
    }


def mean_intervals(counted: MeasuredEpisodes, names: Sequence[str]) -> dict[str, list[float]]:
    """The 95 % interval of each mean that is known, as ``compare`` draws it; none of a single task."""
    if len({outcome.task.id for outcome, _ in counted}) < 2:
        return {}
    found = ((name, estimate_metric(METRICS[name], counted)) for name in names)
    return {n: [round(m.low, 6), round(m.high, 6)] for n, m in found if m.low is not None and m.high is not None}


def _group(
    env: str,
    columns: Sequence[ReportColumn],
    kinds: Sequence[tuple[str, str | None]],
    rates: Mapping[str, Mapping[str | None, list[float]]],
) -> dict[str, Any]:
    """An environment's columns and kinds by number, and the rates: a row for each kind, a figure for each column."""
    own = [(at, column) for at, column in enumerate(columns) if column.cell.env == env]
    numbers = [at for at, (of, _) in enumerate(kinds) if of == env]
    return {
        "env": label(env),
        "columns": [at for at, _ in own],
        "kinds": numbers,
        "byKind": [[rates[column.name].get(kinds[at][1], [0, 0, 0.0, 1.0]) for _, column in own] for at in numbers],
    }


def _provenance(runs: Sequence[ReportEpisode]) -> dict[str, Any]:
    """When the first episode started and the last one ended (Unix time, None if unknown), and codeplan's versions."""
    versions = dict.fromkeys(r.codeplan_version for r in runs if r.codeplan_version)
    return {
        "started": min((r.started_at for r in runs if r.started_at is not None), default=None),
        "ended": max((r.ended_at for r in runs if r.ended_at is not None), default=None),
        "versions": [label(version, 40) for version in islice(versions, _MAX_VERSIONS)],
    }


def _counted(report: ReportData, branches: Set[int]) -> dict[str, MeasuredEpisodes]:
    """The episodes that count for each column: they ended, are not broken off, and are no branch of one that counts."""
    counted: dict[str, MeasuredEpisodes] = {column.name: [] for column in report.columns}
    for number, run in enumerate(report.episodes):
        if run.outcome and run.measures and not run.outcome.broken and number not in branches:
            counted[run.column].append((run.outcome, run.measures))
    return counted


def _rates_by_kind(
    env: str, statistics: Sequence[CellStatistics], named: Set[tuple[str, str]]
) -> dict[str | None, list[float]]:
    """A column's rate in each kind that is named, and under None that in all others together."""
    rates: dict[str | None, list[float]] = {of.kind: _rate(of) for of in statistics[:-1] if (env, of.kind) in named}
    others = [of for of in statistics[:-1] if (env, of.kind) not in named]
    wins, n = sum(of.successes for of in others), sum(of.episodes for of in others)
    return rates | {None: [wins, n, *_rounded(wilson_interval(wins, n))]}


def _rate(of: CellStatistics) -> list[float]:
    """[successes, episodes, low, high]."""
    return [of.successes, of.episodes, *_rounded((of.low, of.high))]


def _episode(run: ReportEpisode, column: int, kind: int) -> list[Any]:
    """The row that the client reads (``FIELDS`` in overview.js)."""
    row = [column, kind, label(run.name, 80), label(run.task.goal), run.state]
    if run.result is None or run.measures is None:
        return [*row, "", *[None] * 8, run.repeat]
    m = run.measures
    counts = [m.trajectory, m.actions, m.asks, m.refinements, m.calls, m.tokens, m.money, round(m.seconds, 3)]
    return [*row, "" if m.success else label(run.result.reason), *counts, run.repeat]


def _rounded(interval: tuple[float, float]) -> list[float]:
    return [round(end, 4) for end in interval]


_MAX_RECORDS = 300
_MAX_SKILL_VERSIONS = 20
_MAX_ORIGINS = 50


def skills_overview(library: SkillLibrary) -> dict[str, Any]:
    """One row for each skill, in the library's order, and the library's faults."""
    library.refresh()
    rows = [
        {
            "env": label(e.env),
            "name": label(e.name),
            "kind": label(e.kind),
            "status": e.status,
            "pinned": e.pinned,
            "version": e.version,
            "description": label(e.description),
            **_figures(e.evidence),
        }
        for e in library.entries()
    ]
    return {"name": label(library.path.resolve().name), "skills": rows, "faults": [label(f) for f in library.faults()]}


def skill_details(library: SkillLibrary, env: str, name: str, episodes: Mapping[Path, int]) -> dict[str, Any] | None:
    """One skill in full, or None. ``episodes`` has the numbers of the runs that the page shows."""
    try:
        skill = library.get(env, name)
        records = library.read_evidence(skill)
    except UsageError:
        return None

    def shown(run: str) -> int | None:
        try:
            return episodes.get(Path(run).resolve()) if run else None
        except (OSError, RuntimeError, ValueError):  # the text is not a possible path
            return None

    return {
        "plan": {"plan": skill.version, **plan_layout(skill.plan)},
        "parameters": [label(p, 80) for p in skill.parameters],
        "origins": [
            {"task": label(o.task), "goal": label(o.goal), "model": label(o.model), "episode": shown(o.run)}
            for o in skill.origins[:_MAX_ORIGINS]
        ],
        "evidence": [
            [label(t.task), t.seed, label(t.model), t.shown, t.success, t.version, t.phase, t.at, shown(t.run)]
            for t in records[-_MAX_RECORDS:]
        ],
        "all": len(records),
        "scripted": any(t.model == SCRIPTED for t in records),
        "history": _history(library, skill),
        **_figures(summarise_evidence(records, skill.version)),
    }


def _history(library: SkillLibrary, skill: Skill) -> list[dict[str, Any]]:
    """The changes of each version with its figures, latest first."""
    records = library.read_evidence(skill)
    plans = {}
    for version in range(max(1, skill.version - _MAX_SKILL_VERSIONS), skill.version + 1):
        try:
            plans[version] = library.get(skill.env, skill.name, version).plan
        except UsageError:  # the library has not kept this version
            continue
    return [
        {
            "version": version,
            "diff": diff_rows(plans[version - 1], plans[version]) if version - 1 in plans else None,
            **_figures(summarise_evidence(records, version)),
        }
        for version in reversed(plans)
    ]


def _figures(of: EvidenceSummary) -> dict[str, Any]:
    """Success with and without the skill as [successes, episodes, low, high], the discordant pairs and their p."""
    return {
        "with": [of.solved, of.shown, *wilson_interval(of.solved, of.shown)],
        "without": [of.baseline_solved, of.baseline, *wilson_interval(of.baseline_solved, of.baseline)],
        "wins": of.wins,
        "losses": of.losses,
        "p": mcnemar_exact(of.losses, of.wins) if of.wins + of.losses else None,
        "failing": of.failing,
    }


MAX_BRANCHES = 100
"""Runs of one origin whose traces are compared. Further ones are not shown as its branches."""

_MAX_EVENTS = 20_000


class Branch(msgspec.Struct, frozen=True):
    """A run in a tree of branches: its place in the list of episodes, and the run and event at which it branched off.

    ``parent`` is None for the run that all others come from.
    """

    episode: int
    parent: int | None
    at: int


def find_branches(episodes: Sequence[ReportEpisode]) -> list[Branch]:
    """The runs that were branched off, and those they come from; each after the one it comes from.

    A branch has its origin's header, so both tell the same start. Its parent is the run that was branched off before it
    and has the same events up to there, the earliest if there are several.
    """
    starts = {e.started_at for e in episodes if e.branched_at is not None and e.started_at is not None}
    families: dict[float, list[int]] = {start: [] for start in starts}
    for number, episode in enumerate(episodes):
        if episode.started_at in starts and len(families[episode.started_at]) < MAX_BRANCHES:
            families[episode.started_at].append(number)
    return [branch for start in sorted(starts) for branch in _tree(families[start], episodes)]


def _tree(numbers: Sequence[int], episodes: Sequence[ReportEpisode]) -> list[Branch]:
    """Each run of a family, below the run that it left. A branch whose origin is not there stands at the top."""
    events = {number: _digests(episodes[number]) for number in numbers}
    ordered = sorted(numbers, key=lambda number: episodes[number].branched_at or 0)
    tree: list[Branch] = []
    for place, number in enumerate(ordered):
        at = episodes[number].branched_at or 0
        own = events[number][: at - 1]
        parents = (n for n in ordered[:place] if at and events[n][: at - 1] == own)
        tree.append(Branch(number, next(parents, None), at))
    return tree if len(tree) > 1 else []


def _digests(episode: ReportEpisode) -> list[bytes]:
    """A digest of each event after the header, which tells a branch what its origin did later."""
    try:
        with open_to_read(episode.folder / TRACE_NAME, episode.root or episode.folder) as file:
            lines = zip(range(_MAX_EVENTS), bounded_lines(file, MAX_LINE_BYTES), strict=False)
            return [hashlib.blake2b(line, digest_size=16).digest() for _, line in lines][1:]
    except OSError:
        return []
