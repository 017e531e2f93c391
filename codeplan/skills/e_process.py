"""A test that may be looked at after every pair, and stopped at any time, without promoting more by chance.

Of each pair of episodes with and without a skill only the discordant ones count: a win where only the one with it
succeeded, a loss where only the other did. Where the skill does not help, a win is at most as likely as a loss, and
whoever bets one unit that it is likelier has, on average, never more than that. The wealth of a gambler who spreads his
unit evenly over all rates of winning from 1/2 to 1 is

    E = 2 ∫ 2^n θ^wins (1 - θ)^losses dθ,  θ from 1/2 to 1,  n = wins + losses

an e-process: by Ville's inequality (Ville, "Étude critique de la notion de collectif", 1939) it ever passes 1/α with a
probability of at most α, whenever one looks. Mixtures of this kind are Robbins', "Statistical methods related to the
law of the iterated logarithm" (1970); for this use see Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic statistics
and safe anytime-valid inference" (2023), sections 2 and 4.
"""

from __future__ import annotations

import math
import sys
from typing import Literal

SkillVerdict = Literal["helps", "harms", "open"]


def e_value(wins: int, losses: int) -> float:
    """The evidence that a win is likelier than a loss: 1 at the start; 20 is as good as p = 0.05 at a look of one's
    own choice.

    The integral is a sum of binomial coefficients, computed exactly; what is more than the largest float is that float.
    Raises ValueError for negative counts.
    """
    if wins < 0 or losses < 0:
        raise ValueError("counts are not negative")
    n = wins + losses
    upper, unit = sum(math.comb(n + 1, j) for j in range(wins + 1)), (n + 1) * math.comb(n, wins)
    try:
        return upper / unit
    except OverflowError:
        return sys.float_info.max


def sequential_verdict(wins: int, losses: int, level: float = 0.05) -> SkillVerdict:
    """What may be said now, at any time: each of the two claims is wrong with a probability of at most ``level``."""
    if e_value(wins, losses) >= 1 / level:
        return "helps"
    return "harms" if e_value(losses, wins) >= 1 / level else "open"


def can_reach(wins: int, losses: int, left: int, level: float = 0.05) -> bool:
    """Whether so many more pairs, all of them wins, would show that it helps."""
    return e_value(wins + left, losses) >= 1 / level
