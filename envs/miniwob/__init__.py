"""MiniWoB++: small tasks on web pages in a real browser: click, type, choose, search, answer mail.

    codeplan run miniwob --task email-inbox/3
    codeplan bench miniwob --kind click-button -n 10

The pages are those of the package ``miniwob``; the tasks and the agent's methods are those of AdaPlanner (Sun et al.,
NeurIPS 2023). The clock of a page advances only with actions, so episodes repeat exactly and thinking takes no time.
"""

from __future__ import annotations

from codeplan.envs.miniwob.agent import MiniWobAgent
from codeplan.envs.miniwob.environment import MiniWob, make

__all__ = ["MiniWob", "MiniWobAgent", "make"]
