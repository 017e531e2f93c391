"""The served stand-in, tested with OpenAI's own client."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import openai
import pytest
from support.served import ASK, Serve, Served

from codeplan.errors import UsageError
from codeplan.standin.server import FAULT_KINDS, FaultChooser, FaultSettings


def client(served: Served) -> openai.OpenAI:
    return openai.OpenAI(base_url=served.url, api_key="any", max_retries=0)


def ask(served: Served, fault: str = "") -> Any:
    with client(served) as asked:
        headers = {"X-Codeplan-Fault": fault}
        return asked.chat.completions.create(model="tiny", messages=ASK, user="me", extra_headers=headers)


def test_a_chat_completion_has_the_stand_ins_answer_and_is_logged_with_its_tokens(serve: Serve) -> None:
    served = serve()
    answer = ask(served)
    assert "countertop 1" in answer.choices[0].message.content
    assert (answer.choices[0].finish_reason, answer.model) == ("stop", "tiny")
    (entry,) = served.log
    assert served.tokens == (answer.usage.prompt_tokens, answer.usage.completion_tokens)
    assert (entry["user"], entry["api"], entry["status"], entry["fault"]) == ("me", "chat", 200, "")


def test_a_stream_has_the_same_text_in_pieces_and_its_tokens_at_the_end(serve: Serve) -> None:
    served = serve()
    whole = ask(served)
    with client(served) as asked:
        stream = asked.chat.completions.create(
            model="tiny", messages=ASK, stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert chunks[-1].usage == whole.usage
    assert [e["stream"] for e in served.log] == [False, True]


def test_the_responses_api_has_the_same_text_whole_and_as_a_stream(serve: Serve) -> None:
    served = serve()
    whole = ask(served)
    with client(served) as asked:
        response = asked.responses.create(model="tiny", input=ASK)
        events = list(asked.responses.create(model="tiny", input=ASK, stream=True))
    assert response.output_text == whole.choices[0].message.content
    assert response.usage is not None
    assert response.usage.input_tokens == whole.usage.prompt_tokens
    assert events[-1].type == "response.completed"
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == response.output_text


def test_models_are_listed(serve: Serve) -> None:
    with client(serve()) as asked:
        assert [m.id for m in asked.models.list()] == ["scripted"]


def test_a_prompt_that_the_stand_in_does_not_understand_is_a_bad_request(serve: Serve) -> None:
    with client(serve()) as asked, pytest.raises(openai.BadRequestError, match="cannot answer the question"):
        asked.chat.completions.create(model="tiny", messages=[{"role": "user", "content": "Hello?"}])


# ------------------------------------------------------------------ faults


def test_a_header_requests_any_fault(serve: Serve) -> None:
    served = serve("slow_by=0.2,retry_after=3")
    with pytest.raises(openai.RateLimitError) as limited:
        ask(served, "429")
    assert limited.value.response.headers["Retry-After"] == "3"
    with pytest.raises(openai.InternalServerError):
        ask(served, "500")
    with pytest.raises(openai.APIConnectionError):
        ask(served, "cut")
    assert ask(served, "null").choices[0].message.content is None
    assert ask(served, "length").choices[0].finish_reason == "length"
    assert ask(served, "slow").choices[0].finish_reason == "stop"
    assert [e["fault"] for e in served.log] == ["429", "500", "cut", "null", "length", "slow"]
    assert served.log[-1]["seconds"] >= 0.2
    assert [e["usage"] is not None for e in served.log] == [False, False, False, True, True, True]


def test_garbage_is_not_json(serve: Serve) -> None:
    request = urllib.request.Request(
        serve().url + "/chat/completions",
        data=json.dumps({"messages": ASK}).encode(),
        headers={"X-Codeplan-Fault": "garbage"},
    )
    with urllib.request.urlopen(request) as reply, pytest.raises(ValueError):
        json.loads(reply.read())


def test_faults_follow_their_rates_and_repeat_with_the_seed() -> None:
    def thrown(seed: int) -> list[str]:
        dice = FaultChooser(FaultSettings.parse(f"all=0.2,seed={seed}"))
        return [dice.choose_fault(str(n % 700).encode()) for n in range(7000)]

    counts = Counter(thrown(1))
    assert 0.18 < 1 - counts[""] / 7000 < 0.22
    assert all(120 < counts[kind] < 280 for kind in FAULT_KINDS)
    assert thrown(1) == thrown(1)
    assert thrown(1) != thrown(2)


@pytest.mark.parametrize("spec", ["429", "500=often", "teapot=0.1", "slow=-1", "429=0.6,500=0.6", "all=nan", "seed=x"])
def test_an_invalid_fault_specification_is_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="--faults"):
        FaultSettings.parse(spec)


# ------------------------------------------------------------------ the command


def test_the_command_prints_its_address_and_keeps_a_log(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "codeplan", "serve-scripted", "--latency", "20", "--log", "log.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        served = Served(server.stdout.readline().strip(), tmp_path / "log.jsonl")
        ask(served)
        server.terminate()
    assert served.log[0]["seconds"] >= 0.02


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--faults", "teapot=1"], "teapot"),
        (["--port", "70000"], "--port"),
        (["--latency", "-1"], "--latency"),
        (["--log", "no/such/folder/log"], "log"),
    ],
)
def test_bad_options_of_the_command_are_one_line(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from codeplan.cli.app import main

    assert main(["serve-scripted", *options]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
