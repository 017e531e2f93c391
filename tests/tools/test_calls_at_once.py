"""Calls that a plan begins together run together, at most ``at_once``; each is decided, counted and recorded by itself.

That calls overlap is seen by counting how many are open, never by the time that they take.
"""

from __future__ import annotations

import asyncio
import os
import signal
import textwrap
import threading
import time

import pytest
from support.boxes import Replies
from support.zygotes import spare_workers, zygote_pid

import codeplan
from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    CallDecided,
    CallRepeated,
    PlanEnded,
    TimePassed,
    ToolFailed,
)
from codeplan.recording.trace import Trace
from codeplan.sandbox.host import launcher
from codeplan.tools import Toolset, python_tools
from codeplan.types import Claimed, EnvironmentEnded, Failed, Waiting


class Counter:
    """Tools that count how many of their calls are open, and let the others come first."""

    def __init__(self, expected: int = 8) -> None:
        self.open = self.most = 0
        self.made: list[int] = []
        self.failed: list[int] = []
        self.threads: set[str] = set()
        self._lock, self._together = threading.Lock(), threading.Barrier(expected)

    def _begin(self, number: int) -> None:
        with self._lock:
            self.open += 1
            self.most = max(self.most, self.open)
            self.made.append(number)
            self.threads.add(threading.current_thread().name)

    def _end(self) -> None:
        with self._lock:
            self.open -= 1

    async def fetch(self, number: int) -> int:
        """Asynchronous: its calls run together."""
        self._begin(number)
        await asyncio.sleep(0.2)  # so that others come also on a busy machine
        self._end()
        return number * 10

    @codeplan.tool(at_once=8)
    def read(self, number: int) -> int:
        """Safe for threads: eight of its calls must be open for one to end."""
        self._begin(number)
        self._together.wait(timeout=30)
        self._end()
        return number * 10

    @codeplan.tool(at_once=2)
    def pair(self, number: int) -> int:
        """Two at a time."""
        self._begin(number)
        time.sleep(0.1)
        self._end()
        return number

    def write(self, number: int) -> str:
        """An ordinary function: one call after the other, in the thread of the episode."""
        self._begin(number)
        time.sleep(0.001)
        self._end()
        return threading.current_thread().name

    async def fail(self, number: int) -> int:
        """Fails after a while, and well after the call with the number before it has failed."""
        self._begin(number)
        await asyncio.sleep(0.2)
        while number > 1 and number - 1 not in self.failed:
            await asyncio.sleep(0.2)
        await asyncio.sleep(0.2 * (number > 1))
        self.failed.append(number)
        self._end()
        raise ValueError(f"number {number}")


def plan(body: str) -> str:
    steps = textwrap.indent(textwrap.dedent(body).strip(), "        ")
    return f"```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n{steps}\n        assert True\n    return r\n```"


def do(body: str, tools: object, **options):
    return codeplan.do("count", tools=tools, model=Replies(plan(body)), **options)


def events(folder, *kinds):
    return [event for event in Trace.read(folder / "trace.jsonl") if isinstance(event, kinds)]


TEN = list(range(0, 200, 10))

