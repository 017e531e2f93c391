"""Curation of a skill library by episodes: acquires skills from successes, filters them by paired episodes, checks
them.

``discover_skills`` runs rounds of both; ``compare_library`` measures the library's benefit on unseen tasks.
"""

from __future__ import annotations

from codeplan.curation.acquisition import (
    AcquiredSkill,
    NothingAcquired,
    acquire_from_run,
    acquire_skill,
    try_to_acquire,
)
from codeplan.curation.curation_runner import CurationRunner
from codeplan.curation.filtering import (
    DiscoveryRound,
    FilterOutcome,
    FilterRule,
    LibraryComparison,
    SkillCheck,
    check_skills,
    compare_library,
    discover_skills,
    filter_candidates,
)

__all__ = [
    "AcquiredSkill",
    "CurationRunner",
    "DiscoveryRound",
    "FilterOutcome",
    "FilterRule",
    "LibraryComparison",
    "NothingAcquired",
    "SkillCheck",
    "acquire_from_run",
    "acquire_skill",
    "check_skills",
    "compare_library",
    "discover_skills",
    "filter_candidates",
    "try_to_acquire",
]
