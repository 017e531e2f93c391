"""An unknown price is unknown, from the call to every table; only what costs nothing is $0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.boxes import Boxes
from support.reply_server import Endpoint, endpoint, reply

import codeplan
from codeplan.bench.metrics import mean_if_known, measure_episode, summarise_results
from codeplan.bench.store import EpisodeOutcome
from codeplan.bench.tables import format_number
from codeplan.cli.app import main
from codeplan.cli.output import EpisodeCounts
from codeplan.errors import ModelError
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.recording.events import EpisodeEnded
from codeplan.report.json_output import to_plain_data
from codeplan.types import Result, Success, Task, Usage

__all__ = ["endpoint"]

TASK = Task("ball/2", "boxes", "find", "find the ball", 2)
SOLVE = "```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.open(2)\n        assert True\n```"
PRICES = "[models.tiny]\ninput = 1.0\noutput = 2.0\n[models.free]\ninput = 0.0\noutput = 0.0\n"


def outcome(money: float | None, calls: int = 1) -> EpisodeOutcome:
    result = Result(TASK, Success(), model_calls=calls, usage=Usage(10, 10, money=money))
    return EpisodeOutcome("cell", TASK, 0, "", result)


def run(endpoint: Endpoint, tmp_path: Path, usage: object, prices: bool = True, **settings: object) -> Result:
    (tmp_path / "prices.toml").write_text(PRICES)
    table = {"prices": tmp_path / "prices.toml"} if prices else {}
    endpoint.answer(reply(SOLVE, usage=usage, model="another-name"))
    return codeplan.run(Boxes(), TASK, AdaPlanner(), endpoint.model(**table, **settings))


@pytest.mark.parametrize(
    ("usage", "prices", "money"),
    [
        ({"prompt_tokens": 1_000_000, "completion_tokens": 500_000}, True, 2.0),
        ({"prompt_tokens": 0, "completion_tokens": 0}, True, 0.0),
        ({"prompt_tokens": 1_000_000, "completion_tokens": 500_000}, False, None),
        ({"prompt_tokens": 1_000_000}, True, None),
        ({"prompt_tokens": "many", "completion_tokens": 1}, True, None),
        ({"prompt_tokens": -1, "completion_tokens": 1}, True, None),
        ({"prompt_tokens": 1, "completion_tokens": 10**15}, True, None),
        ({}, True, None),
        (None, True, None),
    ],
)
def test_a_result_has_money_only_if_price_and_tokens_are_known(endpoint, tmp_path, usage, prices, money):
    result = run(endpoint, tmp_path, usage, prices)
    assert result.usage.money == (None if money is None else pytest.approx(money))
    assert to_plain_data(result)["usage"].get("money") == result.usage.money


def test_the_stand_in_is_known_to_cost_nothing():
    assert codeplan.run("household").usage.money == 0.0


def test_tables_and_means_leave_unknown_money_empty():
    results = [outcome(0.5).result, outcome(None).result]
    assert [row.money for row in summarise_results(results)] == [None, None]
    assert [row.money for row in summarise_results(results[:1])] == [0.5, 0.5]
    assert measure_episode(outcome(None), Path(), None).money is None
    assert mean_if_known([0.5, None]) is None
    assert (format_number(None, 4), format_number(0.0, 4)) == ("", "0.0000")


@pytest.mark.parametrize(
    ("costs", "shown"),
    [
        ((0.5, 0.25), ", $0.75"),
        ((0.5, None), ", $0.50 and an unknown cost"),
        ((None, None), ", cost unknown"),
        ((0.0, 0.0), "2 solved"),
    ],
)
def test_progress_does_not_take_an_unknown_cost_for_nothing(costs, shown):
    progress = EpisodeCounts(2)
    for money in costs:
        progress.add(outcome(money).result)
    assert shown in str(progress)
    assert ("$" in str(progress)) is any(costs)


def test_a_bench_with_a_budget_of_money_names_the_models_that_it_does_not_limit(
    endpoint, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.toml").write_text(PRICES)
    endpoint.answer(reply("no plan"))
    bench = ["bench", "household", "-n", "1", "--kind", "pick", "--model", "tiny", "--base-url", endpoint.url]
    assert main([*bench, "--out", "one", "--max-money", "1", "--set", "tries=1", "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err.count("no price is known for the model tiny") == 1
    cell = json.loads(shown.out)["cells"][0]
    assert all(row.get("money") is None for row in cell["summary"])
    assert main([*bench, "--out", "two", "--set", "tries=1", "--json"]) == 0
    assert "no price" not in capsys.readouterr().err
    priced = ["--max-money", "1", "--prices", "prices.toml", "--set", "tries=1", "--json"]
    assert main([*bench, "--out", "three", *priced]) == 0
    shown = capsys.readouterr()
    assert "no price" not in shown.err
    assert all(row["money"] > 0 for row in json.loads(shown.out)["cells"][0]["summary"])


@pytest.mark.parametrize(("prices", "money"), [(True, 0.0), (False, None)])
@pytest.mark.parametrize("status", [400, 401, 404, 429])
def test_a_refused_call_costs_nothing_only_if_there_is_a_price(endpoint, tmp_path, status, prices, money):
    (tmp_path / "prices.toml").write_text(PRICES)
    table = {"prices": tmp_path / "prices.toml"} if prices else {}
    endpoint.answer({"error": "no"}, status)
    ends: list[EpisodeEnded] = []
    keep = lambda event: ends.append(event) if isinstance(event, EpisodeEnded) else None  # noqa: E731
    with pytest.raises(ModelError):
        codeplan.run(Boxes(), TASK, AdaPlanner(), endpoint.model(**table), on_event=keep)
    assert ends[0].result.usage.money == money
