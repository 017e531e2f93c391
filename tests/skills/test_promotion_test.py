"""The e-process is exact, and keeps its error rate however often it is evaluated."""

import itertools
import random
import sys
from fractions import Fraction
from math import comb

import pytest
from support.foreign_values import count_steps
from support.steps import count_lines

from codeplan.skills.skill import can_reach, e_value, sequential_verdict


def test_the_e_value_is_the_exact_sum_of_binomial_coefficients():
    for wins, losses in itertools.product(range(61), repeat=2):
        n = wins + losses
        exact = Fraction(sum(comb(n + 1, j) for j in range(wins + 1)), (n + 1) * comb(n, wins))
        assert e_value(wins, losses) == float(exact)


@pytest.mark.parametrize("losses", [0, 900, 1_000, 1_100])
def test_a_win_costs_a_term_and_no_call(losses):
    """A file of evidence may hold a hundred thousand pairs."""
    assert count_steps(lambda: e_value(1_000, losses)) < 10
    assert count_lines(lambda: e_value(100_000, 100 * losses)) < 4 * 100_000


def test_the_e_value_is_finite_for_any_number_of_wins():
    assert 1e300 < e_value(1_015, 0) < e_value(1_200, 0) == e_value(2_000, 0) == sys.float_info.max
    assert sequential_verdict(2_000, 5) == "helps"
    assert can_reach(0, 0, 2_000)


def false_promotions(level, rate, pairs=60, runs=4_000, discordant=0.6):
    """The share of useless skills that are promoted if the test is evaluated after every pair."""
    rng = random.Random(11)
    promoted = 0
    for _ in range(runs):
        wins = losses = 0
        for _ in range(pairs):
            if rng.random() < discordant:
                win = rng.random() < rate
                wins, losses = wins + win, losses + (not win)
                if sequential_verdict(wins, losses, level) == "helps":
                    promoted += 1
                    break
    return promoted / runs


@pytest.mark.long
@pytest.mark.parametrize("level", [0.05, 0.2])
def test_looking_after_every_pair_keeps_the_error_rate_below_the_level(level):
    assert 0 < false_promotions(level, 0.5) <= level
    assert false_promotions(level, 0.3) <= level / 4


@pytest.mark.parametrize(("losses", "wins"), [(0, 7), (1, 10), (2, 12), (3, 14)])
def test_the_verdict_changes_with_the_win_that_reaches_the_level(losses, wins):
    assert e_value(wins - 1, losses) < 20 <= e_value(wins, losses)
    assert [sequential_verdict(n, losses) for n in (wins - 1, wins)] == ["open", "helps"]
    assert [sequential_verdict(losses, n) for n in (wins - 1, wins)] == ["open", "harms"]
    assert [can_reach(2, losses, left) for left in (wins - 3, wins - 2)] == [False, True]
    assert [can_reach(n, losses, 0) for n in (wins - 1, wins)] == [False, True]


@pytest.mark.parametrize(("level", "verdict"), [(0.5 + 1e-9, "helps"), (0.5, "helps"), (0.5 - 1e-9, "open")])
def test_evidence_equal_to_the_level_is_enough(level, verdict):
    assert e_value(1, 0) == 1.5
    assert e_value(0, 0) == 1
    assert sequential_verdict(1, 0, level * 4 / 3) == verdict
    assert sequential_verdict(0, 1, level * 4 / 3) == ("harms" if verdict == "helps" else "open")
    assert can_reach(0, 0, 1, level * 4 / 3) is (verdict == "helps")


@pytest.mark.parametrize("counts", [(-1, 0), (0, -1)])
def test_negative_counts_are_refused(counts):
    with pytest.raises(ValueError, match="negative"):
        e_value(*counts)
