"""Gives a worker access to the agent and the model: by name, with plain data, without the details of errors."""

from __future__ import annotations

import builtins
import inspect
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from codeplan.agent_interface import agent_api
from codeplan.errors import AgentBroken, AgentError, CodeplanError
from codeplan.sandbox.limits import shorten
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.frames import CallFrame, ErrorFrame, ResultFrame
from codeplan.sandbox.protocol.values import NotPlainData, escape_surrogates, pack_value, unpack_value
from codeplan.sandbox.runtime.names import CALL_ERRORS
from codeplan.types import Observation
from codeplan.untrusted.noun_phrases import with_article
from codeplan.untrusted.terminal import MAX_REASON_CHARS, message_text, one_line
from codeplan.untrusted.values import in_quotes

_Request: TypeAlias = frames.CallFrame | frames.ReadFrame | frames.AskFrame

MAX_RESULT_BYTES: Final = 1_000_000  # maximum packed size of what one call, read or question returns to the plan


class _AgentSurface:
    """The public names of an agent class, and the signature of each method with ``self``."""

    def __init__(self, agent: type) -> None:
        api = agent_api(agent)
        self.signatures = {m.name: inspect.signature(getattr(agent, m.name)) for m in api.methods}
        self.methods = {m.name: m for m in api.methods}
        self.attributes = frozenset(a.name for a in api.attributes)
        self.argument_counts = {name: counts for name, s in self.signatures.items() if (counts := _argument_counts(s))}


def _argument_counts(signature: inspect.Signature) -> tuple[int, int] | None:
    """Minimum and maximum number of positional arguments after ``self``; None if counting is not enough."""
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
        least, most = self._surface.argument_counts.get(name, (1, 0))
        if kwargs or not least <= len(args) <= most:  # bind only then: it costs more than the call
            try:
                self._surface.signatures[name].bind(self._agent, *args, **kwargs)
            except TypeError as error:
                method = self._surface.methods[name]
                form, why = name + method.signature.split(" -> ")[0], method.explain_misfit(kwargs, error)
                raise AgentError(f"{form} was called wrongly: {why}") from None
        return getattr(self._agent, name)(*args, **kwargs)


def _pack_result(name: str, value: object, *, text_only: bool) -> ResultFrame | ErrorFrame:
    if text_only and not isinstance(value, str):
        return ErrorFrame(f"{name} returned {with_article(type(value).__name__)}, which is not text")
    try:
        result = ResultFrame(pack_value(value.text if isinstance(value, Observation) else value))
    except NotPlainData as reason:
        return ErrorFrame(f"{name} returned {reason}")
    except Exception as error:  # the value is a subclass of a plain type with a broken method
        return ErrorFrame(
            f"{name} returned {with_article(type(value).__name__)} that cannot be read ({type(error).__name__})"
        )
    if frames.packed_size(result) > MAX_RESULT_BYTES:
        return ErrorFrame(f"{name} returned more than {MAX_RESULT_BYTES:,} bytes")
    return result


def _broken(name: str, error: Exception) -> AgentBroken:
    """The error for the user: the exception, and its place in the agent's own code."""
    trace = traceback.extract_tb(error.__traceback__)
    where = f"{trace[-1].filename}, line {trace[-1].lineno}" if trace else "code without a traceback"
    said = one_line(message_text(error), MAX_REASON_CHARS)
    return AgentBroken(
        f"{name} is broken: {type(error).__name__}{': ' if said else ''}{said} ({where}); "
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
