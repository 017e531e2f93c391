"""Curation of a skill library by episodes: acquires skills from successes, filters them by paired episodes, checks
them.

``discover_skills`` runs rounds of both; ``compare_library`` measures what the library is worth on unseen tasks.
"""

from __future__ import annotations

from codeplan.curation.acquisition import acquire_skill
from codeplan.curation.checks import SkillCheck, check_skills
from codeplan.curation.curation_runner import CurationRunner
from codeplan.curation.discovery import DiscoveryRound, discover_skills
from codeplan.curation.filtering import FilterOutcome, FilterRule, filter_candidates
from codeplan.curation.library_comparison import LibraryComparison, compare_library

__all__ = [
    "CurationRunner",
    "DiscoveryRound",
    "FilterOutcome",
    "FilterRule",
    "LibraryComparison",
    "SkillCheck",
    "acquire_skill",
    "check_skills",
    "compare_library",
    "discover_skills",
    "filter_candidates",
]
