"""What the user is asked: whether a call may be made, by patterns on the tools' names, and what plans want to know."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from codeplan.errors import AgentError, CallInDoubt, EnvironmentFailure, UsageError, WaitingForAnswer
from codeplan.plain_data import NotPlainData, unpack
from codeplan.recording.events import call_key
from codeplan.tools.failures import failure_sentence, require_failure
from codeplan.tools.results import full_type_name
from codeplan.tools.tool import Need, Tool
from codeplan.types import ASK_USER, Answer, Call
from codeplan.untrusted.comparison import nearest_name
from codeplan.untrusted.texts import escape_surrogates, is_utf8, one_line, shorten
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


Asker: TypeAlias = Callable[[str], str | Awaitable[str | None] | None]
"""Answers a question as the user does; None: the user is not there."""

ASKER_FORM: Final = "ask_user(question)"

MAX_QUESTION_CHARS: Final = 4_000
"""Maximum length of a question that the user sees, in characters."""

MAX_ANSWER_CHARS: Final = 100_000
"""Maximum length of the user's answer, in characters."""

MAX_TRIES: Final = 3
"""How often a function of the user is asked one question, until its answer has the form that the plan wants."""

_MAX_NOTE: Final = 500  # characters of a form in words, and of what an answer lacked


def _answer_of(arguments: Mapping[str, Any]) -> Any:
    return arguments["answer"]  # the environment asks before it makes the call


QUESTION: Final = Tool(ASK_USER, _answer_of, readonly=True)
"""The call behind a plan's ``ask_user``. It is no tool of the user: it needs no approval, and flows ignore it."""


class User:
    """Who answers what plans ask: first the ``given`` answer, then ``ask``; without both, nobody does.

    A function is asked at most MAX_TRIES times for one answer, unless it is ``patient``, as a person at a terminal is.

    Raises: UsageError: ``ask`` is no function of one argument, or ``given`` is no text.
    """

    def __init__(self, ask: Asker | None = None, given: str | None = None, *, patient: bool = False) -> None:
        if ask is not None:
            require_callable(ask, "ask_user", ASKER_FORM, (1,))
        if given is not None and not (isinstance(given, str) and is_utf8(given) and len(given) <= MAX_ANSWER_CHARS):
            raise UsageError(f"the answer is a text in UTF-8 of at most {MAX_ANSWER_CHARS:,} characters")
        self._ask, self._given, self._patient = ask, given, patient
        self._refused = 0  # answers to the present question that did not have the form

    def with_answer(self, given: str | None) -> User:
        """The same user, whose next answer is ``given``; None: no change."""
        return self if given is None else User(self._ask, given, patient=self._patient)

    def answer(self, call: Call, finish: Callable[[object], object]) -> str:
        """The user's answer; ``finish`` waits for an asynchronous one.

        Raises: WaitingForAnswer: the user is not there. AgentError: none of the answers had the form.
        EnvironmentFailure: the user's function fails.
        """
        waits = question_of(call)
        if self._given is not None:
            text, self._given = self._given, None
            return text
        self._refused = self._refused + 1 if waits.refused else 0
        if self._ask is None:
            raise waits
        if self._refused >= MAX_TRIES and not self._patient:
            raise AgentError(f"ask_user got no answer of the form {waits.form}: {waits.refused}", "ValueError")
        found = self._call(self._ask, _shown(waits), finish)
        if found is None:
            raise waits
        return escape_surrogates(found[:MAX_ANSWER_CHARS])

    def _call(self, ask: Asker, shown: str, finish: Callable[[object], object]) -> str | None:
        """What the user's function returns. Raises: EnvironmentFailure: it fails, or that is neither text nor None."""
        try:
            found = finish(ask(shown))
        except BaseException as error:
            require_failure(error)
            raise EnvironmentFailure(f"the function ask_user failed: {failure_sentence(error)}") from error
        if found is not None and not isinstance(found, str):
            raise EnvironmentFailure(f"the function ask_user returned a {full_type_name(found)}, not a text")
        return found


def question_of(call: Call) -> WaitingForAnswer:
    """What a call asks, within bounds, as the error of a question that nobody answers.

    Raises: AgentError: a correct worker never asks so.
    """
    try:
        given = {name: unpack(value) for name, value in (call.arguments or {}).items()}
    except NotPlainData:
        given = {}
    question, form, refused = (given.get(name, "") for name in ("question", "form", "refused"))
    if not (isinstance(question, str) and isinstance(form, str) and isinstance(refused, str)):
        raise AgentError("ask_user takes texts", "TypeError")
    asked = shorten(escape_surrogates(question), MAX_QUESTION_CHARS)
    return WaitingForAnswer(asked, one_line(form, _MAX_NOTE), one_line(refused, _MAX_NOTE))


def _shown(asked: WaitingForAnswer) -> str:
    """The question as the user reads it: with the form of the answer, and what the last one lacked."""
    form = f"\n(Answer in this form: {asked.form})" if asked.form else ""
    return asked.question + form + (f"\n({asked.refused})" if asked.refused else "")
