"""The live display, event by event, on a terminal and off it."""

from __future__ import annotations

import io
from typing import get_args

import pytest
from rich.console import Console
from support import trace_samples as samples
from support.trace_samples import flat

from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    CallDecided,
    DoubtDecided,
    EnvironmentReset,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    ModelCalled,
    PlanDrafted,
    PlanEnded,
    PlanFixed,
    PlanRejected,
    PlanStarted,
    PlanWarned,
    SpanClosed,
    SpanOpened,
    StepEntered,
    TextPrinted,
    TextsEmbedded,
    ToolFailed,
    ValueJudged,
    WarningIssued,
)
from codeplan.report.live import LiveDisplay, SummaryDisplay
from codeplan.types import (
    Call,
    Checkpoint,
    Claimed,
    Completion,
    Diagnostic,
    Failed,
    Finished,
    Fix,
    NotSolved,
    Observation,
    Purpose,
    Result,
    Stopped,
    Success,
    Task,
    Usage,
)

TASK = Task("clean/3", env="household", kind="clean", goal="put a clean mug on a desk")
FIRST = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.goto('desk 1')\n"
SECOND = FIRST.replace("desk 1", "desk 2")


def shown(*events: Event | tuple[CallBegun, CallAnswered], terminal: bool = False, width: int = 100) -> str:
    file = io.StringIO()
    live = LiveDisplay(
        Console(file=file, force_terminal=terminal, width=width, color_system="standard" if terminal else None)
    )
    for event in flat(*events):
        live(event)
    return file.getvalue()


def started(model: str = "scripted") -> EpisodeStarted:
    return EpisodeStarted(env="household", task=TASK, method="adaplanner", model=model, codeplan_version="0")


def drafted(source: str, number: int = 1, origin: Purpose = "plan") -> PlanDrafted:
    return PlanDrafted(number=number, origin=origin, source=source)


def acted(text: str, action: str = "go to desk 1") -> tuple[CallBegun, CallAnswered]:
    return samples.acted(action, text)


def asked(purpose: Purpose, question: str, text: str, usage: Usage | None = None, retries: int = 0) -> ModelCalled:
    completion = Completion(text, usage or Usage(700, 20), retries=retries)
    return ModelCalled(
        purpose=purpose, messages=[{"role": "user", "content": question}], completion=completion, seconds=1.5
    )


def ended(success: bool = True, reason: str = "success", **more: object) -> EpisodeEnded:
    counts = {"actions": 14, "asks": 1, "refinements": 2, "model_calls": 4, "usage": Usage(2310, 420), "seconds": 0.4}
    result = Result(TASK, Success() if success else NotSolved(reason), "adaplanner", "scripted", **{**counts, **more})  # type: ignore[arg-type]
    return EpisodeEnded(result=result)


# ------------------------------------------------------------------ what is output


def test_a_reply_of_steps_is_shown_as_what_changed() -> None:
    steps = PlanDrafted(number=2, origin="refine", source=SECOND, steps=(1,))
    text = shown(drafted(FIRST), steps)
    assert "Plan 2, refined: step 1 ==" in text
    assert "agent.goto('desk 2')" in text
    assert text.count("def solution") <= 2
    many = PlanDrafted(number=2, origin="refine", source=SECOND, steps=tuple(range(1, 100)))
    assert "refined: steps 1, 2, 3" in shown(drafted(FIRST), many)
    assert "20 … ==" in shown(drafted(FIRST), many)


def test_the_heading_has_task_goal_method_and_model() -> None:
    text = shown(started("gpt-4.1-mini"))
    assert all(part in text for part in ("household · clean/3", TASK.goal, "adaplanner", "gpt-4.1-mini"))
    assert "stand-in" not in text


def test_the_scripted_model_is_labelled_at_the_start_and_at_the_end() -> None:
    words = "scripted stand-in, not a language model"
    assert words in shown(started())
    assert words in shown(ended())


def test_the_first_plan_is_shown_whole_with_line_numbers() -> None:
    assert "   3          agent.goto('desk 1')" in shown(drafted(FIRST)).splitlines()


