"""The host's accounts of a run, frame by frame: what it counts and reports, what it takes, and how each ending reads."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time

import msgspec
import pytest
from support.caged import answer
from support.lying_worker import Lie, lie_to_run, lying_worker
from support.sample_worlds import SampleHome

from codeplan.sandbox import Limits, encode
from codeplan.sandbox.host.agent_port import AgentPort, RunAccount
from codeplan.sandbox.host.backend import OutputChunk, Progress, StepEntry
from codeplan.sandbox.host.locked_backend import RunSession
from codeplan.sandbox.host.worker_process import WorkerKilled, WorkerProcess
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import RETURNED_NAME, CheckpointError
from codeplan.types import Failed, Finished, GiveUp, Observation, Outcome, Plan, Rejected, Replan, Step, Stopped
from codeplan.untrusted.texts import MAX_REASON_CHARS

SOURCE = "\n".join(f"line {k}" for k in range(1, 9))
UNCHECKED = Plan(SOURCE)
PLAN = Plan(SOURCE, tuple(Step(k, 2 * k, 2 * k, f"title {k}", "0123456789abcdef") for k in (1, 2, 3)))
SAVED = encode({"x": 1}, 1_000)
TABLE = frames.CheckpointTable.from_checkpoint(SAVED)
START = frames.StartFrame()
CALL = frames.CallFrame("goto", ["desk 1"], {})
END = frames.EndFrame("finished", None, None, "", "", 0, 0.25, TABLE)
LIMITS = Limits(wall=30.0)  # the tests are not about time


def enter(number: int, **variables: object) -> frames.StepFrame:
    return frames.StepFrame(number, frames.CheckpointTable.from_checkpoint(encode(variables or {"x": 1}, 1_000)))


def end(**changes: object) -> frames.EndFrame:
    return msgspec.structs.replace(END, **changes)


def told(*lies: Lie, plan: Plan = PLAN, limits: Limits = LIMITS) -> tuple[Outcome | Rejected, list[Progress]]:
    """The outcome of a run whose worker sends these frames, and what the run reported."""
    port, seen = AgentPort(SampleHome(lambda action: None), answer), list[Progress]()
    job = frames.RunJob(plan.source, port.methods, port.attributes, 1, None, 0, limits, False, b"code")
    with lying_worker(*lies) as worker:
        return RunSession(worker, RunAccount(plan, port, limits, seen.append)).run(job), seen


# ------------------------------------------------------------------ what is counted and reported


def test_printed_text_is_reported_up_to_the_limit_and_counted_no_further() -> None:
    limits = Limits(wall=30.0, output=10)
    outcome, seen = told(START, *[frames.OutputFrame("x" * 5)] * 2, END, limits=limits)
    assert isinstance(outcome, Finished)
    assert (outcome.usage.output, seen) == (10, [OutputChunk("x" * 5)] * 2)
    outcome, seen = told(START, *[frames.OutputFrame("x" * 6)] * 2, END, limits=limits)
    assert isinstance(outcome, Stopped)
    assert (outcome.limit, outcome.value, outcome.usage.output) == ("output", 12, 10)
    assert seen == [OutputChunk("x" * 6), OutputChunk("x" * 4)]


def test_text_beyond_the_limit_is_not_reported_at_all() -> None:
    outcome, seen = told(START, frames.OutputFrame("x"), limits=Limits(wall=30.0, output=0))
    assert isinstance(outcome, Stopped)
    assert (outcome.limit, outcome.output, seen) == ("output", "", [])


def test_a_step_is_reported_with_the_title_that_the_check_found() -> None:
    assert told(START, enter(2), END)[1] == [StepEntry(2, "title 2", SAVED)]
    assert told(START, enter(2), END, plan=UNCHECKED)[1] == [StepEntry(2, "", SAVED)]


def test_calls_and_questions_are_counted_apart() -> None:
    requests = [CALL, frames.ReadFrame("holding"), frames.AskFrame("why?")]
    outcome, _ = told(START, *requests, requests[0], END)
    assert isinstance(outcome, Finished)
    assert (outcome.usage.calls, outcome.usage.asks, outcome.usage.cpu) == (2, 1, 0.25)


@pytest.mark.parametrize(
    ("limit", "request_"), [("calls", CALL), ("reads", frames.ReadFrame("holding")), ("asks", frames.AskFrame("why?"))]
)
def test_requests_are_answered_up_to_their_limit(limit: str, request_: frames.Frame) -> None:
    limits = msgspec.structs.replace(LIMITS, **{limit: 2})
    assert isinstance(told(START, request_, request_, END, limits=limits)[0], Finished)
    outcome, _ = told(START, request_, request_, request_, END, limits=limits)
    assert isinstance(outcome, Stopped)
    assert (outcome.limit, outcome.value, outcome.allowed) == (limit, 3, 2)


@pytest.mark.parametrize(("less", "kind"), [(0, Finished), (1, Stopped)])
def test_a_call_is_measured_as_it_is_packed(less: int, kind: type) -> None:
    size = frames.packed_size(CALL)
    outcome, _ = told(START, CALL, END, limits=Limits(wall=30.0, call_bytes=size - less))
    assert type(outcome) is kind
    if isinstance(outcome, Stopped):
        assert (outcome.limit, outcome.value, outcome.allowed) == ("call_bytes", size, size - 1)


@pytest.mark.parametrize(("letters", "kind"), [(25, Finished), (26, Stopped)])
def test_a_question_is_measured_in_bytes(letters: int, kind: type) -> None:
    outcome, _ = told(START, frames.AskFrame("é" * letters), END, limits=Limits(wall=30.0, ask_bytes=50))
    assert type(outcome) is kind
    if isinstance(outcome, Stopped):
        assert (outcome.limit, outcome.value, outcome.allowed) == ("ask_bytes", 52, 50)


def test_a_step_in_two_blocks_resumes_at_the_first_of_them() -> None:
    outcome, _ = told(START, enter(1, x="first"), enter(1, x="second"), END, plan=UNCHECKED)
    assert isinstance(outcome, Finished)
    assert outcome.entries == {1: encode({"x": "first"}, 1_000)}


def test_no_call_of_the_agent_counts_as_the_plans_time() -> None:
    class Slow(SampleHome):
        def goto(self, receptacle: str) -> Observation:
            time.sleep(1.2)
            return super().goto(receptacle)

    outcome = lie_to_run(PLAN, START, *[CALL] * 3, END, home=Slow(lambda action: None), limits=Limits(wall=2.0))
    assert isinstance(outcome, Finished), outcome
    assert outcome.usage.calls == 3


# ------------------------------------------------------------------ what the host takes


@pytest.mark.parametrize(
    ("limits", "maximum"),
    [
        ({"checkpoint_bytes": 5 << 20}, 10 << 20),
        ({"output": 5 << 20}, 20 << 20),
        ({"ask_bytes": 5 << 20}, 5 << 20),
        ({"call_bytes": 5 << 20}, 5 << 20),
        ({"checkpoint_bytes": 1 << 10, "output": 1, "ask_bytes": 1, "call_bytes": 1}, 2 << 10),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_frame_has_room_for_what_the_largest_limit_allows(limits: dict[str, int], maximum: int) -> None:
    outcome, _ = told(START, b"\xff\xff\xff\xff", limits=Limits(wall=30.0, **limits))
    assert isinstance(outcome, Stopped)
    assert outcome.message.endswith(f"4,294,967,295 bytes, but the maximum is {maximum + (1 << 20):,}")


def test_a_source_that_the_worker_cannot_compile_is_refused_and_a_checked_plan_is_not() -> None:
    silent = Limits(wall=0.2)
    for hang_up in (True, False):
        refused = lie_to_run(PLAN, code=b"", hang_up=hang_up, limits=silent)
        assert isinstance(refused, Rejected)
        assert "the parser gave up on this plan" in refused.diagnostics[0].message
    stopped = lie_to_run(PLAN, code=b"code", hang_up=False, limits=silent)
    assert isinstance(stopped, Stopped)
    assert (stopped.limit, stopped.allowed, stopped.value > 0.2) == ("wall", 0.2, True)


def test_a_checkpoint_that_the_worker_cannot_read_is_an_error_of_one_line() -> None:
    long = frames.CheckpointErrorFrame("damaged\n" + "x" * 8_000)
    with pytest.raises(CheckpointError, match="^damaged ") as caught:
        lie_to_run(PLAN, long, checkpoint=SAVED)
    assert len(str(caught.value)) == MAX_REASON_CHARS


# ------------------------------------------------------------------ endings


def test_an_error_that_is_named_like_a_limit_is_a_failure() -> None:
    outcome, _ = told(START, enter(1), end(status="failed", error="memory", step=1, line=2))
    assert isinstance(outcome, Failed)
    assert (outcome.error, outcome.line) == ("memory", 2)


@pytest.mark.parametrize(("table", "step"), [(TABLE, None), (None, 1)])
def test_a_run_that_ends_by_a_limit_without_a_checkpoint_is_placed_in_its_latest_step(
    table: frames.CheckpointTable | None, step: int | None
) -> None:
    outcome, _ = told(START, enter(1), end(status="stopped", error="turns", value=7.0, table=table))
    assert isinstance(outcome, Stopped)
    assert (outcome.limit, outcome.value, outcome.step, outcome.usage.cpu) == ("turns", 7, step, 0.25)
    assert outcome.checkpoint == (SAVED if table else None)


@pytest.mark.parametrize(("step", "kind"), [(1, Replan), (None, Stopped)])
def test_in_a_plan_that_was_not_checked_a_replan_ends_any_step_but_not_none(step: int | None, kind: type) -> None:
    outcome, _ = told(START, enter(1), end(status="replan", step=step, line=5, step_done=True), plan=UNCHECKED)
    assert type(outcome) is kind
    assert not isinstance(outcome, Replan) or outcome.step_done


def test_a_plan_that_gives_up_is_not_a_replan() -> None:
    outcome, _ = told(START, enter(1), end(status="give_up", step=1, line=2, message="no ball"))
    assert isinstance(outcome, GiveUp)
    assert (outcome.step, outcome.line, outcome.reason) == (1, 2, "no ball")


@pytest.mark.parametrize(("status", "kind"), [("failed", Failed), ("give_up", GiveUp), ("replan", Replan)])
@pytest.mark.parametrize("step", [None, 1])
def test_an_ending_is_in_the_step_that_the_worker_names_or_outside_all(
    status: str, kind: type, step: int | None
) -> None:
    outcome, _ = told(START, enter(1), end(status=status, error="E", step=step))
    assert isinstance(outcome, Failed | GiveUp | Replan)
    assert (type(outcome), outcome.step, outcome.line) == (kind, step, None)


def test_what_a_plan_returned_is_its_value() -> None:
    returned = frames.CheckpointTable.from_checkpoint(encode({RETURNED_NAME: [3]}, 1_000))
    outcome, _ = told(START, end(returned=returned))
    assert isinstance(outcome, Finished)
    assert (outcome.value, outcome.variables) == ([3], {"x": 1})


def killed(number: int, *sent: frames.Frame, code: bytes = b"code", limits: Limits = LIMITS) -> Outcome | Rejected:
    """The outcome of a run whose worker sends these frames and is killed by a signal."""
    ours, theirs = socket.socketpair()
    port = AgentPort(SampleHome(lambda action: None), answer)
    job = frames.RunJob(SOURCE, port.methods, port.attributes, 1, None, 0, limits, False, code)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process, theirs:
        worker = WorkerProcess(ours, process.pid, os.pidfd_open(process.pid))
        theirs.sendall(b"".join(map(frames.pack, sent)))
        theirs.shutdown(socket.SHUT_WR)
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
        os.kill(process.pid, number)
        worker.find_status = lambda: -process.wait()
        with worker:
            return RunSession(worker, RunAccount(PLAN, port, limits)).run(job)


@pytest.mark.parametrize(("number", "limit", "value"), [(signal.SIGXCPU, "cpu", 3.5), (signal.SIGSEGV, "worker", 0.0)])
def test_the_kernels_limit_of_processor_time_is_the_plans_limit(number: int, limit: str, value: float) -> None:
    outcome = killed(number, START, enter(1), limits=Limits(wall=30.0, cpu=3.5))
    assert isinstance(outcome, Stopped)
    assert (outcome.limit, outcome.value, outcome.step) == (limit, value, 1)
    assert limit == "worker" or (outcome.allowed, outcome.usage.cpu) == (3.5, 3.5)


@pytest.mark.parametrize("sent", [(), (START,), (START, enter(1))], ids=len)
def test_a_run_that_is_killed_from_outside_can_be_repeated_until_the_agent_is_called(
    sent: tuple[frames.Frame, ...],
) -> None:
    for code in (b"code", b""):
        with pytest.raises(WorkerKilled) as caught:
            killed(signal.SIGKILL, *sent, code=code)
        assert caught.value.had_job
    outcome = killed(signal.SIGKILL, START, enter(1), frames.AskFrame("why?"))
    assert isinstance(outcome, Stopped)
    assert (outcome.limit, outcome.step, outcome.usage.asks) == ("worker", 1, 1)
    assert "killed from outside by signal 9" in outcome.message


def test_a_worker_that_crashes_while_it_compiles_refuses_the_source_and_no_checked_plan() -> None:
    assert isinstance(killed(signal.SIGSEGV, code=b""), Rejected)
    outcome = killed(signal.SIGSEGV)
    assert isinstance(outcome, Stopped)
    assert "the worker crashed" in outcome.message
