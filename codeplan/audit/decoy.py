"""The agent that hostile plans attack, and the honest plan that runs after each of them."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator

from codeplan.errors import AgentError

HONEST_PLAN = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        seen = agent.goto('shelf 1')
        print('[Step 1]', seen, ask('ready?'))
        assert seen == 'You are at shelf 1.', f'Error in [Step 1]: {agent.report()}'
"""

HONEST_OUTPUT = "[Step 1] You are at shelf 1. yes\n"
"""The output of the honest plan if nothing is broken."""

CallListener = Callable[[str, tuple[object, ...]], None]
"""Receives each call that reaches the agent: the method's name and the arguments."""


class HostSecret:
    """An object of the host behind a public attribute. It must never reach a plan, not even as text."""

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return f"<HostSecret {self.secret}>"


class DecoyAgent:
    """Moves around, takes and puts things, and hides a secret."""

    def __init__(self, on_call: CallListener, secret: str) -> None:
        self._on_call = on_call
        self._secret = secret
        self.location: str = "the middle of the room"
        self.holding: object = None
        self.is_success: bool = False
        self.receptacles: list[str] = ["shelf 1", "drawer 1"]
        self.interaction_history: dict[str, list[str]] = {"actions": [], "observations": ["You are in a room."]}
        self.host_secret = HostSecret(secret)

    def goto(self, receptacle: str) -> str:
        """Walk there."""
        self._on_call("goto", (receptacle,))
        self.location = str(receptacle)[:100]
        return f"You are at {self.location}."

    def take(self, object: str, receptacle: str) -> str:
        """Take a thing from a receptacle."""
        self._on_call("take", (object, receptacle))
        self.holding = object
        return "You take it."

    def put(self, object: str, receptacle: str) -> str:
        """Put the held thing into a receptacle."""
        self._on_call("put", (object, receptacle))
        if object != self.holding:
            return "You do not hold that."
        self.holding = None
        return "You put it down."

    def look(self) -> list[str]:
        """The receptacles in sight."""
        return self.receptacles

    def report(self) -> str:
        """Where the agent is."""
        return f"I am at {self.location}."

    def fail(self) -> str:
        """Refuse, because of an error that contains the secret."""
        raise AgentError("it could not be read") from OSError(f"{self._secret} is missing in /etc/host/secrets")

    def leaky(self) -> str:
        """Refuse, because of an error that holds the agent itself."""
        error = AttributeError(f"{self._secret} has no attribute 'nothing'", name="nothing", obj=self)
        error.args += (self,)
        raise AgentError("there is nothing", "AttributeError") from error

    def _reset(self) -> str:
        self.is_success = True
        return self._secret


class AttackSession:
    """One decoy agent, and every call and question that reached it."""

    def __init__(self, secret: str) -> None:
        self.calls: list[tuple[str, tuple[object, ...]]] = []
        self.questions: list[str] = []
        self.agent = DecoyAgent(self._record_call, secret)

    def _record_call(self, method: str, arguments: tuple[object, ...]) -> None:
        self.calls.append((method, copy.deepcopy(arguments)))

    def ask(self, question: str) -> str:
        """Record a question and answer it."""
        self.questions.append(question)
        return "yes"

    def agent_was_changed(self) -> bool:
        """Whether the agent's state differs from what the recorded calls produce on a fresh agent."""
        fresh = DecoyAgent(lambda method, arguments: None, "")
        for method, arguments in self.calls:
            with contextlib.suppress(Exception):  # the original call raised, too
                getattr(fresh, method)(*arguments)
        return agent_state(fresh) != agent_state(self.agent)

    def argument_text(self) -> str:
        """All text in the arguments that the agent received."""
        return " ".join(v for _, arguments in self.calls for v in _walk(arguments) if isinstance(v, str))

    def non_plain_argument(self) -> str:
        """The type of the first argument that is not plain data; empty if all are plain."""
        values = (v for _, arguments in self.calls for v in _walk(arguments))
        return next((type(v).__name__ for v in values if type(v) not in _PLAIN_TYPES), "")


_PLAIN_TYPES = (type(None), bool, int, float, str, list, tuple, dict)


def _walk(value: object) -> Iterator[object]:
    """A value and everything inside it."""
    yield value
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _walk(part)
    elif isinstance(value, dict):
        for item in value.items():
            yield from _walk(item)


def agent_state(agent: DecoyAgent) -> str:
    """The state that a plan may change through methods only, as text."""
    return repr([agent.location, agent.holding, agent.is_success, agent.receptacles, agent.interaction_history])
