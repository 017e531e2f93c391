"""Grids of trainings: plans are learnt once, then followed by cells of their own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.bench_samples import bare
from support.training_samples import GRID, plan

from codeplan.bench.store import BenchRecord, read_bench
from codeplan.bench.trainings import training_results
from codeplan.budget import TotalBudget
from codeplan.cli.app import main
from codeplan.errors import Diverged, ModelError, UsageError
from codeplan.recording.events import EpisodeStarted, ModelCalled
from codeplan.recording.trace import Trace


def traces(folder: Path) -> dict[str, bytes]:
    """The traces of all training episodes, by their path in the bench's folder."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.glob("trainings/*/episodes/*/*"))}


def plans(folder: Path) -> dict[str, str]:
    return {str(f.relative_to(folder)): f.read_text() for f in sorted(folder.glob("trainings/*/plan-*"))}


def task_ids(training: Path) -> list[str]:
    starts = [Trace.read(file)[0] for file in sorted(training.glob("episodes/*/trace.jsonl"))]
    return [start.task.id for start in starts if isinstance(start, EpisodeStarted)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> BenchRecord:
    """A bench that was played in one go."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "grid.toml").write_text(GRID)
    assert main(["bench", str(folder / "grid.toml"), "--out", str(folder / "out")]) == 0
    return read_bench(folder / "out")


# ------------------------------------------------------------------ what is trained


def test_each_training_writes_a_plan_after_each_iteration_and_a_cell_follows_each(whole):
    names = [f"batch={b},training={t}" for b in (1, 2) for t in (1, 2)]
    assert [c.name for c in whole.cells] == [
        f"textcraft.learner.scripted.{name},iteration={i}" for name in names for i in (1, 2)
    ]
    assert [*plans(whole.folder)] == [
        f"trainings/textcraft.learner.scripted.{name}/plan-1-0{i}.txt" for name in names for i in (1, 2)
    ]
    assert len(traces(whole.folder)) == 2 * (2 + 4)
    for outcome in whole.outcomes:
        cell = next(cell for cell in whole.cells if cell.name == outcome.cell)
        assert cell.learnt
        file = f"trainings/{cell.learnt.training.name}/plan-1-0{cell.learnt.iteration}.txt"
        asked = next(e for e in Trace.read(whole.folder / outcome.run / "trace.jsonl") if isinstance(e, ModelCalled))
        assert plans(whole.folder)[file].strip() in str(asked.messages[-1]["content"])


def test_each_training_draws_other_tasks_and_more_trainings_do_not_change_those_before():
    few, more = plan(), plan({"trainings": 3, "iterations": 3, "batches": (3, 1, 2)})
    assert len({tuple(task.id for task in job.tasks) for job in few.trainings}) == 4
    assert {task.split for job in few.trainings for task in job.tasks} == {"train"}
    assert {task.kind for job in few.trainings for task in job.tasks} == {"depth2"}
    longer = {job.training.name: job for job in more.trainings}
    for job in few.trainings:
        assert longer[job.training.name].training == job.training
        assert longer[job.training.name].tasks[: len(job.tasks)] == job.tasks
    assert [job.training.draw for job in few.trainings] == [1, 1001, 2, 1002]
    assert [job.training.draw for job in plan({"seed": 7}).trainings] == [8, 1008, 9, 1009]


def test_a_training_can_be_repeated_by_hand(whole, tmp_path):
    words = ["--kind", "depth2", "-n", "4", "--draw", "1002", "--set", "batch=2", "--set", "batch_seed=null"]
    assert main(["learn", "textcraft", *words, "--set", "weakness=forgetful", "--out", str(tmp_path / "learnt")]) == 0
    ours = whole.folder / "trainings" / "textcraft.learner.scripted.batch=2,training=2"
    assert task_ids(ours) == task_ids(tmp_path / "learnt")
    for n in (1, 2):
        assert (ours / f"plan-1-0{n}.txt").read_text() == (tmp_path / "learnt" / f"plan-1-0{n}.txt").read_text()


def test_settings_of_the_trainings_are_not_those_of_the_cells(tmp_path, play):
    found = plan({"batches": (1,), "trainings": 1, "iterations": 1, "settings": {"weakness": "none"}})
    bench = play(found).bench
    (start,) = (Trace.read(file)[0] for file in tmp_path.glob("out/trainings/*/episodes/*/trace.jsonl"))
    assert isinstance(start, EpisodeStarted)
    assert start.settings["weakness"] == "none"
    assert [cell.settings for cell in bench.cells] == [{"weakness": "forgetful"}]


# ------------------------------------------------------------------ interrupted


def test_a_finished_training_is_not_done_again(whole, tmp_path, play):
    """Without the traces' answers it would have to be: so a file that stays as it was proves it."""
    shutil.copytree(whole.folder / "trainings", tmp_path / "out" / "trainings")
    for file in (tmp_path / "out").glob("trainings/*/episodes/*/trace.jsonl"):
        file.unlink()
    assert bare(play(plan()).bench) == bare(whole)
    assert not traces(tmp_path / "out")


@pytest.mark.parametrize("tokens", [1, 20_000])
def test_a_spent_budget_stops_trainings_which_then_go_on(whole, tmp_path, play, tokens):
    stopped = play(plan(), workers=1, budget=TotalBudget(tokens=tokens))
    assert stopped.stopped_by and stopped.stopped_by.kind == "tokens"
    assert not stopped.bench.outcomes
    before = traces(tmp_path / "out")
    assert 0 < len(before) < len(traces(whole.folder))
    again = play(plan(), workers=1, budget=TotalBudget(tokens=tokens))
    assert again.stopped_by
    assert traces(tmp_path / "out") == before
    assert bare(play(plan()).bench) == bare(whole)
    assert before.items() <= traces(tmp_path / "out").items()
    assert plans(tmp_path / "out") == plans(whole.folder)


def test_the_budget_counts_the_trainings_of_an_earlier_start(whole, tmp_path, play):
    shutil.copytree(whole.folder / "trainings", tmp_path / "out" / "trainings")
    results = [r for job in plan().trainings for r in training_results(whole.folder, job.training)]
    assert len(results) == 12
    trained = sum(r.usage.total_tokens or 0 for r in results)
    stopped = play(plan(), budget=TotalBudget(tokens=trained))
    assert stopped.stopped_by and stopped.stopped_by.value == trained


def test_a_killed_bench_trains_on_where_it_was(whole, tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    command = [sys.executable, "-m", "codeplan", "bench", "grid.toml", "--out", "out", "-j", "1"]
    child = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and not plans(tmp_path / "out"):
        time.sleep(0.002)
    child.kill()  # does nothing if it has ended
    child.wait()
    before = plans(tmp_path / "out")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert before.items() <= plans(tmp_path / "out").items()
    assert bare(read_bench(tmp_path / "out")) == bare(whole)


def test_more_trainings_and_iterations_extend_a_bench(whole, tmp_path, play):
    play(plan({"trainings": 1, "iterations": 1, "batches": (2,)}))
    before = traces(tmp_path / "out")
    assert len(before) == 2
    assert bare(play(plan()).bench) == bare(whole)
    assert before.items() <= traces(tmp_path / "out").items()


def test_other_trainings_are_another_bench(whole, play):
    with pytest.raises(UsageError, match="has other settings here"):
        play(plan({"seed": 1}), folder=whole.folder)
    with pytest.raises(UsageError, match="is missing here; to go on with it, ask for as many trainings, batch sizes"):
        play(plan({"trainings": 1}), folder=whole.folder)


def test_processes_play_what_threads_have_trained(whole, play):
    assert bare(play(plan(), engine="processes").bench) == bare(whole)


def test_a_damaged_trace_of_a_training_is_not_counted(whole, tmp_path):
    folder = shutil.copytree(whole.folder, tmp_path / "copy")
    training = plan().trainings[0].training
    first, *_ = sorted(folder.glob(f"trainings/{training.name}/episodes/*/trace.jsonl"))
    first.write_bytes(b"{}\n" * 3)
    assert len(training_results(folder, training)) == len(training_results(whole.folder, training)) - 1 == 1


def test_a_failing_model_breaks_trainings_off_which_then_go_on(tmp_path, play, serve):
    served = serve(faults="500=0.1,seed=3")
    model = {"name": "tiny", "base_url": served.url, "max_retries": 0, "api_key": "none"}
    asked = plan({"iterations": 1}, models=[model], common={})
    with pytest.raises(ModelError) as broken:
        play(asked)
    told = re.fullmatch(r"([1-4]) of 4 trainings broken off; to continue, (.*)", broken.value.__notes__[0])
    assert told and told[2] == f"repeat the command with --out {tmp_path / 'out'}"
    assert not read_bench(tmp_path / "out").outcomes
    for _ in range(100):  # each start gets further
        with suppress(ModelError):
            play(asked, retries=50)
            break
    bench = read_bench(tmp_path / "out")
    assert [outcome.broken for outcome in bench.outcomes] == [False] * 4
    trained = [r for job in asked.trainings for r in training_results(tmp_path / "out", job.training)]
    calls = sum(r.model_calls for r in trained) + sum(outcome.result.model_calls for outcome in bench.outcomes)
    assert sum(bool(entry["usage"]) for entry in served.log) == calls


def test_a_training_that_is_not_as_recorded_says_where_and_what_to_do(whole, tmp_path, play):
    shutil.copytree(whole.folder / "trainings", tmp_path / "out" / "trainings")
    for file in [*tmp_path.glob("out/trainings/*/plan-*"), *tmp_path.glob("out/trainings/*/episodes/002/trace.jsonl")]:
        file.unlink()
    for file in tmp_path.glob("out/trainings/*/episodes/001/trace.jsonl"):
        file.write_text(file.read_text().replace('"forgetful"', '"span"'))
    with pytest.raises(Diverged) as differs:
        play(plan())
    (note,) = differs.value.__notes__
    assert note.startswith(f"the training is in {tmp_path / 'out' / 'trainings'}")
    assert note.endswith("give the same settings again, or remove that folder to train anew")


def test_an_error_of_one_training_ends_the_others_at_once(whole, tmp_path, play, serve):
    served = serve(latency=0.1)
    model = {"name": "tiny", "base_url": served.url, "max_retries": 0, "api_key": "none"}
    asked = plan({"batches": (2,), "iterations": 4}, models=[model], common={})
    foreign = next(whole.folder.glob("trainings/*/episodes/001"))
    shutil.copytree(foreign, tmp_path / "out" / "trainings" / asked.trainings[0].training.name / "episodes" / "001")
    with pytest.raises(Diverged):
        play(asked)
    assert len(served.log) < 20
    assert sum(len(job.tasks) for job in asked.trainings[1:]) == 8  # which take several calls each
