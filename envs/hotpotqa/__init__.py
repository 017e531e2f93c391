"""HotpotQA: questions answered by reading an encyclopedia, most of them on two of its pages.

    search[Ada Lovelace]        lookup[born]        finish[London]

The questions are those of HotpotQA (Yang et al., 2018); actions and observations are those of ReAct (Yao et al., 2023).
Only live Wikipedia needs more than Python: the network.
"""

from __future__ import annotations

from codeplan.envs.hotpotqa.agent import HotpotQAAgent
from codeplan.envs.hotpotqa.environment import HotpotQA, HotpotQASnapshot, make
from codeplan.envs.hotpotqa.scoring import AnswerScore, score_answer

__all__ = ["AnswerScore", "HotpotQA", "HotpotQAAgent", "HotpotQASnapshot", "make", "score_answer"]
