"""A replay of an episode whose calls overlapped is identical, whatever the delays were; so is the rest of a cut one."""

from __future__ import annotations

import asyncio
import random

import msgspec
import pytest
from support.boxes import Replies

import codeplan
from codeplan.errors import Diverged
from codeplan.recording.events import CallAnswered, CallBegun, EpisodeEnded, Event
from codeplan.recording.trace import Trace, write_trace

SEEDS = range(24)
PARTS = (
    "r.append(await asyncio.gather(*(agent.wait(n) for n in range(COUNT)), return_exceptions=True))",
    "r += each(agent.wait, range(1, COUNT))",
    "for each_one in asyncio.as_completed([agent.wait(n) for n in range(1, COUNT)]):\n    r.append(await each_one)",
    "async def twice(n):\n    a = await agent.wait(n)\n    print(a)\n    b = agent.wait(n + 1)\n    return [a, b, await agent.wait(n + 2)]\n"
    "r += await asyncio.gather(*(twice(n) for n in range(1, COUNT)))",
    "try:\n    r.append(await asyncio.wait_for(agent.wait(COUNT), 0.003))\nexcept TimeoutError:\n    r.append('late')",
    "async with asyncio.TaskGroup() as group:\n    made = [group.create_task(agent.wait(n)) for n in range(1, COUNT)]\n"
    "r += [task.result() for task in made]",
    "tasks = [asyncio.create_task(agent.wait(n)) for n in range(1, COUNT)]\ndone, left = await asyncio.wait(tasks, return_when='FIRST_COMPLETED')\n"
    "r.append([sorted(t.result() for t in done), [t.cancel() for t in left]])",
    "from concurrent.futures import ThreadPoolExecutor\nr += ThreadPoolExecutor(max_workers=3).map(agent.add, range(COUNT))",
    "gate = asyncio.Semaphore(2)\nasync def gated(n):\n    async with gate:\n        return await agent.add(n)\n"
    "r += await asyncio.gather(*(gated(n) for n in range(COUNT)))",
)


class Delays:
    """Tools that take between nothing and four milliseconds."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    async def wait(self, number: int) -> int:
        """Fails for 0."""
        await asyncio.sleep(self._draw.random() * 0.004)
        if number == 0:
            raise ValueError("zero")
        return number

    @codeplan.tool(at_once=4)
    def add(self, number: int) -> int:
        """Safe for threads."""
        return number + 1


def plan(seed: int) -> str:
    draw = random.Random(seed)
    lines = ["r = []"]
    for part in draw.sample(PARTS, draw.randint(1, 4)):
        lines += part.replace("COUNT", str(draw.randint(2, 10))).split("\n")
    body = "".join(f"        {line}\n" for line in lines)
    return f"```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n{body}        assert True\n    return str(r)\n```"


def record(seed: int, folder) -> codeplan.Result:
    return codeplan.do("wait", tools=Delays(seed), model=Replies(plan(seed)), out=folder / str(seed), tries=1)


def test_a_replay_is_identical(tmp_path):
    orders = set()
    for seed in SEEDS:
        result = record(seed, tmp_path)
        again: list[Event] = []
        replayed = codeplan.replay(tmp_path / str(seed), on_event=again.append)
        recorded = Trace.read(tmp_path / str(seed) / "trace.jsonl")
        assert (replayed.value, replayed.ending, replayed.actions) == (result.value, result.ending, result.actions)
        assert list(map(repr, again)) == list(map(repr, recorded)), seed
        orders.add(tuple(e.id for e in recorded if isinstance(e, CallAnswered)))
    assert len(orders) > len(SEEDS) / 2, "the delays are random"


@pytest.mark.parametrize("seed", range(6))
def test_an_episode_that_was_cut_anywhere_goes_on_and_makes_no_answered_call_again(seed, tmp_path):
    record(seed, tmp_path)
    events = [e for e in Trace.read(tmp_path / str(seed) / "trace.jsonl") if not isinstance(e, EpisodeEnded)]
    first = next(i for i, event in enumerate(events) if isinstance(event, CallBegun))
    for number, at in enumerate(random.Random(seed).sample(range(first + 1, len(events)), 5)):
        folder = tmp_path / f"{seed}-{number}"
        folder.mkdir()
        write_trace(folder / "trace.jsonl", events[:at])
        (folder / "trace.jsonl").touch()
        codeplan.resume(folder, tools=Delays(seed + number), model=Replies(), in_doubt="retry")
        resumed = Trace.read(folder / "trace.jsonl")
        answered = {event.id for event in events[:at] if isinstance(event, CallAnswered)}
        assert not answered & {event.id for event in resumed[at:] if isinstance(event, CallBegun)}
        assert codeplan.replay(folder).ending == resumed[-1].result.ending  # type: ignore[union-attr]


def test_a_recording_that_answers_a_call_in_another_way_diverges(tmp_path):
    """A forged trace can neither answer a call that is not open, nor let one begin as another."""
    record(0, tmp_path)
    events = list(Trace.read(tmp_path / "0" / "trace.jsonl"))
    begun = next(i for i, event in enumerate(events) if isinstance(event, CallBegun))
    answered = next(i for i, event in enumerate(events) if isinstance(event, CallAnswered))
    forged = {
        "unknown": (answered, msgspec.structs.replace(events[answered], id=999)),
        "another": (begun, msgspec.structs.replace(events[begun], call=codeplan.types.Call("wait", {"number": 77}))),
    }
    for name, (at, event) in forged.items():
        write_trace(tmp_path / name / "trace.jsonl", [*events[:at], event, *events[at + 1 :]])
        with pytest.raises(Diverged):
            codeplan.replay(tmp_path / name)
