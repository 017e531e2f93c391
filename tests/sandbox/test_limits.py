"""Limits are checked when they are made, and each has a sentence."""

from __future__ import annotations

import math

import pytest

from codeplan.errors import UsageError
from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.host.agent_port import MAX_RESULT_BYTES
from codeplan.sandbox.protocol import limits
from codeplan.sandbox.protocol.limits import ENTRY_CHECKPOINTS_FACTOR, STOPPING_LIMITS, limit_message, shorten
from codeplan.types import Finished


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "5", True, None])
def test_a_wall_limit_that_is_not_a_time_is_refused_by_name(value):
    with pytest.raises(UsageError, match="the limit wall must be a number above 0"):
        Limits(wall=value)


@pytest.mark.parametrize("name", ["memory", "turns", "output", "calls", "asks", "checkpoint_bytes", "source_bytes"])
def test_a_count_that_is_not_whole_is_refused(name):
    with pytest.raises(UsageError, match=f"the limit {name} must be a whole number"):
        Limits(**{name: 1.5})


@pytest.mark.parametrize(
    "name", ["wall", "cpu", "memory", "turns", "calls", "call_bytes", "checkpoint_bytes", "recursion"]
)
def test_a_limit_is_within_what_the_system_can_count_or_is_refused_by_name(name):
    most = {"wall": 10**9, "cpu": 10**9, "recursion": 2**30}.get(name, 2**62)
    assert isinstance(
        Sandbox(Limits(**{name: most})).run("def solution(agent, start_from=1):\n    x = 1\n", Silent(), str), Finished
    )
    with pytest.raises(UsageError, match=f"the limit {name} may be {most:,} at most"):
        Limits(**{name: most + 1})


def test_counts_may_be_zero():
    assert Limits(asks=0, calls=0, output=0, reads=0, turns=0).asks == 0


def test_the_default_limits_are_those_that_the_documentation_promises():
    assert Limits() == Limits(
        wall=5.0,
        cpu=4.0,
        memory=192 * 2**20,
        turns=10**9,
        output=64_000,
        calls=500,
        reads=20_000,
        call_bytes=64_000,
        asks=50,
        ask_bytes=20_000,
        checkpoint_bytes=256 * 2**10,
        recursion=1_000,
        source_bytes=64 * 2**10,
    )


def test_messages_and_checkpoints_are_as_large_as_the_documentation_says():
    assert shorten("x" * 8_000) == "x" * 8_000
    assert shorten("x" * 8_001) == "x" * 8_000 + "… (1 more character)"
    assert (ENTRY_CHECKPOINTS_FACTOR, MAX_RESULT_BYTES) == (16, 1_000_000)


def test_what_a_worker_may_say_of_a_plan_is_as_large_as_the_documentation_says():
    assert (limits.MAX_STEPS, limits.MAX_DIAGNOSTICS, limits.MAX_DIAGNOSTIC_CHARS) == (1_000, 100, 1_000)
    assert (limits.MAX_CODE_BYTES, limits.MAX_NAME_CHARS, limits.MAX_ARCS) == (262_144, 200, 20_000)


def test_limits_cannot_be_changed():
    with pytest.raises(AttributeError):
        Limits().wall = 1.0  # pyright: ignore[reportAttributeAccessIssue]  # that is the point


@pytest.mark.parametrize("name", sorted(STOPPING_LIMITS))
def test_each_limit_that_ends_a_run_is_a_field_and_says_what_was_allowed(name):
    assert hasattr(Limits(), name)
    assert "1,234" in limit_message(name, 2000, 1234) or "1234" in limit_message(name, 2000, 1234)


def test_a_long_text_is_cut_and_the_cut_is_marked():
    assert shorten("x" * 10, 4) == "xxxx… (6 more characters)"
    assert shorten("xxxx", 4) == "xxxx"


class Silent:
    """An agent that only reports."""

    def report(self) -> str:
        """Nothing."""
        return ""


@pytest.mark.parametrize("size", ["'abc' * 10 ** 18", "2 ** 10 ** 20", "2 ** 10 ** 4000"])
def test_an_astronomic_size_is_the_memory_limit(size):
    source = (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] ask for much')\n"
        f"        try:\n            text = {size}\n        except Exception:\n            text = ''\n"
        "        assert text, 'caught'\n"
    )
    outcome = Sandbox().run(source, Silent(), str)
    assert (outcome.limit, outcome.step) == ("memory", 1)
