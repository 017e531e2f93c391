"""``codeplan bench`` and ``compare`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codeplan.bench.store import read_bench
from codeplan.cli.app import main

ONE = ["bench", "household", "--kind", "clean", "-n", "1"]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_bench_prints_a_table_and_says_where_its_traces_are(capsys):
    assert main([*ONE, "--out", "first"]) == 0
    message = capsys.readouterr()
    assert "household: adaplanner with scripted" in message.out
    assert "21–100" in message.out
    assert "say nothing about language models" in message.out
    assert "Traces and results: first" in message.out
    assert message.err == ""


def test_without_a_folder_it_makes_one(capsys):
    assert main([*ONE, "--json"]) == 0
    (folder,) = Path("runs").iterdir()
    document = json.loads(capsys.readouterr().out)
    (cell,) = document["cells"]
    assert cell["summary"][-1]["successes"] == cell["summary"][-1]["episodes"] == len(document["outcomes"]) == 1
    assert read_bench(folder).outcomes[0].result.success


def test_a_setting_is_for_one_of_several_methods():
    methods = [f"--method={name}" for name in ("adaplanner", "best-of-n", "tree")]
    settings = ["--set=best-of-n.n=2", "--set=tree.width=1", "--set=tree.label=narrow", "--set=gaps=0.1"]
    assert main([*ONE, *methods, *settings, "--out", "first"]) == 0
    assert {cell.name: cell.settings for cell in read_bench(Path("first")).cells} == {
        "household.adaplanner.scripted": {"gaps": 0.1},
        "household.best-of-n,n=2.scripted": {"gaps": 0.1, "n": 2},
        "household.narrow.scripted": {"gaps": 0.1, "width": 1},
    }
    assert main([*ONE, "--set", "adaplanner.tries=2", "--out", "second"]) == 0
    assert read_bench(Path("second")).cells[0].settings == {"tries": 2}


def test_options_that_repeat_a_grid_file_are_refused(capsys):
    Path("grid.toml").write_text(
        'suites = ["household"]\nkind = "clean"\nn = 1\nsettings = [{tries = 1}, {tries = 2}]\n'
    )
    assert main(["bench", "grid.toml", "--mistakes", "none", "--out", "grid"]) == 0
    assert [c.settings for c in read_bench("grid").cells] == [
        {"mistakes": "none", "tries": 1},
        {"mistakes": "none", "tries": 2},
    ]
    capsys.readouterr()
    assert main(["bench", "grid.toml", "--method", "adaplanner"]) == 2
    assert "set method there" in capsys.readouterr().err
    assert main(["compare", "grid", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["comparisons"]) == 1
    assert main(["compare", "grid"]) == 0
    assert "McNemar" in capsys.readouterr().out


def test_a_spent_budget_and_broken_infrastructure_have_exit_codes(capsys):
    assert main(["bench", "household", "-n", "1", "-j", "1", "--max-tokens", "1", "--out", "small"]) == 3
    assert "1 of 6 episodes ended; repeat the command with the same --out" in capsys.readouterr().err
    dead = ["--model", "tiny", "--base-url", "http://127.0.0.1:9/v1", "--set", "max_retries=0", "--retries", "0"]
    assert main([*ONE, *dead, "--out", "dead"]) == 4
    said = capsys.readouterr().err
    assert "episodes were broken off, most often for this reason: infrastructure: the model endpoint " in said
    assert "(Connection refused)" in said and "; 0 of 1 episode ended; repeat the command" in said


def test_a_tape_is_recorded_and_played_without_a_folder(capsys):
    assert main([*ONE, "--record", "tape", "--out", "live"]) == 0
    assert main([*ONE, "--replay", "tape", "--json"]) == 0
    capsys.readouterr()
    assert sorted(p.name for p in Path().iterdir()) == ["live", "tape"]
    for wrong in (["--replay", "tape", "--out", "x"], ["--replay", "tape", "--engine", "processes"]):
        assert main([*ONE, *wrong]) == 2


def test_broken_off_attempts_replay_from_the_tape(capsys):
    dead = ["--model", "tiny", "--base-url", "http://127.0.0.1:9/v1", "--set", "max_retries=0", "--retries", "1"]
    assert main([*ONE, *dead, "--record", "tape", "--out", "dead"]) == 4
    message = capsys.readouterr().err
    assert Path("tape").read_text().count('"broken_off":true') == 2
    assert main([*ONE, *dead, "--replay", "tape"]) == 4
    assert "0 of 1 episode ended" in message
    assert "0 of 1 episode ended" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "houshold"], "did you mean 'household'"),
        (["bench", "none.toml"], "cannot be read"),
        (["bench", "household", "--method", "adapt,react"], "repeat it for several: --method adapt --method react"),
        ([*ONE, "--set", "tree.n=8"], "--set tree.n=8 is for a method that this bench does not play; add --method"),
        ([*ONE, "--set", "adaplanner.name=tree"], "--set adaplanner.name=tree is not a setting"),
        ([*ONE, "--set", ".n=8"], "--set takes NAME=VALUE, not '.n=8'"),
        (["bench", "my.toml", "--model", "a, b"], 'write into my.toml: models = ["a", "b"]'),
        (["compare", "nowhere"], "there is no bench"),
        (["compare", "nowhere", "--format", "word"], "there is no format"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys):
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1
    assert not Path("runs").exists() or not list(Path("runs").iterdir())


def test_cells_of_a_suite_stand_side_by_side(tmp_path, capsys):
    grid = tmp_path / "grid.toml"
    methods = '["react", {name = "adapt", max_depth = 2}, {name = "adapt", max_depth = 4}]'
    grid.write_text(f'suites = ["textcraft"]\nn = 1\nmethods = {methods}\n[common]\nweakness = "span"\n')
    assert main(["bench", str(grid), "--out", str(tmp_path / "out")]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    head = "method, model, settings depth4 depth3 depth2 all actions calls tokens in tokens out US $"
    assert head.split() in lines
    rates = {line[0]: line[1:5] for line in lines if line and line[0].endswith(".scripted")}
    assert rates == {
        "react.scripted": ["0%", "0%", "0%", "0%"],
        "adapt,max_depth=2.scripted": ["0%", "0%", "100%", "33%"],
        "adapt,max_depth=4.scripted": ["100%", "100%", "100%", "100%"],
    }
