"""ALFWorld: its own games, read from their files and played by an exact engine of ours, hundreds of times faster.

    codeplan envs alfworld --data FOLDER                             what there is, and whether it is whole
    codeplan run alfworld --data FOLDER --task TYPE-…/trial_…        one game
    codeplan bench alfworld-unseen --data FOLDER                     the 134 games of valid_unseen

Rules and sentences are those of the household (``codeplan.envs.household``), the wording is each file's own. The data
is ALFWorld's; without it, the household makes games of the same kinds.
"""

from __future__ import annotations

from codeplan.envs.alfworld.environment import ALFWorld, Arrival, Engine, make

__all__ = ["ALFWorld", "Arrival", "Engine", "make"]
