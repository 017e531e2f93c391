"""Runs a plan's segments inside a worker, saves its checkpoints and reports how it ended."""

from __future__ import annotations

import sys
from types import FrameType, TracebackType
from typing import Any, Final

from codeplan.sandbox.cage.host_client import HostClient, HostLink, PlanTimer
from codeplan.sandbox.cage.line_tracer import LineTracer
from codeplan.sandbox.language.compilation import PLAN_FILENAME, Program, Segment
from codeplan.sandbox.limits import ENTRY_CHECKPOINTS_FACTOR, MAX_NAME_CHARS, Limits, shorten
from codeplan.sandbox.protocol import frames, values
from codeplan.sandbox.protocol.checkpoint_table import RETURNED_NAME
from codeplan.sandbox.protocol.codec import encode
from codeplan.sandbox.runtime.namespace import PlanRuntime, plan_variables
from codeplan.sandbox.runtime.termination import (
    AssertionFailure,
    GiveUpRequested,
    LimitExceeded,
    ReplanRequested,
    find_limit,
)

_RUNTIME_FRAMES: Final = 30  # stack frames that guards and the runtime may add to the plan's own


class PlanExecution:
    """One run of a compiled plan. The process has one ``runtime``, which serves one run after the other."""

    def __init__(self, link: HostLink, job: frames.RunJob, timer: PlanTimer, runtime: PlanRuntime) -> None:
        self._link, self._job, self._timer, self._runtime = link, job, timer, runtime
        self._limits: Limits = job.limits
        self._calls = HostClient(link, job, timer)
        self._dropped = job.checkpoint.dropped if job.checkpoint else {}
        self._free_bytes = ENTRY_CHECKPOINTS_FACTOR * self._limits.checkpoint_bytes
        self._namespace: dict[str, object] = {}
        self._step: int | None = None
        self._returned: tuple[object] | None = None

    def run(self, program: Program, variables: dict[str, object]) -> None:
        """Run the segments from the job's step on, and send the EndFrame."""
        sys.setrecursionlimit(_stack_depth() + _RUNTIME_FRAMES + self._limits.recursion)
        if self._job.coverage:
            self._calls.tracer = LineTracer()
            self._calls.tracer.start()
        try:
            error = self._run_to_end(program, variables)
        except BaseException as late:  # the timer fired while the plan was ending
            error = late
        self._timer.is_armed = False
        if self._calls.tracer is not None:
            self._calls.tracer.stop()
        sys.setrecursionlimit(_stack_depth() + 1_000)
        failure = self._calls.failure or error
        self._send_end(failure)

    def _run_to_end(self, program: Program, variables: dict[str, object]) -> BaseException | None:
        """The exception that ended the plan; None if it finished."""
        try:
            self._namespace = self._runtime.begin(
                self._calls,
                turns=self._limits.turns,
                seed=self._job.seed,
                start_from=self._job.start_from,
                variables={name: value for name, value in variables.items() if program.is_plan_variable(name)},
                dropped={name: why for name, why in self._dropped.items() if program.is_plan_variable(name)},
            )
            self._run_segments(program)
        except BaseException as error:
            return error
        return None

    def _run_segments(self, program: Program) -> None:
        for segment in program.segments:
            if segment.step is not None and segment.step < self._job.start_from:
                continue
            self._returned = self._run_segment(segment)
            if self._returned or self._calls.failure:
                return

    def _run_segment(self, segment: Segment) -> tuple[object] | None:
        """Run one segment. Returns a tuple with the plan's value if the plan returned, otherwise None."""
        if segment.step is not None:
            self._report_step(segment.step)
        self._step = segment.step  # only after the host has been informed
        exec(segment.code, self._namespace)
        function: Any = self._namespace.pop("_segment_")
        self._timer.is_armed = True
        returned: tuple[object] | None = function()
        self._timer.is_armed = False
        return returned

    def _report_step(self, step: int) -> None:
        self._calls.flush()
        table = self._table(min(self._limits.checkpoint_bytes, self._free_bytes))
        self._free_bytes = max(0, self._free_bytes - self._link.send(frames.StepFrame(step, table)))

    def _table(self, most: int) -> frames.CheckpointTable:
        checkpoint = encode(plan_variables(self._namespace), most)
        lost = {n: why for n, why in self._dropped.items() if n not in checkpoint.names}
        return frames.CheckpointTable(checkpoint.names, checkpoint.nodes, lost | checkpoint.dropped)

    def _send_end(self, failure: BaseException | None) -> None:
        status, error, message, value = _classify(failure, self._limits)
        line = _plan_line(failure)
        returned: frames.CheckpointTable | None = None
        try:
            self._calls.flush()
            table: frames.CheckpointTable | None = self._table(self._limits.checkpoint_bytes)
            returned = self._returned_table() if status == "finished" else None
        except MemoryError:
            self._namespace.clear()
            status, error, message, value = "stopped", "memory", "", float(self._limits.memory)
            table = returned = None
        cpu, step_done = self._timer.cpu_seconds(), status == "replan" and _ends_step(failure)
        end = (status, self._step, line, error, message, value, cpu, table, step_done, returned)
        self._link.send(frames.EndFrame(*end))

    def _returned_table(self) -> frames.CheckpointTable | None:
        """The value that the plan returned; None if it returned none, or None."""
        if self._returned is None or self._returned[0] is None:
            return None
        saved = encode({RETURNED_NAME: self._returned[0]}, self._limits.checkpoint_bytes)
        return frames.CheckpointTable.from_checkpoint(saved)


def _classify(failure: BaseException | None, limits: Limits) -> tuple[Any, str, str, float]:
    """The status, the name of the error or limit, the message, and the amount reached of the limit."""
    if failure is None:
        return "finished", "", "", 0.0
    if isinstance(failure, AssertionFailure):
        return "failed", "AssertionError", _shortened(failure.message), 0.0
    if isinstance(failure, ReplanRequested | GiveUpRequested):
        status = "replan" if isinstance(failure, ReplanRequested) else "give_up"
        return status, "", _shortened(failure.reason), 0.0
    reached = find_limit(failure)
    if reached is not None:
        return "stopped", reached.limit, "", _reached_value(reached, float(getattr(limits, reached.limit)))
    return "failed", type(failure).__name__[:MAX_NAME_CHARS], _shortened(_error_text(failure)), 0.0


def _ends_step(failure: BaseException | None) -> bool:
    return isinstance(failure, ReplanRequested) and failure.step_done


def _reached_value(limit: LimitExceeded, allowed: float) -> float:
    """The amount reached; the allowed amount if only the excess is known."""
    known = limit.limit not in ("recursion", "memory") or limit.value > allowed
    return float(limit.value) if known and limit.limit != "recursion" else allowed


def _error_text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "the error has no readable message"


def _shortened(text: str) -> str:
    return values.escape_surrogates(shorten(text))


def _plan_line(failure: BaseException | None) -> int | None:
    """The innermost line of the plan in the failure's traceback."""
    line = None
    trace: TracebackType | None = failure.__traceback__ if failure else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PLAN_FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _stack_depth() -> int:
    frame: FrameType | None = sys._getframe()
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth
