"""ADaPT's own runs in TextCraft, played again: the recorded thoughts, actions and plans are the model's replies."""

import json
from pathlib import Path

import pytest

from codeplan import envs
from codeplan.budget import Budget
from codeplan.methods.adapt import Adapt
from codeplan.methods.react import ReAct
from codeplan.recording.events import answered_calls
from codeplan.runner.episodes import run
from codeplan.types import Completion

RECORDS = Path(__file__).parents[2] / ".." / "shared" / "fixtures" / "textcraft_transcripts.jsonl"
pytestmark = pytest.mark.skipif(not RECORDS.is_file(), reason="the recorded runs are not here (../shared/fixtures)")


def records():
    lines = RECORDS.read_text().splitlines() if RECORDS.is_file() else []
    return [json.loads(line) for line in lines]


COMPLETE = [r for r in records() if r["complete_trace"]]


class Recorded:
    """A model that says what was recorded, attempt by attempt: a turn's line, or a plan where one was made."""

    name = "recorded"

    def __init__(self, record):
        turns = iter(record["segments"])
        self.replies = []
        for part in record["plans"]:
            if part["kind"] == "plan":
                self.replies.append(("plan", plan_text(part)))
            else:
                self.replies += [("act", said) for said, _ in next(turns)]

    def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        asked, text = self.replies.pop(0)
        assert purpose == asked
        return Completion(text)


def plan_text(part):
    steps = [f"Step {n}: {step}" for n, step in enumerate(part["steps"], 1)]
    order = f" {part['logic']} ".join(f"Step {n}" for n in range(1, len(steps) + 1))
    return "\n".join([*steps, f"Execution Order: ({order})"])


@pytest.mark.parametrize("method", [Adapt(max_depth=4), ReAct()], ids=lambda m: m.name)
@pytest.mark.parametrize("record", COMPLETE, ids=lambda r: r["id"])
def test_a_recorded_run_takes_the_same_actions_to_the_same_end(record, method, tmp_path):
    model = Recorded(record)
    env = envs.make("textcraft", exact=True, recorded=str(RECORDS), actions=200)
    task = envs.select(env, seed=record["seed"])
    events = []
    result = run(env, task, method, model, budget=Budget(model_calls=None), on_event=events.append)
    acted = [(done.call.name, done.answer.observation.text.strip()) for done in answered_calls(events)]
    expected = [(said, answer.strip()) for said, answer in record["steps"] if not said.startswith("think:")]
    assert acted == expected
    assert result.success == record["success"]
    assert result.reward == record["reward"]
    assert model.replies == []