def test_a_refined_plan_is_shown_by_what_changed() -> None:
    text = shown(drafted(FIRST), drafted(SECOND, 2, "refine"))
    after = text.partition("Plan 2, refined")[2]
    assert "-         agent.goto('desk 1')" in after
    assert "+         agent.goto('desk 2')" in after


def test_a_plan_that_did_not_change_says_so() -> None:
    assert "The same as the plan before." in shown(drafted(FIRST), drafted(FIRST, 2, "check"))


def test_a_refusal_points_at_the_source() -> None:
    diagnostic = Diagnostic(3, 9, "no-such-method", "the agent has no method goto")
    lines = shown(drafted(FIRST), PlanRejected(number=1, diagnostics=(diagnostic,))).splitlines()
    assert lines[-2].endswith("         agent.goto('desk 1')")
    assert lines[-1].index("^") == lines[-2].index("agent")
    assert "line 3, column 9: the agent has no method goto [no-such-method]" in lines[-3]


def test_the_first_run_starts_and_a_later_one_resumes_with_its_variables() -> None:
    assert "Plan 1 runs from step 1" in shown(PlanStarted(number=1, start_from=1))
    resumed = PlanStarted(number=2, start_from=3, restored=("lettuce", "place"), dropped={"f": "a function"})
    text = shown(resumed)
    assert "Plan 2 resumes at step 3 with its variables: lettuce, place" in text
    assert "Not restored: f (a function)" in text


def test_each_fix_is_shown_with_its_line_before_and_after() -> None:
    mended = "def solution(agent, start_from=1):\n    agent.goto('desk 1')\n"
    fixes = (
        Fix("signature", 2, "def solution(agent):", "def solution(agent, start_from=1):"),
        Fix("import", 1, "import os", ""),
    )
    text = shown(drafted("import os\ndef solution(agent):\n"), PlanFixed(number=1, fixes=fixes, source=mended))
    after = text.partition("The check mended plan 1")[2].splitlines()
    assert [line.strip() for line in after[1:]] == [
        "line 2 [signature]",
        "- def solution(agent):",
        "+ def solution(agent, start_from=1):",
        "line 1 [import]",
        "- import os",
    ]


def test_the_number_of_fixes_that_are_not_shown_is_named() -> None:
    fixes = tuple(Fix("rule", n, "a", "b") for n in range(1, 1_001))
    text = shown(drafted(FIRST), PlanFixed(number=1, fixes=fixes, source=FIRST))
    assert len(text.splitlines()) < 100
    assert "(980 more fixes; the trace has them)" in text


def test_warnings_point_at_the_mended_plan() -> None:
    fixed = PlanFixed(number=1, fixes=(Fix("rule", 1, "a", "b"),), source=FIRST)
    warned = PlanWarned(number=1, warnings=(Diagnostic(3, 9, "step-assertion", "step 1 has no assertion"),))
    lines = shown(drafted("x\n" * 9), fixed, warned).splitlines()
    assert "! The check accepted plan 1, with warnings" in lines
    assert "line 3, column 9: step 1 has no assertion [step-assertion]" in lines[-3]
    assert lines[-2].endswith("agent.goto('desk 1')")


def test_a_start_with_given_variables_says_so() -> None:
    given = PlanStarted(number=1, start_from=2, restored=("place",), checkpoint=Checkpoint())
    assert "Plan 1 starts at step 2 with the given variables: place" in shown(given)


def test_steps_actions_observations_and_prints_appear_in_order() -> None:
    events = [
        EnvironmentReset(observation=Observation("You are in a room.")),
        StepEntered(step=1, title="Look around", checkpoint=Checkpoint()),
        acted("You see nothing."),
        TextPrinted(text="looking\n"),
        PlanEnded(outcome=Finished(step=1)),
    ]
    text = shown(*events)
    parts = ["You are in a room.", "[Step 1] Look around", "1 > go to desk 1", "You see nothing.", "looking", "end"]
    assert [text.index(p) for p in parts] == sorted(text.index(p) for p in parts)


