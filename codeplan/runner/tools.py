"""Opens the user's tools, and reaches goals with them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast, get_args

import msgspec

from codeplan.budget import Budget
from codeplan.cancellation import LoopThread
from codeplan.episode.method import Method
from codeplan.errors import UsageError
from codeplan.flows import Flows, flows_of_file
from codeplan.llm.callable_model import ModelFunction
from codeplan.plain_data import NotPlainData, unpack
from codeplan.protocols import LLM, BaseEnvironment
from codeplan.recording.event_log import events_of
from codeplan.recording.events import CarriedAnswer, EpisodeStarted, Event, EventHandler, TurnStarted
from codeplan.runner.episodes import run_live
from codeplan.runner.setup import EnvironmentToOpen, EpisodeSetup, require_handler, require_out
from codeplan.runner.start_state import read_variables
from codeplan.tools.approvals import (
    ASKER_FORM,
    Approvals,
    Approver,
    Asker,
    DoubtAsker,
    DoubtRules,
    GivenPattern,
    User,
    WayOn,
    given_patterns,
    read_patterns,
    require_fitting,
)
from codeplan.tools.environment import (
    MAX_INSTRUCTIONS_CHARS,
    CallRules,
    ToolEnvironment,
    ToolErrors,
    Verdict,
    Verifier,
    checked_instructions,
    require_goal,
)
from codeplan.tools.mcp import (
    DEFAULT_SECONDS,
    FILES_NOTE,
    MAX_RESTARTS,
    MAX_SECONDS,
    McpServers,
    ServerAddress,
    parse_address,
    read_config,
)
from codeplan.tools.python_tools import function_of_file, object_of_file, with_settings
from codeplan.tools.results import pack_result
from codeplan.tools.return_types import Misfit, read_returns
from codeplan.tools.tool import ErrorTest, Tool, ToolSettings, name_fault, require_error_test, require_timeout
from codeplan.tools.toolset import DOC, Toolset, at_once_of, python_tools, things_of
from codeplan.types import AgentTool, Checkpoint, Result, ReturnType
from codeplan.untrusted.files import read_user_text
from codeplan.untrusted.values import in_quotes


def collect_tools(given: object) -> tuple[Tool, ...]:
    """The tools of a function, an object, a module, ``"FILE.py:NAME"``, a Toolset, or a list of these.

    Raises: UsageError: something in it is no tool.
    """
    return python_tools(*things_of(given))


def read_flows(given: object) -> Flows | None:
    """Flows as the user gives them: the object, ``FILE.py:NAME``, ``FILE.toml``, ``default`` or None.

    Raises: UsageError: they are none of these, or cannot be read.
    """
    if given is None or isinstance(given, Flows):
        return given
    if not isinstance(given, str):
        raise UsageError(f"flows are a codeplan.flows.Flows, not {in_quotes(given)}")
    if given == "default":
        return Flows()
    form = "names no single object; write FILE.py:NAME, a codeplan.flows.Flows"
    found = object_of_file(given, form) if ".py" in given else flows_of_file(Path(given))
    if not isinstance(found, Flows):
        raise UsageError(f"flows: {in_quotes(given)} is no codeplan.flows.Flows")
    return found


def read_instructions(path: Path) -> str:
    """The text of a file of instructions. Raises: UsageError: it is empty, or cannot be read."""
    try:
        text = read_user_text(path, 4 * MAX_INSTRUCTIONS_CHARS + 4)
    except OSError as e:
        raise UsageError(f"the instructions in {path} cannot be read: {e.strerror}") from None
    if not text.strip():
        raise UsageError(f"the instructions in {path} are empty; write them there, or leave --instructions out")
    return text


Feedback = Literal["quoted", "blind"]
"""How a prompt tells what tools answered: between tags that it cannot forge, or by its shape alone."""

VERIFY_FORM = "verify(value, tools) -> bool or str"

MAX_NAMED_TOOLS = 5
"""Maximum number of missing or different tools that a message names."""


@dataclass(frozen=True)
class ToolSources:
    """The user's arguments for an episode with tools; ``codeplan.do`` and ``codeplan.resume`` explain each field."""

    tools: object = ()
    mcp: Iterable[str | ServerAddress] = ()
    mcp_config: Path | str | None = None
    mcp_timeout: float = DEFAULT_SECONDS
    verify: Callable[..., Verdict | Awaitable[Verdict]] | Verifier | str | None = None
    approve: Approver | str | None = None
    allow: Iterable[str] = ()
    ask: Iterable[str] | None = None
    deny: Iterable[str] = ()
    tool_errors: ToolErrors = "plan"
    in_doubt: WayOn | DoubtAsker = "stop"
    idempotent: Iterable[str] = ()
    once: Iterable[str] = ()
    tool_timeout: float | None = None
    error_if: ErrorTest | None = None
    flows: Flows | str | None = None
    readonly: Iterable[str] = ()
    feedback: Feedback = "quoted"
    instructions: str | None = None
    returns: Any = None
    ask_user: Asker | User | str | None = None
    variables: Mapping[str, Any] | Checkpoint | None = None

    @property
    def name_tools(self) -> bool:
        """Whether there may be a tool among them."""
        empty = isinstance(self.tools, list | tuple) and not self.tools
        return not empty or bool(self.mcp) or self.mcp_config is not None

    def require_fitting(self) -> None:
        """Raises: UsageError: how plans get errors or feedback, the instructions or the value's type is wrong."""
        if self.tool_errors not in ("plan", "stop"):
            raise UsageError(f"tool_errors is plan or stop, not {in_quotes(self.tool_errors)}")
        if self.feedback not in get_args(Feedback):
            raise UsageError(f"feedback is quoted or blind, not {in_quotes(self.feedback)}")
        checked_instructions(self.instructions)
        read_returns(self.returns)

    @property
    def verifier(self) -> Verifier | None:
        """What judges the value; None for nothing. Raises: UsageError: the file has no such function."""
        verify = self.verify
        judge = function_of_file(verify, VERIFY_FORM) if isinstance(verify, str) else verify
        return judge if judge is None or isinstance(judge, Verifier) else Verifier(judge)

    def approvals(self, approve: Approver | None = None) -> Approvals:
        """The user's patterns, with ``approve`` or the user's function. Raises: UsageError: one is wrong."""
        ask = () if self.ask is None and self.flows is not None else self.ask  # the flows say when to ask
        return Approvals(self.allow, ask, approve or self._approver)

    @cached_property
    def read_flows(self) -> Flows | None:
        """The user's flows. Raises: UsageError: they cannot be read, or are none."""
        return read_flows(self.flows)

    @cached_property
    def _approver(self) -> Approver | Literal["later"] | None:
        given = self.approve
        if isinstance(given, str) and given != "later":
            return cast(Approver, function_of_file(given, "approve(call), or later"))
        return cast('Approver | Literal["later"] | None', given)

    @property
    def patterns(self) -> list[GivenPattern]:
        """All patterns on the tools' names. Raises: UsageError: one is no pattern."""
        named = given_patterns(
            allow=self.allow,
            ask=self.ask or (),
            deny=self.deny,
            idempotent=self.idempotent,
            once=self.once,
            readonly=self.readonly,
        )
        of_flows = self.read_flows.tool_patterns() if self.read_flows else ()
        return [*named, *(GivenPattern(*each) for each in of_flows)]

    def user(self, answer: str | None = None) -> User:
        """Who answers what plans ask; first with this ``answer``. Raises: UsageError: it is no such function."""
        given = self.ask_user
        if isinstance(given, User):
            return given.with_answer(answer)
        ask = function_of_file(given, ASKER_FORM) if isinstance(given, str) else given
        return User(cast(Asker | None, ask), answer)

    def rules(self, approve: Approver | None = None) -> CallRules:
        """The user's rules about calls, for one episode. Raises: UsageError: one is wrong."""
        doubts = DoubtRules(self.in_doubt, self.idempotent)
        return CallRules(self.approvals(approve), doubts, self.read_flows, self.tool_errors)

    def with_settings(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """The tools, with what holds for all of them. Those of servers have a limit already, ``mcp_timeout``.

        Raises: UsageError: a setting is wrong.
        """
        timeout = require_timeout(self.tool_timeout, "tool_timeout")
        error_if = require_error_test(self.error_if)
        own, of_servers = ToolSettings(False, timeout, error_if), ToolSettings(error_if=error_if)
        return tuple(with_settings(tool, of_servers if tool.keeps_deadline else own) for tool in tools)

    def addresses(self) -> list[ServerAddress]:
        """The MCP servers. Raises: UsageError: one, the file of servers or the time for a call is wrong."""
        if isinstance(self.mcp, Mapping):
            raise UsageError("mcp takes commands and URLs; servers by name go into a JSON file, given as mcp_config")
        several = isinstance(self.mcp, Iterable) and not isinstance(self.mcp, str | ServerAddress)
        given: Any = tuple(self.mcp) if several else (self.mcp,)
        addresses = [a if isinstance(a, ServerAddress) else parse_address(a) for a in given]
        if not isinstance(self.mcp_config, str | Path | None):
            raise UsageError(f"mcp_config is the path of a JSON file, not {in_quotes(self.mcp_config)}")
        addresses += read_config(Path(self.mcp_config)) if self.mcp_config is not None else ()
        seconds = self.mcp_timeout
        if addresses and (
            isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MAX_SECONDS
        ):
            raise UsageError(f"mcp_timeout is a number of seconds up to {MAX_SECONDS:,}, not {in_quotes(seconds)}")
        return addresses


class OpenTools:
    """Tools whose servers run, with the user's rules about calls. Signatures are read once, for all episodes.

    ``loop`` runs asynchronous tools of all episodes; None gives each episode one of its own.
    """

    def __init__(
        self,
        toolset: Toolset,
        sources: ToolSources,
        verifier: Verifier | None,
        of_servers: Sequence[Tool] = (),
        servers: McpServers | None = None,
    ) -> None:
        self.toolset, self.sources, self._verifier, self._of_servers = toolset, sources, verifier, tuple(of_servers)
        self._servers = servers
        self._returns = read_returns(sources.returns, toolset.api.types)

    def environment(
        self,
        goal: str,
        approve: Approver | None = None,
        loop: LoopThread | None = None,
        carried: Sequence[CarriedAnswer] = (),
        user: User | None = None,
        shown_for: str | None = None,
    ) -> ToolEnvironment:
        """The environment of one episode. ``approve`` decides about calls in place of the user's function.
        ``carried`` are answers of an episode with which this one goes on. ``user`` is whom plans may ask. Of many
        tools, prompts show those in full that fit ``shown_for``; None: the goal.

        Raises: UsageError: the goal is empty, or a pattern is wrong.
        """
        return ToolEnvironment(
            goal,
            self.toolset,
            verifier=self._verifier,
            rules=self.sources.rules(approve),
            loop=loop,
            carried=carried,
            is_blind=self.sources.feedback == "blind",
            instructions=self.sources.instructions,
            returns=self._returns,
            user=user,
            variables=read_variables(self.sources.variables),
            shown_for=shown_for,
        )

    def on_change(self, tell: Callable[[], None]) -> bool:
        """Have ``tell`` called, in a thread of the servers' own, when their tools may have changed. Returns whether
        there are servers.
        """
        if self._servers is None:
            return False
        self._servers.on_change = tell
        return True

    def refresh(self) -> bool:
        """Take over the tools that servers offer now. Returns whether there are others than before; of a list without
        any tool, it takes over nothing.

        Raises: EnvironmentFailure: a server's list is too large.
        """
        if self._servers is None or not self._servers.refresh() or not self._servers.tools:
            return False
        self._of_servers = self.sources.with_settings(self._servers.tools)
        self.toolset = self.toolset_of(self.sources.tools)
        return True

    def toolset_of(self, given: object) -> Toolset:
        """Other tools of the user's own, in place of those that the sources name, beside those of the servers.

        Raises: UsageError: the input is wrong.
        """
        things = things_of(given)
        own = self.sources.with_settings(python_tools(*things))
        patterns = self.sources.patterns
        marked = (_with_patterns(tool, patterns) for tool in (*own, *self._of_servers))
        denied = [p.pattern for p in patterns if p.option == "deny"]
        return Toolset(marked, self.toolset.doc, at_once_of(things)).without(denied)


def open_tools(
    sources: ToolSources,
    folder: Path | None = None,
    *,
    restarts: int = MAX_RESTARTS,
    elsewhere: Callable[[GivenPattern], bool] = lambda pattern: False,
    may_log_in: bool = False,
) -> AbstractContextManager[OpenTools]:
    """The user's own tools and those of MCP servers, which start when the context is entered and end with it.

    Files that servers return are kept in ``folder``; None keeps none. A server that has ended is started again
    ``restarts`` times. If they ``may_log_in``, a user at a terminal is asked to log in at a server that wants it. Tools
    that the user denies are left out. ``elsewhere`` says whether a pattern that fits no tool
    here fits one of another task.

    Raises: UsageError: the input is wrong. On entering, UsageError: there is no tool, all are denied, or a pattern fits
    none. EnvironmentFailure: a server does not start.
    """
    sources.require_fitting()
    things = things_of(sources.tools)
    own = sources.with_settings(python_tools(*things))
    verifier = sources.verifier
    sources.rules()
    patterns = sources.patterns
    addresses = sources.addresses()

    @contextmanager
    def opening() -> Iterator[OpenTools]:
        with ExitStack() as stack:
            of_servers: tuple[Tool, ...] = ()
            servers: McpServers | None = None
            doc = DOC
            if addresses:
                names, types = [tool.name for tool in own], {t.name: t.text for tool in own for t in tool.types}
                servers = McpServers(
                    addresses,
                    seconds=sources.mcp_timeout,
                    folder=folder,
                    taken=names,
                    taken_types=types,
                    restarts=restarts,
                    may_log_in=may_log_in,
                )
                started = stack.enter_context(servers)
                of_servers = sources.with_settings(started.tools)
                doc = f"{DOC}\n{FILES_NOTE}"
            marked = (_with_patterns(tool, patterns) for tool in (*own, *of_servers))
            toolset = Toolset(marked, doc, at_once_of(things))
            require_fitting((p for p in patterns if p.fits_one(toolset.names) or not elsewhere(p)), toolset.names)
            if flows := sources.read_flows:
                flows.require_parameters({t.name: [p.name for p in t.method.parameters] for t in toolset.tools})
            denied = [p.pattern for p in patterns if p.option == "deny"]
            yield OpenTools(toolset.without(denied), sources, verifier, of_servers, servers)

    return opening()


def _with_patterns(tool: Tool, patterns: Iterable[GivenPattern]) -> Tool:
    """The tool; one whose equal calls are made once, or that only reads, if a pattern says so."""
    fits = {each.option for each in patterns if each.fits_one((tool.name,))}
    once, readonly = tool.once or "once" in fits, tool.readonly or "readonly" in fits
    return tool if (once, readonly) == (tool.once, tool.readonly) else replace(tool, once=once, readonly=readonly)


def open_goal(
    goal: str, sources: ToolSources, out: Path | str | None, user: User | None = None
) -> AbstractContextManager[ToolEnvironment]:
    """The environment of one episode with this goal. ``out`` is the episode's folder, ``user`` whom plans may ask.

    Raises as ``open_tools``.
    """
    try:
        tools = open_tools(sources, Path(out) if out else None, may_log_in=True)
    except UsageError as error:
        if isinstance(goal, str) and not goal.strip():
            error.add_note("also, the goal is empty")
        raise
    require_goal(goal)

    @contextmanager
    def opening() -> Iterator[ToolEnvironment]:
        with tools as opened, closing(opened.environment(goal, user=user)) as env:
            yield env

    return opening()


def open_recorded_tools(
    recording: Sequence[Event], sources: ToolSources, folder: Path, answer: str | None = None
) -> AbstractContextManager[ToolEnvironment]:
    """The environment in which a recorded episode continues, opened as by ``open_goal``. ``answer`` is the user's, to
    what the episode asks. A session continues with the tools and the type of value of its last turn.

    Its tools are those that the user names, never the trace's.

    Raises: UsageError: the user names no tools, or, on entering, others than the episode had.
    """
    header, tools, returns = latest_turn(recording)
    if returns is not None and sources.returns is None:
        raise UsageError(
            "the episode's value has a type, which is never taken from a trace; name it: --returns FILE.py:NAME"
        )
    recorded = sources_of_recording(recording, sources)
    user = sources.user(answer) if header.asks_user else None
    opening = open_goal(header.task.goal, recorded, folder, user)

    @contextmanager
    def with_same_tools() -> Iterator[ToolEnvironment]:
        with opening as env:
            require_same_tools(tools, env.described_tools)
            require_same_returns(returns, env.returns)
            if tools != header.tools or returns != header.returns:
                env.begin_as_recorded(header)
            yield env

    return with_same_tools()


def sources_of_recording(recording: Sequence[Event], sources: ToolSources) -> ToolSources:
    """The user's arguments with those that a recorded episode keeps: its instructions, say.

    Raises: UsageError: the user leaves out what is never taken from a trace.
    """
    header, tools, _ = latest_turn(recording)
    if not sources.name_tools:
        names = _named([tool.method.name for tool in tools])
        raise UsageError(
            f"the episode has tools, which are never taken from a trace ({names or 'without names'}); name them again, "
            "as for codeplan do: --tools FILE.py, --mcp COMMAND or --mcp-config FILE"
        )
    if header.has_verifier and sources.verify is None:
        raise UsageError(
            "the episode has a verifier, which is never taken from a trace; name it: --verify FILE.py:NAME"
        )
    if header.has_flows and sources.flows is None:
        raise UsageError("the episode has flows, which are never taken from a trace; name them: --flows FILE.py:NAME")
    known = {tool.method.name for tool in tools}  # of a trace that may come from a stranger
    once = (*read_patterns("once", sources.once), *(name for name in header.once if name in known))
    feedback: Feedback = "blind" if header.is_blind else "quoted"
    return replace(sources, once=once, feedback=feedback, instructions=header.instructions, variables=header.variables)


def latest_turn(recording: Sequence[Event]) -> tuple[EpisodeStarted, tuple[AgentTool, ...], ReturnType | None]:
    """The header of a recorded episode, and the tools and the type of value that its last turn has."""
    header = recording[0]
    assert isinstance(header, EpisodeStarted), "an episode begins with its header"
    tools, returns = header.tools, header.returns
    for event in events_of(recording, TurnStarted):
        tools, returns = tools if event.tools is None else event.tools, event.returns
    return header, tools, returns


def require_same_tools(recorded: Sequence[AgentTool], given: Sequence[AgentTool]) -> None:
    """Check that a recorded episode continues with its own tools. Raises: UsageError: they differ."""
    if tuple(recorded) == tuple(given):
        return
    was, now = ({tool.method.name: tool for tool in tools} for tools in (recorded, given))
    differences = {
        "missing: ": [name for name in was if name not in now],
        "new: ": [name for name in now if name not in was],
        "with another signature or description: ": [name for name in was if name in now and was[name] != now[name]],
    }
    found = "; ".join(f"{what}{_named(names)}" for what, names in differences.items() if names)
    raise UsageError(
        f"the tools differ from those of the recorded episode ({found or 'they stand in another order'}); name the "
        "same tools in the same order"
    )


def require_same_returns(recorded: ReturnType | None, given: ReturnType | None) -> None:
    """Check that a recorded episode continues with the type of its value. Raises: UsageError: it is another."""
    if recorded == given:
        return
    was, now = (in_quotes(each.text) if each else "none" for each in (recorded, given))
    differs = f"{was}, not {now}" if was != now else f"{was} with other fields"
    raise UsageError(f"the type of the value differs from that of the recorded episode: it was {differs}")


def with_typed_value(result: Result, env: BaseEnvironment) -> Result:
    """The result with a value of the type that the user wants; None if the value does not have it."""
    if not isinstance(env, ToolEnvironment) or env.returns is None:
        return result
    return msgspec.structs.replace(result, value=env.typed_value_of(result))


def with_type(result: Result, recording: Sequence[Event], returns: Any) -> Result:
    """The result of an episode that has ended with a value of this type, which must be that of the episode.

    Without ``returns`` it stays data. Raises: UsageError: it is another type.
    """
    _, tools, recorded = latest_turn(recording)
    known = dict.fromkeys(each for tool in tools for each in tool.types)
    wanted = read_returns(returns, tuple(known))
    if wanted is None:
        return result
    require_same_returns(recorded, wanted.described)
    try:
        return msgspec.structs.replace(result, value=wanted.convert(result.value))
    except Misfit:
        return msgspec.structs.replace(result, value=None)


def with_plain_value(result: Result) -> Result:
    """The result with a value that is plain data, as traces have it; None if plain data cannot stand for it."""
    try:
        return msgspec.structs.replace(result, value=unpack(pack_result(result.value)))
    except NotPlainData:
        return msgspec.structs.replace(result, value=None)


def _named(names: Sequence[str]) -> str:
    """The first of the names, and how many more there are."""
    shown = [in_quotes(name) if name_fault(name) else name for name in names[:MAX_NAMED_TOOLS]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def require_model(model: object) -> None:
    """Raises: UsageError: it is the scripted stand-in."""
    if model == "scripted":
        raise UsageError(
            "the scripted stand-in knows codeplan's own environments only; name an endpoint's model (--model NAME), or "
            "a function of yours (--model FILE.py:FUNCTION)"
        )


def do(
    goal: str,
    *,
    tools: object = (),
    mcp: Iterable[str | ServerAddress] = (),
    mcp_config: Path | str | None = None,
    mcp_timeout: float = DEFAULT_SECONDS,
    model: str | LLM | ModelFunction,
    verify: Callable[..., Verdict | Awaitable[Verdict]] | str | None = None,
    approve: Approver | str | None = None,
    allow: Iterable[str] = (),
    ask: Iterable[str] | None = None,
    deny: Iterable[str] = (),
    tool_errors: ToolErrors = "plan",
    once: Iterable[str] = (),
    method: str | Method = "adaplanner",
    budget: Budget | None = None,
    out: Path | str | None = None,
    on_event: EventHandler | None = None,
    tool_timeout: float | None = None,
    error_if: ErrorTest | None = None,
    flows: Flows | str | None = None,
    readonly: Iterable[str] = (),
    feedback: Feedback = "quoted",
    instructions: str | None = None,
    returns: Any = None,
    ask_user: Asker | User | str | None = None,
    variables: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Result:
    """Have plans reach a goal with tools, and return how that ended; ``Result.value`` is what the plan returned.

    Other methods, such as ``react``, make one call at a time; their value is what the model finishes with.

    ``tools`` is a function, an object (its public methods are tools), a module, ``"FILE.py"`` or ``"FILE.py:NAME,…"``,
    or a list of these. ``verify(value, tools)`` decides whether the goal is reached: True, or a text that says what is
    missing; it may also be ``"FILE.py:FUNCTION"``. Without it the episode ends as ``Claimed`` at best.

    ``mcp`` are MCP servers: commands to start, or URLs. ``mcp_config`` is a JSON file of further ones (``mcpServers``).
    They start with the episode and end with it; ``mcp_timeout`` is how many seconds a call may take. Their tools need
    approval unless a pattern in ``allow`` names them.

    ``allow``, ``ask`` and ``deny`` are patterns on the tools' names (see ``codeplan.tools.approvals``); each must fit
    one. ``approve(call)`` decides on a ProposedCall that is to be asked for: True, False, a text that says why not, or
    a dict of arguments to make the call with instead; it may also be ``"FILE.py:FUNCTION"``. Without it, and with
    ``"later"``, the episode ends there as ``Waiting``, and ``codeplan.approve`` answers. With ``approve`` and without
    ``ask``, every call is asked for.

    ``once`` are patterns on names of tools whose equal calls are made once: a plan that goes on after a failure, or
    starts over, gets the recorded answer. ``tool_timeout`` is how many seconds a call of your own tools may take, and
    ``error_if`` says which answers are errors; ``codeplan.tool`` says each of these for one tool.

    ``flows`` say which data may reach which argument of a call (``codeplan.flows``); it may also be
    ``"FILE.py:NAME"``, ``"FILE.toml"``, or ``"default"`` for ``Flows()``. ``readonly`` are patterns of tools that only
    read: they need no rule. With flows and ``approve``, and without ``ask``, only what the flows do not allow is asked
    for.

    ``feedback`` says how prompts for revised plans tell what tools answered: ``"quoted"`` between tags that data cannot
    forge, or ``"blind"`` by shapes alone.

    ``instructions`` are your own system text: a policy, a tone, what must not happen. Every prompt that plans or acts
    for you shows them as they are; ``ask_llm`` does not, since its data may be anybody's. ``codeplan.resume`` takes
    them from the trace.

    ``returns`` is the type of the value: ``list[int]``, a dataclass, a TypedDict, a pydantic model, a JSON schema as a
    dict, ``"FILE.py:NAME"`` or ``"FILE.json"``. The model reads it. A value that does not have it is not accepted, and
    the plan is refined; ``verify`` gets the typed value, and ``Result.value`` is it (None if the last did not have it).

    ``ask_user(question)`` answers what a plan, or the model in place of a plan, asks you; it returns a text, or None if
    you are not there, and may also be ``"FILE.py:FUNCTION"``. Without it, the episode ends there as ``NeedsInput``, and
    ``codeplan.resume`` takes the answer.

    ``variables`` are values by name that a plan may read in its steps, whole: texts, numbers, dates, lists, dicts; what
    else a tool may return becomes the same data here. The prompt shows their beginnings. Only plans have variables, so
    the method must write some.

    If a tool raises an exception, the plan gets it as an error that it can catch, or with ``tool_errors="stop"`` the
    episode ends. ``verify``, ``approve``, ``ask_user`` and the tools may be asynchronous. The rest is as in
    ``codeplan.run``.

    Raises:
        UsageError: the input is wrong.
        InfrastructureError: the model, a server, the verifier or the sandbox failed. A spent budget is a Result.
    """
    if out is not None:
        require_out(out)
    require_handler(on_event)
    sources = ToolSources(
        tools=tools,
        mcp=mcp,
        mcp_config=mcp_config,
        mcp_timeout=mcp_timeout,
        verify=verify,
        approve=approve,
        allow=allow,
        ask=ask,
        deny=deny,
        tool_errors=tool_errors,
        once=once,
        tool_timeout=tool_timeout,
        error_if=error_if,
        flows=flows,
        readonly=readonly,
        feedback=feedback,
        instructions=instructions,
        returns=returns,
        ask_user=ask_user,
        variables=variables,
    )
    env = EnvironmentToOpen(open_goal(goal, sources, out, sources.user()))
    require_model(model)  # what the user named is looked at before what they left out
    with EpisodeSetup(env, method, model, settings) as setup:
        if variables is not None and setup.method.name != "adaplanner":
            raise UsageError(f"variables are for plans, and the method {setup.method.name} takes none; take adaplanner")
        (task,) = setup.env.tasks("test")
        return with_typed_value(run_live(setup, task, budget, out, on_event), setup.env)
