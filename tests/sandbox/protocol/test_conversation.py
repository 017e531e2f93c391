"""The conversation between host and worker follows one table, which the docs show as it is."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.caged import locked_worker
from support.protocol_table import caps_table, conversation_table

from codeplan.sandbox import Limits, encode
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.frames import (
    TRANSITIONS,
    Condition,
    DiagnosticRow,
    PlanRow,
    Sender,
    State,
    WorkerConversation,
)
from codeplan.types import AgentApi

PAGE = (Path(__file__).parents[3] / "docs" / "sandbox.md").read_text()
SAVED = encode({"x": 1}, 1_000)
TABLE = frames.CheckpointTable.from_checkpoint(SAVED)


def job(*, checkpoint: bool = True, coverage: bool = True, code: bytes = b"") -> frames.RunJob:
    saved = SAVED if checkpoint else None
    return frames.RunJob("x", frozenset(), frozenset(), 1, saved, 0, Limits(), coverage, code)


SAMPLES: tuple[frames.Frame, ...] = (
    frames.SetupFrame(1, 1.0, 1.0),
    frames.CheckJob("x", AgentApi()),
    frames.AnalysisJob("literals", "x", {}),
    job(),
    frames.ResultFrame(1),
    frames.ErrorFrame("no"),
    frames.ReadyFrame([]),
    frames.AcceptanceFrame(PlanRow("x", [], ()), b""),
    frames.RejectionFrame([DiagnosticRow(1, 1, "size", "no")]),
    frames.Analysis(b"[]"),
    frames.AnalysisFailed("no", invalid_job=True),
    frames.CheckpointErrorFrame("no"),
    frames.StartFrame(),
    frames.StepFrame(1, TABLE),
    frames.OutputFrame("x"),
    frames.CoverageFrame([(0, 1)]),
    frames.CallFrame("goto", [], {}),
    frames.ReadFrame("holding"),
    frames.AskFrame("why?"),
    frames.AnswerFrame(1, 0.5),
    frames.BeginFrame(1, "goto", [], {}),
    frames.WaitFrame(None),
    frames.CancelFrame(1),
    frames.EndFrame("finished", None, None, "", "", 0, 0, TABLE),
)


def test_the_page_shows_the_states_and_the_caps_of_the_code():
    for table in (conversation_table(), caps_table()):
        assert "\n".join(table) in PAGE, "run tests/support/protocol_table.py and put its tables into docs/sandbox.md"


def test_every_frame_has_its_place_in_the_table():
    known = {*get_args(frames.HostFrame), *get_args(frames.WorkerFrame)}
    assert {t.frame for t in TRANSITIONS} == known == set(map(type, SAMPLES))
    for t in TRANSITIONS:
        assert (t.frame in get_args(frames.HostFrame)) == (t.sender is Sender.HOST)


def test_a_conversation_begins_with_the_setup_of_a_new_worker():
    conversation = WorkerConversation()
    with pytest.raises(frames.ProtocolError, match="^the host sent a CheckJob in the state 'forked'$"):
        conversation.take(Sender.HOST, SAMPLES[1])
    conversation.take(Sender.HOST, SAMPLES[0])
    assert conversation.state is State.LOCKING


def test_every_state_can_be_reached_and_only_the_end_has_no_way_on():
    assert {t.next_state for t in TRANSITIONS} | {State.FORKED} == set(State)
    assert set(State) - {t.state for t in TRANSITIONS} == {State.ENDED}


@given(st.sampled_from(State), st.sampled_from(Sender), st.sampled_from(SAMPLES))
def test_a_frame_is_taken_where_the_table_has_it_and_nowhere_else(state, sender, frame):
    conversation = WorkerConversation(State.READY)
    conversation.take(Sender.HOST, job())  # meets every condition
    conversation.state = state
    allowed = {t.next_state for t in TRANSITIONS if (t.state, t.sender, t.frame) == (state, sender, type(frame))}
    if allowed:
        conversation.take(sender, frame)
        assert {conversation.state} == allowed
    else:
        with pytest.raises(frames.ProtocolError, match=f"the {sender} sent an? {type(frame).__name__}"):
            conversation.take(sender, frame)
        assert conversation.state is state


@pytest.mark.parametrize(
    ("told", "before", "frame", "condition"),
    [
        (job(code=b"code"), (), SAMPLES[8], Condition.NO_CODE),
        (job(checkpoint=False), (), SAMPLES[11], Condition.CHECKPOINT),
        (job(coverage=False), (SAMPLES[12],), SAMPLES[15], Condition.COVERAGE),
    ],
)
def test_some_frames_come_only_if_the_job_allows_them(told, before, frame, condition):
    conversation = WorkerConversation(State.READY)
    conversation.take(Sender.HOST, told)
    for early in before:
        conversation.take(Sender.WORKER, early)
    with pytest.raises(frames.ProtocolError, match=condition):
        conversation.take(Sender.WORKER, frame)


def test_the_host_cannot_send_what_a_worker_does_not_expect():
    with locked_worker() as worker, pytest.raises(frames.ProtocolError, match="the host sent a ResultFrame"):
        worker.send(frames.ResultFrame(1), 0.0)