def test_a_step_title_that_the_plan_prints_is_shown_once() -> None:
    entered = StepEntered(step=1, title="Look around", checkpoint=Checkpoint())
    text = shown(entered, TextPrinted(text="[Step 1] Look around\n"), TextPrinted(text="[Step 1] again\n"))
    assert text.count("Look around") == 1
    assert "again" in text


def test_a_question_of_the_plan_is_shown_with_its_answer() -> None:
    text = shown(asked("ask", "Where are mugs kept?", "['desk 1']"))
    assert "ask Where are mugs kept?" in text
    assert "-> ['desk 1']" in text


@pytest.mark.parametrize(
    ("usage", "said"), [(Usage(700, 20), "700 in + 20 out"), (Usage(None, None), "tokens unknown")]
)
def test_other_model_calls_are_one_line_with_their_cost(usage: Usage, said: str) -> None:
    text = shown(asked("refine", "a long prompt", "a long plan", usage, retries=1))
    assert f"The model was called to refine the plan ({said}, 1.5 s, retries: 1)" in text
    assert "a long" not in text


@pytest.mark.parametrize("purpose", get_args(Purpose))
def test_a_call_of_any_purpose_is_shown(purpose: Purpose) -> None:
    assert shown(asked(purpose, "a question", "a reply")).strip()


def test_a_failed_assertion_is_red_with_step_line_and_message() -> None:
    failed = PlanEnded(outcome=Failed(step=2, line=14, error="AssertionError", message="Error in [Step 2]: no mug"))
    assert "An assertion failed in step 2, line 14:" in shown(failed)
    assert "Error in [Step 2]: no mug" in shown(failed)
    assert "\x1b[31m" in shown(failed, terminal=True)


def test_other_exceptions_and_places_outside_the_steps_are_named() -> None:
    failed = PlanEnded(outcome=Failed(step=None, line=2, error="ValueError", message="no"))
    assert "The plan raised ValueError outside all steps, line 2:" in shown(failed)


def test_an_exceeded_limit_and_a_warning_are_shown() -> None:
    stopped = PlanEnded(
        outcome=Stopped(limit="wall", value=6, allowed=5, step=1, line=4, message="the plan ran longer than 5 s")
    )
    text = shown(stopped)
    assert "The plan exceeded its limit 'wall' in step 1, line 4:" in text
    assert "the plan ran longer than 5 s" in text
    assert "Warning: no landlock" in shown(WarningIssued(message="no landlock"))


def test_spans_are_headings() -> None:
    assert "trial 2" in shown(SpanOpened(id=1, kind="trial", name="2"), SpanClosed(id=1))


def test_the_summary_has_every_figure_and_the_trace() -> None:
    text = shown(ended(trace="runs/a/trace.jsonl"))
    figures = (
        "Success",
        "14",
        "Asks",
        "Refinements",
        "Model calls",
        "2,310 in + 420 out",
        "0.40",
        "runs/a/trace.jsonl",
    )
    assert all(figure in text for figure in figures)
    assert "Reason" not in text


def test_a_claim_is_neither_a_success_nor_a_failure() -> None:
    claimed = Result(TASK, Claimed("the plan ran to its end; nobody verified it"), "adaplanner", "scripted")
    text = shown(EpisodeEnded(result=claimed))
    assert "? Claimed, not verified" in text and "nobody verified it" in text
    assert "Success" not in text and "Not solved" not in text


def test_a_failure_has_its_reason_and_unknown_tokens_stay_unknown() -> None:
    text = shown(ended(False, "no success in 6 tries", usage=Usage(None, None)))
    assert "Not solved" in text
    assert "no success in 6 tries" in text
    assert "unknown (the model did not say)" in text


def test_the_quiet_display_shows_only_warnings_and_the_end() -> None:
    file = io.StringIO()
    summary = SummaryDisplay(Console(file=file))
    for event in (started(), drafted(FIRST), WarningIssued(message="no landlock"), ended()):
        summary(event)
    text = file.getvalue()
    assert "no landlock" in text
    assert "Success" in text
    assert "goto" not in text


# ------------------------------------------------------------------ how it is output


