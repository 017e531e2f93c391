"""Tests of the variables that a run saves, and of a later run that resumes with them."""

from __future__ import annotations

from typing import Any

import pytest

from codeplan.errors import UsageError
from codeplan.sandbox import Limits, encode
from codeplan.sandbox.host.backend import Capability
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.testing.backend.base import (
    TWO_STEPS,
    BackendTests,
    assert_failed,
    assert_finished,
    checkpoint_values,
    echo_answer,
)
from codeplan.testing.samples.home import SampleHome
from codeplan.testing.samples.plans import wrap_as_plan
from codeplan.types import Checkpoint
from codeplan.untrusted.comparison import BoundedValue


class CheckpointTests(BackendTests):
    """Saving and resuming."""

    def test_a_run_resumes_at_a_step_with_the_variables_of_the_checkpoint(self) -> None:
        outcome = assert_failed(self.run(TWO_STEPS))
        again = assert_failed(self.run(TWO_STEPS, start_from=2, checkpoint=outcome.entries[2]))

        assert again.output == "[Step 2] think\n"
        assert checkpoint_values(again.checkpoint) == {"seen": ["You are at shelf 1.", 2], "count": 2}
        assert list(again.entries) == [2]

    def test_resuming_from_the_failure_repeats_a_mutation_and_from_the_entry_does_not(self) -> None:
        body = """
        if start_from <= 1:
            l = [1]
            assert l
        if start_from <= 2:
            l.append(2)
            assert len(l) > 9
        """
        outcome = assert_failed(self.run(body))

        assert self.variables_after_resuming(body, outcome.checkpoint) == {"l": [1, 2, 2]}
        assert self.variables_after_resuming(body, outcome.entries[2]) == {"l": [1, 2]}

    def variables_after_resuming(self, body: str, checkpoint: Checkpoint) -> BoundedValue:
        """The variables after resuming at step 2 from a checkpoint."""
        return checkpoint_values(assert_failed(self.run(body, start_from=2, checkpoint=checkpoint)).checkpoint)

    def test_an_interrupted_loop_starts_over_and_its_variable_keeps_its_last_value_until_then(self) -> None:
        body = """
        if start_from <= 1:
            for place in ['a', 'b', 'c']:
                agent.goto(place)
                assert place != 'b' or start_from > 1, 'stuck'
        if start_from <= 2:
            print(place)
            assert place
        """
        outcome = assert_failed(self.run(body))
        assert checkpoint_values(outcome.checkpoint) == {"place": "b"}

        home = SampleHome(print)
        assert assert_finished(self.run(body, home, start_from=2, checkpoint=outcome.checkpoint)).output == "b\n"
        assert_failed(self.run(body, home, checkpoint=outcome.checkpoint))
        assert home.history == ["a", "b"]

    def test_code_outside_the_steps_runs_at_every_start(self) -> None:
        body = """
        def helper(x):
            return x * 2
        limit = 10
        if start_from <= 1:
            limit = 99
            assert False
        if start_from <= 2:
            print(helper(limit))
            assert limit
        """
        outcome = assert_failed(self.run(body))

        assert assert_finished(self.run(body, start_from=2, checkpoint=outcome.checkpoint)).output == "20\n"

    def test_a_variable_that_cannot_be_saved_is_named_and_reading_it_says_so(self) -> None:
        body = """
        if start_from <= 1:
            it = iter([1, 2])
            kept = 1
            assert False
        if start_from <= 2:
            print(kept)
            print(next(it))
            assert kept
        """
        outcome = assert_failed(self.run(body))
        assert "iterator cannot be saved" in outcome.checkpoint.dropped["it"]

        again = assert_failed(self.run(body, start_from=2, checkpoint=outcome.checkpoint))
        assert again.output == "1\n"
        assert again.message.startswith("it was not saved (a list_iterator cannot be saved)")
        assert "it" in again.checkpoint.dropped

    def test_aliases_are_kept(self) -> None:
        body = """
        if start_from <= 1:
            a = [1]
            b = {'a': a}
            assert False
        if start_from <= 2:
            a.append(2)
            print(b, b['a'] is a)
            assert a
        """
        outcome = assert_failed(self.run(body))

        again = self.run(body, start_from=2, checkpoint=outcome.checkpoint)
        assert assert_finished(again).output == "{'a': [1, 2]} True\n"

    def test_cycles_are_kept(self) -> None:
        self.require(Capability.CYCLES)
        body = """
        if start_from <= 1:
            a = [1]
            a.append(a)
            assert False
        if start_from <= 2:
            print(len(a), a[1] is a)
            assert a
        """
        outcome = assert_failed(self.run(body))

        assert assert_finished(self.run(body, start_from=2, checkpoint=outcome.checkpoint)).output == "2 True\n"

    def test_names_of_the_runtime_and_private_names_are_neither_saved_nor_restored(self) -> None:
        outcome = assert_failed(self.run("for _ in range(2):\n    shown = 2\nassert False"))
        assert set(outcome.checkpoint.names) == {"shown"}

        body = """
        if start_from <= 1:
            ok = 1
            assert ok
        if start_from <= 2:
            print(ok, start_from, agent.holding)
            assert ok
        """
        runtime = ("agent", "print", "ask_llm", "start_from", "_getattr_", "__builtins__")
        forged = encode({"ok": 6, **dict.fromkeys(runtime, 9)}, 999)
        assert assert_finished(self.run(body, start_from=2, checkpoint=forged)).output == "6 2 None\n"

    def test_a_checkpoint_that_is_too_large_drops_what_does_not_fit_and_the_run_goes_on(self) -> None:
        body = "small = [1]\nbig = ['x' * 1000 + str(i) for i in range(2000)]\nassert False"
        outcome = assert_failed(self.run(body))

        assert checkpoint_values(outcome.checkpoint) == {"small": [1]}
        assert "big" in outcome.checkpoint.dropped

    def test_a_damaged_checkpoint_is_an_error_of_one_sentence(self) -> None:
        for damaged in (
            Checkpoint({"x": 9}, [1]),
            Checkpoint({"x": 0}, [["tuple", 0]]),
            Checkpoint({"x": 0}, [object()]),
        ):
            with pytest.raises(CheckpointError, match="the checkpoint is damaged"):
                self.run("pass", checkpoint=damaged)

    def test_a_start_that_is_not_a_number_is_a_usage_error(self) -> None:
        wrong: Any = "2"
        with pytest.raises(UsageError, match="start_from must be a whole number"):
            self.make(Limits()).run(wrap_as_plan("pass"), SampleHome(print), echo_answer, wrong)
