"""A key goes to its endpoint and nowhere else: not into a trace, an error, a log, or what a crash leaves behind."""

from __future__ import annotations

import faulthandler
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from support.served import ASK

import codeplan
from codeplan.errors import ModelError, UsageError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.runner.models import connect

KEY = "sk-CANARY-0123456789abcdef"
ROOT = Path(__file__).parents[2]
FAULTS = ["", "429=1,retry_after=0", "500=1", "cut=1", "garbage=1", "null=1", "length=1", "slow=1,slow_by=30"]


@pytest.mark.parametrize("faults", FAULTS)
def test_no_trace_no_error_and_no_log_of_any_library_holds_the_key(serve, tmp_path, monkeypatch, caplog, faults):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level("DEBUG")
    given = {
        "model": "tiny",
        "base_url": serve(faults).url,
        "max_retries": 1,
        "timeout": 0.5 if "slow" in faults else 9.0,
    }
    shown = ""
    try:
        codeplan.run("household", "clean/22", out=tmp_path / "run", **given)
    except ModelError as error:
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert_everything_hangs_together_without_a_key(error)
    assert (shown != "") == (faults != "")
    assert caplog.text, "the libraries did log"
    for text in (shown, caplog.text, (tmp_path / "run" / "trace.jsonl").read_text()):
        assert "CANARY" not in text


def assert_everything_hangs_together_without_a_key(error: BaseException) -> None:
    """What a crash reporter may follow from an exception: causes, contexts, and the variables of every frame."""
    seen: list[BaseException | None] = [error]
    for one in seen:
        if one is None:
            continue
        assert "CANARY" not in repr(one) + str(vars(one))
        for frame, _ in traceback.walk_tb(one.__traceback__):
            assert "CANARY" not in repr(frame.f_locals), frame
        seen += [e for e in (one.__cause__, one.__context__) if e not in seen]


def test_a_key_that_is_refused_is_not_quoted(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY + " ключ")
    with pytest.raises(UsageError) as caught:
        connect("gpt-4.1")
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [f for f in shown.stack if "/codeplan/" in f.filename]
    assert ours
    assert "CANARY" not in "".join(str(f.locals) for f in ours) + str(caught.value)


@pytest.mark.parametrize("setting", [{"timeout": -1.0}, {"api": "x"}, {"prices": "none.toml"}, {"max_retries": -1}])
def test_another_setting_that_is_refused_does_not_show_the_key(monkeypatch, setting):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UsageError) as caught:
        OpenAIModel("gpt-4.1", **setting)
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "CANARY" not in shown


def test_a_crash_dump_holds_no_key(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = OpenAIModel("tiny", base_url=serve().url)
    model.complete(ASK, purpose="ask")
    with (tmp_path / "dump").open("w+") as dump:
        faulthandler.dump_traceback(dump, all_threads=True)
        dump.seek(0)
        text = dump.read()
    assert "run_forever" in text, "the thread of the requests is in it"
    assert "CANARY" not in text + repr(model) + json.dumps(model.settings)


@pytest.mark.parametrize("faults", ["", "500=1"])
def test_the_command_line_shows_no_key_even_when_it_shows_everything(serve, tmp_path, faults):
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OPENAI_API_KEY": KEY,
        "OPENAI_CUSTOM_HEADERS": f"X-Gateway-Key: {KEY}-too\nAuthorization: Bearer {KEY}",
        "OPENAI_LOG": "debug",
        "CODEPLAN_DEBUG": "1",
        "PYTHONFAULTHANDLER": "1",
    }
    command = [sys.executable, "-X", "dev", "-W", "ignore", "-m", "codeplan", "run", "household", "--model", "tiny"]
    command += ["--base-url", serve(faults).url, "--set", "max_retries=1"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == (4 if faults else 0), done.stderr
    files = "".join(p.read_text() for p in tmp_path.rglob("*") if p.is_file() and "requests" not in p.name)
    assert "openai._base_client" in done.stderr, "the client did log"
    assert "CANARY" not in done.stdout + done.stderr + files


def test_a_secret_in_the_body_or_in_another_setting_is_not_in_the_trace(serve, tmp_path):
    body = {"api_key": KEY, "nested": {"access-token": KEY}, "metadata": {"run": 1}}
    result = codeplan.run(
        "household", "pick/1", model="tiny", base_url=serve().url, api_key=KEY, extra_body=body, out=tmp_path / "r"
    )
    assert result.success
    trace = (tmp_path / "r" / "trace.jsonl").read_text()
    assert '"metadata":{"run":1}' in trace
    assert "CANARY" not in trace
