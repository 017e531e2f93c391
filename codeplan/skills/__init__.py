"""The skill library: plans that solved a task, made general, and shown by trials to help with others.

The truth is folders of text, ``<environment>/<name>/``, fit for a repository; an index beside them is made from them.
Nothing here runs a plan.
"""

from __future__ import annotations

from codeplan.skills.evidence import EvidenceSummary, summarise_evidence
from codeplan.skills.files import DamagedSkill
from codeplan.skills.library import SkillLibrary
from codeplan.skills.only import MissingStore, FixedStore, ReadOnlyStore
from codeplan.skills.values import SkillOrigin, EvidencePhase, Skill, SkillStatus, EvidenceRecord

__all__ = [
    "DamagedSkill",
    "MissingStore",
    "SkillLibrary",
    "FixedStore",
    "SkillOrigin",
    "EvidencePhase",
    "Skill",
    "SkillStatus",
    "EvidenceSummary",
    "EvidenceRecord",
    "ReadOnlyStore",
    "summarise_evidence",
]
