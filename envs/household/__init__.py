"""The household: six kinds of everyday tasks in a furnished room, in the words of ALFWorld.

    pick      put a mug in desk.                      heat      put a hot apple in fridge.
    pick_two  find two pen and put them in dresser.   cool      cool some pan and put it in countertop.
    clean     put a clean lettuce in diningtable.     examine   look at bowl under the desklamp.

Each task is generated from its kind and a seed, can be won, and is the same on every machine. It needs only Python.
"""

from __future__ import annotations

from codeplan.envs.household.agent import HouseholdAgent
from codeplan.envs.household.environment import Household, make

__all__ = ["Household", "HouseholdAgent", "make"]