WAYS = {
    "gather of a generator": "r = await asyncio.gather(*(agent.TOOL(n) for n in range(COUNT)))",
    "gather of a list": "r = await asyncio.gather(*[agent.TOOL(n) for n in range(COUNT)])",
    "gather of a map": "r = await asyncio.gather(*map(agent.TOOL, range(COUNT)))",
    "gather by its name": "from asyncio import gather\nr = await gather(*(agent.TOOL(n) for n in range(COUNT)))",
    "a list that is kept": "calls = [agent.TOOL(n) for n in range(COUNT)]\nr = await asyncio.gather(*calls)",
    "a list that grows": """
        calls = []
        for n in range(COUNT):
            calls.append(agent.TOOL(n))
        r = await asyncio.gather(*calls)""",
    "a list in a helper": """
        async def main():
            calls = [agent.TOOL(n) for n in range(COUNT)]
            return await asyncio.gather(*calls)
        r = asyncio.run(main())""",
    "each": "r = each(agent.TOOL, range(COUNT))",
    "tasks": """
        tasks = [asyncio.create_task(agent.TOOL(n)) for n in range(COUNT)]
        r = [await task for task in tasks]""",
    "coroutines": """
        async def one(n):
            return await agent.TOOL(n)
        async def main():
            return await asyncio.gather(*(one(n) for n in range(COUNT)))
        r = asyncio.run(main())""",
    "a group": """
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(agent.TOOL(n)) for n in range(COUNT)]
        r = [task.result() for task in tasks]""",
    "a pool's map": """
        from concurrent.futures import ThreadPoolExecutor
        r = list(ThreadPoolExecutor().map(agent.TOOL, range(COUNT)))""",
    "a pool's futures": """
        import concurrent.futures
        pool = concurrent.futures.ThreadPoolExecutor(max_workers=8)
        futures = [pool.submit(agent.TOOL, n) for n in range(COUNT)]
        r = [future.result() for future in futures]""",
    "threads of asyncio": "r = await asyncio.gather(*(asyncio.to_thread(agent.TOOL, n) for n in range(COUNT)))",
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_begin_calls_runs_them_together(way):
    counter = Counter()
    result = do(WAYS[way].replace("TOOL", "read").replace("COUNT", "16"), [counter.read])
    assert (result.value, counter.most) == (TEN[:16], 8)


def test_asynchronous_tools_run_together_up_to_eight_without_a_word():
    counter = Counter()
    result = do(WAYS["each"].replace("TOOL", "fetch").replace("COUNT", "20"), [counter.fetch])
    assert (result.value, counter.most, result.actions) == (TEN, 8, 20)


@pytest.mark.parametrize(("at_once", "most"), [(1, 1), (3, 3), (None, 8)])
def test_a_tool_set_says_how_many_calls_run_at_once(at_once, most):
    counter = Counter()
    tools = Toolset(python_tools(counter.fetch), at_once=at_once)
    result = do(WAYS["each"].replace("TOOL", "fetch").replace("COUNT", "12"), tools)
    assert (result.value, counter.most) == (TEN[:12], most)


def test_a_tool_says_how_many_of_its_own_calls_run_at_once():
    counter = Counter()
    do("r = each(agent.pair, range(7))", [counter.pair])
    assert counter.most == 2


def test_calls_of_an_ordinary_function_run_one_after_the_other_in_the_episodes_thread():
    counter = Counter()
    result = do("r = await asyncio.gather(*(agent.write(n) for n in range(5)))", [counter.write])
    assert (counter.most, counter.made) == (1, [0, 1, 2, 3, 4])
    assert result.value == [threading.current_thread().name] * 5


def test_calls_of_ordinary_functions_do_not_hold_up_the_others():
    counter = Counter()
    body = "r = await asyncio.gather(agent.write(0), *(agent.fetch(n) for n in range(3)), agent.write(4))"
    result = do(body, [counter.write, counter.fetch])
    assert result.value[1:4] == [0, 10, 20]
    assert counter.most == 4  # the first write, and the three that began before it


@pytest.mark.parametrize("at_once", [1, 3])
def test_calls_that_run_alone_count_as_well(at_once):
    counter = Counter()
    tools = Toolset(python_tools(counter.write, counter.fetch), at_once=at_once)
    body = "r = await asyncio.gather(*(agent.fetch(n) if n % 3 else agent.write(n) for n in range(12)))"
    assert len(do(body, tools).value) == 12
    assert counter.most == at_once


@pytest.mark.parametrize("wrong", [0, 65, "4", True, 2.0])
def test_a_wrong_number_at_once_is_refused(wrong):
    with pytest.raises(UsageError, match="at_once is a whole number from 1 to 64"):
        codeplan.tool(at_once=wrong)
    with pytest.raises(UsageError, match="at_once is a whole number from 1 to 64"):
        Toolset(python_tools(Counter().write), at_once=wrong)


# ------------------------------------------------------------------ what begins a call, and what waits


def test_a_bare_call_waits_also_beside_open_ones(tmp_path):
    body = """
        async def one(n):
            first = await agent.fetch(n)
            return first + agent.fetch(n + 5)
        r = await asyncio.gather(*(one(n) for n in range(3)))
    """
    result = do(body, [Counter().fetch], out=tmp_path / "run")
    assert result.value == [50, 70, 90]
    assert codeplan.replay(tmp_path / "run").value == result.value


def test_a_call_in_the_arguments_of_another_gives_its_value():
    body = """
        async def add(a, b):
            return a + b
        r = await asyncio.gather(*(add(agent.fetch(n), 1) for n in range(3)))
    """
    assert do(body, [Counter().fetch]).value == [1, 11, 21]


def test_values_that_are_there_are_awaited_as_they_are():
    kept = "calls = [agent.fetch(n) for n in range(3)]\nr = [await asyncio.gather(*calls), await calls[1], await ask_llm('q')]"
    reply = plan(kept)
    result = codeplan.do("count", tools=[Counter().fetch], model=Replies(reply, "yes"))
    assert result.value == [[0, 10, 20], 10, "yes"]


def test_one_after_the_other_an_asynchronous_solution_is_a_plan_like_any_other(tmp_path):
    reply = plan("r = await agent.fetch(1)").replace("def solution", "async def solution")
    result = codeplan.do("count", tools=[Counter().fetch], model=Replies(reply))
    assert (result.ending, result.value) == (Claimed("the plan ran to its end; nobody verified the result"), 10)


# ------------------------------------------------------------------ errors


def test_the_first_error_is_raised_after_all_have_ended(tmp_path):
    counter = Counter()
    body = "r = await asyncio.gather(agent.fail(2), agent.fail(1), agent.fetch(7), agent.fetch(8))"
    result = do(body, [counter.fail, counter.fetch], out=tmp_path / "run", tries=1)
    assert (result.failure.error, result.failure.message, result.failure.tool) == ("ValueError", "number 1", "fail")
    trace = Trace.read(tmp_path / "run" / "trace.jsonl")
    ended = next(i for i, event in enumerate(trace) if isinstance(event, PlanEnded))
    assert {e.id for e in trace[:ended] if isinstance(e, CallAnswered)} == {1, 2, 3, 4}
    assert [e.id for e in trace if isinstance(e, ToolFailed)] == [2, 1]


def test_errors_are_values_if_they_are_wanted_so():
    counter = Counter()
    body = """
        r = await asyncio.gather(agent.fail(1), agent.fetch(7), return_exceptions=True)
        r = [str(r[0]), r[1]]
    """
    assert do(body, [counter.fail, counter.fetch]).value == ["number 1", 70]


def test_a_failed_assertion_ends_the_plan_past_every_task_and_the_open_calls_are_answered(tmp_path):
    counter = Counter()
    body = """
        async def check():
            assert False, 'Error in [Step 1]: no'
        r = await asyncio.gather(agent.fetch(1), check(), agent.fetch(2), return_exceptions=True)
    """
    do(body, [counter.fetch], out=tmp_path / "run", tries=1)
    trace = Trace.read(tmp_path / "run" / "trace.jsonl")
    (ended,) = (event for event in trace if isinstance(event, PlanEnded))
    assert isinstance(ended.outcome, Failed) and ended.outcome.error == "AssertionError"
    assert [type(e) for e in trace if isinstance(e, CallBegun | CallAnswered)] == [CallBegun] * 2 + [CallAnswered] * 2
    assert counter.open == 0


ENDS = {
    "an assertion": "assert not tasks, 'Error in [Step 1]: no'",
    "an error": "r = 1 / 0",
    "a limit": "n = 10 ** 9\nr = 'x' * n",
    "a limit of time": "await asyncio.sleep(60)",
    "give_up": "give_up('no more')",
    "a return": "return 1",
}


@pytest.mark.parametrize("end", ENDS)
def test_calls_that_are_open_when_the_plan_ends_are_answered_before_its_end_is_recorded(end, tmp_path):
    counter = Counter()
    body = (
        f"r = 0\ntasks = [asyncio.create_task(agent.fetch(n)) for n in range(3)]\nawait asyncio.sleep(0)\n{ENDS[end]}"
    )
    do(body, [counter.fetch], out=tmp_path / "run", tries=1)
    trace = Trace.read(tmp_path / "run" / "trace.jsonl")
    ended = next(at for at, event in enumerate(trace) if isinstance(event, PlanEnded))
    assert len([e for e in trace[:ended] if isinstance(e, CallAnswered)]) == 3
    assert counter.open == 0
    assert codeplan.replay(tmp_path / "run").ending == trace[-1].result.ending


def test_a_tool_error_that_ends_the_episode_ends_it_after_the_open_calls(tmp_path):
    counter = Counter()
    body = "r = await asyncio.gather(agent.fail(1), agent.fetch(7), agent.fetch(8), return_exceptions=True)"
    result = do(body, [counter.fail, counter.fetch], out=tmp_path / "run", tool_errors="stop")
    assert isinstance(result.ending, EnvironmentEnded)
    assert (result.failure.tool, result.failure.message) == ("fail", "number 1")
    assert len(events(tmp_path / "run", CallAnswered)) == 3


# ------------------------------------------------------------------ limits, approvals, once


def test_each_call_counts_against_the_budget(tmp_path):
    counter = Counter()
    result = do("r = each(agent.fetch, range(9))", [counter.fetch], budget=Budget(actions=5), out=tmp_path / "run")
    assert (result.actions, sorted(counter.made), counter.open) == (5, [0, 1, 2, 3, 4], 0)
    assert len(events(tmp_path / "run", CallAnswered)) == 5


def test_each_call_is_approved_or_refused_by_itself(tmp_path):
    counter = Counter()
    body = "r = [str(x) for x in await asyncio.gather(*(agent.fetch(n) for n in range(4)), return_exceptions=True)]"
    result = do(body, [counter.fetch], approve=lambda call: call.arguments["number"] % 2 == 0, out=tmp_path / "run")
    assert (result.value[0], result.value[2]) == ("0", "20")
    assert "did not approve" in result.value[1] and "did not approve" in result.value[3]
    assert [(e.id, e.allowed) for e in events(tmp_path / "run", CallDecided)] == [(n + 1, n % 2 == 0) for n in range(4)]
    assert sorted(counter.made) == [0, 2]


def test_a_call_that_waits_for_an_approval_comes_after_the_answers_of_those_before_it(tmp_path):
    counter, run = Counter(), tmp_path / "run"
    body = "r = await asyncio.gather(agent.fetch(1), agent.fetch(2), agent.write(3), agent.fetch(4))"
    result = do(body, [counter.fetch, counter.write], ask=["write"], out=run)
    assert isinstance(result.ending, Waiting)
    assert (len(events(run, CallAnswered)), counter.open, sorted(counter.made)) == (2, 0, [1, 2])
    codeplan.approve(run)
    result = codeplan.resume(run, tools=[counter.fetch, counter.write], ask=["write"], model=Replies())
    assert [result.value[0], result.value[1], result.value[3]] == [10, 20, 40]
    assert sorted(counter.made) == [1, 2, 3, 4]
    assert codeplan.replay(run).value == result.value


def test_a_call_that_is_made_once_is_not_made_again_by_the_plan_after(tmp_path):
    counter = Counter()
    first = plan("r = each(agent.fetch, range(3))\nassert not r, 'Error in [Step 1]: once more'")
    model = Replies(first, plan("r = each(agent.fetch, range(4))"))
    result = codeplan.do("count", tools=[counter.fetch], model=model, once=["fetch"], out=tmp_path / "run")
    assert (result.value, sorted(counter.made)) == ([0, 10, 20, 30], [0, 1, 2, 3])
    assert len(events(tmp_path / "run", CallRepeated)) == 3


def test_a_call_that_is_cancelled_before_its_turn_is_not_made(tmp_path):
    counter = Counter()
    body = """
        tasks = [asyncio.create_task(agent.fetch(n)) for n in range(3)]
        r = [await tasks[0], tasks[2].cancel(), tasks[2].cancelled()]
    """
    result = do(body, Toolset(python_tools(counter.fetch), at_once=1), out=tmp_path / "run")
    assert (result.value, counter.made) == ([0, True, True], [0, 1])
    assert codeplan.replay(tmp_path / "run").value == result.value


def test_a_call_that_is_given_up_ends_before_the_step_does_and_time_is_replayed(tmp_path):
    counter = Counter()
    body = """
        try:
            r = await asyncio.wait_for(agent.fetch(1), timeout=0.001)
        except TimeoutError:
            r = 'too late'
    """
    result = do(body, [counter.fetch], out=tmp_path / "run")
    assert (result.value, counter.open) == ("too late", 0)
    assert [type(e) for e in events(tmp_path / "run", TimePassed, CallAnswered)] == [TimePassed, CallAnswered]
    assert codeplan.replay(tmp_path / "run").value == "too late"


def test_each_call_has_the_limit_of_time_of_its_tool():
    async def slow(number: int) -> int:
        await asyncio.sleep(number)
        return number

    body = "r = [str(x) for x in await asyncio.gather(agent.slow(0), agent.slow(60), return_exceptions=True)]"
    result = do(body, [slow], tool_timeout=1)
    assert result.value[0] == "0"
    assert "did not answer within its limit of 1 s; whether it was done is unknown" in result.value[1]


def test_an_interrupt_leaves_the_calls_that_are_being_made_in_doubt(tmp_path):
    """The next calls of the same episode name each of them."""
    counter, run = Counter(), tmp_path / "run"

    async def interrupt(number: int) -> int:
        while counter.open < 3:
            await asyncio.sleep(0.001)
        raise KeyboardInterrupt

    body = """
        calls = [asyncio.create_task(agent.hang(n)) for n in range(3)]
        r = await asyncio.gather(*calls, agent.interrupt(3), return_exceptions=True)
        r = [type(error).__name__ for error in r]
    """

    async def hang(number: int) -> int:
        counter._begin(number)
        await asyncio.Event().wait()
        return number

    with pytest.raises(KeyboardInterrupt):
        do(body, [hang, interrupt], out=run)
    with pytest.raises(codeplan.CallInDoubt) as doubt:
        codeplan.resume(run, tools=[hang, interrupt], model=Replies())
    named = [(doubt.value.tool, doubt.value.arguments), *doubt.value.others]
    assert [arguments["number"] for tool, arguments in named] == [0, 1, 2, 3]
    assert "hang(number=0), hang(number=1), hang(number=2), interrupt(number=3)" in str(doubt.value)
    result = codeplan.resume(run, tools=[hang, interrupt], model=Replies(), in_doubt="skip")
    assert result.value == ["ConnectionError"] * 4


@pytest.mark.parametrize(("seconds", "doubted"), [(0.1, []), (60.0, [0, 1, 2])])
def test_the_open_calls_of_a_killed_worker_end_before_its_plan_or_are_in_doubt_by_name(seconds, doubted, tmp_path):
    """A worker dies beside three open calls: each is waited for, within the limit of time of a tool."""
    counter, run = Counter(), tmp_path / "run"

    async def hang(number: int) -> int:
        counter._begin(number)
        await asyncio.sleep(seconds)
        return number

    async def kill(number: int) -> int:
        while counter.open < 3:
            await asyncio.sleep(0.001)
        for worker in spare_workers(zygote_pid(launcher.run_workers)):
            os.kill(worker, signal.SIGKILL)
        return number

    body = "r = await asyncio.gather(agent.hang(0), agent.hang(1), agent.hang(2), agent.kill(3))"
    replies = Replies(plan(body), plan("r = 5"))
    result = codeplan.do("count", tools=[hang, kill], model=replies, out=run, tool_timeout=1.0)
    assert (result.value, sorted(counter.made)) == (5, [0, 1, 2])
    begun, answered = {e.id: e.call for e in events(run, CallBegun)}, events(run, CallAnswered)
    assert sorted(e.id for e in answered) == sorted(begun)
    assert sorted(begun[e.id].arguments["number"] for e in answered if e.answer.in_doubt) == doubted
    assert all(e.seq < events(run, PlanEnded)[0].seq for e in answered)
    assert "worker" in str(events(run, PlanEnded)[0].outcome)
