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
from codeplan.sandbox.protocol.frames import (
    AskFrame,
    CallFrame,
    ErrorFrame,
    ProtocolError,
    ReadFrame,
    ResultFrame,
    packed_size,
)
from codeplan.sandbox.protocol.values import NotPlainData, escape_surrogates, pack_value, unpack_value
from codeplan.types.task import Observation

MAX_RESULT_BYTES: Final = 1_000_000
"""Bytes of what one call, read or ask may return to the plan."""


class _AgentSurface:
    """What a class of agents offers: the names, and each method's signature with ``self``."""

    def __init__(self, agent: type) -> None:
        api = agent_api(agent)
        self.signatures = {m.name: inspect.signature(getattr(agent, m.name)) for m in api.methods}
        self.displayed_signatures = {m.name: m.name + m.signature.split(" -> ")[0] for m in api.methods}
        self.attributes = frozenset(a.name for a in api.attributes)
        self.argument_counts = {name: counts for name, s in self.signatures.items() if (counts := _argument_counts(s))}


def _argument_counts(signature: inspect.Signature) -> tuple[int, int] | None:
    """How many arguments after ``self`` a call by position has at least and at most; None where more must be known."""
    own = list(signature.parameters.values())[1:]
    if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in own):
        return None
    return sum(p.default is p.empty for p in own), len(own)


_surfaces: Final[WeakKeyDictionary[type, _AgentSurface]] = WeakKeyDictionary()


def _surface_of(agent: type) -> _AgentSurface:
    known = _surfaces.get(agent)
    if known is None:
        known = _surfaces[agent] = _AgentSurface(agent)
    return known


def _call_directly(work: Callable[[], object]) -> object:
    return work()


class AgentPort:
    """Does what a worker asks for, if it may. Exceptions of codeplan's own pass through, but for AgentError."""

    def __init__(self, agent: object, ask: Callable[[str], str]) -> None:
        self._agent, self._ask = agent, ask
        self._surface = _surface_of(type(agent))
        self.methods = frozenset(self._surface.signatures)
        self.attributes = self._surface.attributes

    def answer(
        self,
        request: CallFrame | ReadFrame | AskFrame,
        run_untimed: Callable[[Callable[[], object]], object] = _call_directly,
    ) -> ResultFrame | ErrorFrame:
        """The result, or what the plan may know of the failure. Raises ProtocolError for what the plan's side must
        not send.

        ``outside`` does what is the agent's own work, or the model's; unpacking arguments and packing the result are
        none of it, as the plan decides how much there is of that.
        """
        name, action = self._resolve(request)
        try:
            value = run_untimed(action)
        except AgentError as error:
            return ErrorFrame(_plan_message(str(error)))
        except CodeplanError:
            raise
        except Exception as error:
            return ErrorFrame(f"{name} failed ({type(error).__name__})")
        return _pack_result(name, value, text_only=isinstance(request, AskFrame))

    def _resolve(self, request: CallFrame | ReadFrame | AskFrame) -> tuple[str, Callable[[], object]]:
        if isinstance(request, CallFrame):
            return request.method, self._resolve_call(request)
        if isinstance(request, AskFrame):
            return "ask_llm", lambda: self._ask(request.question)
        if request.attribute not in self.attributes:
            raise ProtocolError(f"the agent has no attribute {request.attribute[:80]!r}")
        return request.attribute, lambda: getattr(self._agent, request.attribute)

    def _resolve_call(self, call: CallFrame) -> Callable[[], object]:
        if call.method not in self.methods:
            raise ProtocolError(f"the agent has no method {call.method[:80]!r}")
        try:
            args = [unpack_value(a) for a in call.args]
            kwargs = {name: unpack_value(v) for name, v in call.kwargs.items()}
        except NotPlainData as reason:
            raise ProtocolError(f"{call.method} was given {reason}") from None
        return lambda: self._call_method(call.method, args, kwargs)

    def _call_method(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> object:
        least, most = self._surface.argument_counts.get(name, (1, 0))
        if kwargs or not least <= len(args) <= most:  # otherwise it fits, and binding costs more than the call
            try:
                self._surface.signatures[name].bind(self._agent, *args, **kwargs)
            except TypeError as error:
                raise AgentError(f"{self._surface.displayed_signatures[name]} was called wrongly: {error}") from None
        return getattr(self._agent, name)(*args, **kwargs)


def _pack_result(name: str, value: object, *, text_only: bool) -> ResultFrame | ErrorFrame:
    if text_only and not isinstance(value, str):
        return ErrorFrame(f"{name} returned a {type(value).__name__}, which is not text")
    try:
        answer = ResultFrame(pack_value(value.text if isinstance(value, Observation) else value))
    except NotPlainData as reason:
        return ErrorFrame(f"{name} returned {reason}")
    except Exception as error:  # a subclass of a plain type that cannot even be read
        return ErrorFrame(f"{name} returned a {type(value).__name__} that cannot be read ({type(error).__name__})")
    if packed_size(answer) > MAX_RESULT_BYTES:
        return ErrorFrame(f"{name} returned more than {MAX_RESULT_BYTES:,} bytes")
    return answer


def _plan_message(text: str) -> str:
    return escape_surrogates(shorten(text))
