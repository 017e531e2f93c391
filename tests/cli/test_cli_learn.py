"""``codeplan learn``, as it is typed."""

import pytest

from codeplan.cli.app import main


def test_the_learnt_plan_is_a_file_that_the_method_uses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
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
    monkeypatch.chdir(tmp_path)
    assert main(["learn", *words, "--out", "learnt"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1


def test_a_training_replays_from_its_tape_into_another_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    training = ["learn", "textcraft", "-n", "2", "--set", "weakness=forgetful"]
    assert main([*training, "--out", "learnt", "--record", "tape"]) == 0
    assert main([*training, "--out", "again", "--replay", "tape"]) == 0
    kept = {f.name: f.read_text() for f in (tmp_path / "again").iterdir()}
    assert kept == {f.name: f.read_text() for f in (tmp_path / "learnt").iterdir() if f.is_file()}
    capsys.readouterr()
    assert main([*training, "--out", "more", "--replay", "tape", "--set", "batch=1"]) == 1
    assert "is not what was recorded" in capsys.readouterr().err
