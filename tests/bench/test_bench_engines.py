"""Every engine does every job once, survives the death of a worker, and stops when it is closed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.bench_samples import Play, bare, plan

from codeplan.bench import engines
from codeplan.bench.bench_runner import EpisodeWorker, remaining_jobs
from codeplan.bench.engines import divide_cores
from codeplan.bench.store import BenchRecord, order_outcomes
from codeplan.cancellation import raise_if_cancelled
from codeplan.errors import InfrastructureError, UsageError


class Square(msgspec.Struct, frozen=True):
    """Squares numbers; the process that is handed ``deadly`` dies, so often as ``deaths`` says."""

    folder: str
    deadly: int = -1
    deaths: int = 0

    def __call__(self, job: int) -> int:
        if job == self.deadly:
            tries = Path(self.folder, "tries")
            before = int(tries.read_text()) if tries.exists() else 0
            if before < self.deaths:
                tries.write_text(str(before + 1))
                os.kill(os.getpid(), signal.SIGKILL)
        return job * job

    def handle_lost(self, job: int, reason: str) -> int:
        return -job


class Sleep(msgspec.Struct, frozen=True):
    def __call__(self, job: int) -> int:
        if job:
            time.sleep(600)
        return job

    def handle_lost(self, job: int, reason: str) -> int:
        raise AssertionError("nobody died")


class OwnModel:
    """Refuses job 1 once job 0 runs, which asks a function of the user's for a reply fifty times."""

    def __init__(self) -> None:
        self.running, self.replies, self.interrupted = threading.Event(), 0, False

    def __call__(self, job: int) -> int:
        if job:
            self.running.wait()
            raise UsageError("no such setting")
        self.running.set()
        try:
            while self.replies < 50:
                time.sleep(0.1)
                self.replies += 1
                raise_if_cancelled()  # as the trace does after each event
        except KeyboardInterrupt:
            self.interrupted = True
        return job

    def handle_lost(self, job: int, reason: str) -> int:
        raise AssertionError("nobody died")


def test_threads_do_not_play_their_jobs_to_the_end_when_the_bench_ends() -> None:
    model = OwnModel()
    with pytest.raises(UsageError, match="no such setting"):
        [*engines.make_engine("threads", 2).run([0, 1], model)]
    assert model.interrupted
    assert model.replies < 50


class Refuse(msgspec.Struct, frozen=True):
    def __call__(self, job: int) -> int:
        raise UsageError("no such setting")

    def handle_lost(self, job: int, reason: str) -> int:
        return 0


class Cores(msgspec.Struct, frozen=True):
    """Tells its process and the cores that it may use; a job of 0 ends the process the first time."""

    folder: str

    def __call__(self, job: int) -> tuple[int, frozenset[int]]:
        died = Path(self.folder, "died")
        if job == 0 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.2)  # so that every process gets a job
        return os.getpid(), frozenset(os.sched_getaffinity(0))

    def handle_lost(self, job: int, reason: str) -> tuple[int, frozenset[int]]:
        return 0, frozenset()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not tell cores")
def test_processes_and_their_replacements_keep_to_their_cores(tmp_path: Path) -> None:
    mine = frozenset(os.sched_getaffinity(0))
    found = dict(engines.make_engine("processes", 2).run(range(8), Cores(str(tmp_path))))
    if len(mine) >= 2:
        assert sorted(c for share in found.values() for c in share) == sorted(mine)
    assert {frozenset(c) for c in divide_cores(1)} == {mine}
    assert divide_cores(len(mine) + 1) == [mine] * (len(mine) + 1)


@pytest.mark.parametrize("name", ["threads", "processes"])
def test_jobs_start_when_a_worker_is_free_and_results_come_as_they_end(name: str, tmp_path: Path) -> None:
    drawn = []

    def jobs() -> Iterator[int]:
        for job in range(7):
            drawn.append(job)
            yield job

    with closing(engines.make_engine(name, 2).run(jobs(), Square(str(tmp_path)))) as run:
        first = next(run)
        assert len(drawn) == 2
        assert sorted([first, *run]) == [n * n for n in range(7)]


def test_a_process_that_dies_is_replaced_and_its_job_restarted(tmp_path: Path) -> None:
    run = engines.make_engine("processes", 2).run(range(5), Square(str(tmp_path), 3, 1))
    assert sorted(run) == [0, 1, 4, 9, 16]
    (tmp_path / "tries").unlink()
    run = engines.make_engine("processes", 2).run(range(5), Square(str(tmp_path), 3, 99))
    assert sorted(run) == [-3, 0, 1, 4, 16]
    assert int((tmp_path / "tries").read_text()) == 1 + engines.MAX_RESTARTS


def test_closing_stops_processes_at_once() -> None:
    began = time.monotonic()
    with closing(engines.make_engine("processes", 2).run(range(5), Sleep())) as run:
        assert next(run) == 0
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("name", ["threads", "processes"])
def test_a_handlers_error_ends_the_run_with_its_message(name: str) -> None:
    with pytest.raises(UsageError, match="no such setting"):
        list(engines.make_engine(name, 2).run(range(3), Refuse()))


def killing() -> type:
    """A player whose process dies at one task, the first time; as a class that is sent whole, for who cannot import us."""

    class Killing:
        def __init__(self, player: object, deadly: str, once: Path) -> None:
            self.player, self.deadly, self.once = player, deadly, once

        def __call__(self, job: Any) -> Any:
            import os
            import signal

            if job.task.id == self.deadly and not self.once.exists():
                self.once.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return self.player(job)

    return Killing


def refusing() -> type:
    class Refusing:
        def __call__(self, job: int) -> int:
            from codeplan.errors import UsageError

            raise UsageError("no such setting")

    return Refusing


@pytest.mark.parametrize("name", ["dask", "ray"])
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_threads_results_even_if_a_worker_is_killed(name: str, play: Play, tmp_path: Path) -> None:
    pytest.importorskip({"dask": "distributed"}.get(name, name), reason=f"{name} is not installed")
    asked = plan(kind=None)
    expected = play(asked).bench
    player = EpisodeWorker(folder=str(tmp_path / name), settings=asked.settings)
    work = killing()(player, expected.outcomes[3].task.id, tmp_path / "killed")
    ended = list(engines.make_engine(name, 1).run(remaining_jobs(asked.grid, ()), work))
    assert (tmp_path / "killed").exists()
    assert len(ended) == expected.total_episodes
    assert bare(BenchRecord(tmp_path, asked.grid, order_outcomes(asked.grid, ended))) == bare(expected)
    with pytest.raises(UsageError, match="no such setting"):
        list(engines.make_engine(name, 1).run(range(1), refusing()()))


def test_invalid_engines_and_addresses_are_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'threads'"):
        engines.make_engine("thread", 1)
    with pytest.raises(UsageError, match="leave --address out"):
        engines.make_engine("processes", 1, "tcp://10.0.0.1:8786")


@pytest.mark.filterwarnings("ignore")
def test_an_unreachable_cluster_is_named() -> None:
    pytest.importorskip("distributed", reason="dask is not installed")
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(InfrastructureError, match="no Dask"),
    ):
        list(engines.make_engine("dask", 1, "tcp://127.0.0.1:9").run(range(1), Square("")))
