"""Decides by patterns on the tools' names which calls are made, which need approval, and which are refused."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from codeplan.errors import CallInDoubt, EnvironmentFailure, UsageError
from codeplan.recording.events import call_key
from codeplan.tools.failures import failure_sentence, require_failure
from codeplan.tools.tool import Need, Tool
from codeplan.types import Answer, Call
from codeplan.untrusted.comparison import nearest_name
from codeplan.untrusted.texts import escape_surrogates, one_line
from codeplan.untrusted.values import in_quotes, value_text


@dataclass(frozen=True)
class ProposedCall:
    """A call that needs approval.

    ``arguments`` is a copy of the call's, by parameter. ``hint`` is what the tool's server says about it. ``step`` and
    ``line`` are those of the plan's call and ``plan`` is its source: None and empty where no plan makes it.
    ``earlier`` are the answers to equal calls before it in this episode, each with its value as plain data. With flows,
    ``origins`` says where each argument comes from, such as ``read_file.content`` or ``goal``, and ``why`` why the user
    is asked.
    """

    tool: str
    arguments: dict[str, Any]
    hint: str = ""
    step: int | None = None
    line: int | None = None
    plan: str = ""
    earlier: tuple[Answer, ...] = ()
    origins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    why: str = ""


class Always(Enum):
    """An approval that holds for later calls of this episode as well."""

    TOOL = "tool"
    """All calls of this tool."""

    ARGUMENTS = "arguments"
    """All equal calls."""


Approval: TypeAlias = bool | str | dict[str, Any] | Always
"""The answer to a proposed call: it may be made or not, a text says why not, and a dict has the arguments with which it
is made instead.
"""

Approver: TypeAlias = Callable[[ProposedCall], Approval | Awaitable[Approval]]
"""Decides about a call. Anything but an Approval refuses it."""

APPROVER_FORM = "approve(call)"

MAX_APPROVAL_CHARS = 2_000
"""Maximum length of the reason for a refusal, in characters."""


class ApprovalDecision(NamedTuple):
    """What the user decided about a call. ``arguments`` are those to make it with instead; None: unchanged."""

    allowed: bool
    reason: str = ""
    arguments: dict[str, Any] | None = None
    by: Literal["approver", "always"] = "approver"


MAX_PATTERNS = 1_000
"""Maximum number of patterns of one kind."""

MAX_NAMED_TOOLS = 20
"""Maximum number of tools that a message names."""


class Rule(NamedTuple):
    """What a call needs, and the pattern that decides it; empty for the tool's own setting."""

    approval: Need
    pattern: str = ""


