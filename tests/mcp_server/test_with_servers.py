"""Runs of plans over the tools of an MCP server that ends now and then: one failure is not the end of all runs."""

import asyncio
from contextlib import closing, contextmanager

from mcp import Client
from mcp_types import ToolListChangedNotification
from support.mcp_addresses import raw
from support.plan_server import Shop, plan_runner

from codeplan.mcp_server.plan_runner import RunControl, RunnerSettings, ToolPlanRunner
from codeplan.mcp_server.run_folders import RunFolders
from codeplan.mcp_server.server import PlanService, make_server
from codeplan.runner.tools import ToolSources, open_tools

ALONE = RunControl()


def plan(lines, step=1):
    return f"def solution(agent, start_from=1):\n    if start_from <= {step}:\n        {lines}\n"


@contextmanager
def opened(folder, *names, restarts):
    sources = ToolSources(mcp=[raw(*names)], mcp_timeout=60.0, allow=("*",))
    with (
        open_tools(sources, folder, restarts=restarts) as tools,
        closing(ToolPlanRunner(tools, RunFolders(folder, 10), RunnerSettings())) as runner,
    ):
        yield runner


def test_a_server_that_ends_in_one_run_is_there_for_the_next(tmp_path):
    with opened(tmp_path, "die", "echo", restarts=100) as runner:
        for _ in range(3):
            died = runner.run(plan("assert agent.die()"), "", ALONE)
            assert died.ended == "failed" and "whether it was done is unknown" in died.failure.message
            assert runner.run(plan("return agent.echo()"), "", ALONE).value == "{}"


def test_a_server_that_does_not_start_again_ends_the_run_and_no_other(tmp_path):
    with opened(tmp_path, "die", "echo", restarts=0) as runner:
        runner.run(plan("assert agent.die()"), "", ALONE)
        broken = runner.run(plan("return agent.echo()"), "", ALONE)
        assert broken.ended == "infrastructure" and "ended with exit code 9 again" in broken.failure.message
        again = runner.resume(broken.run, plan("return 7"), ALONE)
        assert (again.ended, again.value, again.resumes) == ("finished", 7, broken.run)


SCHEMA = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
CHANGING = raw(tools=f"lambda _: {{'tools': [{{'name': n, 'inputSchema': {SCHEMA}}} for n in OFFERED]}}")


@contextmanager
def changing(folder):
    sources = ToolSources(mcp=[CHANGING], mcp_timeout=60.0, allow=("*",))
    with (
        open_tools(sources, folder) as tools,
        closing(ToolPlanRunner(tools, RunFolders(folder, 10), RunnerSettings())) as runner,
    ):
        yield runner


async def next_change(client, heard):
    """Change the server's tools by a plan, and wait until the client hears of it."""
    changed = await client.call_tool("run_plan", {"plan": plan("return agent.change(['change', 'new'])")})
    assert changed.structured_content["value"] == "changed"
    async with asyncio.timeout(30):
        await heard()
    listed = {t.name: t.description for t in (await client.list_tools()).tools}
    assert listed["describe_tools"].endswith("They are: change, new.")
    checked = await client.call_tool("check_plan", {"plan": plan("return agent.old()")})
    assert not checked.structured_content["accepted"]
    return (await client.call_tool("run_plan", {"plan": plan("return agent.new()")})).structured_content["value"]


def test_clients_hear_of_tools_that_a_server_changes(tmp_path):
    """A session of the older protocol gets a notification."""

    async def main(runner):
        service, news = PlanService(runner, None, 4), asyncio.Event()

        async def on_message(message):
            if isinstance(message, ToolListChangedNotification):
                news.set()

        try:
            async with Client(make_server(service), mode="legacy", message_handler=on_message) as client:
                assert client.server_capabilities.tools.list_changed
                before = (await client.list_tools()).tools[0].description
                assert before.endswith("They are: change, old.")
                return await next_change(client, news.wait)
        finally:
            await service.close()

    with changing(tmp_path) as runner:
        assert asyncio.run(main(runner)) == "{}"


def test_streams_of_the_newer_protocol_hear_of_them_too(tmp_path):
    async def main(runner):
        service = PlanService(runner, None, 4)
        try:
            async with Client(make_server(service)) as client, client.listen(tools_list_changed=True) as events:
                return await next_change(client, lambda: anext(events))
        finally:
            await service.close()

    with changing(tmp_path) as runner:
        assert asyncio.run(main(runner)) == "{}"


def test_a_server_without_servers_behind_it_has_no_changes(tmp_path):
    async def main(runner):
        service = PlanService(runner, None, 4)
        try:
            async with Client(make_server(service), mode="legacy") as client:
                return client.server_capabilities.tools.list_changed
        finally:
            await service.close()

    with plan_runner(tmp_path / "runs", Shop()) as runner:
        assert not asyncio.run(main(runner))
