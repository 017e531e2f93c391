"""Curation of a skill library by episodes: acquires skills from successes, filters them by paired episodes, checks
them.

``discover_skills`` runs rounds of both; ``compare_library`` measures the library's benefit on unseen tasks.
"""

from __future__ import annotations

from codeplan.curation.acquisition import AcquiredSkill, NothingAcquired, acquire_skill, try_to_acquire
from codeplan.curation.checks import SkillCheck, check_skills
from codeplan.curation.curation_runner import CurationRunner
from codeplan.curation.discovery import DiscoveryRound, discover_skills
from codeplan.curation.filtering import FilterOutcome, FilterRule, filter_candidates
from codeplan.curation.library_comparison import LibraryComparison, compare_library
from codeplan.curation.recorded_acquisition import acquire_from_run

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
