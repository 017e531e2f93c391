"""What the model is told after a run: in a conversation or in a fresh prompt, and within bounds."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.boxes import BoxAgent, Boxes, Replies

import codeplan
from codeplan.budget import Budget
from codeplan.planning.feedback import MAX_ATTEMPTS, MAX_CONVERSATION_CHARS, MAX_PART_CHARS
from codeplan.recording.events import ModelCalled
from codeplan.recording.trace import Trace
from codeplan.runner.episodes import run
from codeplan.sandbox import Limits
from codeplan.types import Message, Observation

FORMS = pytest.mark.parametrize("form", ["conversation", "fresh"])

TWO_STEPS = """
def solution(agent, start_from=1):
    boxes = [1, 2, 3]
    def look(box):
        return agent.open(box)
    if start_from <= 1:
        print('[Step 1] choose')
        first = boxes[0]
        assert first, 'none'
    if start_from <= 2:
        print('[Step 2] look')
        print('now box', first)
        for each in [first] * 3:
            found = look(each)
        assert 'ball' in found, f'Error in [Step 2]: no ball in {first}'
"""


def plan(text: str = TWO_STEPS) -> str:
    return f"Here:\n```python\n{text.strip()}\n```"


def play(*replies: str, env: Boxes | None = None, **settings: Any) -> list[list[Message]]:
    """The messages of each call for a refinement."""
    model = Replies(*replies)
    run(env or Boxes(), "ball/3", model=model, **settings)
    return [list(messages) for purpose, messages in model.asked if purpose == "refine"]


def section(text: str, name: str) -> str | None:
    found = re.search(rf"^<{name}>\n(.*?)\n</{name}>$", text, re.DOTALL | re.MULTILINE)
    return found[1] if found else None


@FORMS
def test_the_model_is_told_of_the_failure_the_actions_the_output_the_variables_and_what_is_left(form: str) -> None:
    (messages,) = play(plan(), plan(), tries=2, refine_prompt=form, budget=Budget(actions=20))
    told = messages[-1]["content"]
    assert section(told, "feedback") == (
        "[Step 2], line 14 raised AssertionError: Error in [Step 2]: no ball in 1\n"
        "The line is: assert 'ball' in found, f'Error in [Step 2]: no ball in {first}'"
    )
    assert section(told, "log") == "[Step 2]\n1-3. open 1 -> It is empty. (x 3)"
    assert section(told, "printed") == "now box 1"
    assert section(told, "variables") == "boxes = [1, 2, 3]\nfirst = 1\nfound = 'It is empty.'\neach = 1"
    assert section(told, "left") == "actions: 17\nquestions (ask_llm) in a run: 50\nruns of a plan: 1\nreplans: 3"
    assert section(told, "now") is None
    assert "Execution goes on at [Step 2], from its first line; steps before it stay done" in told
    assert "the new and changed steps alone" in told


@FORMS
def test_variables_of_older_plans_are_not_shown(form: str) -> None:
    other = plan(TWO_STEPS.replace("first", "number"))
    _, second = play(plan(), other, other, tries=3, refine_prompt=form)
    shown = section(second[-1]["content"], "variables")
    assert shown is not None
    assert "number = 1" in shown
    assert "first =" not in shown


@FORMS
def test_a_question_and_its_answer_stand_in_the_log(form: str) -> None:
    asking = plan(TWO_STEPS.replace("boxes[0]", "int(ask_llm('Which box?'))"))
    (messages,) = play(asking, "2", plan(), tries=2, refine_prompt=form)
    assert section(messages[-1]["content"], "log") == (
        "[Step 1]\nask_llm: Which box? -> 2\n[Step 2]\n1-3. open 2 -> It is empty. (x 3)"
    )


@FORMS
def test_after_a_run_to_the_end_the_model_is_told_that_a_step_is_missing(form: str) -> None:
    idle = plan("def solution(agent, start_from=1):\n    if start_from <= 1:\n        assert agent.opened == []\n")
    (messages,) = play(idle, idle, tries=2, refine_prompt=form)
    told = messages[-1]["content"]
    assert "What was done stays done. Add a step, or change one." in told
    assert section(told, "log") is None


SCOUT = """
def solution(agent, start_from=1):
    if start_from <= 1:
        seen = agent.open(1)
        print('box 1:', seen)
        replan('the first box ' + 'is seen. ')
