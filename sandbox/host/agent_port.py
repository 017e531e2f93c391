"""The agent and the model, as a worker reaches them: by name, with plain data, and without a word of what went wrong
inside."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from codeplan.agent_api import agent_api
from codeplan.errors import AgentError, CodeplanError
from codeplan.sandbox.limits import shorten
from codeplan.sandbox.protocol.frames import Answer, Ask, Call, ProtocolError, Raised, Read, size
from codeplan.sandbox.protocol.values import NotPlain, from_wire, printable, to_wire
from codeplan.types import Observation

ANSWER_BYTES: Final = 1_000_000
"""Bytes of what one call, read or ask may return to the plan."""


class _Surface:
    """What a class of agents offers: the names, and each method's signature with ``self``."""

    def __init__(self, agent: type) -> None:
        api = agent_api(agent)
        self.signatures = {m.name: inspect.signature(getattr(agent, m.name)) for m in api.methods}
        self.shown = {m.name: m.name + m.signature.split(" -> ")[0] for m in api.methods}
        self.attributes = frozenset(a.name for a in api.attributes)
        self.counts = {name: counts for name, s in self.signatures.items() if (counts := _counts(s))}


def _counts(signature: inspect.Signature) -> tuple[int, int] | None:
    """How many arguments after ``self`` a call by position has at least and at most; None where more must be known."""
    own = list(signature.parameters.values())[1:]
    if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in own):
        return None
    return sum(p.default is p.empty for p in own), len(own)


_surfaces: Final[WeakKeyDictionary[type, _Surface]] = WeakKeyDictionary()


def _surface(agent: type) -> _Surface:
    known = _surfaces.get(agent)
    if known is None:
        known = _surfaces[agent] = _Surface(agent)
    return known


def _at_once(work: Callable[[], object]) -> object:
    return work()


class AgentPort:
    """Does what a worker asks for, if it may. Exceptions of codeplan's own pass through, but for AgentError."""

    def __init__(self, agent: object, ask: Callable[[str], str]) -> None:
        self._agent, self._ask = agent, ask
        self._surface = _surface(type(agent))
        self.methods = frozenset(self._surface.signatures)
        self.attributes = self._surface.attributes

    def answer(
        self, request: Call | Read | Ask, outside: Callable[[Callable[[], object]], object] = _at_once
    ) -> Answer | Raised:
        """The result, or what the plan may know of the failure. Raises ProtocolError for what the plan's side must
        not send.

        ``outside`` does what is the agent's own work, or the model's; unpacking arguments and packing the result are
        none of it, as the plan decides how much there is of that.
        """
        name, action = self._action(request)
        try:
            value = outside(action)
        except AgentError as error:
            return Raised(_message(str(error)))
        except CodeplanError:
            raise
        except Exception as error:
            return Raised(f"{name} failed ({type(error).__name__})")
        return _answer(name, value, text_only=isinstance(request, Ask))

    def _action(self, request: Call | Read | Ask) -> tuple[str, Callable[[], object]]:
        if isinstance(request, Call):
            return request.method, self._call(request)
        if isinstance(request, Ask):
            return "ask_llm", lambda: self._ask(request.question)
        if request.attribute not in self.attributes:
            raise ProtocolError(f"the agent has no attribute {request.attribute[:80]!r}")
        return request.attribute, lambda: getattr(self._agent, request.attribute)

    def _call(self, call: Call) -> Callable[[], object]:
        if call.method not in self.methods:
            raise ProtocolError(f"the agent has no method {call.method[:80]!r}")
        try:
            args = [from_wire(a) for a in call.args]
            kwargs = {name: from_wire(v) for name, v in call.kwargs.items()}
        except NotPlain as reason:
            raise ProtocolError(f"{call.method} was given {reason}") from None
        return lambda: self._bound(call.method, args, kwargs)

    def _bound(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> object:
        least, most = self._surface.counts.get(name, (1, 0))
        if kwargs or not least <= len(args) <= most:  # otherwise it fits, and binding costs more than the call
            try:
                self._surface.signatures[name].bind(self._agent, *args, **kwargs)
            except TypeError as error:
                raise AgentError(f"{self._surface.shown[name]} was called wrongly: {error}") from None
        return getattr(self._agent, name)(*args, **kwargs)


def _answer(name: str, value: object, *, text_only: bool) -> Answer | Raised:
    if text_only and not isinstance(value, str):
        return Raised(f"{name} returned a {type(value).__name__}, which is not text")
    try:
        answer = Answer(to_wire(value.text if isinstance(value, Observation) else value))
    except NotPlain as reason:
        return Raised(f"{name} returned {reason}")
    except Exception as error:  # a subclass of a plain type that cannot even be read
        return Raised(f"{name} returned a {type(value).__name__} that cannot be read ({type(error).__name__})")
    if size(answer) > ANSWER_BYTES:
        return Raised(f"{name} returned more than {ANSWER_BYTES:,} bytes")
    return answer


def _message(text: str) -> str:
    return printable(shorten(text))
