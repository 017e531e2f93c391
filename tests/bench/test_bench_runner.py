"""A bench plays what is left, once, within its budget, and tells infrastructure's failures from the agent's."""

from __future__ import annotations

import json

import pytest
from support.bench_samples import bare, plan

from codeplan.bench.store import read_bench
from codeplan.budget import TotalBudget
from codeplan.recording.events import EpisodeEnded
from codeplan.recording.trace import Trace

DEAD = "http://127.0.0.1:9/v1"


def tiny(url: str) -> dict[str, object]:
    return {"name": "tiny", "base_url": url, "max_retries": 0, "api_key": "none"}


def test_every_cell_runs_every_task_of_its_suite_and_leaves_a_trace(play, tmp_path):
    done = play(plan(suites=["household", "textcraft"], kind=None, n=1)).bench
    assert len(done.outcomes) == done.total_episodes == 9
    for one in done.outcomes:
        assert isinstance(Trace.read(tmp_path / "out" / one.run / "trace.jsonl")[-1], EpisodeEnded)
        assert one.result.trace == f"{one.run}/trace.jsonl"
    assert read_bench(tmp_path / "out") == done


def test_finished_episodes_do_not_run_again(play, tmp_path):
    asked = plan(kind=None)
    first = play(asked).bench
    lines = (tmp_path / "out" / "results.jsonl").read_bytes()
    assert play(asked).bench == first
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == lines


def test_a_repeat_has_the_next_seed_the_same_for_all_cells(play, tmp_path):
    done = play(
        plan(repeats=2, settings=[{"model_seed": 5, "label": "a"}, {"model_seed": 5, "tries": 1, "label": "b"}])
    )
    seeds = {}
    for one in done.bench.outcomes:
        header = Trace.read(tmp_path / "out" / one.run / "trace.jsonl")[0]
        seeds[one.cell, one.repeat] = header.settings["model_seed"]
    assert sorted(seeds.values()) == [5, 5, 6, 6]
    assert [seeds[cell.name, 1] for cell in done.bench.cells] == [6, 6]


def test_an_unfinished_episode_resumes_from_its_trace(play, tmp_path):
    asked = plan()
    whole = play(asked).bench
    trace = tmp_path / "out" / whole.outcomes[0].run / "trace.jsonl"
    events = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join(events[: len(events) // 2]))
    (tmp_path / "out" / "results.jsonl").write_bytes(b"")
    assert bare(play(asked).bench) == bare(whole)
    assert trace.read_bytes().splitlines(keepends=True)[: len(events) // 2] == events[: len(events) // 2]


@pytest.mark.parametrize("left", [b"", b"not a trace\n", b'{"event":"warning_issued","message":"x"}\n'])
def test_an_episode_that_cannot_resume_starts_over_and_its_trace_is_kept(play, tmp_path, left):
    asked = plan()
    whole = play(asked).bench
    trace = tmp_path / "out" / whole.outcomes[0].run / "trace.jsonl"
    trace.write_bytes(left)
    (tmp_path / "out" / "results.jsonl").write_bytes(b"")
    assert bare(play(asked).bench) == bare(whole)
    assert (trace.parent / "died-1.jsonl").read_bytes() == left


@pytest.mark.parametrize(
    "change",
    [
        {"model": "strong", "model_settings": {"base_url": DEAD}},
        {"model_settings": {"main_model": "strong"}},
        {"env": "textcraft"},
        {"method": "react"},
        {"budget": {"model_calls": 9999}},
        {"settings": {"tries": 1}},
        {"settings": {"prompts": "/etc"}},
        {"settings": {"no_such_setting": [1]}},
        {"task": {"id": "clean/1", "env": "household"}},
    ],
)
def test_a_trace_that_is_not_of_this_bench_sets_nothing_and_is_kept(play, tmp_path, change):
    asked = plan()
    whole = play(asked).bench
    trace = tmp_path / "out" / whole.outcomes[0].run / "trace.jsonl"
    first, *rest = trace.read_bytes().splitlines(keepends=True)
    foreign = json.dumps({**json.loads(first), **change}).encode() + b"\n" + b"".join(rest[:4])
    trace.write_bytes(foreign)
    (tmp_path / "out" / "results.jsonl").write_bytes(b"")
    assert bare(play(asked).bench) == bare(whole)
    assert (trace.parent / "died-1.jsonl").read_bytes() == foreign
    again = trace.read_bytes().splitlines(keepends=True)[0]
    assert {**json.loads(again), "at": 0} == {**json.loads(first), "at": 0}


def test_infrastructure_failures_are_retried_counted_separately_and_run_again_later(play, serve):
    broken = play(plan(models=[tiny(DEAD)]), retries=1).bench
    (only,) = broken.outcomes
    assert (only.broken, only.failures, only.result.success) == (True, 2, False)
    assert only.result.reason.startswith("infrastructure: ")
    (only,) = play(plan(models=[tiny(serve(mistakes="none").url)])).bench.outcomes
    assert (only.broken, only.result.success) == (False, True)


def test_a_spent_budget_stops_the_bench_and_a_larger_one_continues_it(play):
    asked = plan(kind=None)
    done = play(asked, workers=1, budget=TotalBudget(tokens=1))
    assert done.stopped_by is not None and done.stopped_by.kind == "tokens"
    assert len(done.bench.outcomes) == 1
    assert len(play(asked, workers=1, budget=TotalBudget(tokens=1)).bench.outcomes) == 1
    assert play(asked, budget=TotalBudget(seconds=0)).stopped_by is not None
    whole = play(asked, budget=TotalBudget(tokens=10**9, money=1.0))
    assert (whole.stopped_by, len(whole.bench.outcomes)) == (None, 6)


def test_the_observer_sees_each_outcome_and_no_folder_means_no_files(play, tmp_path):
    from contextlib import nullcontext

    received = []
    done = play(plan(kind=None), folder=None, observer=lambda bench: nullcontext(received.append)).bench
    assert sorted(e.key for e in received) == sorted(e.key for e in done.outcomes)
    assert list(tmp_path.iterdir()) == []


def test_traces_are_downloaded_from_the_storage(play, tmp_path):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    done = play(plan(), storage=f"file://{tmp_path}/far").bench
    run = done.outcomes[0].run
    near, far = (tmp_path / place / run / "trace.jsonl" for place in ("out", "far"))
    assert near.read_bytes() == far.read_bytes() and Trace.read(near)


def test_an_unfinished_endpoint_episode_resumes_with_the_given_key_and_address(play, serve, tmp_path):
    asked = plan(models=[tiny(serve(mistakes="none").url)])
    whole = play(asked).bench
    trace = tmp_path / "out" / whole.outcomes[0].run / "trace.jsonl"
    events = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join(events[:-3]))
    (tmp_path / "out" / "results.jsonl").write_bytes(b"")
    assert bare(play(asked).bench) == bare(whole)
    assert not list(trace.parent.glob("died-*"))