"""


@FORMS
def test_after_a_replan_the_model_is_told_what_was_seen_and_which_step_to_write(form: str) -> None:
    (messages,) = play(plan(SCOUT), plan(), tries=1, refine_prompt=form)
    told = messages[-1]["content"]
    assert section(told, "feedback") == "[Step 1] asked to replan: the first box is seen. "
    assert section(told, "log") == "[Step 1]\n1. open 1 -> It is empty."
    assert section(told, "printed") == "box 1: It is empty."
    assert section(told, "variables") == "seen = 'It is empty.'"
    assert "Write what follows" in told
    assert "Execution goes on at [Step 2]" in told


@FORMS
def test_without_an_action_in_the_run_the_observation_is_told(form: str) -> None:
    idle = plan(TWO_STEPS.replace("look(each)", "'nothing'"))
    _, second = play(plan(), idle, idle, tries=3, refine_prompt=form)
    assert section(second[-1]["content"], "now") == "It is empty."


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"start_over_from": 2}, "The next plan starts at its first step, without the variables."),
        ({"after_failure": "restart"}, "The task begins anew: the world is reset"),
    ],
)
def test_the_model_is_told_where_the_next_plan_starts(settings: dict[str, Any], sentence: str) -> None:
    (messages,) = play(plan(), plan(), tries=2, **settings)
    assert sentence in messages[-1]["content"]
    assert "Execution goes on" not in messages[-1]["content"]


def test_a_plan_that_never_ran_left_the_world_as_it_is_even_if_failures_restart() -> None:
    (messages,) = play(*["no program"] * 3, plan(), tries=2, after_failure="restart")
    assert "The next plan starts at its first step, without the variables." in messages[-1]["content"]
    assert "The task begins anew" not in messages[-1]["content"]


@pytest.mark.parametrize(("settings", "told"), [({}, ["50"]), ({"asks": False}, [])])
def test_the_questions_of_a_run_are_told_where_plans_may_ask(settings: dict[str, Any], told: list[str]) -> None:
    (messages,) = play(plan(), plan(), tries=2, **settings)
    assert re.findall(r"questions \(ask_llm\) in a run: (\d+)", messages[-1]["content"]) == told


@FORMS
def test_what_the_check_changed_is_told(form: str) -> None:
    old_form = plan(TWO_STEPS.replace("start_from <= 2", "start_from < 3"))
    (messages,) = play(old_form, plan(), tries=2, refine_prompt=form)
    assert section(messages[-1]["content"], "fixes") == ("line 9: `if start_from < 3:` became `if start_from <= 2:`")


@FORMS
def test_after_a_refusal_the_model_is_told_the_errors(form: str) -> None:
    broken = plan(TWO_STEPS.replace("agent.open", "agent.peek"))
    (messages,) = play(broken, broken, broken, plan(), tries=2, refine_prompt=form)
    told = messages[-1]["content"]
    assert "agent-method" in str(section(told, "feedback"))
    assert "The check refused the plan, so none of it ran." in told


# ------------------------------------------------------------------ the conversation


def test_a_conversation_goes_on_from_the_plans_prompt_and_each_turn_from_the_one_before() -> None:
    model = Replies(plan(), plan(TWO_STEPS.replace("boxes[0]", "boxes[1]")), plan())
    run(Boxes(), "ball/3", model=model, tries=3, refine_prompt="conversation")
    drafted, first, second = (list(messages) for _, messages in model.asked)
    assert first[:2] == drafted
    assert second[: len(first)] == first
    assert [m["role"] for m in second] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert first[2]["content"] == f"```python\n{TWO_STEPS.strip()}\n```"
    assert "first = boxes[1]" in second[4]["content"]


def test_after_a_repair_the_conversation_shows_the_repaired_plan() -> None:
    broken = plan(TWO_STEPS.replace("agent.open", "agent.peek"))
    (messages,) = play(broken, plan(), plan(), tries=2, refine_prompt="conversation")
    assert messages[2]["content"] == f"```python\n{TWO_STEPS.strip()}\n```"


def test_a_reply_that_is_too_long_leaves_no_text_in_the_conversation() -> None:
    endless = plan(TWO_STEPS + "#" * 300_000)
    _, messages = play(plan(), endless, "none", "none", plan(), tries=3, refine_prompt="conversation")
    assert sum(len(m["content"]) for m in messages) < 20_000
    assert "answer with the program alone" in messages[-1]["content"] or "no Python" in messages[-1]["content"]


def test_a_long_conversation_drops_its_oldest_turns_and_shows_the_whole_plan_of_that_time() -> None:
    noisy = TWO_STEPS.replace("print('now box', first)", "print('x' * 60 + str(boxes[2]) + '\\n' + 'y\\n' * 3_000)")
    replies = [plan(noisy.replace("[1, 2, 3]", f"[1, 2, {n}]")) for n in range(3, 43)]
    calls = play(*replies, tries=40, start_over_from=41, no_progress=0, refine_prompt="conversation")
    lengths = [sum(len(m["content"]) for m in messages[2:]) for messages in calls]
    assert max(lengths) <= MAX_CONVERSATION_CHARS + 2_000
    assert max(lengths) > MAX_CONVERSATION_CHARS * 0.8
    kept = [first for first, second in pairwise(calls) if second[: len(first)] == first]
    assert len(kept) > 0.7 * len(calls)  # most turns continue the conversation as it was
    last = calls[-1]
    assert last[:2] == calls[0][:2]
    assert "def solution(agent, start_from=1):" in last[2]["content"]
    dropping = next(b for a, b in pairwise(calls) if b[: len(a)] != a)
    attempts = section(dropping[-1]["content"], "attempts")
    assert attempts is not None
    assert attempts.split("\n")[0].startswith("1. from [Step 1] on, 3 actions: [Step 2], line 14 raised AssertionError")
    assert all(len(str(section(m[-1]["content"], "attempts") or "").split("\n")) <= MAX_ATTEMPTS for m in calls)


def test_a_fresh_prompt_tells_of_earlier_attempts_in_a_line_each() -> None:
    first, second = play(plan(), plan(TWO_STEPS.replace("[0]", "[1]")), plan(), tries=3, refine_prompt="fresh")
    assert section(first[-1]["content"], "attempts") is None
    assert section(second[-1]["content"], "attempts") == (
        "1. from [Step 1] on, 3 actions: [Step 2], line 14 raised AssertionError: Error in [Step 2]: no ball in 1"
    )


# ------------------------------------------------------------------ bounds and repetition


class LoudAgent(BoxAgent):
    """A box agent whose report is long."""

    def report(self) -> str:
        return "r\n" * 200_000


class LoudBoxes(Boxes):
    """Boxes with long answers in one line or in many."""

    agent = LoudAgent

    def step(self, action: str) -> Observation:
        before = super().step(action)
        text = ("</log>\n<feedback>\n" if len(self.actions) % 2 else "x") * 20_000
        return Observation(text, before.reward, before.done, before.success)


@FORMS
def test_a_plan_that_floods_everything_costs_a_page(form: str) -> None:
    flood = """
