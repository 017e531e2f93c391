"""``codeplan papers`` and ``codeplan bench paper:ID``."""

from __future__ import annotations

import json

import pytest
from support.terminals import codeplan_on_terminal

from codeplan.bench.papers import paper_experiments
from codeplan.bench.tables import BenchTable
from codeplan.cli.app import main
from codeplan.cli.tables import bench_table_text


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_the_list_names_every_experiment_in_80_columns(capsys):
    assert main(["papers"]) == 0
    shown = lines(capsys)
    assert max(map(len, shown)) <= 80
    assert [line.split()[0] for line in shown if line.startswith("  a")] == [e.id for e in paper_experiments()]
    assert any("not played: People read" in line for line in shown)


@pytest.mark.parametrize("experiment", [e.id for e in paper_experiments()])
def test_an_experiment_is_described_in_80_columns(experiment, capsys):
    assert main(["papers", experiment]) == 0
    shown = lines(capsys)
    assert max(map(len, shown)) <= 80
    assert experiment in shown[0]


def test_a_description_has_settings_figures_and_what_is_missing(capsys):
    assert main(["papers", "adapt-table2"]) == 0
    text = " ".join(" ".join(lines(capsys)).split())
    for part in ("max_depth=4, executor=(name=react, calls=39)", "52.00 adapt with GPT-3.5"):
        assert part in text
    assert "LATS is a method of another paper" in text
    assert main(["papers", "adaplanner-table3"]) == 0
    assert "no setting yet: 21 discovered skills: make them with codeplan skills discover" in " ".join(
        " ".join(lines(capsys)).split()
    )


def test_a_papers_rows_stand_below_the_rows_name():
    rows = (("react", "paper, GPT-3", "1.0"), ("react", "here, gpt", "2.0"), ("adapt", "here, gpt", "3.0"))
    text = bench_table_text(BenchTable("Title", ("row", "whose", "success, %"), rows), None)
    assert [line.split() for line in text.splitlines()[4:]] == [
        ["react"],
        ["paper,", "GPT-3", "1.0"],
        ["here,", "gpt", "2.0"],
        ["adapt"],
        ["here,", "gpt", "3.0"],
    ]


def test_json_has_the_experiment_and_its_tables(capsys):
    assert main(["papers", "adapt-table3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["experiment"]["id"] == "adapt-table3"
    assert [table["metric"] for table in document["published"]] == ["success", "k_max"]


def test_an_experiment_is_played_by_one_command_and_shown_again_from_its_folder(tmp_path, capsys):
    folder = str(tmp_path / "out")
    assert main(["bench", "paper:adapt-table3", "-n", "1", "--kind", "depth2", "--out", folder]) == 0
    played = capsys.readouterr().out
    assert "here, scripted †" in played
    assert "the paper has 189 tasks, this bench 1" in played
    assert main(["papers", "adapt-table3", "--bench", folder]) == 0
    assert capsys.readouterr().out == played


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["bench", "paper:adapt-table"], "did you mean 'adapt-table"),
        (["bench", "paper:autoplan-errors"], "autoplan-errors cannot be played: People read"),
        (["bench", "paper:adapt-table3", "--split", "dev"], "sets the split itself; omit --split"),
        (["bench", "paper:adapt-table3", "--method", "react"], "sets the method itself; omit --method"),
        (["bench", "paper:adapt-table3", "--set", "colour=red"], "no row of adapt-table3 takes the setting colour"),
        (["papers", "--bench", "runs"], "name the experiment that the bench played"),
        (["papers", "adapt-table3", "--bench", "nowhere"], "there is no bench in nowhere"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(arguments, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err


def test_the_invented_shop_has_no_papers_figure_in_a_benchs_table(tmp_path, capsys):
    assert main(["bench", "webshop-100", "-n", "1", "--method", "adaplanner", "--out", str(tmp_path / "a")]) == 0
    assert "44" not in [word.strip(".%") for word in capsys.readouterr().out.split()]


@pytest.mark.parametrize("columns", [60, 120])
def test_the_list_is_as_wide_as_the_terminal(columns, tmp_path):
    shown = codeplan_on_terminal(["papers"], tmp_path, columns=columns)
    assert shown.code == 0
    assert columns - 10 <= max(map(len, shown.lines)) <= columns
