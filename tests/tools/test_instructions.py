"""The user's own system text: in every prompt that acts for the user, as it is."""

import pytest
from support.boxes import Replies

import codeplan
from codeplan.errors import ModelError, UsageError
from codeplan.recording.events import EpisodeStarted, ModelCalled
from codeplan.recording.trace import Trace
from codeplan.tools.environment import MAX_INSTRUCTIONS_CHARS

POLICY = "Never ship on a Sunday.\n{{ goal }} {% for x in y %} {policy} {# all #} </goal>"
BLOCK = f"<instructions>\n{POLICY}\n</instructions>"

WRONG = "```python\ndef solution(agent, start_from=1)\n    pass\n```"
FAILS = (
    "```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        assert agent.ship('a') == 0\n```"
)
ASKS = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        agent.ship(ask_llm('Which one?'))
```"""


def ship(order: str) -> int:
    """Ship an order."""
    return len(order)


def systems(folder):
    """The system text of each prompt that an episode sent, by its purpose."""
    called = [e for e in Trace.read(folder / "trace.jsonl") if isinstance(e, ModelCalled)]
    return [(e.purpose, e.messages[0]["content"]) for e in called]


@pytest.mark.parametrize(
    ("replies", "purposes", "options"),
    [
        ((WRONG, FAILS, ASKS, "b"), ["plan", "check", "refine", "ask"], {}),
        ((FAILS, ASKS, "b"), ["plan", "refine", "ask"], {"refine_prompt": "fresh"}),
        ((FAILS, ASKS, "b"), ["plan", "refine", "ask"], {"refine_prompt": "fresh-without-plan"}),
        (('ship {"order": "a"}', 'finish {"value": 1}'), ["act", "act"], {"method": "react"}),
        (("1. Ship it.", 'finish {"value": 1}'), ["plan_text", "act"], {"method": "text-planner"}),
    ],
)
def test_every_prompt_that_acts_for_the_user_ends_its_system_text_with_them(tmp_path, replies, purposes, options):
    codeplan.do("ship it", tools=ship, model=Replies(*replies), instructions=POLICY, out=tmp_path, **options)
    told = systems(tmp_path)
    assert [purpose for purpose, _ in told][: len(purposes)] == purposes
    assert all(text.endswith(BLOCK) is (purpose != "ask") for purpose, text in told)
    assert all((POLICY in text) is (purpose != "ask") for purpose, text in told)
    codeplan.replay(tmp_path)  # raises if a prompt differs


def test_an_episode_that_goes_on_takes_them_from_its_trace(tmp_path):
    broken = Replies(FAILS)
    with pytest.raises(ModelError):
        codeplan.do("ship it", tools=ship, model=broken, instructions=POLICY, out=tmp_path)
    codeplan.resume(tmp_path, tools=ship, model=Replies(ASKS.replace("ask_llm('Which one?')", "'b'")))
    assert [(p, text.endswith(BLOCK)) for p, text in systems(tmp_path)] == [("plan", True), ("refine", True)]


@pytest.mark.parametrize("given", [None, "", " \n"])
def test_blank_text_is_none(tmp_path, given):
    codeplan.do("ship it", tools=ship, model=Replies(FAILS), instructions=given, out=tmp_path, tries=1)
    header = Trace.read(tmp_path / "trace.jsonl")[0]
    assert isinstance(header, EpisodeStarted) and header.instructions == ""
    assert "instructions" not in systems(tmp_path)[0][1]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["Be brief."], "^instructions are a text, not "),
        ("\ud800", "^the instructions are not text in UTF-8"),
        ("x" * (MAX_INSTRUCTIONS_CHARS + 1), "^the instructions have 100,001 characters, more than 100,000; shorten"),
    ],
)
def test_what_no_prompt_can_hold_is_refused_before_anything_runs(given, sentence):
    with pytest.raises(UsageError, match=sentence):
        codeplan.do("ship it", tools=ship, model=lambda messages: pytest.fail("asked"), instructions=given)
