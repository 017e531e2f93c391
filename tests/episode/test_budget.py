import threading

import pytest

from codeplan.budget import Budget, Meter, seconds_left
from codeplan.errors import BudgetExceeded, ModelError, UsageError
from codeplan.types import Usage


def test_an_action_beyond_the_budget_is_refused_and_not_counted():
    meter = Meter(Budget(actions=2))
    meter.reserve("actions")
    meter.reserve("actions")
    with pytest.raises(BudgetExceeded) as caught:
        meter.reserve("actions")
    assert (caught.value.kind, caught.value.value, caught.value.limit) == ("actions", 3, 2)
    assert str(caught.value) == "the budget of 2 actions is spent"
    assert meter.actions == 2


def test_model_calls_are_counted_by_purpose():
    meter = Meter(Budget(model_calls=2))
    meter.reserve_call("plan")
    meter.reserve_call("ask")
    with pytest.raises(BudgetExceeded):
        meter.reserve_call("ask")
    assert (meter.model_calls, meter.calls_for("ask"), meter.calls_for("refine")) == (2, 1, 0)


def test_a_call_is_allowed_until_the_tokens_are_spent_and_unknown_ones_are_none():
    meter = Meter(Budget(tokens=100))
    meter.settle(Usage(None, 99))
    meter.settle(Usage())
    meter.reserve_call("plan")
    meter.settle(Usage(1, None))
    with pytest.raises(BudgetExceeded) as caught:
        meter.reserve_call("plan")
    assert (caught.value.kind, caught.value.value) == ("tokens", 100)


def test_a_negative_budget_is_refused_with_its_name():
    with pytest.raises(UsageError, match="budget of actions is -1"):
        Budget(actions=-1)


@pytest.mark.parametrize("seconds", ["nan", "inf"])
def test_a_budget_that_is_not_a_number_or_that_no_trace_could_hold_is_refused(seconds):
    with pytest.raises(UsageError, match="seconds"):
        Budget(seconds=float(seconds))


@pytest.mark.parametrize("given", [2.5, True, "3"])
def test_a_count_that_no_trace_could_be_read_with_is_refused(given):
    with pytest.raises(UsageError, match=f"^the budget of actions is {given!r}; give a whole number from 0 up"):
        Budget(actions=given)


@pytest.mark.parametrize("given", [False, "3"])
def test_a_budget_of_time_is_a_number(given):
    assert Budget(seconds=3).seconds == 3
    with pytest.raises(UsageError, match=f"^the budget of seconds is {given!r}; give a number from 0 up"):
        Budget(seconds=given)


def test_threads_cannot_overspend():
    meter = Meter(Budget(actions=100))
    refused = []

    def spend() -> None:
        for _ in range(50):
            try:
                meter.reserve("actions")
            except BudgetExceeded:
                refused.append(1)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (meter.actions, len(refused)) == (100, 300)


# ------------------------------------------------------------------ money, and what a call may take


def test_the_call_after_the_one_that_spent_the_money_is_refused():
    meter = Meter(Budget(money=0.5))
    for money in (0.3, 0.3):
        with meter.call("plan") as settle:
            settle(Usage(10, 5, money=money))
    with pytest.raises(BudgetExceeded, match=r"0\.5 "):
        meter.reserve_call("ask")
    assert meter.usage.money == pytest.approx(0.6)
    assert meter.model_calls == 2


def test_what_is_not_known_is_not_known_in_sum_and_counts_for_nothing_in_the_budget():
    meter = Meter(Budget(money=0.5, tokens=100))
    meter.settle(Usage(None, None))
    meter.settle(Usage(50, 30, money=0.2))
    meter.reserve_call("ask")
    assert (meter.usage.total_tokens, meter.usage.money) == (None, None)
    meter.settle(Usage(15, 5, money=0.1))
    with pytest.raises(BudgetExceeded, match="100 tokens"):
        meter.reserve_call("ask")


def test_no_call_costs_nothing():
    assert Meter().usage == Usage(money=0.0)


def test_a_call_knows_how_long_it_may_take():
    assert seconds_left() is None
    with Meter(Budget(seconds=60)).call("ask"):
        left = seconds_left()
        assert left is not None
        assert 59 < left <= 60
    with Meter().call("ask"):
        assert seconds_left() is None
    assert seconds_left() is None


@pytest.mark.parametrize(("seconds", "too_late"), [(9.9985, False), (9.9995, True), (10, True)])
def test_a_call_that_fails_within_a_millisecond_of_the_limit_has_spent_the_time(seconds, too_late):
    now = [0.0]
    call = Meter(Budget(seconds=10), clock=lambda: now[0]).call("ask")
    call.__enter__()
    now[0] = seconds
    failed = ModelError("no")
    if too_late:
        with pytest.raises(BudgetExceeded) as caught:
            call.__exit__(ModelError, failed, None)
        assert (caught.value.kind, caught.value.value, caught.value.limit) == ("seconds", seconds, 10)
    else:
        assert not call.__exit__(ModelError, failed, None)  # the error goes on as it is


def test_the_time_is_over_after_the_limit_and_not_at_it():
    now = [5.0]
    meter = Meter(Budget(seconds=10), clock=lambda: now[0])
    now[0] = 15.0
    meter.reserve("actions")
    now[0] = 15.1
    with pytest.raises(BudgetExceeded, match="10 seconds"):
        meter.reserve("actions")
    assert meter.actions == 1


def test_a_call_beyond_the_budget_does_not_begin():
    meter = Meter(Budget(model_calls=0))
    with pytest.raises(BudgetExceeded), meter.call("ask"):
        pytest.fail("the call was begun")


def test_the_depth_is_the_greatest_so_far():
    meter = Meter()
    assert meter.depth is None
    depths = []
    for depth in (1, 3, 2, 1):
        meter.note_depth(depth)
        depths.append(meter.depth)
    assert depths == [1, 3, 3, 3]
