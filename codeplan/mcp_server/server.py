"""Implements the Model Context Protocol: offers the tools, runs them, asks the client for approvals, reports steps."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import traceback
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from codeplan.agent_interface import describe_api
from codeplan.errors import CodeplanError, UsageError
from codeplan.mcp_server import answers as offered
from codeplan.mcp_server.answers import OFFERED, FoundSkill, FoundSkills, OfferedTool, RunAnswer, ToolsText
from codeplan.mcp_server.live_runs import ApprovalDesk, LiveRun, LiveRuns, StepNews
from codeplan.mcp_server.plan_runner import ToolPlanRunner, require_lengths
from codeplan.mcp_server.transports import (
    MAX_SESSIONS,
    HttpAddress,
    ProtocolStreams,
    mend_parameters,
    serve_http,
    serve_streams,
)
from codeplan.prompts.templates import Prompts
from codeplan.skills.parameter_binding import fill_parameters
from codeplan.skills.skill import Skill, SkillStore, find_tool_difference
from codeplan.tools.agent import shown_api, tool_text
from codeplan.tools.environment import ToolEnvironment
from codeplan.types import Task, Value
from codeplan.untrusted.texts import echo, echo_message, escape_in_data, escape_surrogates, one_line
from codeplan.untrusted.values import in_quotes
from codeplan.version import VERSION

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp_types import (
        CallToolRequestParams,
        CallToolResult,
        InputRequiredResult,
        ListToolsResult,
        PaginatedRequestParams,
    )


MAX_DESCRIBED_CHARS: Final = 100_000
"""Maximum length of the tools that one call of describe_tools shows in full, in characters."""

MAX_NAMED: Final = 30
"""Maximum number of tools that the description of describe_tools names."""

CALM_SECONDS: Final = 1.0
"""How long after a change of its tools a server's next one is not taken over: each takes a list of all."""

_Answer = Value | LiveRun[RunAnswer]


class Listeners:
    """The clients that hear of changed tools: sessions of the older protocol that have listed the tools, and streams of
    the newer one, which ask for it by ``subscriptions/listen``.
    """

    def __init__(self) -> None:
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        self._sessions: OrderedDict[str, ServerSession] = OrderedDict()
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=MAX_SESSIONS)

    def note(self, context: ServerRequestContext[Any]) -> None:
        """Keep the client's session."""
        name = "" if context.request is None else context.request.headers.get("mcp-session-id", "")
        self._sessions[name] = context.session
        self._sessions.move_to_end(name)
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)

    async def tell(self) -> None:
        """Say that the tools have changed."""
        from mcp.server.subscriptions import ToolsListChanged

        await self._bus.publish(ToolsListChanged())
        for session in list(self._sessions.values()):
            with contextlib.suppress(Exception):  # the client is gone
                await session.send_tool_list_changed()


