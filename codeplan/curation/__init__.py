"""Curation of a skill library by episodes: skills are acquired from successes, filtered by paired trials, checked.

``discover`` does rounds of it; ``compare`` shows what the library is worth on tasks that it has not seen.
"""

from __future__ import annotations

from codeplan.curation.acquiring import acquire_skill
from codeplan.curation.checking import SkillCheck, check_skills
from codeplan.curation.comparing import LibraryComparison, compare_library
from codeplan.curation.discovering import DiscoveryRound, discover_skills
from codeplan.curation.episodes import CurationRunner
from codeplan.curation.filtering import FilterOutcome, FilterRule, filter_candidates

__all__ = [
    "SkillCheck",
    "LibraryComparison",
    "DiscoveryRound",
    "FilterOutcome",
    "CurationRunner",
    "FilterRule",
    "acquire_skill",
    "check_skills",
    "compare_library",
    "discover_skills",
    "filter_candidates",
]
