"""Episodes and benches inside a running event loop."""

import asyncio
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

import codeplan
from codeplan.runner.async_episodes import MAX_QUEUED, in_thread
from codeplan.sandbox.host.plan_texts import computing_slots
from codeplan.types import Interrupted

PLAN = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        print("[Step 1] wait")
        {body}
        assert True is not agent, "never"
    return 7
```"""


def ended(folder: Path) -> codeplan.Result:
    return codeplan.Trace.read(folder / "trace.jsonl")[-1].result


def test_an_episode_can_be_awaited_while_the_loop_does_other_work(tmp_path: Path) -> None:
    async def both() -> tuple[codeplan.Result, int]:
        episode = asyncio.create_task(codeplan.arun("household", "clean/3", out=tmp_path))
        turns = 0
        while not episode.done():
            turns += 1
            await asyncio.sleep(0)
        return await episode, turns

    result, turns = asyncio.run(both())
    assert result.success
    assert turns > 1
    assert replace(result, seconds=0.0) == replace(
        codeplan.run("household", "clean/3"), seconds=0.0, trace=result.trace
    )


def test_an_error_of_the_episode_is_raised_where_it_is_awaited() -> None:
    with pytest.raises(codeplan.UsageError, match="household"):
        asyncio.run(codeplan.arun("househould"))


def test_two_episodes_run_side_by_side() -> None:
    together = threading.Barrier(2, timeout=60)

    def model(messages: list[object]) -> str:
        together.wait()  # broken unless both episodes ask at the same time
        return PLAN.format(body="pass")

    async def both() -> list[codeplan.Result]:
        return await asyncio.gather(*(codeplan.ado("say 7", tools=len, model=model) for _ in range(2)))

    assert [result.value for result in asyncio.run(both())] == [7, 7]


async def cancelled_at(began: threading.Event, episode: "asyncio.Task[codeplan.Result]") -> None:
    while not began.is_set() and not episode.done():
        await asyncio.sleep(0.01)
    episode.cancel()
    with pytest.raises(asyncio.CancelledError):
        await episode


def test_cancelling_ends_a_waiting_model_call_and_keeps_the_trace(tmp_path: Path) -> None:
    began, was_cancelled = threading.Event(), threading.Event()

    async def model(messages: list[object]) -> str:
        began.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            was_cancelled.set()
            raise
        return ""

    async def main() -> None:
        await cancelled_at(began, asyncio.create_task(codeplan.arun("household", "clean/3", model=model, out=tmp_path)))

    asyncio.run(main())
    assert was_cancelled.wait(10)
    assert isinstance(ended(tmp_path).ending, Interrupted)
    assert codeplan.resume(tmp_path, model=lambda messages: PLAN.format(body="agent.look()")).model_calls > 0


def test_cancelling_ends_a_waiting_asynchronous_tool(tmp_path: Path) -> None:
    began, was_cancelled = threading.Event(), threading.Event()

    async def linger() -> str:
        """Wait for long."""
        began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            was_cancelled.set()
        return ""

    async def main() -> None:
        plan = PLAN.format(body="agent.linger()")
        episode = codeplan.ado("wait", tools=linger, model=lambda messages: plan, out=tmp_path)
        await cancelled_at(began, asyncio.create_task(episode))

    asyncio.run(main())
    assert was_cancelled.wait(10)
    assert isinstance(ended(tmp_path).ending, Interrupted)


def test_cancelling_ends_a_plan_that_only_calculates(tmp_path: Path) -> None:
    began = threading.Event()

    def on_event(event: codeplan.Event) -> None:
        if type(event).__name__ == "StepEntered":
            began.set()

    async def main() -> None:
        plan = PLAN.format(body="while True: pass")
        limits = codeplan.sandbox.Limits(wall=3600.0, cpu=3600.0)
        episode = codeplan.arun(
            "household", "clean/3", model=lambda messages: plan, out=tmp_path, on_event=on_event, limits=limits
        )
        await cancelled_at(began, asyncio.create_task(episode))

    asyncio.run(main())
    assert isinstance(ended(tmp_path).ending, Interrupted)


def test_a_task_that_is_cancelled_twice_still_waits_for_the_end(tmp_path: Path) -> None:
    began, returned = threading.Event(), threading.Event()

    def model(messages: list[object]) -> str:
        began.set()
        time.sleep(0.5)  # a synchronous function runs to its end
        returned.set()
        return PLAN.format(body="agent.look()")

    async def main() -> None:
        episode = asyncio.create_task(codeplan.arun("household", "clean/3", model=model, out=tmp_path))
        while not began.is_set():
            await asyncio.sleep(0.01)
        episode.cancel()
        await asyncio.sleep(0.05)
        await cancelled_at(began, episode)

    asyncio.run(main())
    assert returned.is_set()
    assert isinstance(ended(tmp_path).ending, Interrupted)


def test_context_variables_hold_in_the_episode() -> None:
    import contextvars

    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")

    async def main() -> list[str]:
        name.set("mine")
        seen: list[str] = []
        await codeplan.arun("household", "clean/3", on_event=lambda event: seen.append(name.get("lost")))
        return seen

    assert set(asyncio.run(main())) == {"mine"}


def test_what_an_episode_imports_is_not_imported_by_the_loop() -> None:
    names = "import codeplan, sys; codeplan.ado, codeplan.arun; print('codeplan.episode.episode' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", names], capture_output=True, text=True).stdout == "False\n"


def test_no_further_episode_starts_while_plans_wait_for_their_check() -> None:
    """Hundreds at once would all wait there, and the loop with them."""
    begun: list[str] = []

    async def main() -> list[str]:
        with ExitStack() as held:
            for _ in range(computing_slots.count):
                held.enter_context(computing_slots.take())
            for _ in range(MAX_QUEUED + 1):
                threading.Thread(target=take_slot).start()
            while computing_slots.waiting <= MAX_QUEUED:
                await asyncio.sleep(0.01)
            await in_thread(lambda: begun.append("an earlier one"))  # what the starter waited with
            later = asyncio.ensure_future(in_thread(lambda: begun.append("a later one")))
            await asyncio.sleep(0.3)
            before = list(begun)
        await later
        return before

    assert asyncio.run(main()) == ["an earlier one"] and begun[1:] == ["a later one"]


def take_slot() -> None:
    with computing_slots.take():
        pass
