"""In a conversation about a plan, what a report shows is not repeated by the next one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.boxes import Boxes, Replies
from support.tag_marks import without_marks

import codeplan
from codeplan.planning.feedback import Exchange, RunEvents, RunReport, ShownParts, prompt_values, turn_values
from codeplan.runner.episodes import run
from codeplan.sandbox import encode
from codeplan.types import Observation, Plan

NAMES = "abcd"


def report(variables: dict[str, Any], *exchanges: tuple[str, str], printed: str = "", blind: bool = False) -> RunReport:
    acts = tuple(Exchange(number, 1, *pair) for number, pair in enumerate(exchanges, 1))
    source = " ".join(NAMES)
    saved = encode(variables, 1 << 20)
    return RunReport(source, "no", Plan(source), None, RunEvents(acts, printed), variables=saved, is_blind=blind)


def parts(name: str, *reports: RunReport) -> list[Any]:
    """The part of this name in each of the reports of one conversation."""
    shown, told = ShownParts(), []
    for each in reports:
        values, more = turn_values(each, (), shown)
        shown = shown.followed_by(more)
        told.append(values[name])
    return told


# ------------------------------------------------------------------ variables

scalars = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "x", "x" * 300]) | st.just(1.0)
variables = st.dictionaries(st.sampled_from(NAMES), scalars | st.lists(scalars, max_size=2), max_size=4)


@given(st.lists(variables, min_size=1, max_size=6), st.booleans())
def test_whoever_reads_from_the_top_knows_all_that_a_prompt_of_its_own_tells(tables, blind):
    known: dict[str, str] = {}
    reports = [report(table, blind=blind) for table in tables]
    for each, text in zip(reports, parts("variables", *reports), strict=True):
        lines = text.split("\n") if text else []
        gone = [name for line in lines if line.startswith("# gone: ") for name in line[8:].split(", ")]
        told = {line[0]: line for line in lines if not line.startswith("#")}
        assert not known.keys() & told.keys() or all(known.get(name) != line for name, line in told.items())
        known = {name: line for name, line in (known | told).items() if name not in gone}
        assert sorted(known.values()) == sorted(str(prompt_values(each, ())["variables"]).split("\n") if known else [])


def test_what_changed_is_shown_what_is_gone_is_named_and_the_rest_stands_above():
    first, second = {"a": 1, "b": [1], "c": "x"}, {"a": 1, "b": [1, 2], "d": 0}
    assert parts("variables", *map(report, [first, first, second])) == [
        "a = 1\nb = [1]\nc = 'x'",
        "# all as above",
        "b = [1, 2]\nd = 0\n# the others are as above\n# gone: c",
    ]


def test_values_with_the_name_of_an_answer_are_compared_by_what_they_are():
    one, other = "It is a red ball in a box of wood.", "It is a big cat in a box of paper."
    told = parts("variables", report({"a": one}, ("look", one)), report({"a": other}, ("look", other)))
    assert told == ["a = <answer 1>"] * 2


@pytest.mark.parametrize(("last", "told"), [(1, "a = [0, 0, "), (0, "# all as above")])
def test_a_change_that_the_text_does_not_show_is_a_change(last, told):
    long = [0] * 5_000
    assert parts("variables", report({"a": [*long, 0]}), report({"a": [*long, last]}))[1].startswith(told)


def test_blind_reports_do_not_tell_that_a_value_of_the_same_shape_has_changed():
    told = parts("variables", report({"a": "x"}, blind=True), report({"a": "y"}, blind=True))
    assert told == ["a: str of 1 character", "# all as above"]


# ------------------------------------------------------------------ long answers and what was printed

PAGE = "word " * 99 + "word"


def test_a_long_answer_to_the_same_action_stands_above_once_it_was_shown_as_long():
    reads, others = ("read 1", PAGE), [("look", "dark")] * 2
    told = parts("log", report({}, reads), report({}, reads, *others), report({}, ("read 2", PAGE)))
    assert told[0] == f"[Step 1]\n1. read 1 -> {PAGE}"
    assert told[1] == "[Step 1]\n1. read 1 -> <as above>\n2-3. look -> dark (x 2)"
    assert told[2] == f"[Step 1]\n1. read 2 -> {PAGE}"


def test_an_answer_that_was_cut_is_shown_where_there_is_more_room():
    long = ("read", "".join(f"{n} " for n in range(1_000)))
    cut, whole, again = parts(
        "log", report({}, long, ("look", "dark"), ("wait", "time")), *[report({}, long) for _ in "ab"]
    )
    assert len(cut) < 1_000 < 3_000 < len(whole)
    assert again == "[Step 1]\n1. read -> <as above>"


def test_what_was_printed_again_stands_above():
    assert parts("printed", *[report({}, printed=PAGE) for _ in "ab"]) == [PAGE, "<as above>"]
    assert parts("printed", *[report({}, printed="short") for _ in "ab"]) == ["short"] * 2


# ------------------------------------------------------------------ in episodes

LOOK = """
def solution(agent, start_from=1):
    if start_from <= 1:
        seen = agent.open(1)
        print('seen:', seen)
        assert 'ball' in seen
