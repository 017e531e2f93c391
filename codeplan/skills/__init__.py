"""The skill library: generalised plans, with evidence that they help to solve other tasks.

The skills are text files in folders ``<environment>/<name>/``; an index is derived from them. This package runs no
plans.
"""

from __future__ import annotations

from codeplan.skills.library import FixedStore, MissingStore, ReadOnlyStore, SkillLibrary
from codeplan.skills.skill import (
    EvidencePhase,
    EvidenceRecord,
    EvidenceSummary,
    Skill,
    SkillOrigin,
    SkillStatus,
    summarise_evidence,
)
from codeplan.skills.skill_folder import DamagedSkill

__all__ = [
    "DamagedSkill",
    "EvidencePhase",
    "EvidenceRecord",
    "EvidenceSummary",
    "FixedStore",
    "MissingStore",
    "ReadOnlyStore",
    "Skill",
    "SkillLibrary",
    "SkillOrigin",
    "SkillStatus",
    "summarise_evidence",
]
