"""The skill library: generalised plans, with evidence that they help to solve other tasks.

The skills are text files in folders ``<environment>/<name>/``; an index is derived from them. This package runs no
plans.
"""

from __future__ import annotations

from codeplan.skills.durable_files import DamagedSkill
from codeplan.skills.evidence import EvidenceSummary, summarise_evidence
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidencePhase, EvidenceRecord, Skill, SkillOrigin, SkillStatus
from codeplan.skills.stores import FixedStore, MissingStore, ReadOnlyStore

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
