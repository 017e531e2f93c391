"""TextCraft: craft items of Minecraft in two to four levels of recipes, among misleading commands.

    get 1 oak logs        craft 4 oak planks using 1 oak logs        inventory

The tasks, rules and sentences are those of TextCraft (Prasad et al., ADaPT, 2024). It needs only Python.
"""

from __future__ import annotations

from codeplan.envs.textcraft.agent import TextCraftAgent
from codeplan.envs.textcraft.environment import TextCraft, TextCraftSnapshot, make

__all__ = ["TextCraft", "TextCraftAgent", "TextCraftSnapshot", "make"]
