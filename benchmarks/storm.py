"""Runs two hundred episodes at once, in one process, against a slow endpoint that makes faults of all kinds.

The endpoint is ``codeplan serve-scripted`` in a separate process, reached over HTTP. The benchmark prints the endings,
the token counts of the episodes and of the endpoint's log, the wall time compared with the ideal, and memory.

The ideal is the longest chain of calls of one episode: the endpoint's time for each request, and the minimum pause
before each retry. Episodes also need a processor for sandboxes and environments. Therefore the same episodes first run
with the scripted model in this process, without an endpoint. On few cores, the time of that run is the lower bound. The
processor time shows what an episode costs on a shared machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

import codeplan
from codeplan import envs
from codeplan.episode.episode import Episode
from codeplan.errors import InfrastructureError
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import EpisodeEnded, Event, ModelCalled, ModelCallFailed
from codeplan.sandbox.host import launcher
from codeplan.types import NO_USAGE, Result, Task, Usage

RETRY_AFTER = 1.0
MIN_PAUSE = 0.25


class StormEpisode(msgspec.Struct):
    """One episode: its result, and the usage that its answered and failed calls report."""

    result: Result
    usage: Usage
    error: str = ""


class Cpu(msgspec.Struct):
    """Processor seconds of this process, its sandboxes and the endpoint."""

    host: float
    sandboxes: float
    endpoint: float = 0.0


class Storm(msgspec.Struct):
    """The figures. ``chain`` is the ideal in seconds, ``floor`` the wall time without an endpoint; memory is in MB.

    ``alone`` is the processor time without an endpoint, ``cpu`` that with it.
    """

    played: list[StormEpisode]
    log: list[dict[str, object]]
    wall: float
    floor: float
    alone: Cpu
    cpu: Cpu
    chain: float
    memory: float
    memory_of_all: float

    @property
    def counted(self) -> tuple[int, int]:
        """Input and output tokens as the episodes counted them."""
        return (
            sum(p.usage.input_tokens or 0 for p in self.played),
            sum(p.usage.output_tokens or 0 for p in self.played),
        )

    @property
    def logged(self) -> tuple[int, int]:
        """Input and output tokens as the endpoint logged them."""
        usages = [entry["usage"] for entry in self.log if entry["usage"]]
        return sum(u["input_tokens"] for u in usages), sum(u["output_tokens"] for u in usages)


class Chain:
    """A method that only asks the same short question repeatedly, to measure nothing but calls."""

    name = "chain"

    def __init__(self, calls: int) -> None:
        question = "Where is a mug? Order these: ['countertop 1', 'desk 1']. Answer with the list alone."
        self.calls, self.messages = calls, Prompts().messages("adaplanner/ask", question=question)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Ask the same question, one call after the other."""
        for _ in range(self.calls):
            episode.ask(self.messages, purpose="ask")
        return episode.result("asked", self.name)


def storm(episodes: int, latency: float, faults: str, mistakes: str = "some", calls: int = 0) -> Storm:
    """Run ``episodes`` episodes at once. If ``calls`` is not 0, each only makes that number of calls.

    ``latency`` is in seconds; ``faults`` and ``mistakes`` are those of ``codeplan serve-scripted``.
    """
    method = {"method": Chain(calls)} if calls else {}
    import openai  # noqa: F401  # the import takes a second and is not part of the storm

    tasks = list(envs.make("household").tasks("test"))[:episodes]
    alone = {"model": "scripted", "mistakes": mistakes, **method}
    run_concurrently(tasks[:2], lambda task: play(task, **alone))
    _, floor, alone_cpu = measure(lambda: run_concurrently(tasks, lambda task: play(task, **alone)))
    with (
        endpoint(latency, f"{faults},retry_after={RETRY_AFTER}", mistakes) as (server, url, log),
        MemoryMonitor() as memory,
    ):
        ask = {"model": "tiny", "base_url": url, "timeout": 30.0, "max_retries": 6, **method}
        played, wall, cpu = measure(
            lambda: run_concurrently(tasks, lambda task: play(task, **ask, extra_body={"user": task.id}))
        )
        cpu.endpoint = processor_of(server)
        entries = [json.loads(line) for line in log.read_text().splitlines()]
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Storm(played, entries, wall, floor, alone_cpu, cpu, longest(entries), own, memory.peak)


def play(task: Task, **settings: object) -> StormEpisode:
    """Run one episode and count its usage, even if a failure of the endpoint ends it."""
    events: list[Event] = []
    error = ""
    try:
        codeplan.run("household", task, on_event=events.append, **settings)
    except InfrastructureError as e:
        error = str(e)
    end = events[-1]
    assert isinstance(end, EpisodeEnded), "every episode ends"
    asked = [e.completion.usage for e in events if isinstance(e, ModelCalled)]
    failed = [e.usage for e in events if isinstance(e, ModelCallFailed)]
    return StormEpisode(end.result, sum([*asked, *failed], NO_USAGE), error)


