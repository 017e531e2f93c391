"""Each limit stops a plan, is reported, and cannot be caught."""

from __future__ import annotations

import time
from typing import Any

import pytest

from codeplan.sandbox import Limits
from codeplan.sandbox.host.backend import Capability
from codeplan.testing.backend.base import BackendTests, assert_finished, assert_stopped, checkpoint_values
from codeplan.testing.samples.home import SampleHome
from codeplan.testing.samples.plans import wrap_as_plan

_IN_A_STEP = """
    if start_from <= 1:
        kept = [1]
        while True:
            {}
        assert kept
"""

_SPENDING: dict[str, tuple[str, Limits]] = {
    "wall": ("pass", Limits(wall=0.3, cpu=10, turns=10**9)),
    "cpu": ("pass", Limits(cpu=0.2, wall=5, turns=10**9)),
    "turns": ("pass", Limits(turns=1_000)),
    "memory": ("kept.append(str(len(kept)) * 20_000)", Limits(memory=64 << 20)),
    "output": ("print('hello')", Limits(output=1_000, wall=1)),
    "calls": ("agent.goto('x')", Limits(calls=20)),
    "reads": ("agent.holding", Limits(reads=20)),
    "call_bytes": ("agent.goto('x' * 5_000)", Limits(call_bytes=2_000)),
    "asks": ("ask_llm('x')", Limits(asks=3)),
    "ask_bytes": ("ask_llm('é' * 600)", Limits(ask_bytes=1_000)),
    "recursion": ("f = lambda n: f(n + 1); f(0)", Limits(recursion=50)),
}
"""For each limit, code that exceeds it when repeated, and the limits to run it with."""

_CATCHING = """
    while True:
        try:
            while True:
                {}
        except Exception:
            continue
        finally:
            x = 1
"""


class LimitTests(BackendTests):
    """Runs that exceed a limit."""

    @pytest.mark.parametrize("limit", _SPENDING)
    def test_each_limit_stops_the_plan_and_says_how_much_and_where(self, limit: str) -> None:
        self.require(*([Capability.TURNS] if limit == "turns" else []))
        code, limits = _SPENDING[limit]
        outcome = assert_stopped(self.run(_IN_A_STEP.format(code), limits=limits), limit)

        assert outcome.step == 1
        assert outcome.allowed == getattr(limits, limit)
        assert outcome.value >= outcome.allowed
        assert str(int(outcome.allowed))[0] in outcome.message

    @pytest.mark.parametrize("limit", [name for name in _SPENDING if name != "memory"])
    def test_at_a_limit_the_line_is_known_and_the_variables_are_saved(self, limit: str) -> None:
        self.require(Capability.SAVED_AT_LIMIT)
        code, limits = _SPENDING[limit]
        outcome = assert_stopped(self.run(_IN_A_STEP.format(code), limits=limits), limit)

        assert outcome.line in (4, 5)
        assert checkpoint_values(outcome.checkpoint)["kept"] == [1]

    @pytest.mark.parametrize("limit", ["wall", "cpu", "turns", "output", "calls", "asks", "recursion"])
    def test_no_limit_can_be_caught(self, limit: str) -> None:
        self.require(*({"turns": [Capability.TURNS], "recursion": [Capability.RECURSION]}.get(limit, [])))
        code, limits = _SPENDING[limit]

        assert_stopped(self.run(_CATCHING.format(code), limits=limits), limit)

    @pytest.mark.parametrize("body", ["sum(range(10 ** 11))", "while True:\n    pass", "[i for i in range(10 ** 9)]"])
    def test_a_stop_by_the_wall_limit_comes_within_150_ms_of_it(self, body: str) -> None:
        limits = Limits(wall=0.3, cpu=9, turns=10**9, memory=2 << 30)
        late = [assert_stopped(self.run(body, limits=limits), "wall").value - limits.wall for _ in range(3)]

        assert 0 < min(late) < 0.15

    def test_time_spent_in_the_agent_and_the_model_does_not_count(self) -> None:
        class Slow(SampleHome):
            def goto(self, receptacle: str) -> Any:
                time.sleep(0.3)
                return super().goto(receptacle)

        def slow_answer(question: str) -> str:
            time.sleep(0.3)
            return "yes"

        body = wrap_as_plan("agent.goto('a')\nask_llm('b')\nagent.goto('c')")
        outcome = assert_finished(self.make(Limits(wall=0.4)).run(body, Slow(print), slow_answer))
        assert outcome.usage.wall < 0.4

    def test_output_is_kept_up_to_the_limit(self) -> None:
        outcome = self.run("print('x' * 1_000_000)", limits=Limits(output=100))

        assert assert_stopped(outcome, "output").output == "x" * 100
