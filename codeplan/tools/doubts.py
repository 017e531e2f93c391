"""Decides what to do about a call in doubt: the episode ended after it had begun the call and before the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from codeplan.errors import CallInDoubt, EnvironmentFailure, UsageError
from codeplan.tools.approvals import longest_match, read_patterns, require_callable
from codeplan.tools.failures import failure_sentence, require_failure
from codeplan.tools.tool import Tool
from codeplan.untrusted.terminal import one_line
from codeplan.untrusted.values import in_quotes, value_text

WayOn: TypeAlias = Literal["retry", "skip", "stop"]
"""The call is made again, the plan gets an error in place of its answer, or the episode stays as it is."""

DoubtAsker: TypeAlias = Callable[[str, Mapping[str, Any]], WayOn | Awaitable[WayOn]]
"""Says what to do about a call of this tool with these arguments."""

MAX_SHOWN_CALL = 500
"""Maximum length of a call in doubt in a message, in characters."""

_WAYS: tuple[str, ...] = get_args(WayOn)


class DoubtDecision(NamedTuple):
    """What to do about a call in doubt, who decided it, and by which pattern (empty without one)."""

    way: Literal["retry", "skip"]
    by: Literal["option", "pattern", "user"]
    pattern: str = ""


class DoubtRules:
    """The user's rules: ``in_doubt`` is one decision for all calls, or a function that decides about each.

    ``idempotent`` are patterns on the names of tools that may be called twice: their calls are made again without a
    question. Raises: UsageError: ``in_doubt`` is neither a decision nor such a function, or a pattern is no text.
    """

    def __init__(self, in_doubt: WayOn | DoubtAsker = "stop", idempotent: Iterable[str] = ()) -> None:
        if isinstance(in_doubt, str):
            _require_way(in_doubt, "in_doubt is")
        else:
            require_callable(in_doubt, "in_doubt", "in_doubt(tool, arguments)", (2,))
        self._in_doubt = in_doubt
        self.idempotent = read_patterns("idempotent", idempotent)

    def decide(self, tool: str, arguments: Mapping[str, Any], finish: Callable[[object], object]) -> DoubtDecision:
        """The decision about a call; ``finish`` waits for an asynchronous answer.

        Raises: CallInDoubt: no setting decides, or the decision is to stop. EnvironmentFailure: the function fails.
        """
        pattern = longest_match(self.idempotent, tool)
        if pattern is not None:
            return DoubtDecision("retry", "pattern", pattern)
        asks = not isinstance(self._in_doubt, str)
        way = self._ask(tool, arguments, finish) if asks else self._in_doubt
        if way == "stop":
            raise CallInDoubt(_sentence(tool, arguments), tool, arguments)
        return DoubtDecision(cast(Literal["retry", "skip"], way), "user" if asks else "option")

    def unused(self, tools: Iterable[Tool]) -> list[tuple[str, str]]:
        """The patterns that name none of the tools, each after its option."""
        names = [tool.name for tool in tools]
        return [("idempotent", p) for p in self.idempotent if not any(fnmatchcase(name, p) for name in names)]

    def _ask(self, tool: str, arguments: Mapping[str, Any], finish: Callable[[object], object]) -> object:
        assert not isinstance(self._in_doubt, str)
        try:
            way = finish(self._in_doubt(tool, deepcopy(dict(arguments))))  # a copy: the trace has the original
        except BaseException as error:
            require_failure(error)
            said = failure_sentence(error)
            raise EnvironmentFailure(f"the function that decides about calls in doubt failed: {said}") from error
        _require_way(way, "the function in_doubt returns")
        return way


def _require_way(given: object, who: str) -> None:
    if given not in _WAYS or not isinstance(given, str):
        raise UsageError(f"{who} retry, skip or stop, not {in_quotes(given)}")


def _sentence(tool: str, arguments: Mapping[str, Any]) -> str:
    return (
        "nobody knows whether this call was done, because the episode was ended before its answer: "
        f"{shown_call(tool, arguments)}; find out, then resume with --in-doubt retry (make it again) or "
        "--in-doubt skip (the plan gets an error in its place)"
    )


def shown_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call as a plan writes it, within bounds."""
    each = MAX_SHOWN_CALL // max(1, len(arguments))
    shown = ", ".join(f"{name}={value_text(value, each)}" for name, value in arguments.items())
    return one_line(f"{tool}({shown})", MAX_SHOWN_CALL)
