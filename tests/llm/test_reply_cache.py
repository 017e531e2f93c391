"""The cache of replies: the same question is asked once, any other question is asked, and nothing broken is believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.reply_server import HELLO, Endpoint, endpoint, reply

import codeplan
from codeplan.cli.app import main
from codeplan.errors import ModelError, UsageError
from codeplan.llm.callable_model import CallableModel
from codeplan.llm.reply_cache import MAX_ENTRY_BYTES, CachedModel
from codeplan.recording.events import EpisodeStarted, ModelCalled, WarningIssued
from codeplan.recording.trace import Trace
from codeplan.runner.models import connect
from codeplan.types import Completion

__all__ = ["endpoint"]


def numbered(server: Endpoint, count: int = 9) -> Endpoint:
    """The server with replies that can be told apart; it has no more than ``count``."""
    for number in range(1, count + 1):
        server.answer(reply(f"reply {number}"))
    return server


def tiny(server: Endpoint, folder: Path, **settings: Any) -> Any:
    """The model as a new process would build it."""
    name = settings.pop("name", "tiny")
    return connect(name, **{"base_url": server.url, "api_key": "sk-x", "reply_cache": folder, **settings})


def ask(model: Any, text: str = "Say hello.", **call: Any) -> Completion:
    found: Completion = model.complete([{"role": "user", "content": text}], **{"purpose": "ask", **call})
    return found


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*"))


def test_the_same_question_is_asked_once(endpoint, tmp_path):
    numbered(endpoint)
    first, again = ask(tiny(endpoint, tmp_path)), ask(tiny(endpoint, tmp_path))
    assert (first.text, again.text, len(endpoint.asked)) == ("reply 1", "reply 1", 1)
    assert (first.usage.reused_replies, again.usage.reused_replies) == (0, 1)
    assert again.usage.total_tokens == first.usage.total_tokens


def test_a_reply_from_the_cache_costs_no_money(endpoint, tmp_path):
    prices = tmp_path / "prices.toml"
    prices.write_text('date = "2026-01-01"\nsource = "mine"\n[models.tiny]\ninput = 1000.0\noutput = 1000.0\n')
    numbered(endpoint)
    paid, free = (ask(tiny(endpoint, tmp_path / "cache", prices=prices)) for _ in range(2))
    assert paid.usage.money is not None
    assert (paid.usage.money > 0, free.usage.money) == (True, 0.0)


@pytest.mark.parametrize("settings", [{}, {"timeout": 7.0}, {"max_retries": 1}, {"requests_per_minute": 600}])
def test_settings_that_change_no_reply_share_it(endpoint, tmp_path, settings):
    numbered(endpoint)
    ask(tiny(endpoint, tmp_path))
    assert ask(tiny(endpoint, tmp_path, **settings)).text == "reply 1"


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0.0},
        {"model_seed": 1},
        {"max_tokens": 10},
        {"stop": ["\n\n"]},
        {"json_schema": True},
        {"extra_body": {"top_p": 0.5}},
        {"name": "other"},
    ],
)
def test_settings_that_may_change_the_reply_do_not_share_it(endpoint, tmp_path, settings):
    numbered(endpoint)
    ask(tiny(endpoint, tmp_path))
    assert ask(tiny(endpoint, tmp_path, **settings)).text == "reply 2"
    assert ask(tiny(endpoint, tmp_path, **settings)).text == "reply 2"


def test_another_address_does_not_share_a_reply(endpoint, tmp_path):
    numbered(endpoint)
    ask(tiny(endpoint, tmp_path))
    assert ask(tiny(endpoint, tmp_path, base_url=f"{endpoint.url}/other")).text == "reply 2"


@pytest.mark.parametrize("call", [{"text": "Say hello!"}, {"purpose": "plan"}, {"stop": ("x",)}, {"max_tokens": 5}])
def test_another_question_does_not_share_a_reply(endpoint, tmp_path, call):
    numbered(endpoint)
    ask(tiny(endpoint, tmp_path))
    assert ask(tiny(endpoint, tmp_path), **call).text == "reply 2"


def test_a_question_that_an_episode_repeats_has_a_reply_of_its_own(endpoint, tmp_path):
    numbered(endpoint)
    first, second = tiny(endpoint, tmp_path), tiny(endpoint, tmp_path)
    assert [ask(first).text for _ in range(3)] == ["reply 1", "reply 2", "reply 3"]
    assert [ask(second).text for _ in range(4)] == ["reply 1", "reply 2", "reply 3", "reply 4"]


def test_each_episode_counts_its_questions_anew(endpoint, tmp_path):
    model = tiny(numbered(endpoint), tmp_path, ask_model="cheap")
    assert [ask(model.for_episode(), purpose=p).text for p in ("plan", "plan", "ask", "ask")] == [
        *("reply 1", "reply 1", "reply 2", "reply 2")
    ]


def test_a_question_that_a_recording_answered_counts(endpoint, tmp_path):
    numbered(endpoint)
    before = tiny(endpoint, tmp_path, ask_model="cheap")
    assert [ask(before).text for _ in range(2)] == ["reply 1", "reply 2"]
    resumed = tiny(endpoint, tmp_path, ask_model="cheap")
    resumed.count_call(HELLO, purpose="ask")
    assert ask(resumed).text == "reply 2"


def test_a_failure_is_not_kept(endpoint, tmp_path):
    endpoint.answer({"error": {"message": "no"}}, 400)
    with pytest.raises(ModelError):
        ask(tiny(endpoint, tmp_path))
    assert files_of(tmp_path) == []
    endpoint.answers.clear()
    assert ask(tiny(numbered(endpoint), tmp_path)).text == "reply 1"


def broken_entries() -> dict[str, Any]:
    return {
        "empty": lambda entry: b"",
        "torn": lambda entry: json.dumps(entry).encode()[:-9],
        "another form": lambda entry: b'["reply"]',
        "another key": lambda entry: json.dumps({**entry, "key": "0" * 64}).encode(),
        "another version": lambda entry: json.dumps({**entry, "format": 2}).encode(),
        "no text": lambda entry: json.dumps({**entry, "completion": {"text": None}}).encode(),
        "too large": lambda entry: json.dumps(entry).encode() + b" " * MAX_ENTRY_BYTES,
    }


@pytest.mark.parametrize("how", broken_entries())
def test_a_broken_file_is_asked_anew_and_replaced(endpoint, tmp_path, how):
    numbered(endpoint)
    ask(tiny(endpoint, tmp_path))
    (file,) = files_of(tmp_path)
    file.write_bytes(broken_entries()[how](json.loads(file.read_text())))
    mended = ask(tiny(endpoint, tmp_path))
    assert mended.text == "reply 2"
    assert mended.warning.startswith("a file of the cache of replies is ignored (")
    found = ask(tiny(endpoint, tmp_path))
    assert (found.text, found.warning) == ("reply 2", "")


def test_a_link_in_the_cache_is_not_followed(endpoint, tmp_path):
    cache = tmp_path / "cache"
    ask(tiny(numbered(endpoint), cache))
    (file,) = files_of(cache)
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    found = ask(tiny(endpoint, cache))
    assert (found.text, "links are not followed" in found.warning) == ("reply 2", True)


def test_a_reply_that_is_too_large_is_not_kept(tmp_path):
    sizes = iter([MAX_ENTRY_BYTES, MAX_ENTRY_BYTES - 1000])
    model = CachedModel(CallableModel(lambda messages: "x" * next(sizes)), tmp_path)
    for kept in (0, 1):
        ask(model)
        assert len(files_of(tmp_path)) == kept


def test_what_an_interrupted_write_leaves_is_no_reply(endpoint, tmp_path):
    numbered(endpoint)
    ask(tiny(endpoint, tmp_path))
    (file,) = files_of(tmp_path)
    file.rename(file.with_name(".0123456789abcdef.tmp"))
    assert ask(tiny(endpoint, tmp_path)).text == "reply 2"


def test_a_cache_that_cannot_be_written_is_said_and_not_used(endpoint, tmp_path):
    cache = tmp_path / "cache"
    model = tiny(numbered(endpoint), cache)
    cache.write_text("in the way")
    found = ask(model)
    assert found.text == "reply 1"
    assert found.warning.startswith("the cache of replies ")
    with pytest.raises(UsageError, match="is a file; name a folder"):
        tiny(endpoint, cache)


def test_half_a_surrogate_pair_in_a_prompt_or_a_reply_is_no_obstacle(tmp_path):
    model = CachedModel(CallableModel(lambda messages: "\ud800"), tmp_path)
    assert ask(model, "\udfff").text == "\ud800"


# -------------------------------------------------------------- in episodes, on the command line


def play(folder: Path, *more: str) -> tuple[EpisodeStarted, list[ModelCalled], list[WarningIssued]]:
    """An episode of the stand-in with the cache ``replies``: its header, calls and warnings."""
    assert main(["run", "household", "--kind", "clean", "--seed", "3", "--quiet", "--out", str(folder), *more]) == 0
    events = Trace.read(folder / "trace.jsonl")
    header = events[0]
    assert isinstance(header, EpisodeStarted)
    calls = [e for e in events if isinstance(e, ModelCalled)]
    return header, calls, [e for e in events if isinstance(e, WarningIssued)]


def test_a_second_episode_takes_every_reply_from_the_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _, paid, _ = play(tmp_path / "one", "--cache", "replies")
    header, free, warnings = play(tmp_path / "two", "--cache", "replies")
    assert [e.completion.usage.reused_replies for e in paid] == [0] * len(paid)
    assert [e.completion.usage.reused_replies for e in free] == [1] * len(free)
    assert [e.completion.text for e in free] == [e.completion.text for e in paid]
    assert warnings == []
    assert f"{len(free)}, {len(free)} of them answered by the cache of replies" in capsys.readouterr().out
    assert "reply_cache" not in {**header.settings, **header.model_settings}
    assert main(["replay", str(tmp_path / "two")]) == 0


def test_the_trace_says_which_file_was_ignored_and_replays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    play(tmp_path / "one", "--cache", "replies")
    for file in files_of(Path("replies")):
        file.write_text("{")
    _, calls, warnings = play(tmp_path / "two", "--cache", "replies")
    assert len(warnings) == len(calls)
    assert main(["replay", str(tmp_path / "two")]) == 0


def test_cells_and_benches_share_a_cache_and_keep_its_path_to_themselves(endpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    endpoint.answer(reply("think: Task failed!"))
    options = ["--method", "react", "--model", "tiny", "--base-url", endpoint.url, "-n", "1", "--cache", "replies"]
    assert main(["bench", "household", *options, "--out", "one"]) == 0
    asked = len(endpoint.asked)
    assert main(["bench", "household", *options, "--out", "two"]) == 0
    assert len(endpoint.asked) == asked > 0
    assert "replies" not in json.loads(Path("two/bench.json").read_text())["cells"][0].get("settings", {}).values()
    assert main(["bench", "household", *options, "--out", "three", "--repeats", "2"]) == 0
    assert len(endpoint.asked) == 2 * asked  # the second repeat has another seed


@pytest.mark.parametrize(
    "command", [["run"], ["do"], ["bench"], ["learn"], *(["skills", c] for c in ("add", "discover", "filter", "check"))]
)
def test_every_command_that_asks_a_model_takes_the_option(command, capsys):
    assert main([*command, "--help"]) == 0
    assert "--cache" in capsys.readouterr().out


def test_the_setting_works_in_python(tmp_path):
    results = [codeplan.run("household", kind="clean", seed=3, reply_cache=tmp_path) for _ in range(2)]
    assert [r.usage.reused_replies for r in results] == [0, results[0].model_calls]
