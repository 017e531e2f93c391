"""Monty fulfils the backend contract except for what it declares, and what it declares is true."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_monty", reason="pydantic-monty is not installed: pip install 'codeplan[monty]'")

from support.backend_contract import BackendContract, expected_run
from support.sample_plans import SamplePlan, sample_plans, wrap_as_plan
from support.sample_worlds import SampleHome

from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.monty.backend import DIFFERENCES, MontyBackend
from codeplan.types import Failed, Finished, Rejected, Stopped

BEYOND = [s for s in sample_plans() if s.needs & DIFFERENCES.keys()]


class TestMonty(BackendContract):
    differences = DIFFERENCES

    def make(self, limits: Limits) -> Sandbox:
        return monty(limits)


def monty(limits: Limits = Limits()) -> Sandbox:  # noqa: B008  # frozen
    """A sandbox in which Monty runs plans, and processes without a cage check them."""
    return Sandbox(backend=MontyBackend(limits))


@pytest.mark.parametrize("sample", BEYOND, ids=lambda s: s.name)
def test_a_sample_that_it_is_said_to_lack_fails(sample: SamplePlan) -> None:
    try:
        assert TestMonty().run_sample(sample) != expected_run(sample)
    except AssertionError as refused:
        assert "not yet support" in str(refused)


def test_it_runs_nine_samples_in_ten() -> None:
    assert len(BEYOND) <= len(sample_plans()) / 10


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def solution(agent, start_from=1): print(1)", "stands alone on its line"),
        (
            wrap_as_plan("x = [1]\ndel x"),
            "Monty does not yet support the 'del' statement; the locked backend, on Linux, runs it",
        ),
        (wrap_as_plan("def f():\n    yield 1"), "Monty does not yet support yield expressions; the locked backend"),
    ],
)
def test_a_plan_that_it_cannot_run_is_rejected_with_the_reason(source: str, reason: str) -> None:
    outcome = monty().run(source, SampleHome(print), str)

    assert isinstance(outcome, Rejected)
    assert reason in outcome.diagnostics[0].message
    assert outcome.diagnostics[0].rule == "backend"


def test_a_module_that_it_lacks_is_named_with_the_backend_that_has_it() -> None:
    outcome = monty().run(wrap_as_plan("import contextlib"), SampleHome(print), str)

    assert isinstance(outcome, Failed)
    assert outcome.message == "No module named 'contextlib' in Monty; the locked backend, on Linux, runs it"


def test_steps_share_classes_and_names_with_an_underscore() -> None:
    plan = wrap_as_plan("""
    class Cart:
        def __init__(self): self.n = 1
    _first = Cart()
    if start_from <= 1:
        class Own:
            n = 2
        with_two = _first.n + Own.n
        _first.n = 5
    if start_from <= 2:
        print(_first.n, with_two, Cart().n)
    """)
    outcome = monty().run(plan, SampleHome(print), str)

    assert isinstance(outcome, Finished), outcome
    assert outcome.output == "5 3 1\n"


def test_code_after_solution_belongs_to_the_plan_but_what_calls_it_does_not() -> None:
    source = wrap_as_plan("return twice(3)") + "\ndef twice(x):\n    return x * 2\n\nsolution(None)\n"
    plan = wrap_as_plan("print(twice(3))") + "\ndef twice(x):\n    return x * 2\n"

    assert monty().run(plan, SampleHome(print), str).output == "6\n"  # type: ignore[union-attr]  # it finishes
    assert not isinstance(monty().run(source, SampleHome(print), str), Rejected)


EXPRESSIONS = [
    "sorted([3, 1, 2], key=lambda v: -v)",
    "sorted(['bb', 'a', 'cc', 'd'], key=len, reverse=True)",
    "sorted({'b': 1, 'a': 2})",
    "max(['bb', 'a', 'dd'], key=len)",
    "min(3, 1, key=lambda v: -v)",
    "max([], default=7)",
    "min([], key=len, default='none')",
    "[*map(lambda a, b: a + b, [1, 2, 3], [10, 20])]",
    "[*filter(None, [0, 1, '', 'a'])]",
    "next((v for v in [1, 2, 3] if v > 1), None)",
    "next(iter([]), 6)",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_builtin_that_takes_a_function_gives_what_pythons_gives(expression: str) -> None:
    outcome = monty().run(wrap_as_plan(f"return {expression}"), SampleHome(print), str)

    assert isinstance(outcome, Finished), outcome
    assert outcome.value == eval(expression)


@pytest.mark.parametrize("body", ["min([])", "next(v for v in [])", "sorted([1, 'a'], key=lambda v: v)", "max(1)"])
def test_a_builtin_that_takes_a_function_raises_what_pythons_raises(body: str) -> None:
    outcome = monty().run(
        wrap_as_plan(f"try:\n    {body}\nexcept Exception as e:\n    return type(e).__name__"), SampleHome(print), str
    )
    assert isinstance(outcome, Finished), outcome
    with pytest.raises(Exception) as raised:  # any, and of the same kind
        eval(body)
    assert outcome.value == type(raised.value).__name__


def test_a_single_operation_without_end_is_stopped_by_the_limit_of_time() -> None:
    outcome = monty(Limits(wall=0.5, cpu=0.5)).run(wrap_as_plan("x = 10 ** 10 ** 8"), SampleHome(print), str)

    assert isinstance(outcome, Stopped)
    assert outcome.limit == "wall"


def test_a_variable_that_is_too_large_to_be_saved_is_dropped_and_the_plan_goes_on() -> None:
    plan = wrap_as_plan("""
    x, y = 'a' * 10 ** 8, 1
    if start_from <= 1:
        print('[Step 1] on')
        y += 1
    """)
    outcome = monty().run(plan, SampleHome(print), str)

    assert isinstance(outcome, Finished)
    assert outcome.variables == {"y": 2}
    assert outcome.omitted == {"x": "too large for a checkpoint"}
