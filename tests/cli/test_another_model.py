"""``codeplan resume`` and ``fork`` with another model than the recorded one."""

import json

import pytest
from support.reply_server import endpoint as endpoint

from codeplan.cli import main
from codeplan.recording.events import EpisodeEnded
from codeplan.recording.trace import Trace

TOOLS = """
def send(to: str) -> int:
    with open("sent.log", "a") as log:
        log.write(to + " ")
    return 1
"""
PLAN = """def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send')
        said = agent.send('ann')
        assert said == 2, 'Error in [Step 1]: wrong'
    return said
"""
BETTER = PLAN.replace("said == 2", "said == 1")


def reply(text):
    return {"choices": [{"message": {"content": f"```python\n{text}```"}, "finish_reason": "stop"}]}


@pytest.fixture
def lost(tmp_path, monkeypatch, endpoint):
    """The options of an episode whose endpoint was lost before the refinement."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    (tmp_path / "tools.py").write_text(TOOLS)
    endpoint.answer(reply(PLAN)).answer({"error": {"message": "this model is gone"}}, 404)
    given = ["--tools", "tools.py", "--base-url", endpoint.url, "-q"]
    assert main(["do", "send", "--model", "tiny", *given, "--out", "run"]) == 4
    return given


def test_an_episode_goes_on_with_another_model_of_the_endpoint(lost, endpoint, tmp_path, capsys):
    assert main(["resume", "run", *lost]) == 4
    assert endpoint.asked[-1]["model"] == "tiny"
    endpoint.answers.clear()
    endpoint.answer(reply(BETTER))
    assert main(["resume", "run", "--model", "other", *lost]) == 1
    assert endpoint.asked[-1]["model"] == "other" and (tmp_path / "sent.log").read_text() == "ann ann "
    end = Trace.read(tmp_path / "run" / "trace.jsonl")[-1]
    assert isinstance(end, EpisodeEnded) and (end.result.model, end.result.value) == ("other", 1)
    capsys.readouterr()
    assert main(["replay", "run"]) == 0 and capsys.readouterr().out.startswith("identical: ")


def test_a_branch_may_have_another_model_as_well(lost, endpoint, tmp_path):
    endpoint.answers.clear()
    endpoint.answer(reply(BETTER))
    assert main(["fork", "run", "--at", "1", "--out", "branch", "--model", "other", *lost]) == 1
    assert endpoint.asked[-1]["model"] == "other" and (tmp_path / "sent.log").read_text() == "ann "
    assert main(["replay", "branch"]) == 0


def test_an_episode_of_a_named_model_goes_on_with_a_function(lost, endpoint, tmp_path, capsys):
    (tmp_path / "model.py").write_text(f"def answer(messages):\n    return {BETTER!r}\n")
    asked = len(endpoint.asked)
    capsys.readouterr()
    assert main(["resume", "run", "--model", "model.py:answer", "--tools", "tools.py", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["model"] == "answer" and len(endpoint.asked) == asked
    assert main(["replay", "run"]) == 0
