"""A text of megabytes from a file, a model or a plan stands in a message only in part."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.boxes import Boxes, Replies
from support.plan_suites import MANIFEST, write

from codeplan import envs, plugins
from codeplan.envs.miniwob.actions import parse_action
from codeplan.errors import CodeplanError
from codeplan.llm.openai_protocol import RequestSettings, validate_model_name
from codeplan.planning.decomposition import DecompositionError, parse_decomposition, parse_expression
from codeplan.recording.events import CallAnswered, CallBegun, Event, ModelCalled, PlanEnded, PlanRejected, SpanOpened
from codeplan.recording.trace import describe_difference, describe_kind_mismatch
from codeplan.runner.episodes import run
from codeplan.skills.library import SkillLibrary
from codeplan.testing.cases import PlanSuite
from codeplan.types import Answer, Call, Checkpoint, Completion, Diagnostic, Failed, Observation, Task

LONG = "x'\n\x1b" * 1_000_000
MAX_CHARACTERS = 2_000


class Breaking(Boxes):
    """An environment that breaks with a long text."""

    def step(self, action: str) -> Observation:
        raise ValueError(LONG)


def reset(env: str, id: str = "", kind: str = "", seed: int | None = None) -> None:
    with closing(envs.make(env)) as environment:
        environment.reset(Task(id, env, kind, "", seed))  # type: ignore[arg-type]  # None is no seed


def select(**given: str) -> None:
    with closing(envs.make("household")) as environment:
        envs.select(environment, **given)


def play(**given: object) -> None:
    arguments = {"env": Boxes(), "task": "ball/2", "method": "adaplanner", "model": Replies()} | given
    run(**arguments)  # type: ignore[arg-type]


PLAN = "def solution(agent, start_from=1):\n    agent.open(1)\n"

MESSAGES: dict[str, Callable[[], object]] = {
    "the name of an environment": lambda: plugins.load_factory("codeplan.envs", LONG),
    "the name of a method": lambda: play(method=LONG),
    "the name of a model's setting": lambda: play(model="scripted", **{LONG: 1}),
    "the name of a setting": lambda: play(**{LONG: 1}),
    "the value of a setting": lambda: play(tries=LONG),
    "a setting that is a list": lambda: play(tries=[LONG] * 9),
    "a setting that is a table": lambda: play(tries={LONG: LONG}),
    "the id of a task": lambda: select(id=LONG),
    "the kind of a task": lambda: select(kind=LONG),
    "an id in the household": lambda: reset("household", LONG),
    "a kind in the household": lambda: reset("household", kind=LONG, seed=1),
    "an id in TextCraft": lambda: reset("textcraft", LONG),
    "an id in WebShop": lambda: reset("webshop", LONG),
    "an id in HotpotQA": lambda: reset("hotpotqa", LONG),
    "a setting of the household": lambda: envs.make("household", actions=LONG),
    "a model's name": lambda: validate_model_name("\ud800" * 1_000_000),
    "a choice for requests": lambda: RequestSettings("m", LONG, None, None, None, (), None, "max_tokens", {}),
    "an exception of an environment": lambda: play(env=Breaking(), model=Replies(PLAN)),
    "the name of a skill": lambda: SkillLibrary(Path("skills")).get("boxes", LONG),
    "an execution order": lambda: parse_expression(f"Step 1 AND {LONG}"),
    "a plan in sub-tasks": lambda: parse_decomposition(f"Step 1: a\nExecution order: Step 1 {LONG}"),
}


@pytest.mark.parametrize("cause", MESSAGES.values(), ids=MESSAGES)
def test_an_error_message_is_short(
    cause: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((CodeplanError, DecompositionError, ValueError)) as error:
        cause()
    assert 0 < len(str(error.value)) < MAX_CHARACTERS


SPOILT = {
    "the environment": MANIFEST.replace("household", "LONG"),
    "the plan": MANIFEST.replace("clean.py", "LONG"),
    "the sample": MANIFEST.replace('plan = "clean.py"', 'sample = "LONG"'),
    "the skill": MANIFEST.replace('plan = "clean.py"', 'skill = "LONG"'),
    "the tape": MANIFEST + '[answers]\ntape = "LONG"\n',
    "a pattern": MANIFEST + 'expect = { output = "(LONG" }\n',
    "a fault": MANIFEST + 'faults = ["LONG"]\n',
    "a mark": MANIFEST + 'marks = ["LONG!"]\n',
    "the seeds": MANIFEST.replace("seed = 418", 'seeds = "LONG"'),
}


@pytest.mark.parametrize("text", SPOILT.values(), ids=SPOILT)
def test_a_message_about_a_manifest_is_short(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text.replace("LONG", "xy" * 400_000))
    with pytest.raises(CodeplanError) as error:
        PlanSuite(path)
    assert 0 < len(str(error.value)) < MAX_CHARACTERS


def bomb() -> list[object]:
    nodes: list[object] = []
    for _ in range(900):
        nodes = [nodes, nodes] if len(nodes) < 2 else [nodes]
    return nodes


TEXT = LONG[:200_000]
SEEN = Observation("seen")
DIFFERENT: dict[str, tuple[Event, Event]] = {
    "actions": (CallBegun(id=1, call=Call(TEXT)), CallBegun(id=1, call=Call("a"))),
    "arguments": (
        CallBegun(id=1, call=Call("a", {"x": [TEXT] * 10, TEXT: 1})),
        CallBegun(id=1, call=Call("a", {"x": 1})),
    ),
    "observations": (
        CallAnswered(id=1, answer=Answer(observation=Observation(TEXT)), seconds=1),
        CallAnswered(id=1, answer=Answer(observation=SEEN), seconds=1),
    ),
    "answers": (
        CallAnswered(id=1, answer=Answer([TEXT] * 10), seconds=1),
        CallAnswered(id=1, answer=Answer(error=TEXT, message=TEXT), seconds=1),
    ),
    "messages": (
        ModelCalled(purpose="ask", messages=[{"role": "user", "content": TEXT}], completion=Completion("a"), seconds=1),
        ModelCalled(purpose="ask", messages=[{"role": "user", "content": "a"}], completion=Completion(TEXT), seconds=1),
    ),
    "checkpoints": (
        PlanEnded(outcome=Failed(1, 1, "E", TEXT, checkpoint=Checkpoint({TEXT: 0}, bomb()))),
        PlanEnded(outcome=Failed(1, 1, TEXT, "", checkpoint=Checkpoint({"x": 0}, [["list"] * 50_000]))),
    ),
    "diagnostics": (
        PlanRejected(number=1, diagnostics=(Diagnostic(1, 1, TEXT, TEXT),) * 500),
        PlanRejected(number=1, diagnostics=()),
    ),
}


@pytest.mark.parametrize(("recorded", "now"), DIFFERENT.values(), ids=DIFFERENT)
def test_the_difference_of_two_events_is_short(recorded: Event, now: Event) -> None:
    assert 0 < len(describe_difference(recorded, now)) < 20_000
    assert 0 < len(describe_difference(now, recorded)) < 20_000
    assert len(describe_kind_mismatch(recorded, SpanOpened)) < MAX_CHARACTERS


def test_a_browser_action_that_is_no_action_is_quoted_in_part() -> None:
    for action in (LONG, f"press_key {LONG}", f"click_xpath{LONG}"):
        answer = parse_action(action)
        assert isinstance(answer, str)
        assert len(answer) < MAX_CHARACTERS