class PlanService:
    """The server's services for its clients. ``skills`` is the library's store, None without one.

    ``at_once`` is how many plans run at a time. Create it in the server's event loop, and close it with the loop.
    """

    def __init__(self, runner: ToolPlanRunner, skills: SkillStore | None, at_once: int) -> None:
        self._runner, self._skills = runner, skills
        self._runs, self._checks = LiveRuns(at_once), LiveRuns(at_once)
        self._desk = ApprovalDesk()
        self._tools = {t.name: t for t in OFFERED if skills is not None or t.name not in offered.OF_SKILLS}
        self._loop, self._has_change = asyncio.get_running_loop(), asyncio.Event()
        self.listeners = Listeners() if runner.on_change(self._tell_change) else None
        """The clients that hear of changed tools; None if the tools do not change: there are no servers."""
        self._following = asyncio.ensure_future(self._follow_changes()) if self.listeners else None

    def instructions(self) -> str:
        """What a client's model should know about plans."""
        once = [tool.name for tool in self._runner.toolset.tools if tool.once]
        language = {"tools": True, "asks": False, "replans": True, "once": once, "at_entry": False, "asks_user": False}
        language["brief"] = False
        return Prompts.cached(None).render("mcp/instructions", skills=self._skills is not None, **language)

    async def close(self) -> None:
        """Cancel all running work."""
        if self._following is not None:
            self._following.cancel()
        await asyncio.gather(self._runs.close(), self._checks.close())

    def _tell_change(self) -> None:
        """In the thread of the servers: one of them has changed its tools."""
        with contextlib.suppress(RuntimeError):  # this server has ended, and its event loop is closed
            self._loop.call_soon_threadsafe(self._has_change.set)

    async def _follow_changes(self) -> None:
        """Take over tools that servers change, and tell the clients."""
        assert self.listeners is not None, "there are servers"
        while True:
            await self._has_change.wait()
            self._has_change.clear()
            try:
                if await asyncio.to_thread(self._runner.refresh):
                    self.__dict__.pop("_listed", None)
                    await self.listeners.tell()
            except CodeplanError as error:
                echo_message(f"changed tools are not taken over: {error}", err=True)
            await asyncio.sleep(CALM_SECONDS)

    async def list_tools(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """The tools with their schemas."""
        if self.listeners is not None:
            self.listeners.note(context)
        return self._listed

    @cached_property
    def _listed(self) -> ListToolsResult:
        """The list, made once: the official package asks for it before every call over HTTP."""
        from mcp_types import ListToolsResult, Tool, ToolAnnotations

        return ListToolsResult(
            tools=[
                Tool(
                    name=t.name,
                    title=t.title,
                    description=t.description + (self._names if t.name == "describe_tools" else ""),
                    input_schema=t.input_schema,
                    output_schema=t.output_schema,
                    annotations=ToolAnnotations.model_validate(t.hints),
                )
                for t in self._tools.values()
            ]
        )

    @property
    def _names(self) -> str:
        """A sentence with the names of the tools, for the description of describe_tools."""
        names = [tool.name for tool in self._runner.toolset.tools]
        more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
        return f" They are: {', '.join(names[:MAX_NAMED])}{more}."

    async def call_tool(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. An error becomes one sentence for the client, and the server continues."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise _unknown_tool(params.name, self._tools)
        try:
            if params.request_state is not None:
                return await self._follow(self._desk.take_up(params), context, params)
            answer = await self._start(tool, tool.read(params.arguments), self._desk.can_ask(context))
            return await self._follow(answer, context, params) if isinstance(answer, LiveRun) else _result(answer)
        except CodeplanError as error:
            return _refusal("; ".join([f"{error}", *getattr(error, "__notes__", ())]))
        except Exception as error:
            echo("".join(traceback.format_exception(error)), err=True)
            return _refusal(f"internal error in codeplan ({type(error).__name__}); see its standard error")

    async def _start(self, tool: OfferedTool, arguments: Value, can_ask: bool) -> _Answer:
        """Begin the work, or have it wait for its turn. Texts that are far too long do not wait: they fill memory."""
        runner = self._runner
        match arguments:
            case offered.CheckPlanArguments(plan=plan):
                require_lengths(plan)
                return await self._checks.run(lambda: runner.check(plan))
            case offered.RunPlanArguments(plan=plan, goal=goal):
                require_lengths(plan, goal)
                return await self._runs.start(lambda live: runner.run(plan, goal, live), with_approvals=can_ask)
            case offered.ResumePlanArguments(run=run, plan=plan):
                require_lengths(plan)
                return await self._runs.start(lambda live: runner.resume(run, plan, live), with_approvals=can_ask)
            case offered.FindSkillsArguments():
                return await self._checks.run(lambda: self._find_skills(arguments))
            case offered.RunSkillArguments(skill=name, values=values):
                skill = await self._checks.run(lambda: self._require_skill(name))
                goal = f"run the skill {skill.name}"
                plan = fill_parameters(skill.name, skill.plan, goal, values)
                return await self._runs.start(lambda live: runner.run(plan, goal, live, skill), with_approvals=can_ask)
            case offered.DescribeToolsArguments():
                return await self._checks.run(lambda: self._describe(arguments))
        raise AssertionError(f"{tool.name} has other arguments")

    async def _follow(
        self, live: LiveRun[RunAnswer], context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Pass on the run's news until it ends, or until the client must answer first."""
        try:
            while (news := await live.next_news()) is not None:
                if isinstance(news, StepNews):
                    await _tell_step(context, news)
                elif self._desk.asks_in_results(context):
                    return self._desk.question(live, news)
                else:
                    live.answer(await self._desk.ask(context, news))
        except BaseException:  # the client cancelled the call, or is gone
            live.cancel()
            raise
        return _result(live.result)

    def _describe(self, wanted: offered.DescribeToolsArguments) -> ToolsText:
        toolset = self._runner.toolset
        if not wanted.names:
            once = " and ".join(tool.name for tool in toolset.tools if tool.once)
            note = (
                f"\n\nCalls of {once} are made once: in a resumed run, an equal call gets the recorded answer."
                if once
                else ""
            )
            return ToolsText(describe_api(shown_api(toolset, wanted.goal)) + note)
        texts = []
        for name in dict.fromkeys(wanted.names):
            tool = toolset.get(name)
            if tool is None:
                raise UsageError(
                    f"there is no tool {in_quotes(name, 100)}; describe_tools without names lists all of them"
                )
            texts.append(tool_text(tool))
        if (size := sum(map(len, texts))) > MAX_DESCRIBED_CHARS:
            raise UsageError(f"these tools take {size:,} characters, more than {MAX_DESCRIBED_CHARS:,}; name fewer")
        return ToolsText("\n\n".join(texts))

    def _find_skills(self, wanted: offered.FindSkillsArguments) -> FoundSkills:
        assert self._skills is not None, "without a library, the tool is not offered"
        task = Task(id="goal", env=ToolEnvironment.name, kind="goal", goal=one_line(wanted.goal, 2_000))
        found = self._skills.find(task, wanted.limit)
        return FoundSkills(tuple(FoundSkill(s.name, s.description, s.parameters, s.plan) for s in found))

    def _require_skill(self, name: str) -> Skill:
        """An active skill that fits the tools. Clients run no other. Raises: UsageError: there is no such skill."""
        assert self._skills is not None, "without a library, the tool is not offered"
        skill = self._skills.get(ToolEnvironment.name, name)
        if skill.status != "active":
            raise UsageError(f"the skill {skill.name} is {skill.status}; its owner runs codeplan skills promote first")
        if difference := find_tool_difference(skill.tools, self._runner.toolset.described):
            raise UsageError(f"the skill {skill.name} does not fit the tools: {difference}")
        return skill


def make_server(service: PlanService) -> Server[Any]:
    """The server of the official package, without a transport."""
    from mcp.server import NotificationOptions, Server
    from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

    for name in ("mcp", "uvicorn"):  # faults are answered; the package would also print tracebacks
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    listeners = service.listeners
    server: Server[Any] = Server(
        "codeplan",
        version=VERSION,
        title="codeplan",
        instructions=service.instructions(),
        on_list_tools=service.list_tools,
        on_call_tool=service.call_tool,
        on_subscriptions_listen=listeners.listen if listeners else None,
    )
    changes = NotificationOptions(tools_changed=listeners is not None)
    made = partial(server.create_initialization_options, changes)
    server.create_initialization_options = made  # type: ignore[method-assign]  # all transports ask for them
    server.middleware.append(_mend_request)
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="codeplan"))
    return server


async def _mend_request(ctx: ServerRequestContext[Any], call_next: Callable[..., Any]) -> Any:
    """Read a request's parameters as they are meant, and name what is wrong in those that cannot be read.

    They are changed in place: the official package reads those of ``initialize`` again afterwards.
    """
    from mcp import MCPError
    from mcp_types import INVALID_PARAMS
    from pydantic import ValidationError

    if isinstance(ctx.params, dict):
        mend_parameters(ctx.method, ctx.params)
    try:
        return await call_next(ctx)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(step) for step in fault["loc"])
        said = one_line(f"Invalid request parameters: {place}: {fault['msg']}", 300)
        raise MCPError(INVALID_PARAMS, escape_surrogates(said)) from None
    except MCPError as error:
        if error.message != "Invalid request parameters":
            raise
        raise MCPError(INVALID_PARAMS, f"{error.message}: a session begins with initialize; send that first") from None


