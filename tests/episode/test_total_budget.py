"""The budget of many episodes: what counts towards it, from when on no episode starts, and how the sum is told."""

from __future__ import annotations

import pytest

from codeplan.budget import Spending, TotalBudget
from codeplan.errors import UsageError
from codeplan.types import EnvironmentEnded, Result, Task, Usage


def episode(usage: Usage, calls: int = 1) -> Result:
    return Result(Task("go", "boxes"), EnvironmentEnded(), model_calls=calls, usage=usage)


@pytest.mark.parametrize("name", ["money", "tokens", "seconds"])
def test_a_limit_may_be_zero_but_no_less_and_must_be_a_number(name: str) -> None:
    assert getattr(TotalBudget(**{name: 0}), name) == 0
    for refused in (-1, float("nan")):
        with pytest.raises(UsageError, match=f"total budget of {name} is {refused}; give 0 or more"):
            TotalBudget(**{name: refused})


def test_without_a_limit_every_episode_starts() -> None:
    spending = Spending(results=[episode(Usage(10**9, 10**9, money=1e9))])
    assert (spending.exceeded_budget, spending.refuses(), spending.stopped_by) == (None, False, None)


@pytest.mark.parametrize(
    ("kind", "limit", "below", "at"),
    [("tokens", 100, Usage(60, 39), Usage(60, 40)), ("money", 0.5, Usage(1, 1, money=0.25), Usage(1, 1, money=0.5))],
)
def test_no_episode_starts_once_the_limit_is_reached(kind: str, limit: float, below: Usage, at: Usage) -> None:
    spending = Spending(TotalBudget(**{kind: limit}), [episode(below)])
    assert (spending.refuses(), spending.stopped_by) == (False, None)
    spending = Spending(TotalBudget(**{kind: limit}), [episode(at)])
    assert spending.stopped_by is None  # no episode was refused yet
    assert spending.refuses()
    assert spending.stopped_by is not None
    assert (spending.stopped_by.kind, spending.stopped_by.value, spending.stopped_by.limit) == (kind, limit, limit)


def test_a_limit_of_no_seconds_is_reached_at_once_and_one_of_an_hour_is_not() -> None:
    assert Spending(TotalBudget(seconds=0)).refuses()
    assert not Spending(TotalBudget(seconds=3600)).refuses()


def test_episodes_of_an_earlier_start_and_later_ones_count_together() -> None:
    spending = Spending(TotalBudget(tokens=100), [episode(Usage(30, 20), calls=2)])
    spending.add(episode(Usage(40, 9), calls=3))
    assert (spending.model_calls, spending.refuses()) == (5, False)
    spending.add(episode(Usage(1, 0)))
    assert (spending.model_calls, spending.refuses()) == (6, True)


def test_unknown_tokens_and_prices_count_as_zero() -> None:
    spending = Spending(TotalBudget(tokens=1, money=0.001), [episode(Usage(None, None))])
    assert not spending.refuses()
    assert Spending(TotalBudget(tokens=0)).refuses()
    assert Spending(TotalBudget(money=0)).refuses()


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ([], "0 model calls, 0 tokens in, 0 out, $0.00"),
        ([episode(Usage(1_000, 20, money=1.5), calls=1_200)] * 2, "2,400 model calls, 2,000 tokens in, 40 out, $3.00"),
        ([episode(Usage(5, 6))], "1 model call, 5 tokens in, 6 out, cost unknown"),
        (
            [episode(Usage(5, 6)), episode(Usage(5, 6, money=0.25))],
            "2 model calls, 10 tokens in, 12 out, $0.25 and an unknown cost",
        ),
        ([episode(Usage(5, None, money=0.25))], "1 model call, 5 tokens in, 0 out, more unknown, $0.25"),
        ([episode(Usage(1, 1, money=0.25))], "1 model call, 1 token in, 1 out, $0.25"),
        ([episode(Usage(None, None), calls=0)], "0 model calls, 0 tokens in, 0 out, $0.00"),
    ],
)
def test_the_sum_says_what_is_unknown(results: list[Result], told: str) -> None:
    assert str(Spending(results=results)) == told
