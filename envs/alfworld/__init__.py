"""ALFWorld: its own games, read from their files and played by codeplan's exact and much faster engine.

    codeplan envs alfworld --data FOLDER                             list the data and check its files
    codeplan run alfworld --data FOLDER --task TYPE-…/trial_…        one game
    codeplan bench alfworld-unseen --data FOLDER                     the 134 games of valid_unseen

Rules and sentences are those of the household (``codeplan.envs.household``); each file sets its own wording. The data
is ALFWorld's. Without it, the household generates games of the same kinds.
"""

from __future__ import annotations

from codeplan.envs.alfworld.environment import ALFWorld, Arrival, Engine, make

__all__ = ["ALFWorld", "Arrival", "Engine", "make"]
