"""The summaries of runs and benches show which share of the input came from endpoints' caches."""

import json

import pytest
from support.reply_server import endpoint, reply

from codeplan.cli.app import main
from codeplan.types import NO_USAGE, Usage

__all__ = ["endpoint"]


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def give_up(server, **more):
    """The options for an episode of one call, with 4 cached of 9 input tokens unless the usage is given."""
    server.answer(reply("think: Task failed!", **more))
    return ["--method", "react", "--model", "tiny", "--base-url", server.url]


def test_a_run_shows_the_cached_tokens_and_their_share(endpoint, capsys):
    assert main(["run", "household", *give_up(endpoint), "--quiet"]) == 1
    assert "9 in, 4 of them cached (44%) + 3 out" in capsys.readouterr().out


def test_a_run_without_cached_tokens_does_not_mention_them(endpoint, capsys):
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    assert main(["run", "household", *give_up(endpoint, usage=usage), "--quiet"]) == 1
    shown = capsys.readouterr().out
    assert "9 in + 3 out" in shown
    assert "cached" not in shown


def test_a_bench_shows_the_share_and_has_it_in_its_json(endpoint, capsys):
    options = [*give_up(endpoint), "-n", "2"]
    assert main(["bench", "household", *options, "--out", "shown"]) == 0
    assert "44% of the input tokens of" in capsys.readouterr().out
    assert main(["bench", "household", *options, "--out", "data", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)["cells"][0]["summary"]
    assert [row["cached_share"] for row in summary] == [pytest.approx(4 / 9)] * len(summary)


@pytest.mark.parametrize(
    ("usage", "share"),
    [
        (Usage(9, 3, 4), 4 / 9),
        (Usage(9, 3), 0.0),
        (Usage(9, 3, 9), 1.0),
        (Usage(9, 3, 4) + Usage(11, 3, 6), 0.5),
        (Usage(None, 3, 4), None),
        (Usage(None, None), None),
        (Usage(9, 3, 4) + Usage(None, None), None),
        (Usage(0, 0), None),
        (Usage(9, None, 4), 4 / 9),
        (Usage(10**12, 1, 10**12 - 1), 1.0),
        (NO_USAGE, None),
    ],
)
def test_the_share_is_unknown_where_the_input_is(usage, share):
    assert usage.cached_share == (None if share is None else pytest.approx(share))