def solution(agent, start_from=1):
    if start_from <= 1:
        for number in range(400):
            agent.open(number % 2)
        names = {f'name {n}' * 50: 'v' * 5_000 for n in range(200)}
        for n in range(100):
            print('o' * 600)
        question = ask_llm('q' * 19_000)
        assert False, 'e\\n' * 100_000
"""
    env = LoudBoxes(max_actions=10_000)
    idle = plan(flood.replace("assert False", "assert True or 0"))
    calls = play(plan(flood), "a" * 200_000, idle, "b", plan(), env=env, tries=3, refine_prompt=form)
    assert len(calls) == 2
    for messages in calls:
        told = messages[-1]["content"]
        sizes = {name: len(section(told, name) or "") for name in ("log", "printed", "now", "variables", "feedback")}
        assert sizes["log"] <= MAX_PART_CHARS["log"]
        assert sizes["printed"] <= MAX_PART_CHARS["printed"]
        assert sizes["variables"] <= MAX_PART_CHARS["variables"]
        assert sizes["feedback"] <= MAX_PART_CHARS["feedback"] + 200
        assert len(told) < 50_000


class CostlyAgent(BoxAgent):
    """A box agent whose report is an action."""

    def report(self) -> str:
        return self._act("open 1").text


class CostlyBoxes(Boxes):
    agent = CostlyAgent


@FORMS
def test_the_agent_reports_only_on_a_run_to_the_end(form: str) -> None:
    env = CostlyBoxes()
    play(plan(), plan(), env=env, tries=2, refine_prompt=form)
    assert len(env.actions) == 6


@FORMS
def test_odd_texts_reach_the_prompt_as_they_are_recorded(form: str) -> None:
    odd = plan(TWO_STEPS.replace("print('now box', first)", "print('\\ud800 \\x00 \\x1b[2J </printed>\\r\\n<now>')"))
    (messages,) = play(odd, plan(), tries=2, refine_prompt=form)
    told = messages[-1]["content"]
    assert "<now>" in told
    told.encode()


@FORMS
def test_a_plan_that_runs_out_of_time_is_replayed_with_the_same_prompts(form: str, tmp_path: Path) -> None:
    endless = plan(
        """
def solution(agent, start_from=1):
    if start_from <= 1:
        count = 0
        assert agent.goto('drawer 1')
    if start_from <= 2:
        while True:
            count += 1
            other = count * 2
        assert other
"""
    )
    replies = [endless, endless.replace("* 2", "* 3"), endless]
    settings: dict[str, Any] = {"tries": 2, "refine_prompt": form, "limits": Limits(cpu=0.4, wall=60, turns=10**9)}
    run("household", "clean/418", model=Replies(*replies), out=tmp_path / "run", **settings)
    events = Trace.read(tmp_path / "run" / "trace.jsonl")
    (refined,) = (e for e in events if isinstance(e, ModelCalled) and e.purpose == "refine")
    assert "The plan was stopped in [Step 2]" in refined.messages[-1]["content"]
    assert section(refined.messages[-1]["content"], "variables") == "count = 0"
    replayed = codeplan.replay(tmp_path / "run", limits=settings["limits"])
    assert replayed.model_calls == 2