def everything(text: str) -> list[Event | tuple[CallBegun, CallAnswered]]:
    """One of each event, with this text wherever a plan, a model or an environment could put it."""
    failed = PlanEnded(outcome=Failed(step=1, line=1, error=text, message=text))
    stopped = PlanEnded(outcome=Stopped(limit="wall", value=1, allowed=1, step=1, line=1, message=text))
    return [
        EpisodeStarted(
            env="household", task=Task(text, env=text, goal=text), method=text, model=text, codeplan_version="0"
        ),
        EnvironmentReset(observation=Observation(text)),
        drafted(text),
        drafted(f"x\n{text}", 2, "refine"),
        PlanRejected(number=1, diagnostics=(Diagnostic(1, 2, text, text),)),
        PlanFixed(number=2, fixes=(Fix(text, 1, text, text), Fix(text, 2, text, "")), source=text),
        PlanWarned(number=2, warnings=(Diagnostic(1, 2, text, text),)),
        PlanStarted(number=1, start_from=2, restored=(text,), dropped={text: text}),
        PlanStarted(number=1, start_from=2, restored=(text,), checkpoint=Checkpoint()),
        StepEntered(step=1, title=text, checkpoint=Checkpoint()),
        acted(text, text),
        asked("ask", text, text),
        asked("plan", text, text),
        TextPrinted(text=text),
        failed,
        stopped,
        SpanOpened(id=1, kind=text, name=text),
        WarningIssued(message=text),
        EpisodeEnded(result=Result(Task(text, env=text, goal=text), NotSolved(text), text, text)),
    ]


HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x7f\u202e\u200b\ud800[red]bold[/red] [/] :smile: \r\n\x00end"


@pytest.mark.parametrize("terminal", [False, True])
def test_hostile_text_steers_neither_the_terminal_nor_the_markup(terminal: bool) -> None:
    text = shown(*everything(HOSTILE), terminal=terminal)
    ours = text.replace("\x1b[", "") if terminal else text  # rich's own colours
    assert not any(c in ours for c in "\x1b\x07\x9b\x08\x7f\u202e\u200b\ud800\r\x00")
    assert "\x1b[2J" not in text
    assert "[red]bold[/red]" in text
    assert ":smile:" in text


def test_without_a_terminal_there_are_no_escape_codes_and_no_wrapping() -> None:
    long = "word " * 60
    text = shown(*everything(long.strip()), width=40)
    assert "\x1b" not in text
    assert f"       {long.strip()}" in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_on_a_terminal_long_lines_are_wrapped_under_their_start() -> None:
    lines = shown(acted("word " * 30), terminal=True, width=40).splitlines()
    assert len(lines) > 4


def test_a_flood_is_cut_and_says_how_much_there_was() -> None:
    text = shown(acted("spam\n" * 100_000), TextPrinted(text="x" * 1_000_000))
    assert len(text) < 10_000
    assert "500,000 characters in all" in text


def test_an_embedding_call_is_one_line() -> None:
    assert "3 texts to the embedding model small" in shown(
        TextsEmbedded(model="small", texts=3, digest="", seconds=0.1)
    )
    assert "1 text to" in shown(TextsEmbedded(model="small", texts=1, digest="", seconds=0.1))


def test_decisions_about_tools_their_failures_and_verdicts_are_shown():
    assert "A call of send was refused by the pattern s*" in shown(
        CallDecided(id=1, tool="send", allowed=False, by="pattern", pattern="s*")
    )
    assert "A call of send was allowed by the user" in shown(
        CallDecided(id=1, tool="send", allowed=True, by="approver")
    )
    skipped = shown(DoubtDecided(id=1, tool="send", way="skip", by="user"))
    assert "ended during a call of send, which is not made again, as the user says" in skipped
    assert shown(CallBegun(id=1, call=Call("send", {}))) == shown()
    failed = shown(ToolFailed(id=1, tool="send", error="OSError", message="no", traceback="Traceback of send"))
    assert "The tool send failed: OSError" in failed and "Traceback" not in failed
    assert "OSError:" not in failed  # nothing follows
    assert "Nobody verified the result" in shown(ValueJudged(verdict=None))
    assert "not accepted: 3" in shown(ValueJudged(verdict=Observation("not accepted: 3")))
