"""An anytime-valid test: it may be evaluated after every pair and stopped at any time without inflating its error rate.

Of the pairs of episodes with and without a skill, only the discordant ones count: a win if only the episode with the
skill succeeded, a loss if only the other one did. If the skill does not help, a win is at most as likely as a loss, and
a gambler who bets on wins gains nothing on average. The wealth of one who spreads one unit evenly over all win rates
from 1/2 to 1 is

    E = 2 ∫ 2^n θ^wins (1 - θ)^losses dθ,  θ from 1/2 to 1,  n = wins + losses

This is an e-process: by Ville's inequality (Ville, "Étude critique de la notion de collectif", 1939) it ever exceeds
1/α with probability at most α. Such mixtures go back to Robbins, "Statistical methods related to the law of the
iterated logarithm" (1970); for this use see Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic statistics and safe
anytime-valid inference" (2023), sections 2 and 4.
"""

from __future__ import annotations

import sys
from typing import Literal

SkillVerdict = Literal["helps", "harms", "open"]

_UNIT = 1 << 256
"""So fine that the rounding of the terms does not change the float."""


def e_value(wins: int, losses: int) -> float:
    """Return the evidence that wins are likelier than losses: 1 at the start; 20 corresponds to p = 0.05 at any time.

    The integral is a sum of binomial coefficients, added up from the largest index in units of 2^-256, each term from
    the one before. The sum ends where terms vanish, or above the largest float, which is the cap. Raises: ValueError
    for negative counts.
    """
    if wins < 0 or losses < 0:
        raise ValueError("counts must not be negative")
    total = term = _UNIT
    highest = int(sys.float_info.max) * (losses + 1) * _UNIT
    for i in range(wins):
        term = term * (wins - i) // (losses + 2 + i)
        total += term
        if not term or total > highest:
            break
    return min(total, highest) / ((losses + 1) * _UNIT)


def sequential_verdict(wins: int, losses: int, level: float = 0.05) -> SkillVerdict:
    """Return the verdict at this point. Each of the two claims is wrong with probability at most ``level``."""
    if e_value(wins, losses) >= 1 / level:
        return "helps"
    return "harms" if e_value(losses, wins) >= 1 / level else "open"


def can_reach(wins: int, losses: int, left: int, level: float = 0.05) -> bool:
    """Whether ``left`` more pairs, if all are wins, would show that the skill helps."""
    return e_value(wins + left, losses) >= 1 / level
