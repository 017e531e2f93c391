"""``codeplan learn``, as it is typed."""

from pathlib import Path

import pytest

from codeplan import envs
from codeplan.cli.app import main
from codeplan.recording.events import ModelCalled
from codeplan.recording.trace import Trace


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_learnt_plan_is_a_file_that_the_method_uses(tmp_path, monkeypatch, capsys):
    assert main(["learn", "textcraft", "-n", "2", "--out", "learnt", "--set", "weakness=forgetful"]) == 0
    plan = (tmp_path / "learnt" / "plan.txt").read_text()
    assert "has to be crafted before" in plan
    assert plan.strip() in capsys.readouterr().out
    run = ["run", "textcraft", "--seed", "17", "-q", "--method", "autoplan", "--set", "weakness=forgetful"]
    assert main([*run, "--out", "without"]) == 1
    assert main([*run, "--set", "plan=learnt/plan.txt", "--out", "with"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["household", "--method", "react"], "the method react does not learn; autoplan does"),
        (["household", "--split", "test"], "autoplan learns from train only"),
        (["household", "--kind", "dance"], "has no tasks of kind dance in its split train; its kinds: "),
        (["nowhere"], "there is no environment 'nowhere'"),
    ],
)
def test_an_impossible_training_is_one_line(tmp_path, monkeypatch, capsys, words, message):
    assert main(["learn", *words, "--out", "learnt"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1


def test_a_training_replays_from_its_tape_into_another_folder(tmp_path, monkeypatch, capsys):
    training = ["learn", "textcraft", "-n", "2", "--set", "weakness=forgetful"]
    assert main([*training, "--out", "learnt", "--record", "tape"]) == 0
    assert main([*training, "--out", "again", "--replay", "tape"]) == 0
    kept = {f.name: f.read_text() for f in (tmp_path / "again").iterdir()}
    assert kept == {f.name: f.read_text() for f in (tmp_path / "learnt").iterdir() if f.is_file()}
    capsys.readouterr()
    assert main([*training, "--out", "more", "--replay", "tape", "--set", "batch=1"]) == 1
    assert "is not what was recorded" in capsys.readouterr().err


def test_a_training_says_what_it_spent(tmp_path, monkeypatch, capsys):
    assert main(["learn", "textcraft", "-n", "2", "--out", "learnt"]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    results = [Trace.read(f)[-1].result for f in sorted((tmp_path / "learnt" / "episodes").glob("*/trace.jsonl"))]
    assert len(results) == 2
    calls, tokens = sum(r.model_calls for r in results), sum(r.usage.input_tokens for r in results)
    assert said.startswith(f"spent: {calls:,} model calls, {tokens:,} tokens in, ")


@pytest.mark.parametrize(("limit", "number"), [("--max-tokens", "1"), ("--max-seconds", "0"), ("--max-money", "0")])
def test_a_spent_budget_ends_a_training_with_what_it_has_learnt(tmp_path, monkeypatch, capsys, limit, number):
    training = ["learn", "textcraft", "-n", "3", "--out", "learnt", "--set", "batch=1"]
    assert main([*training, limit, number]) == 3
    said = capsys.readouterr()
    assert "repeat the command with the same --out and a larger budget to continue" in said.err
    episodes = tmp_path / "learnt" / "episodes"
    if limit == "--max-tokens":
        assert "learnt from a part of 3 tasks; the plan is in learnt/plan.txt; use it: codeplan run" in said.out
        assert "codeplan run textcraft --method autoplan --set plan=learnt/plan.txt\n" in said.out
        assert len([*episodes.iterdir()]) == 1
    else:
        assert "no plan is learnt yet" in said.err
        assert not episodes.exists()
        assert not (tmp_path / "learnt" / "plan.txt").exists()
    assert main(training) == 0
    assert len([*episodes.iterdir()]) == 3
    assert main(["learn", "textcraft", "-n", "3", "--out", "whole", "--set", "batch=1"]) == 0
    assert (tmp_path / "learnt" / "plan.txt").read_text() == (tmp_path / "whole" / "plan.txt").read_text()


def test_a_plan_for_each_kind_is_learnt_and_found_by_the_tasks_kind(tmp_path, monkeypatch, capsys):
    assert main(["learn", "household", "--per-kind", "-n", "1", "--out", "learnt"]) == 0
    plans = {file.stem for file in (tmp_path / "learnt" / "plans").iterdir()}
    assert plans == {"pick", "clean", "heat", "cool", "examine", "pick_two"}
    said = capsys.readouterr().out
    assert "a plan for each kind is in learnt/plans" in said
    assert "; use it: codeplan run household --method autoplan --set plan=learnt/plans\n" in said
    run = ["run", "household", "--kind", "heat", "-q", "--method", "autoplan", "--set", "plan=learnt/plans"]
    assert main([*run, "--out", "followed"]) == 0
    asked = next(e for e in Trace.read(tmp_path / "followed" / "trace.jsonl") if isinstance(e, ModelCalled))
    assert (tmp_path / "learnt" / "plans" / "heat.txt").read_text().strip() in asked.messages[-1]["content"]


def test_the_tasks_of_a_training_are_the_first_ones_or_drawn_by_a_seed(tmp_path, monkeypatch):

    def learnt_from(out, *words):
        assert main(["learn", "textcraft", "-n", "3", "--out", out, "--set", "batch_seed=null", *words]) == 0
        return [Trace.read(f)[0].task.id for f in sorted((tmp_path / out / "episodes").glob("*/trace.jsonl"))]

    first = [task.id for task in envs.make("textcraft").tasks("train")[:3]]
    assert learnt_from("first") == first
    drawn = learnt_from("one", "--draw", "1")
    assert drawn == learnt_from("again", "--draw", "1")
    assert drawn != first
    assert drawn != learnt_from("two", "--draw", "2")
