import threading

import pytest

from codeplan.budget import Budget, Meter
from codeplan.errors import BudgetExceeded, UsageError
from codeplan.types import Usage


def test_an_action_beyond_the_budget_is_refused_and_not_counted():
    meter = Meter(Budget(actions=2))
    meter.reserve_action()
    meter.reserve_action()
    with pytest.raises(BudgetExceeded) as caught:
        meter.reserve_action()
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


def test_the_call_after_the_one_that_spent_the_tokens_is_refused():
    meter = Meter(Budget(tokens=100))
    meter.reserve_call("plan")
    meter.settle(Usage(90, 20))
    with pytest.raises(BudgetExceeded, match="100 tokens"):
        meter.reserve_call("ask")


def test_time_runs_out():
    meter = Meter(Budget(seconds=0))
    with pytest.raises(BudgetExceeded, match="seconds"):
        meter.reserve_action()


def test_a_budget_without_limits_never_ends():
    meter = Meter(Budget(model_calls=None))
    for _ in range(1000):
        meter.reserve_call("ask")
    assert meter.model_calls == 1000


def test_a_negative_budget_is_refused_with_its_name():
    with pytest.raises(UsageError, match="budget actions is -1"):
        Budget(actions=-1)


def test_a_budget_that_is_not_a_number_is_refused():
    with pytest.raises(UsageError, match="seconds"):
        Budget(seconds=float("nan"))


def test_threads_cannot_overspend():
    meter = Meter(Budget(actions=100))
    refused = []

    def spend() -> None:
        for _ in range(50):
            try:
                meter.reserve_action()
            except BudgetExceeded:
                refused.append(1)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (meter.actions, len(refused)) == (100, 300)