async def _tell_step(context: ServerRequestContext[Any], news: StepNews) -> None:
    """Send a progress notification, if the client asked for them."""
    with contextlib.suppress(Exception):  # the client may be gone; then the call is cancelled
        title = one_line(f"[Step {news.step}] {news.title}", 200)
        await context.session.report_progress(news.step, news.steps or None, title)


def _result(answer: Value) -> CallToolResult:
    """The answer as structured content, and as text for clients that show a model only that."""
    from mcp_types import CallToolResult, TextContent

    if isinstance(answer, ToolsText):
        return CallToolResult(content=[TextContent(type="text", text=escape_surrogates(answer.text))])
    data = escape_in_data(msgspec.to_builtins(answer, str_keys=True))
    text = msgspec.json.encode(data).decode()
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data)


def _refusal(sentence: str) -> CallToolResult:
    from mcp_types import CallToolResult, TextContent

    said = escape_surrogates(one_line(sentence, 2_000))
    return CallToolResult(content=[TextContent(type="text", text=said)], is_error=True)


def _unknown_tool(name: str, tools: dict[str, OfferedTool]) -> Exception:
    from mcp import MCPError
    from mcp_types import INVALID_PARAMS

    return MCPError(INVALID_PARAMS, f"there is no tool {in_quotes(name, 100)}; there are: {', '.join(tools)}")


def serve(
    runner: ToolPlanRunner,
    skills: SkillStore | None,
    at_once: int,
    where: ProtocolStreams | HttpAddress,
    on_ready: Callable[[str], None],
) -> None:
    """Serve until the client of the streams leaves, or until SIGINT or SIGTERM.

    Work that is still running is then cancelled.

    ``on_ready`` gets the URL of an HTTP server.
    """
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_serve(runner, skills, at_once, where, on_ready))


async def _serve(
    runner: ToolPlanRunner,
    skills: SkillStore | None,
    at_once: int,
    where: ProtocolStreams | HttpAddress,
    on_ready: Callable[[str], None],
) -> None:
    service = PlanService(runner, skills, at_once)
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None, "this is a task"
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        server = make_server(service)
        if isinstance(where, HttpAddress):
            await serve_http(server, where, on_ready)
        else:
            await serve_streams(server, where)
    finally:
        await service.close()