def run_concurrently(tasks: list[Task], do: Callable[[Task], StormEpisode]) -> list[StormEpisode]:
    """Run all episodes concurrently, each in a thread."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(do, tasks))


def measure(do: Callable[[], list[StormEpisode]]) -> tuple[list[StormEpisode], float, Cpu]:
    """The episodes, their wall time and their processor time in seconds."""
    for zygotes in (launcher.check_workers, launcher.run_workers):
        zygotes.close()
    own, below = _processor(resource.RUSAGE_SELF), _processor(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = do()
    wall, host = time.perf_counter() - began, _processor(resource.RUSAGE_SELF) - own
    for zygotes in (launcher.check_workers, launcher.run_workers):
        zygotes.close()  # a child and its descendants count only after they have exited
    return done, wall, Cpu(host, _processor(resource.RUSAGE_CHILDREN) - below)


def _processor(whose: int) -> float:
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


def processor_of(pid: int) -> float:
    """Processor seconds of a process so far, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def longest(log: list[dict[str, object]]) -> float:
    """The longest chain: the endpoint's time for all requests of one episode, plus the minimum pauses between them.

    The k-th failure in a row is followed by a pause of at least 0.25 · 2^(k-1) s, or of the time the endpoint asks for.
    """
    chains: dict[object, float] = {}
    rows: dict[object, int] = {}
    for entry in log:
        user = entry["user"]
        failed = entry["fault"] not in ("", "slow", "length", "null")  # an empty reply is an answer
        rows[user] = rows.get(user, 0) + 1 if failed else 0
        pause = MIN_PAUSE * 2 ** (rows[user] - 1) if failed else 0.0
        pause = RETRY_AFTER if entry["status"] == 429 else pause
        chains[user] = chains.get(user, 0.0) + float(str(entry["seconds"])) + pause
    return max(chains.values())


@contextlib.contextmanager
def endpoint(latency: float, faults: str, mistakes: str) -> Iterator[tuple[int, str, Path]]:
    """A running endpoint: its process id, base URL and log file."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "requests.jsonl"
        command = [sys.executable, "-m", "codeplan", "serve-scripted", "--latency", str(latency * 1000)]
        command += ["--faults", faults, "--mistakes", mistakes, "--log", str(log)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                yield server.pid, server.stdout.readline().strip(), log
            finally:
                server.terminate()


class MemoryMonitor:
    """Samples the memory of this process and its descendants twice a second; shared pages count more than once."""

    def __init__(self) -> None:
        self.peak = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> MemoryMonitor:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            self.peak = max(self.peak, sum(_resident(pid) for pid in _below(os.getpid())))


def _below(pid: int) -> list[int]:
    found = [pid]
    for at in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{at}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def _resident(pid: int) -> float:
    """Megabytes."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except (OSError, IndexError):
        return 0.0


def main() -> int:
    """Run the storm and print its figures. Returns 1 if the counts differ or an episode did not end."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--episodes", type=int, default=200)
    options.add_argument("--latency", type=float, default=0.1, help="seconds")
    options.add_argument("--faults", default="all=0.1,seed=7")
    options.add_argument("--mistakes", default="some", help="of the scripted model; many for the most refinements")
    options.add_argument("--calls", type=int, default=0, help="calls per episode, without plans; 0: whole episodes")
    given = options.parse_args()
    done = storm(given.episodes, given.latency, given.faults, given.mistakes, given.calls)
    report(done)
    return 0 if done.counted == done.logged and len(done.played) == given.episodes else 1


def report(done: Storm) -> None:
    """Print the figures."""
    faults: dict[object, int] = {}
    for entry in done.log:
        faults[entry["fault"]] = faults.get(entry["fault"], 0) + 1
    plain = faults.pop("", 0)
    broken = [p for p in done.played if p.error]
    print(f"episodes  {len(done.played)}: {sum(p.result.success for p in done.played)} won, {len(broken)} broken off")
    print(f"requests  {len(done.log)}: {plain} plain, with faults {faults}")
    print(f"tokens    counted {done.counted}, logged {done.logged}")
    print(f"wall      {done.wall:.2f} s; longest chain {done.chain:.2f} s; without an endpoint {done.floor:.2f} s")
    print(
        f"ratio     {done.wall / done.chain:.2f} to the chain, {done.wall / max(done.chain, done.floor):.2f} to the "
        f"longer of both, on {os.cpu_count()} cores"
    )
    for name, cpu in (("alone", done.alone), ("storm", done.cpu)):
        each = {part: 1000 * getattr(cpu, part) / len(done.played) for part in cpu.__struct_fields__}
        shares = ", ".join(f"{part} {ms:.1f}" for part, ms in each.items())
        print(f"processor {name}: {sum(each.values()):.1f} ms an episode ({shares})")
    print(f"memory    {done.memory:.0f} MB, with all sandboxes and the endpoint {done.memory_of_all:.0f} MB")
    for reason in sorted({p.error for p in broken}):
        print(f"  broken off: {reason}")


if __name__ == "__main__":
    sys.exit(main())