"""


class LongBoxes(Boxes):
    def step(self, action: str) -> Observation:
        seen = super().step(action)
        return Observation(seen.text + " Nothing is in it." * 20, seen.reward, seen.done, seen.success)


def told_in(form: str, tries: int, *replies: str) -> list[str]:
    """The last message of each prompt for a refinement."""
    model = Replies(*(f"```python\n{reply}\n```" for reply in replies))
    run(LongBoxes(), "ball/3", model=model, refine_prompt=form, tries=tries, no_progress=0)
    return [messages[-1]["content"] for purpose, messages in model.asked if purpose == "refine"]


def test_a_fresh_prompt_tells_all():
    changed = LOOK.replace("seen:", "now seen:")
    first, second = told_in("fresh", 3, LOOK, changed, changed)
    assert "<as above>" not in second
    assert re.findall("^1. open 1 .*|^seen = .*", first, re.M) == re.findall("^1. open 1 .*|^seen = .*", second, re.M)


def test_a_refused_plan_repeats_nothing_of_the_run_before_it():
    refused = ["    if start_from <= 1:\n        agent.fly()"] * 3  # a refinement and its repairs
    _, told = told_in("conversation", 3, LOOK, *refused, LOOK)
    assert "The check refused the plan" in told
    assert "<log>" not in told
    assert "<printed>" not in told
    assert "<variables>\n# all as above\n</variables>" in told
    assert "Variables are kept: a step there may read each one shown" in told


class Letters:
    def people(self) -> list[str]:
        """Who there is."""
        return [f"person {n}" for n in range(40)]

    def send(self, to: str) -> str:
        """Send a letter."""
        return f"sent to {to}"


SENDS = """
def solution(agent, start_from=1):
    if start_from <= 1:
        who = agent.people()
        agent.send(who[0])
        replan('who is next')
"""
NEXT = "    if start_from <= {0}:\n        agent.send(who[{0}])\n        replan('who is next after {0}')\n"


@pytest.mark.parametrize("feedback", ["quoted", "blind"])
def test_calls_and_variables_stand_once_and_a_replay_has_the_same_prompts(feedback, tmp_path):
    steps = [NEXT.format(n) for n in range(2, 5)]
    model = Replies(
        *(f"```python\n{text}\n```" for text in [SENDS, *steps, "    if start_from <= 5:\n        return 5"])
    )
    given: dict[str, Any] = {"tools": Letters(), "replans": 9, "feedback": feedback}
    result = codeplan.do("write", model=model, out=tmp_path / "run", **given)
    assert result.value == 5
    *_, last = ([without_marks(m["content"]) for m in messages if m["role"] == "user"] for _, messages in model.asked)
    first, second, third = last[1:4]
    assert "<variables>\nwho" in first
    assert "<variables>\n# all as above\n</variables>" in second
    sent = "send(to='person 2')" if feedback == "quoted" else "send(to: str of 8 characters) (x 2)"
    assert f"<done>\n# those above, and\n{sent}\n</done>" in second
    assert len(third) < len(first)
    assert codeplan.replay(tmp_path / "run").success == result.success
