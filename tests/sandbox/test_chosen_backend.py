"""What runs plans: the cage where it can be had, Monty elsewhere, and never a plan without either."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.sample_plans import wrap_as_plan
from support.sample_worlds import SampleHome

from codeplan.agent_interface import agent_api
from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox import Limits, Sandbox, probe_layers
from codeplan.types import Finished, Plan

pytest.importorskip("pydantic_monty", reason="pydantic-monty is not installed: pip install 'codeplan[monty]'")

PRINTS = wrap_as_plan("print(agent.goto('desk 1'))")
OFF = "the cage is not available (CODEPLAN_CAGE is off)"


@pytest.fixture
def cage_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEPLAN_CAGE", "off")


def test_an_agent_in_place_of_its_class_is_refused_in_a_sentence() -> None:
    why = (
        r"^check takes the class of an agent or an AgentApi, not an object of the class SampleHome; give type\(agent\)$"
    )
    with pytest.raises(UsageError, match=why):
        Sandbox().check(PRINTS, SampleHome(print))  # type: ignore[arg-type]
    assert isinstance(Sandbox().check(PRINTS, SampleHome), Plan)
    assert isinstance(Sandbox().check(PRINTS, agent_api(SampleHome)), Plan)


def test_the_cage_runs_plans_where_it_can_be_had() -> None:
    sandbox = Sandbox()

    assert not sandbox.uses_monty
    assert sandbox.notices == ()


def test_monty_runs_plans_that_are_checked_in_the_cage_if_it_is_asked_for() -> None:
    sandbox = Sandbox(backend="monty")

    assert sandbox.notices == ("Monty runs the plans: as asked for",)
    assert isinstance(sandbox.run(PRINTS, SampleHome(print), str), Finished)


@pytest.mark.usefixtures("cage_off")
@pytest.mark.parametrize("allow_weak", [False, True])
def test_without_the_cage_monty_runs_plans_whatever_is_allowed(allow_weak: bool) -> None:
    sandbox = Sandbox(allow_weak=allow_weak)
    plan = sandbox.check(PRINTS, SampleHome)

    assert sandbox.notices == (f"Monty runs the plans: {OFF}",)
    assert sandbox.missing_layers == ()
    assert isinstance(plan, Plan)
    assert isinstance(sandbox.run(plan, SampleHome(print), str), Finished)


@pytest.mark.usefixtures("cage_off")
def test_who_asks_for_the_cage_gets_it_or_nothing() -> None:
    with pytest.raises(SandboxError, match="the cage is not available: CODEPLAN_CAGE is off"):
        Sandbox(backend="cage").run(PRINTS, SampleHome(print), str)
    with pytest.raises(SandboxError, match="CODEPLAN_CAGE is off"):
        probe_layers()


NOTHING = textwrap.dedent(
    """
    import sys
    sys.modules["pydantic_monty"] = None
    from codeplan.errors import SandboxError
    from codeplan.sandbox import Sandbox
    from support.sample_worlds import SampleHome
    for allow_weak in (False, True):
        try:
            print(Sandbox(allow_weak=allow_weak).run(sys.argv[1], SampleHome(print), str))
        except SandboxError as error:
            print(error)
    """
)


def test_without_cage_and_monty_no_plan_runs_and_one_sentence_says_what_to_install() -> None:
    environment = {**os.environ, "CODEPLAN_CAGE": "off", "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", NOTHING, PRINTS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.splitlines() == 2 * [
        f"no plan can run here: {OFF}, and Monty is not installed; install it: pip install 'codeplan[monty]'"
    ]


def test_another_value_of_the_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEPLAN_CAGE", "none")

    with pytest.raises(UsageError, match="CODEPLAN_CAGE is 'none'; set it to on or off"):
        Sandbox().run(PRINTS, SampleHome(print), str)


@pytest.mark.usefixtures("cage_off")
def test_coverage_is_refused_where_monty_runs_the_plans() -> None:
    with pytest.raises(UsageError, match="coverage of plans needs the cage"):
        Sandbox().run(PRINTS, SampleHome(print), str, on_coverage=lambda covered: None)


@pytest.mark.parametrize("cage", ["on", "off"])
def test_a_sandbox_that_was_used_can_be_sent_to_another_process(cage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEPLAN_CAGE", cage)
    sandbox = Sandbox(Limits(calls=7))
    sandbox.check(PRINTS, SampleHome)

    sent: Sandbox = pickle.loads(pickle.dumps(sandbox))

    assert sent.limits.calls == 7
    assert isinstance(sent.run(PRINTS, SampleHome(print), str), Finished)
