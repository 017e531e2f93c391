"""A library of skills for the page: an overview, and each skill with plan, parameters, figures and history."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codeplan.errors import UsageError
from codeplan.report.pages.plan_text import diff_rows, plan_layout
from codeplan.report.pages.report_data import SCRIPTED
from codeplan.report.pages.visible_text import label
from codeplan.skills.evidence import EvidenceSummary, summarise_evidence
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import Skill
from codeplan.statistics import mcnemar_exact, wilson_interval

_MAX_RECORDS = 300
_MAX_VERSIONS = 20
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
    for version in range(max(1, skill.version - _MAX_VERSIONS), skill.version + 1):
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
