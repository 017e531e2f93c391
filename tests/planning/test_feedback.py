"""What a report on a run becomes in the values of a prompt: each part, within its bounds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from codeplan.planning.feedback import MAX_FIXES_SHOWN, MAX_PART_CHARS, Exchange, RunEvents, RunReport, prompt_values
from codeplan.planning.outcomes import describe_outcome, describe_refusal
from codeplan.sandbox import encode
from codeplan.types import (
    Checkpoint,
    Diagnostic,
    Failed,
    Finished,
    Fix,
    GiveUp,
    Outcome,
    Plan,
    Rejected,
    Replan,
    ResourceUsage,
    Stopped,
)

SOURCE = "def solution(agent):\n    x = 1\r\n    assert x  # and " + "so on " * 60 + "\n"


def failed(step: int | None = 1, line: int | None = 3) -> Failed:
    return Failed(step, line, "ValueError", "no", "", Checkpoint(), {}, ResourceUsage())


def replan(step: int | None, *, done: bool) -> Replan:
    return Replan(step, 3, "look on", done, "", Checkpoint(), {}, ResourceUsage())


def values(outcome: Outcome | None = None, **more: Any) -> dict[str, Any]:
    report = RunReport(**{"source": SOURCE, "problem": "it failed", "plan": Plan(SOURCE), "outcome": outcome, **more})
    return prompt_values(report, ())


@pytest.mark.parametrize(
    ("outcome", "step"),
    [
        (None, None),
        (failed(2), 2),
        (failed(None), None),
        (replan(2, done=True), 3),
        (replan(2, done=False), 2),
        (replan(None, done=True), None),
    ],
)
def test_the_step_is_that_of_the_end_or_the_one_after_a_done_step(outcome: Outcome | None, step: int | None) -> None:
    found = values(outcome)
    assert found["step"] == step
    assert (found["refused"], found["replanned"], found["finished"]) == (
        outcome is None,
        isinstance(outcome, Replan),
        False,
    )


@pytest.mark.parametrize(
    ("line", "shown"), [(1, "def solution(agent):"), (2, "x = 1"), (4, ""), (5, ""), (0, ""), (None, "")]
)
def test_the_failed_line_is_shown_without_its_margin(line: int | None, shown: str) -> None:
    assert values(failed(line=line))["failed_line"] == shown


def test_a_long_line_is_cut_and_other_endings_have_none() -> None:
    shown = values(failed(line=3))["failed_line"]
    assert shown.startswith("assert x # and so on") and shown.endswith("…") and len(shown) == 120
    found = values(Finished("", 1, Checkpoint(), {}, ResourceUsage()))
    assert (found["failed_line"], found["finished"]) == ("", True)


@pytest.mark.parametrize(("line", "shown"), [(0, ""), (1, "first"), (2, "last"), (3, "")])
def test_a_last_line_without_an_end_is_shown_and_no_other_stands_for_it(line: int, shown: str) -> None:
    assert values(failed(line=line), source="first\nlast")["failed_line"] == shown


@pytest.mark.parametrize(
    ("outcome", "unfinished"), [(replan(2, done=False), True), (replan(2, done=True), False), (failed(2), False)]
)
def test_only_a_replan_within_a_step_leaves_the_step_unfinished(outcome: Outcome, unfinished: bool) -> None:
    assert values(outcome)["unfinished"] is unfinished


def test_a_refusal_is_told_with_a_line_for_each_reason() -> None:
    reasons = (Diagnostic(1, 0, "syntax", "no colon"), Diagnostic(2, 4, "policy", "no import"))
    assert describe_refusal(Rejected(SOURCE, reasons)).split("\n") == [str(reason) for reason in reasons]


def exchanges(*answers: str) -> RunEvents:
    actions = [Exchange(number, 1, f"look {number}", answer) for number, answer in enumerate(answers, 1)]
    return RunEvents((*actions, Exchange(None, 1, "where?", "a question's answer")))


@pytest.mark.parametrize(
    ("observation", "shown"),
    [("second", ""), ("first", "first"), ("a question's answer", "a question's answer"), ("other", "other")],
)
def test_the_newest_observation_is_shown_unless_the_log_ends_with_it(observation: str, shown: str) -> None:
    events = exchanges("first", "second")
    assert values(failed(), events=events, observation=observation)["now"] == shown
    assert values(None, events=events, observation=observation)["now"] == ""


@pytest.mark.parametrize(("length", "told"), [(199, "x" * 199), (200, "<answer 1>")])
def test_an_answer_of_two_hundred_characters_is_not_repeated_in_the_feedback(length: int, told: str) -> None:
    found = values(failed(), events=exchanges("x" * length), problem=f"it was {'x' * length}")
    assert found["feedback"] == f"it was {told}"


def test_earlier_attempts_are_told_in_a_short_line() -> None:
    events = RunEvents(exchanges("a").exchanges, started_from=2)
    problem = "it\nfailed " + "x" * 500
    summary = RunReport(source="", problem=problem, outcome=failed(), events=events).summary
    assert summary.startswith("from [Step 2] on, 1 action: it failed x") and len(summary) == 200
    summary = RunReport(source="", problem="no", outcome=failed(), events=exchanges("a", "b")).summary
    assert summary == "from [Step 1] on, 2 actions: no"
    summary = RunReport(source="", problem=problem).summary
    assert summary.startswith("refused before it ran: it failed x") and len(summary) == 200


def test_fixes_are_shown_up_to_a_number() -> None:
    def shown(count: int) -> tuple[str, ...]:
        plan = Plan(SOURCE, fixes=tuple(Fix("unused-import", n, f"import a{n}", "") for n in range(count)))
        lines: tuple[str, ...] = values(failed(), plan=plan)["fixes"]
        return lines

    assert len(shown(MAX_FIXES_SHOWN)) == MAX_FIXES_SHOWN and "more" not in shown(MAX_FIXES_SHOWN)[-1]
    assert shown(MAX_FIXES_SHOWN + 1)[MAX_FIXES_SHOWN:] == ("and 1 more",)
    assert len(shown(MAX_FIXES_SHOWN + 3)) == MAX_FIXES_SHOWN + 1 and shown(MAX_FIXES_SHOWN + 3)[-1] == "and 3 more"


def variables(names: dict[str, Any], dropped: dict[str, str] | None = None, **plan: Any) -> list[str]:
    saved = encode(names, 1 << 22)
    checkpoint = Checkpoint(saved.names, saved.nodes, dropped or {})
    text = values(failed(), plan=Plan(" ".join(names), **plan), variables=checkpoint)["variables"]
    assert len(text) <= MAX_PART_CHARS["variables"]
    return str(text).split("\n")


def test_variables_have_a_line_each_and_lost_ones_a_reason() -> None:
    lines = variables({"a": 1, "b": "x"}, {"f": "a function", "helper": "a function"}, provides=("helper",))
    assert lines == ["a = 1", "b = 'x'", "f was not saved (a function)"]


def test_as_many_variables_are_shown_as_there_is_room_and_the_others_are_counted() -> None:
    lines = variables({f"name_{n}": "v" * 300 for n in range(900)})
    last = re.fullmatch(r"# saved, but not shown: (name_\d+(?:, name_\d+)*) and ([\d,]+) more", lines[-1])
    assert last
    assert len(lines[:-1]) + last[1].count(",") + 1 + int(last[2].replace(",", "")) == 900
    lines = variables({f"name_{n}": n for n in range(70)})
    assert re.fullmatch(r"# saved, but not shown: name_\d+(?:, name_\d+)*", lines[-1])


@pytest.mark.parametrize(("length", "told"), [(59, f"'{'x' * 57}'"), (60, "<as printed>")])
def test_a_value_of_sixty_characters_is_not_repeated_if_the_plan_printed_it(length: int, told: str) -> None:
    text = "x" * (length - 2)  # without its quotes
    events = RunEvents(printed=f"found {text!r}")
    saved = encode({"found": text}, 1 << 22)
    assert values(failed(), plan=Plan("found"), events=events, variables=saved)["variables"] == f"found = {told}"


def test_a_long_text_is_cut_and_a_huge_value_takes_its_part_alone() -> None:
    lines = variables({"text": "x" * 500, "list": list(range(9_000)), "small": 1})
    assert lines[0] == f"text = '{'x' * 200}'[300 characters left out]"
    assert re.fullmatch(r"list = \[0, 1, .*, \[8,\d+ elements left out\]", lines[1])
    assert 1_900 < len(lines[1]) <= len("list = ") + 2_000 + len(", [8,999 elements left out]")
    assert lines[2:] == ["small = 1"]


def test_lost_variables_are_named_up_to_a_number() -> None:
    lines = variables({"a": 1}, {f"lost_{n}": "why " * 40 for n in range(15)})
    assert lines[0] == "a = 1" and lines[-1] == "# not saved: 3 more variables"
    assert len(lines) == 14 and all(len(line) <= len("lost_11 was not saved ()") + 100 for line in lines[1:-1])


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (failed(2), "[Step 2], line 3 raised ValueError: no"),
        (failed(None), "code outside the steps, line 3 raised ValueError: no"),
        (
            Stopped("calls", 9, 8, 2, 3, "9 calls", "", None, {}, ResourceUsage()),
            "The plan was stopped in [Step 2]: 9 calls",
        ),
        (Stopped("calls", 9, 8, None, 3, "9 calls", "", None, {}, ResourceUsage()), "The plan was stopped: 9 calls"),
        (replan(1, done=True), "[Step 1] asked to replan: look on"),
        (replan(None, done=False), "code outside the steps asked to replan: look on"),
        (GiveUp(1, 3, "no way", "", Checkpoint(), {}, ResourceUsage()), "The plan gave up: no way"),
        (
            Finished("", 1, Checkpoint(), {}, ResourceUsage()),
            "The plan ran to its end without an error, but the task is not done. Nothing was done.",
        ),
    ],
)
def test_each_ending_has_its_sentence(outcome: Outcome, said: str) -> None:
    assert describe_outcome(outcome, lambda: "Nothing was done.") == said


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [
        (Stopped("wall", 9, 8, 1, 2, "too long", "", None, {}, ResourceUsage()), "x = 1"),
        (failed(line=2), "x = 1"),
        (GiveUp(1, 2, "no", "", Checkpoint(), {}, ResourceUsage()), ""),
        (Replan(1, 2, "no", False, "", Checkpoint(), {}, ResourceUsage()), ""),
    ],
)
def test_the_line_is_shown_of_a_plan_that_failed_or_was_stopped(outcome: Outcome, shown: str) -> None:
    assert values(outcome)["failed_line"] == shown
