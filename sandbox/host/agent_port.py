"""Gives a worker access to the agent and the model: by name, with plain data, without the details of errors."""

from __future__ import annotations

import builtins
import inspect
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from codeplan.agent_interface import agent_api
from codeplan.errors import AgentBroken, AgentError, CodeplanError
from codeplan.sandbox.limits import shorten
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.frames import CallFrame, ErrorFrame, ResultFrame
from codeplan.sandbox.protocol.values import NotPlainData, escape_surrogates, pack_value, unpack_value
from codeplan.sandbox.runtime.names import CALL_ERRORS
from codeplan.types import Observation
from codeplan.untrusted.texts import MAX_REASON_CHARS, message_text, one_line, with_article
from codeplan.untrusted.values import in_quotes, type_name

_Request: TypeAlias = frames.CallFrame | frames.ReadFrame | frames.AskFrame

MAX_RESULT_BYTES: Final = 1_000_000  # maximum packed size of what one call, read or question returns to the plan


class _AgentSurface:
    """The public names of an agent class, and the signature of each method with ``self``."""

    def __init__(self, agent: type) -> None:
        api = agent_api(agent)
        self.signatures = {m.name: inspect.signature(getattr(agent, m.name)) for m in api.methods}
        self.methods = {m.name: m for m in api.methods}
        self.attributes = frozenset(a.name for a in api.attributes)
        self._simple = {name: simple for name, s in self.signatures.items() if (simple := _SimpleParameters.of(s))}

    def require_fit(self, agent: object, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Check that a method takes these arguments. Raises: AgentError: it does not."""
        if (simple := self._simple.get(name)) and simple.fit(len(args), kwargs):
            return
        try:
            self.signatures[name].bind(agent, *args, **kwargs)
        except TypeError as error:
            method = self.methods[name]
            form, why = name + method.signature.split(" -> ")[0], method.explain_misfit(kwargs, error)
            raise AgentError(f"{form} was called wrongly: {why}") from None


class _SimpleParameters(NamedTuple):
    """Parameters that each take one argument. ``Signature.bind`` would cost more than a quick call."""

    places: dict[str, int]  # of those that may be given by name; by name only: _NO_PLACE
    required: tuple[tuple[int, str], ...]
    least: int  # arguments by position, if none is given by name
    most: int

    @classmethod
    def of(cls, signature: inspect.Signature) -> _SimpleParameters | None:
        """The parameters after ``self``; None if one takes many arguments."""
        own = list(signature.parameters.values())[1:]
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in own):
            return None
        places = {p.name: _NO_PLACE if p.kind is p.KEYWORD_ONLY else place for place, p in enumerate(own)}
        by_name = {p.name: places[p.name] for p in own if p.kind is not p.POSITIONAL_ONLY}
        required = tuple((places[p.name], p.name) for p in own if p.default is p.empty)
        most = sum(place != _NO_PLACE for place in places.values())
        return cls(by_name, required, max((place + 1 for place, _ in required), default=0), most)

    def fit(self, given: int, kwargs: dict[str, Any]) -> bool:
        """Whether a call with ``given`` arguments by position, and with these by name, leaves nothing out or over."""
        if not kwargs:
            return self.least <= given <= self.most
        if given > self.most or any(self.places.get(name, -1) < given for name in kwargs):
            return False
        return all(place < given or name in kwargs for place, name in self.required)


_NO_PLACE: Final = sys.maxsize
_surfaces: Final[WeakKeyDictionary[type, _AgentSurface]] = WeakKeyDictionary()


def _surface_of(agent: type) -> _AgentSurface:
    known = _surfaces.get(agent)
    if known is None:
        known = _surfaces[agent] = _AgentSurface(agent)
    return known


def _call_directly(work: Callable[[], object]) -> object:
    return work()


class AgentPort:
    """Serves a worker's requests. Exceptions of codeplan pass through, except AgentError."""

    def __init__(self, agent: object, ask: Callable[[str], str]) -> None:
        self._agent, self._ask = agent, ask
        self._surface = _surface_of(type(agent))
        self.methods = frozenset(self._surface.signatures)
        self.attributes = self._surface.attributes

    def answer(
        self, request: _Request, run_untimed: Callable[[Callable[[], object]], object] = _call_directly
    ) -> ResultFrame | ErrorFrame:
        """Return the result, or the message of an AgentError.

        ``run_untimed`` runs the agent's or the model's own work, whose time does not count. The time for unpacking
        arguments and packing results does count, because the plan decides how large they are.

        Raises AgentBroken for any other exception of the agent or the model that is not codeplan's own, ProtocolError
        for a request that a correct worker never sends.
        """
        name, action = self._resolve(request)
        try:
            value = run_untimed(action)
        except AgentError as error:
            return _error_frame(error)
        except CodeplanError:
            raise
        except Exception as error:
            raise _broken(name if isinstance(request, frames.AskFrame) else f"agent.{name}", error) from error
        return _pack_result(name, value, text_only=isinstance(request, frames.AskFrame))

    def _resolve(self, request: _Request) -> tuple[str, Callable[[], object]]:
        if isinstance(request, CallFrame):
            return request.method, self._resolve_call(request)
        if isinstance(request, frames.AskFrame):
            return "ask_llm", lambda: self._ask(request.question)
        if request.attribute not in self.attributes:
            raise frames.ProtocolError(f"the agent has no attribute {in_quotes(request.attribute, 80)}")
        return request.attribute, lambda: getattr(self._agent, request.attribute)

    def _resolve_call(self, call: CallFrame) -> Callable[[], object]:
        if call.method not in self.methods:
            raise frames.ProtocolError(f"the agent has no method {in_quotes(call.method, 80)}")
        try:
            args = [unpack_value(a) for a in call.args]
            kwargs = {name: unpack_value(v) for name, v in call.kwargs.items()}
        except NotPlainData as reason:
            raise frames.ProtocolError(f"{call.method} was given {reason}") from None
        return lambda: self._call_method(call.method, args, kwargs)

    def _call_method(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> object:
        self._surface.require_fit(self._agent, name, args, kwargs)
        return getattr(self._agent, name)(*args, **kwargs)


def _pack_result(name: str, value: object, *, text_only: bool) -> ResultFrame | ErrorFrame:
    if text_only and not isinstance(value, str):
        return ErrorFrame(f"{name} returned {with_article(type_name(value))}, which is not text")
    try:
        result = ResultFrame(pack_value(value.text if isinstance(value, Observation) else value))
    except NotPlainData as reason:
        return ErrorFrame(f"{name} returned {reason}")
    except Exception as error:  # the value is a subclass of a plain type with a broken method
        return ErrorFrame(f"{name} returned {with_article(type_name(value))} that cannot be read ({type_name(error)})")
    if frames.packed_size(result) > MAX_RESULT_BYTES:
        return ErrorFrame(f"{name} returned more than {MAX_RESULT_BYTES:,} bytes")
    return result


def _broken(name: str, error: Exception) -> AgentBroken:
    """The error for the user: the exception, and its place in the agent's own code."""
    trace = traceback.extract_tb(error.__traceback__)
    where = f"{trace[-1].filename}, line {trace[-1].lineno}" if trace else "code without a traceback"
    said = one_line(message_text(error), MAX_REASON_CHARS)
    return AgentBroken(
        f"{name} is broken: {type_name(error)}{': ' if said else ''}{said} ({where}); "
        "to tell a plan what is wrong with its call, an agent raises codeplan.AgentError"
    )


def _error_frame(error: AgentError) -> ErrorFrame:
    """The error as the plan receives it. If the plan language lacks the exception, the plan receives the nearest base
    class that it has.
    """
    kind = getattr(builtins, error.error, RuntimeError)
    bases = kind.__mro__ if isinstance(kind, type) else ()
    name = next((base.__name__ for base in bases if base.__name__ in CALL_ERRORS), "RuntimeError")
    prefix = "" if name == error.error else f"{error.error}: "
    return ErrorFrame(_plan_message(prefix + str(error)), name)


def _plan_message(text: str) -> str:
    return escape_surrogates(shorten(text))
