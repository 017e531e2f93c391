"""The sequential test: exact, and honest however often one looks."""

import itertools
import random
import sys
from fractions import Fraction
from math import comb, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.skills.e_process import can_reach, e_value, sequential_verdict


def test_it_is_the_integral_that_it_says_it_is():
    def integral(wins, losses, steps=4_000):
        n = wins + losses
        middles = (0.5 + (i + 0.5) / (2 * steps) for i in range(steps))
        return 2 * sum(2**n * t**wins * (1 - t) ** losses for t in middles) / (2 * steps)

    for wins, losses in itertools.product(range(7), repeat=2):
        assert isclose(e_value(wins, losses), integral(wins, losses), rel_tol=1e-5)


def test_no_number_of_wins_is_too_much_for_it():
    assert 1e300 < e_value(1_015, 0) < e_value(1_200, 0) == e_value(2_000, 0) == sys.float_info.max
    assert sequential_verdict(2_000, 5) == "helps"
    assert can_reach(0, 0, 2_000)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_where_wins_and_losses_are_equally_likely_it_is_one_on_average(n):
    total = sum(Fraction(e_value(w, n - w)) * comb(n, w) for w in range(n + 1))
    assert isclose(total / 2**n, 1)


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_win_raises_it_and_a_loss_lowers_it(wins, losses):
    assert e_value(wins, losses + 1) < e_value(wins, losses) < e_value(wins + 1, losses)


def test_seven_wins_in_a_row_show_at_five_percent_that_it_helps():
    assert [sequential_verdict(n, 0) for n in (6, 7)] == ["open", "helps"]
    assert sequential_verdict(0, 7) == "harms"
    assert can_reach(0, 0, 7)
    assert not can_reach(0, 0, 6)


def false_promotions(level, rate, pairs=60, runs=4_000, discordant=0.6):
    """The share of useless skills that are promoted by somebody who looks after every pair."""
    dice = random.Random(11)
    promoted = 0
    for _ in range(runs):
        wins = losses = 0
        for _ in range(pairs):
            if dice.random() < discordant:
                win = dice.random() < rate
                wins, losses = wins + win, losses + (not win)
                if sequential_verdict(wins, losses, level) == "helps":
                    promoted += 1
                    break
    return promoted / runs


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_looking_after_every_pair_promotes_no_more_useless_skills_than_the_level_says(level):
    assert 0 < false_promotions(level, 0.5) <= level
    assert false_promotions(level, 0.3) <= level / 4


def test_a_skill_that_helps_is_promoted():
    assert false_promotions(0.05, 0.95) > 0.99