class Approvals:
    """The user's patterns, as ``fnmatch`` reads them: ``delete_*``, ``*``. ``approve`` decides on calls to be asked.

    With ``"later"`` nobody is asked now. An answer that holds for later calls holds as long as this object.

    Of ``ask`` and ``allow`` the longer pattern wins, and ``ask`` if both are equally long. A tool without a pattern has
    its own setting. With an ``approve`` and without ``ask``, every tool is asked for. (A tool that is denied is not
    there at all: see ``Toolset.without``.)

    Raises: UsageError: a pattern is empty or no text, there are too many, or ``approve`` is no function of one
    argument.
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        ask: Iterable[str] | None = None,
        approve: Approver | Literal["later"] | None = None,
    ) -> None:
        if approve is not None and approve != "later":
            require_callable(approve, "approve", APPROVER_FORM, (1,))
        if ask is None:
            ask = () if approve is None else ("*",)
        self._allow, self._ask = read_patterns("allow", allow), read_patterns("ask", ask)
        self.approve = None if isinstance(approve, str) else approve
        self._always: set[Hashable] = set()
        self._rules: dict[tuple[str, Need], Rule] = {}

    def rule_for(self, tool: Tool) -> Rule:
        """What a call of this tool needs."""
        key = tool.name, tool.approval
        rule = self._rules.get(key)
        if rule is None:
            rule = self._rules[key] = self._find_rule(tool)
        return rule

    def decide(
        self, call: Call, proposed: Callable[[], ProposedCall], finish: Callable[[object], object], *, by_flows: bool
    ) -> ApprovalDecision:
        """The user's decision about a call; ``finish`` waits for an asynchronous one.

        ``by_flows``: the flows ask, because of this call's arguments. Then no approval of the tool as a whole counts.

        Raises the exceptions of ``approve``.
        """
        assert self.approve is not None, "there is somebody to ask"
        if call_key(call) in self._always or (call.name in self._always and not by_flows):
            return ApprovalDecision(True, by="always")
        answer = finish(self.approve(proposed()))
        if isinstance(answer, Always):
            self._always.add(call.name if answer is Always.TOOL else call_key(call))
        if isinstance(answer, dict):
            return ApprovalDecision(True, arguments=answer)
        reason = escape_surrogates(answer[:MAX_APPROVAL_CHARS]) if isinstance(answer, str) else ""
        return ApprovalDecision(answer is True or isinstance(answer, Always), reason)

    def _find_rule(self, tool: Tool) -> Rule:
        asked, allowed = longest_match(self._ask, tool.name), longest_match(self._allow, tool.name)
        if asked is not None and (allowed is None or len(asked) >= len(allowed)):
            return Rule("ask", asked)
        return Rule(tool.approval) if allowed is None else Rule("allow", allowed)


def read_patterns(name: str, given: Iterable[str]) -> tuple[str, ...]:
    """The patterns of the option ``name``. Raises: UsageError: one is no text or empty, or there are too many."""
    if not isinstance(given, Iterable):
        raise UsageError(f"{name} takes a pattern or several, not {in_quotes(given)}")
    patterns = (given,) if isinstance(given, str) else tuple(given)
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern:
            raise UsageError(f"{name} has a pattern that is no name of a tool: {in_quotes(pattern)}")
    if len(patterns) > MAX_PATTERNS:
        raise UsageError(f"{name} has {len(patterns):,} patterns, more than {MAX_PATTERNS:,}")
    return patterns


class GivenPattern(NamedTuple):
    """A pattern on the names of tools, and the option that has it."""

    option: str
    pattern: str

    def fits_one(self, names: Iterable[str]) -> bool:
        """Whether it fits one of the names."""
        return any(fnmatchcase(name, self.pattern) for name in names)


def given_patterns(**options: Iterable[str]) -> list[GivenPattern]:
    """The patterns of these options. Raises: UsageError: as ``read_patterns``."""
    return [GivenPattern(name, pattern) for name, given in options.items() for pattern in read_patterns(name, given)]


def require_fitting(given: Iterable[GivenPattern], names: Collection[str]) -> None:
    """Check that each pattern fits one of the tools' names: a misspelt ``deny`` would refuse nothing.

    Raises: UsageError: one fits none.
    """
    for option, pattern in (each for each in given if not each.fits_one(names)):
        near = nearest_name(pattern, names)
        shown = [near] if near else sorted(names)[:MAX_NAMED_TOOLS]
        more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) and not near else ""
        way = f"did you mean {near}?" if near else f"there are: {', '.join(shown) or 'none'}{more}"
        raise UsageError(f"no tool has a name that fits {option} {in_quotes(pattern)}; {way}")


def longest_match(patterns: Iterable[str], name: str) -> str | None:
    """The longest of the patterns that fits the name; None if none fits."""
    return max((p for p in patterns if fnmatchcase(name, p)), key=len, default=None)


def require_callable(given: object, name: str, form: str, counts: tuple[int, ...]) -> int:
    """The first of these ``counts`` of arguments that the callable accepts.

    Raises: UsageError: it is no callable, or takes none of these numbers.
    """
    if not callable(given) or isinstance(given, type):
        raise UsageError(f"{name} must be a function {form}, not {in_quotes(given)}")
    try:
        signature = inspect.signature(given)
    except (ValueError, TypeError):
        return counts[0]
    for count in counts:
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    raise UsageError(f"{name} must be a function {form}; its signature is another one")


WayOn: TypeAlias = Literal["retry", "skip", "stop"]
"""The call is made again, the plan gets an error in place of its answer, or the episode stays as it is."""

DoubtAsker: TypeAlias = Callable[[str, Mapping[str, Any]], WayOn | Awaitable[WayOn]]
"""Says what to do about a call of this tool with these arguments."""

MAX_SHOWN_CALL = 500
"""Maximum length of a call in doubt, or of one that waits, in a message, in characters."""

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
        decision = self.find(tool, arguments, finish)
        if decision is None:
            raise calls_in_doubt([(tool, arguments)])
        return decision

    def find(self, tool: str, arguments: Mapping[str, Any], finish: Callable[[object], object]) -> DoubtDecision | None:
        """As ``decide``; None: no setting decides, or the decision is to stop. Raises: EnvironmentFailure."""
        pattern = longest_match(self.idempotent, tool)
        if pattern is not None:
            return DoubtDecision("retry", "pattern", pattern)
        asks = not isinstance(self._in_doubt, str)
        way = self._ask(tool, arguments, finish) if asks else self._in_doubt
        if way == "stop":
            return None
        return DoubtDecision(cast(Literal["retry", "skip"], way), "user" if asks else "option")

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


def calls_in_doubt(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> CallInDoubt:
    """The error for calls in doubt about which no setting decides; it names each."""
    shown = ", ".join(call_line(tool, arguments) for tool, arguments in calls)
    if len(calls) == 1:
        message = (
            "nobody knows whether this call was done, because the episode was ended before its answer: "
            f"{shown}; find out, then resume with --in-doubt retry (make it again) or "
            "--in-doubt skip (the plan gets an error in its place)"
        )
    else:
        message = (
            f"nobody knows whether these {len(calls)} calls were done, because the episode was ended before their "
            f"answers: {shown}; find out, then resume with --in-doubt retry (make them again) or --in-doubt skip (the "
            "plan gets an error in the place of each)"
        )
    return CallInDoubt(message, *calls[0], calls[1:])


def call_line(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call as a plan writes it, within bounds."""
    each = MAX_SHOWN_CALL // max(1, len(arguments))
    shown = ", ".join(f"{name}={value_text(value, each)}" for name, value in arguments.items())
    return one_line(f"{tool}({shown})", MAX_SHOWN_CALL)
