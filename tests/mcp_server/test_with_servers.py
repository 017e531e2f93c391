"""Runs of plans over the tools of an MCP server that ends now and then: one failure is not the end of all runs."""

from contextlib import closing, contextmanager

from support.mcp_addresses import raw

from codeplan.mcp_server.plan_runner import RunControl, RunnerSettings, ToolPlanRunner
from codeplan.mcp_server.run_folders import RunFolders
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
