"""ScienceWorld: experiments of elementary science in a house, played by its own engine, which runs in Java.

    codeplan run scienceworld --task find-plant/225         one task: its kind and its variation
    codeplan bench scienceworld-test -n 2                   two of the test variations of each kind

It needs ``pip install 'codeplan[scienceworld]'`` and Java 11 or newer.
"""

from __future__ import annotations

from codeplan.envs.scienceworld.agent import ScienceWorldAgent
from codeplan.envs.scienceworld.environment import ScienceWorld, make

__all__ = ["ScienceWorld", "ScienceWorldAgent", "make"]
