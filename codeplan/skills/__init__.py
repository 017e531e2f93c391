"""The skill library: plans that solved a task, made general, and shown by trials to help with others.

The truth is folders of text, ``<environment>/<name>/``, fit for a repository; an index beside them is made from them.
Nothing here runs a plan.
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
