"""Runs the server from its start to its end: one client over standard streams, or many over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

from codeplan.mcp_server.plan_runner import ToolPlanRunner
from codeplan.mcp_server.server import PlanService, make_server
from codeplan.mcp_server.stdio import ProtocolStreams, serve_streams
from codeplan.mcp_server.web import HttpAddress, serve_http
from codeplan.skills.skill_store import SkillStore


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
