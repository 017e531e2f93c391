"""The skill library: plans that solved a task, made general, and shown by trials to help with others.

The truth is folders of text, ``<environment>/<name>/``, fit for a repository; an index beside them is made from them.
Nothing here runs a plan.
"""

from __future__ import annotations

from codeplan.skills.evidence import Tally, tally
from codeplan.skills.files import DamagedSkill
from codeplan.skills.library import Library
from codeplan.skills.only import Elsewhere, OnlyThese, Unrecorded
from codeplan.skills.values import Origin, Phase, Skill, Status, Trial

__all__ = [
    "DamagedSkill",
    "Elsewhere",
    "Library",
    "OnlyThese",
    "Origin",
    "Phase",
    "Skill",
    "Status",
    "Tally",
    "Trial",
    "Unrecorded",
    "tally",
]
