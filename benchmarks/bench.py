"""Measures what a bench adds to its episodes, how it scales with workers, and whether it survives kills.

``python benchmarks/bench.py [overhead] [processes] [endpoint] [kills] [dask] [ray]`` runs the named parts, or the first
four. It exits 1 if a bench that was killed, or that lost a worker, gives a different table than an undisturbed one.

overhead   episodes of a bench in one thread, compared with the same episodes by ``codeplan.run``, one by one
processes  the rate of two processes, compared with one, without a model's latency
endpoint   200 episodes, 64 at a time, against an endpoint that takes 100 ms, compared with the ideal: at best, the time
           of all calls in 64 lanes, of the longest chain, or of the processor time spread over all cores
kills      a bench killed with SIGKILL at 20 random moments and restarted each time
dask, ray  a bench on two workers; SIGKILL kills one of them in the middle
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

import codeplan
from codeplan.bench import engines
from codeplan.bench.bench_runner import run_bench
from codeplan.bench.bench_spec import BenchSpec, ResolvedBench, resolve_bench
from codeplan.bench.store import RESULTS_FILE, BenchRecord, EpisodeOutcome, read_bench

KILLS = 20
SEED = 2023
CORES = os.cpu_count() or 1


def main() -> int:
    """Run the named parts."""
    parts: dict[str, Callable[[], bool]] = {
        "overhead": overhead,
        "processes": processes,
        "endpoint": endpoint,
        "kills": kills,
        "dask": lambda: lose_worker("dask"),
        "ray": lambda: lose_worker("ray"),
    }
    print(f"{CORES} cores; load {os.getloadavg()[0]:.1f}")
    went = [parts[name]() for name in sys.argv[1:] or list(parts)[:4]]
    return 0 if all(went) else 1


def overhead(rounds: int = 3) -> bool:
    """Print a bench's processor and wall time relative to bare episodes: the minimum of several rounds each."""
    plan = resolve_plan(n=10)
    tasks = plan.grid.tasks["household"]
    codeplan.run("household", tasks[0])  # the first starts the sandbox

    def bare(folder: Path) -> None:
        for i, task in enumerate(tasks):
            codeplan.run("household", task, out=folder / str(i))

    times: dict[str, list[tuple[float, float]]] = {"bare": [], "bench": []}
    for _ in range(rounds):
        times["bare"].append(measure(bare))
        times["bench"].append(measure(lambda folder: run_plan(plan, folder, workers=1)))
    (wall, cpu), (bench_wall, bench_cpu) = (tuple(map(min, zip(*times[k], strict=True))) for k in ("bare", "bench"))
    print(
        f"overhead   processor {100 * (bench_cpu / cpu - 1):+.1f} %, wall {100 * (bench_wall / wall - 1):+.1f} % over "
        f"{len(tasks)} bare episodes ({1000 * cpu / len(tasks):.0f} ms of processor time each)"
    )
    return True


def processes(rounds: int = 3) -> bool:
    """Print the rate of two processes relative to one, the best of several rounds each.

    A plan's sandbox workers run beside the episode's process, so one such process already uses more than one core.
    ReAct has no plans.
    """
    for method, n in (("adaplanner", 20), ("react", 150)):
        plan = resolve_plan(n=n, methods=[method])
        rates: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(rounds):
            for workers, found in rates.items():
                with tempfile.TemporaryDirectory() as folder:
                    found.append(steady_rate(plan, Path(folder), workers))
        one, two = max(rates[1]), max(rates[2])
        print(f"processes  {method}: one {one:.1f} episodes/s, two {two:.1f}: {two / one:.2f} times")
    return True


def steady_rate(plan: ResolvedBench, folder: Path, workers: int) -> float:
    """Episodes per second, from when each worker has finished one."""
    moments: list[float] = []
    run_plan(plan, folder, "processes", workers, lambda ended: moments.append(time.perf_counter()))
    return (len(moments) - 1 - workers) / (moments[-1] - moments[workers])


