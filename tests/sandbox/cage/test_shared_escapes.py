"""Hostile plans kept outside the project: none gets anything, and the sandbox serves the next plan."""

from __future__ import annotations

import json
import resource
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.caged import answer, finished, run

from codeplan.errors import AgentError
from codeplan.sandbox import Limits, Sandbox, decode
from codeplan.types import Checkpoint, Failed, Observation, Rejected

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parents[3].parent / "shared" / "escapes"
PLANS = sorted(FOLDER.glob("*.py"))
PORT = "45991"
SECONDS = 8.0
GROWTH = 400 << 20

if not PLANS:
    pytest.skip(f"there are no hostile plans in {FOLDER}", allow_module_level=True)


class Target:
    """An agent worth attacking."""

    holding: str | None

    def __init__(self, act: Callable[[str], object]) -> None:
        self.act = act
        self.actions = 0
        self.holding = None
        self.is_success = False
        self.receptacles = ["shelf 1"]
        self.interaction_history = {"observations": ["start"]}
        self._secret = "CANARY-SECRET"

    def goto(self, receptacle: str) -> Observation:
        """Walk there."""
        self.actions += 1
        return Observation(f"You are at {str(receptacle)[:50]}.")

    def put(self, thing: str, receptacle: str) -> str:
        """Put it there."""
        self.actions += 1
        return "ok" if thing == self.holding else "You do not hold it."

    def fail(self) -> str:
        """Break."""
        raise AgentError("it broke") from OSError("CANARY: /home/host/secret could not be read")

    def leaky(self) -> str:
        """Break with the agent in the exception."""
        raise AgentError("it broke") from AttributeError("CANARY", name="nothing", obj=self)

    def report(self) -> str:
        """Its state."""
        return "fine"

    def _reset(self) -> str:
        self.holding = "CANARY"
        return "CANARY-RESET"

    def _state(self) -> str:
        """Everything that a plan must not change."""
        return json.dumps([self.holding, self.is_success, self.receptacles, self.interaction_history])


@pytest.fixture(scope="module")
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.02)
        yield server


@pytest.mark.parametrize("path", PLANS, ids=lambda p: p.stem)
def test_nothing_gets_through(path, tmp_path, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "CANARY-ENV-1234")
    tmp_path.chmod(0o777)
    secret, marker = tmp_path / "secret", tmp_path / "marker"
    secret.write_text("CANARY-FILE")
    source = path.read_text().replace("@SECRET@", str(secret)).replace("@MARKER@", str(marker))
    source = source.replace(PORT, str(server.getsockname()[1]))
    target, asked = Target(lambda action: None), []
    before, began = target._state(), time.monotonic()
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    outcome = Sandbox(Limits(wall=2.0)).run(source, target, lambda question: asked.append(question) or "yes")

    assert time.monotonic() - began < SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size) * 1024 < GROWTH
    assert not marker.exists()
    assert target._state() == before
    assert target.actions <= 1_000
    assert len(asked) <= 100
    assert "CANARY" not in "".join(asked)
    if not isinstance(outcome, Rejected):
        text = outcome.output + outcome.message if isinstance(outcome, Failed) else outcome.output
        assert len(text) < 2_000_000
        assert "CANARY" not in text + saved(outcome.checkpoint)
        assert outcome.step in (None, 1)
    with pytest.raises(TimeoutError):
        server.accept()


def saved(checkpoint: Checkpoint | None) -> str:
    return repr(decode(checkpoint)) if checkpoint else ""


def test_the_next_plan_is_served():
    assert finished(run("print(agent.goto('desk 1'))")).output == "You are at desk 1.\n"
    assert answer("x") == "re: x"
