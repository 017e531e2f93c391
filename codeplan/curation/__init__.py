"""Curation of a skill library by episodes: skills are acquired from successes, filtered by paired trials, checked.

``discover`` does rounds of it; ``compare`` shows what the library is worth on tasks that it has not seen.
"""

from __future__ import annotations

from codeplan.curation.acquiring import acquire
from codeplan.curation.checking import Checked, check
from codeplan.curation.comparing import Compared, compare
from codeplan.curation.discovering import Discovery, discover
from codeplan.curation.episodes import Lab
from codeplan.curation.filtering import Filtered, Rule, filter_candidates

__all__ = [
    "Checked",
    "Compared",
    "Discovery",
    "Filtered",
    "Lab",
    "Rule",
    "acquire",
    "check",
    "compare",
    "discover",
    "filter_candidates",
]
