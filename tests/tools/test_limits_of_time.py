"""Calls that run past their limit: the plan gets a TimeoutError, and the call is in doubt."""

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import codeplan
from codeplan.budget import deadline_in
from codeplan.cancellation import DeadlinePassed, LoopThread
from codeplan.errors import UsageError
from codeplan.recording.events import CallBegun
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.types import Answer, Call


def call(tool, *, environment=None, **arguments):
    """The answer to a call of the tool, and the events before it."""
    env = environment or ToolEnvironment("try it", Toolset(python_tools(tool)))
    events = []
    return env.call(1, Call(env.toolset.names[0], arguments), events.append), events


def sleep() -> str:
    time.sleep(20)
    return "late"


async def wait() -> str:
    await asyncio.sleep(20)
    return "late"


async def block() -> str:
    time.sleep(20)
    return "late"


def rows():
    yield 1
    time.sleep(20)


@pytest.mark.parametrize("function", [sleep, wait, block, rows])
def test_a_call_past_its_limit_is_in_doubt_by_name(function):
    began = time.monotonic()
    answer, _ = call(codeplan.tool(function, timeout=0.3))
    why = f"{function.__name__} did not answer within its limit of 0.3 s; whether it was done is unknown"
    assert answer == Answer(error="TimeoutError", message=why, in_doubt=True)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("function", [sleep, wait])
def test_a_budget_of_seconds_ends_an_open_call(function):
    with deadline_in(0.3):
        answer, events = call(codeplan.tool(function, timeout=60))
    assert answer.in_doubt and "that the budget of seconds left; whether" in answer.message
    assert any(isinstance(event, CallBegun) for event in events)


def test_without_seconds_in_the_budget_a_call_is_not_begun():
    with deadline_in(0):
        answer, events = call(sleep)
    assert (answer.error, answer.in_doubt, events) == ("TimeoutError", False, [])


KEY = contextvars.ContextVar("key", default="none")


def test_calls_with_a_limit_share_a_thread_and_have_the_callers_context():
    def where() -> list:
        return [threading.get_ident(), KEY.get()]

    env = ToolEnvironment("try it", Toolset(python_tools(codeplan.tool(where, timeout=60))))
    KEY.set("mine")
    (first, _), (second, _) = call(None, environment=env), call(None, environment=env)
    env.close()
    assert first.value == second.value and first.value[1] == "mine"
    assert first.value[0] != threading.get_ident()
    assert call(where)[0].value[0] == threading.get_ident()


def test_a_call_after_one_past_its_limit_is_made():
    slow = [True]

    def once_slow() -> str:
        if slow.pop() if slow else False:
            time.sleep(20)
        return "quick"

    env = ToolEnvironment("try it", Toolset(python_tools(codeplan.tool(once_slow, timeout=1))))
    assert call(None, environment=env)[0].in_doubt
    assert call(None, environment=env)[0] == Answer("quick")


def test_a_loop_that_a_call_blocks_does_not_hold_up_its_end():
    loop = LoopThread()
    with pytest.raises(DeadlinePassed):
        loop.run(block(), 0.2)
    began = time.monotonic()
    loop.close()
    assert time.monotonic() - began < 10


def test_a_thread_that_waits_for_news_does_not_run():
    """Its own processor time says so, whatever else the machine does."""

    async def late():
        await asyncio.sleep(1.0)
        return "late"

    loop = LoopThread()
    began = time.thread_time()
    assert loop.run_telling(lambda tell: late(), print) == "late"
    assert time.thread_time() - began < 0.2
    loop.close()


PROGRAM = """
import time, codeplan
from codeplan.runner.given_plans import execute
from codeplan.tools import ToolEnvironment, Toolset, python_tools

def sleep() -> None:
    print("begun", flush=True)
    time.sleep(60)

tools = Toolset(python_tools(codeplan.tool(sleep, timeout={timeout})))
result = execute("def solution(agent, start_from=1):\\n    agent.sleep()\\n", ToolEnvironment("x", tools)).result
print(result.reason)
"""


def start(timeout):
    command = [sys.executable, "-c", PROGRAM.format(timeout=timeout)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_process_ends_while_an_abandoned_call_still_runs():
    out, err = start(0.5).communicate(timeout=40)
    assert "TimeoutError: sleep did not answer within its limit of 0.5 s" in out and "Traceback" not in err


def test_ctrl_c_ends_a_call_with_a_limit():
    program = start(50)
    assert program.stdout.readline() == "begun\n"
    os.kill(program.pid, signal.SIGINT)
    _, err = program.communicate(timeout=40)
    assert "KeyboardInterrupt" in err and program.returncode != 0


@pytest.mark.parametrize("limit", [0, -1, True, float("nan"), 1e6, "3"])
def test_a_wrong_limit_is_a_usage_error(limit):
    with pytest.raises(UsageError, match="^timeout is a number of seconds up to 86,400, not "):
        codeplan.tool(timeout=limit)
    with pytest.raises(UsageError, match="^tool_timeout is a number of seconds"):
        codeplan.do("x", tools=sleep, tool_timeout=limit, model=lambda messages: "")