def endpoint(episodes: int = 200, workers: int = 64, latency: float = 0.1) -> bool:
    """Print the wall time of episodes against an endpoint, compared with the ideal."""
    with serve_endpoint(latency) as url, tempfile.TemporaryDirectory() as folder:
        model = {"name": "tiny", "base_url": url, "api_key": "none", "timeout": 60.0, "max_retries": 3}
        plan = resolve_plan(n=-(-episodes // 6), models=[model])
        run_plan(resolve_plan(n=1, models=[model]), Path(folder, "first"), workers=6)  # imports, sandbox start
        done: list[BenchRecord] = []
        plain, _ = measure(lambda out: run_plan(resolve_plan(n=-(-episodes // 6)), out, workers=workers))
        wall, cpu = measure(lambda out: done.append(run_plan(plan, out, workers=workers)))
    calls = [e.result.model_calls for e in done[0].outcomes]
    lanes = max(sum(calls) * latency / workers, max(calls) * latency)
    spread = cpu / CORES
    print(f"endpoint   {len(calls)} episodes, {workers} at a time, {latency:g} s a call: {wall:.1f} s")
    print(f"           calls alone {lanes:.1f} s, processor time over {CORES} cores {spread:.1f} s")
    print(f"           {wall / lanes:.2f} times the calls, {wall / max(lanes, spread):.2f} times the ideal")
    print(f"           {wall / max(lanes, plain):.2f} times the same without an endpoint ({plain:.1f} s)")
    return True


def kills() -> bool:
    """Kill a bench at random moments, restart it each time, and compare its table."""
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder, "whole"), Path(folder, "killed")
        subprocess.run(command(whole), check=True, stdout=subprocess.DEVNULL)
        dice, total = random.Random(SEED), read_bench(whole).total_episodes
        moments = sorted(dice.randrange(total - 2) for _ in range(KILLS))
        done = sum(run_and_kill(killed, ends, dice.uniform(0, 0.1)) for ends in moments)
        before = len(read_bench(killed).outcomes)
        subprocess.run(command(killed), check=True, stdout=subprocess.DEVNULL)
        same = comparable(read_bench(whole)) == comparable(read_bench(killed))
        lines = (killed / RESULTS_FILE).read_bytes().count(b"\n")
        anew = len(list(killed.rglob("died-*.jsonl")))
    table = "the same table" if same else "ANOTHER TABLE"
    print(f"kills      {done} of {KILLS}; {before} of {lines} episodes had ended, {anew} begun anew: {table}")
    return same


def run_and_kill(folder: Path, ends: int, delay: float) -> bool:
    """Kill the bench ``delay`` seconds after ``ends`` episodes have ended; false if it ended before."""
    results = folder / RESULTS_FILE
    child = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and (results.read_bytes().count(b"\n") if results.exists() else -1) < ends:
        time.sleep(0.002)
    time.sleep(delay)
    running = child.poll() is None
    child.kill()
    child.wait()
    return running


def lose_worker(engine: str) -> bool:
    """Kill one of an engine's two workers during an episode, and compare the table with that of threads."""
    plan = resolve_plan(n=8)
    ended: list[EpisodeOutcome] = []
    killed: list[int] = []
    with tempfile.TemporaryDirectory() as folder:

        def watch(one: EpisodeOutcome) -> None:
            ended.append(one)
            if len(ended) >= 10 and not killed:
                killed.extend(trace_writers(folder)[:1])
                for worker in killed:
                    os.kill(worker, signal.SIGKILL)

        there = run_plan(plan, Path(folder, engine), engine, 2, watch)
        same = comparable(there) == comparable(run_plan(plan, Path(folder, "threads"), workers=2))
    table = "the same table" if same else "ANOTHER TABLE"
    print(
        f"{engine:10} {len(killed)} of 2 workers killed, {len(ended)} ends of {there.total_episodes} episodes: {table}"
    )
    return same and len(killed) == 1 and len(ended) == there.total_episodes


# ------------------------------------------------------------------ helpers


def resolve_plan(**what: Any) -> ResolvedBench:
    """A bench of household tasks."""
    return resolve_bench(msgspec.convert({"suites": ["household"], **what}, BenchSpec))


def run_plan(
    plan: ResolvedBench,
    folder: Path,
    engine: str = "threads",
    workers: int = 1,
    on_end: Callable[[EpisodeOutcome], None] = lambda ended: None,
) -> BenchRecord:
    """Run the bench in the folder to its end."""
    return run_bench(
        plan, engines.make_engine(engine, workers), folder, observer=lambda bench: contextlib.nullcontext(on_end)
    ).bench


def comparable(bench: BenchRecord) -> list[object]:
    """What must not depend on kills: everything but seconds."""
    return [(e.key, e.broken, msgspec.structs.replace(e.result, seconds=0.0)) for e in bench.outcomes]


def command(folder: Path) -> list[str]:
    """The command of the bench to kill."""
    return [sys.executable, "-m", "codeplan", "bench", "household", "-n", "20", "-j", "2", "--out", str(folder)]


def measure(do: Callable[[Path], object]) -> tuple[float, float]:
    """Wall time, and the processor time of this process and its descendants, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        began, cpu = time.perf_counter(), cpu_time()
        do(Path(folder, "out"))
        return time.perf_counter() - began, cpu_time() - cpu


def cpu_time() -> float:
    """Processor seconds of this process and its descendants, including ended ones."""
    parents, seconds = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents[int(stat.parent.name)] = int(fields[1])
            seconds[int(stat.parent.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and ours(parents[pid]))

    return sum(spent for pid, spent in seconds.items() if ours(pid))


def trace_writers(folder: str) -> list[int]:
    """The other processes that have a trace in the folder open."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            name = os.readlink(link)
            if name.startswith(folder) and name.endswith("trace.jsonl"):
                found.add(int(link.parts[2]))
    return sorted(found - {os.getpid()})


@contextlib.contextmanager
def serve_endpoint(latency: float) -> Iterator[str]:
    """The base URL of an endpoint in a separate process."""
    call = [sys.executable, "-m", "codeplan", "serve-scripted", "--latency", str(1000 * latency)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(main())
