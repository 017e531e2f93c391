"""The zygote for runs, and the run itself in a worker: the plan's segments, its calls of the host, its checkpoints.

It does not load the parser that checks need, because a fork is faster with less memory.
"""

from __future__ import annotations

import builtins
import gc
import opcode
import os
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType, TracebackType
from typing import Any, Final, NoReturn

import msgspec

from codeplan.plain_data import MAX_VALUES, NotPlainData
from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.worker import HostLink, PlanTimer, WorkerJob, WorkerRole
from codeplan.sandbox.language.compilation import (
    PLAN_FILENAME,
    Program,
    RejectedPlanError,
    Segment,
    compile_expression,
    compile_plan,
)
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import RETURNED_NAME, CheckpointError, classes_by_variable, decode, encode
from codeplan.sandbox.protocol.forms import Form
from codeplan.sandbox.protocol.frames import REFUSED_IMPORT, diagnostic_rows
from codeplan.sandbox.protocol.limits import (
    ENTRY_CHECKPOINTS_FACTOR,
    MAX_ARCS,
    MAX_MESSAGE_CHARS,
    MAX_NAME_CHARS,
    Limits,
    shorten,
)
from codeplan.sandbox.runtime import user_imports
from codeplan.sandbox.runtime.attributes import text_codecs
from codeplan.sandbox.runtime.clocks import load_time_zones
from codeplan.sandbox.runtime.guards import CallAnswer, RunSettings
from codeplan.sandbox.runtime.modules import preload_modules
from codeplan.sandbox.runtime.namespace import PlanRuntime, plan_variables
from codeplan.sandbox.runtime.saved_objects import PlanObjects, describe_for, plain_value
from codeplan.sandbox.runtime.termination import (
    AssertionFailure,
    GiveUpRequested,
    LimitExceeded,
    PlanTermination,
    ReplanRequested,
    find_limit,
    raise_recorded,
    traceback_of,
)

_UNKNOWN: Final = -1


class LineTracer:
    """Records arcs: pairs of lines that ran one after the other in one function.

    A function is entered from line 0 and left to line 0. A jump that an exception causes is not an arc; nor is a wait
    of a coroutine, which goes on from the line where it waited.
    """

    def __init__(self) -> None:
        self._seen_arcs: set[tuple[int, int]] = set()
        self._new_arcs: list[tuple[int, int]] = []

    def start(self) -> None:
        """Trace every plan function called from now on."""
        sys.settrace(self._trace_call)

    def stop(self) -> None:
        """Stop tracing."""
        sys.settrace(None)

    def take_new_arcs(self) -> list[tuple[int, int]]:
        """The arcs that are new since the last call."""
        news, self._new_arcs = self._new_arcs, []
        return news

    def _trace_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename != PLAN_FILENAME or code.co_name.startswith("<"):  # lambdas are part of a line
            return None
        if frame.f_trace is not None:  # a coroutine goes on where it waited
            return frame.f_trace
        last = 0

        def moved(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal last
            if event == "exception" and _runs(frame, _AWAITS):
                pass  # what was awaited is there
            elif event == "exception":
                last = _UNKNOWN
            elif event == "line" or (event == "return" and _runs(frame, _RETURNS)):
                here = frame.f_lineno if event == "line" else 0
                self._add_arc((last, here))
                last = here
            return moved

        return moved

    def _add_arc(self, arc: tuple[int, int]) -> None:
        if arc not in self._seen_arcs and arc[0] != _UNKNOWN and len(self._seen_arcs) < MAX_ARCS:
            self._seen_arcs.add(arc)
            self._new_arcs.append(arc)


def _runs(frame: FrameType, names: frozenset[str]) -> bool:
    """Whether a frame's current instruction is one of these. A coroutine that waits leaves its frame by another."""
    return frame.f_lasti >= 0 and opcode.opname[frame.f_code.co_code[frame.f_lasti]] in names


_RETURNS: Final = frozenset({"RETURN_VALUE", "RETURN_CONST"})
_AWAITS: Final = frozenset({"SEND", "END_SEND"})
_FLUSH_CHARS: Final = 4_096
_FLUSH_SECONDS: Final = 0.05
_RUNTIME_FRAMES: Final = 30  # stack frames that guards and the runtime may add to the plan's own


_EXCHANGE_FRAMES: Final = 100  # stack frames that an exchange with the host may add at the plan's greatest depth


class PlanExecution:
    """One run of a compiled plan. The process has one ``runtime``, which serves one run after the other."""

    def __init__(self, link: HostLink, job: frames.RunJob, timer: PlanTimer, runtime: PlanRuntime) -> None:
        self._link, self._job, self._timer, self._runtime = link, job, timer, runtime
        self._limits: Limits = job.limits
        self._calls = HostClient(link, job, timer)
        self._dropped = dict(job.checkpoint.dropped) if job.checkpoint else {}
        self._waiting = classes_by_variable(job.checkpoint) if job.checkpoint else {}
        self._free_bytes = ENTRY_CHECKPOINTS_FACTOR * self._limits.checkpoint_bytes
        self._namespace: dict[str, object] = {}
        self._explained: dict[str, str] = {}
        self._step: int | None = None
        self._returned: tuple[object] | None = None

    def run(self, program: Program, variables: dict[str, object]) -> None:
        """Run the segments from the job's step on, and send the EndFrame.

        ``variables`` are those of the checkpoint that hold no objects of the plan's classes. If there are such objects,
        ``variables`` is empty: all are restored as soon as the plan has its classes, since they may share parts.
        """
        self._calls.depth = _stack_depth() + _RUNTIME_FRAMES + self._limits.recursion
        sys.setrecursionlimit(self._calls.depth)
        sys.unraisablehook = self._runtime.note_lost
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
        gc.disable()  # no generator of the plan is closed from now on, which would run its code
        with self._calls.closed():
            self._send_end(failure)

    def _run_to_end(self, program: Program, variables: dict[str, object]) -> BaseException | None:
        """The exception that ended the plan; None if it finished."""
        self._explained = {name: why for name, why in self._dropped.items() if program.is_plan_variable(name)}
        try:
            self._namespace = self._runtime.begin(
                self._calls,
                turns=self._limits.turns,
                settings=RunSettings(
                    self._job.seed, self._job.started, self._limits.recursion, self._limits.wall, self._job.waits
                ),
                start_from=self._job.start_from,
                variables={name: value for name, value in variables.items() if program.is_plan_variable(name)},
                dropped=self._explained,
                missing=frozenset(self._job.kept)
                - (self._job.checkpoint.names.keys() if self._job.checkpoint else set()),
                explains_later=bool(self._waiting),
            )
            self._run_segments(program)
        except BaseException as error:
            return error
        return None

    def _run_segments(self, program: Program) -> None:
        for segment in program.segments:
            if segment.step is not None and segment.step < self._job.start_from:
                continue
            if self._waiting:
                self._restore_objects(program, is_step=segment.step is not None)
            self._returned = self._run_segment(segment)
            if self._returned or self._calls.failure:
                return

    def _restore_objects(self, program: Program, *, is_step: bool) -> None:
        """Restore the variables once the plan has their classes; before a step, what has none is dropped.

        What the code outside the steps has set stays, as it does without objects.
        """
        assert self._job.checkpoint is not None
        objects = PlanObjects(self._namespace)
        if not is_step and any(map(objects.lack, self._waiting.values())):
            return
        waiting, self._waiting = self._waiting, {}
        self._timer.is_armed = True  # keys may have hashes that the plan wrote
        with self._calls.closed():
            variables = decode(self._job.checkpoint, objects)
        self._timer.is_armed = False
        for name, value in variables.items():
            if why := objects.lack(waiting.get(name, ())):
                self._dropped[name] = self._explained[name] = why
            elif program.is_plan_variable(name):
                self._namespace.setdefault(name, value)

    def _run_segment(self, segment: Segment) -> tuple[object] | None:
        """Run one segment. Returns a tuple with the plan's value if the plan returned, otherwise None."""
        if segment.step is not None:
            self._report_step(segment.step)
        self._step = segment.step  # only after the host has been informed
        exec(segment.code, self._namespace)
        function: Any = self._namespace.pop("_segment_")
        self._timer.is_armed = True
        returned = self._call(function)
        self._timer.is_armed = False
        return returned

    def _call(self, function: Callable[[], object]) -> tuple[object] | None:
        """Call a segment's function. ``sys.exit()`` without a reason is as a ``return``."""
        try:
            returned: tuple[object] | None = self._runtime.finish_segment(function())
        except SystemExit as end:
            if (type(end.code) is not int and end.code is not None) or end.code:
                raise
            returned = self._runtime.finish_segment((None,))
        return returned

    def _report_step(self, step: int) -> None:
        self._calls.flush()
        table = self._table(min(self._limits.checkpoint_bytes, self._free_bytes))
        self._free_bytes = max(0, self._free_bytes - self._link.send(frames.StepFrame(step, table)))

    def _table(self, most: int) -> frames.CheckpointTable:
        with self._calls.closed():
            checkpoint = encode(plan_variables(self._namespace), most, describe_for(self._namespace))
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
        with self._calls.closed():
            saved = encode({RETURNED_NAME: plain_value(self._returned[0], texts=True)}, self._limits.checkpoint_bytes)
        dropped = {name: why + user_imports.plain_data_hint() for name, why in saved.dropped.items()}
        return frames.CheckpointTable(saved.names, saved.nodes, dropped)


def _classify(failure: BaseException | None, limits: Limits) -> tuple[Any, str, str, float]:
    """The status, the name of the error or limit, the message, and the amount reached of the limit."""
    if failure is None:
        return "finished", "", "", 0.0
    kind = type(failure)  # isinstance would ask the error itself, by code of the plan
    if kind is AssertionFailure:
        return "failed", "AssertionError", _shortened(failure.message), 0.0  # type: ignore[attr-defined]
    if kind in (ReplanRequested, GiveUpRequested):
        status = "replan" if kind is ReplanRequested else "give_up"
        return status, "", _shortened(failure.reason), 0.0  # type: ignore[attr-defined]
    reached = find_limit(failure)
    if reached is not None:
        return "stopped", reached.limit, "", _reached_value(reached, float(getattr(limits, reached.limit)))
    return "failed", str.__str__(kind.__name__)[:MAX_NAME_CHARS], _shortened(_error_text(failure)), 0.0


def _ends_step(failure: BaseException | None) -> bool:
    return type(failure) is ReplanRequested and failure.step_done


def _reached_value(limit: LimitExceeded, allowed: float) -> float:
    """The amount reached; the allowed amount if only the excess is known."""
    return float(limit.value) if limit.limit != "memory" or limit.value > allowed else allowed


def _error_text(error: BaseException) -> str:
    try:
        return str.__str__(str(error))
    except BaseException:  # a method of the plan may raise anything
        return "the error has no readable message"


def _shortened(text: str) -> str:
    shown = frames.escape_surrogates(shorten(text))
    return shown if len(shown) <= MAX_MESSAGE_CHARS + 100 else shorten(shown)


def _plan_line(failure: BaseException | None) -> int | None:
    """The innermost line of the plan in the failure's traceback."""
    line = None
    trace: TracebackType | None = traceback_of(failure) if failure is not None else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PLAN_FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _calling_line() -> int | None:
    """The plan's innermost line that runs now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != PLAN_FILENAME:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else None


def _stack_depth() -> int:
    frame: FrameType | None = sys._getframe()
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


class HostClient:
    """Implements ``HostCalls`` for the runtime. It keeps the same counts as the host, because only the worker knows
    the line at which a limit is reached.
    """

    def __init__(self, link: HostLink, job: frames.RunJob, timer: PlanTimer) -> None:
        self.methods, self.attributes = job.methods, job.attributes
        self.failure: PlanTermination | None = None
        self._link, self._limits, self._timer = link, job.limits, timer
        self._calls = self._begun = self._reads = self._asks = self._output_chars = 0
        self._pending_output: list[str] = []
        self._pending_chars = 0
        self._is_closed = False
        self._flushed_at = time.monotonic()
        self.tracer: LineTracer | None = None
        self.depth = sys.getrecursionlimit()  # the greatest of the plan
        timer.on_expiry = self._record_expiry

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Call an agent method.

        Raises TypeError if an argument is not plain data, ValueError if a text in it is not Unicode, and the exception
        that the host names (usually RuntimeError) if the call failed.
        """
        return self._exchange(self._call_frame(method, args, kwargs))

    def begin(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        """Begin a call, and return its number. Raises as ``call``, but for what the host says."""
        call = self._call_frame(method, args, kwargs)
        self._begun += 1
        self._speak(frames.BeginFrame(self._begun, method, call.args, call.kwargs, call.line), answered=False)
        return self._begun

    def wait(self, seconds: float | None) -> CallAnswer:
        """Wait for the next answer; see ``HostCalls``."""
        self._refuse_after_failure()
        reply = self._speak(frames.WaitFrame(seconds))
        assert isinstance(reply, frames.AnswerFrame), "the conversation allows no other answer"
        error = _failure(reply.error, reply.message) if reply.error else None
        value = None if error else self._unpacked(reply.value)
        return CallAnswer(reply.number, reply.seconds, value, error)

    def sleep(self, seconds: float) -> None:
        """Sleep while no call is open: this time is the plan's own."""
        self._refuse_after_failure()
        self._timer.require_seconds(seconds)
        self._speak(frames.WaitFrame(seconds))
        self._timer.waited_seconds -= seconds

    def cancel(self, number: int) -> bool:
        """Drop a call that is not made yet; see ``HostCalls``."""
        self._refuse_after_failure()
        return bool(self._exchange(frames.CancelFrame(number)))

    def _call_frame(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> frames.CallFrame:
        """One more call, as it stands in a frame."""
        self._calls += 1
        self._require_within("calls", self._calls, self._limits.calls)
        if len(args) + len(kwargs) > MAX_VALUES:
            raise TypeError(f"{method} was given more than {MAX_VALUES:,} arguments")
        if any(not 0 < len(name) <= MAX_NAME_CHARS for name in kwargs):
            raise TypeError(f"{method} was given an argument whose name is empty or longer than {MAX_NAME_CHARS}")
        packed = [_pack_argument(method, a) for a in args]
        named = {name: _pack_argument(method, a) for name, a in kwargs.items()}
        if any(map(frames.holds_half_pair, (*packed, *named.values(), *map(frames.pack_value, named)))):
            raise ValueError(f"{method} was given {frames.HALF_PAIR}")
        frame = frames.CallFrame(method, packed, named, _calling_line())
        self._require_within("call_bytes", frames.packed_size(frame), self._limits.call_bytes)
        return frame

    def read(self, attribute: str) -> object:
        """Read an agent attribute. Raises RuntimeError if that failed."""
        self._reads += 1
        self._require_within("reads", self._reads, self._limits.reads)
        return self._exchange(frames.ReadFrame(attribute))

    def ask(self, question: str, data: object, form: Form | None, wrong: str) -> object:
        """Ask the model; see ``HostCalls``. Raises TypeError if the question is not text, RuntimeError if asking
        failed.
        """
        if type(question) is not str:
            raise TypeError("ask_llm takes one text")
        self._asks += 1
        self._require_within("asks", self._asks, self._limits.asks)
        packed = [] if data is None else [_pack_argument("ask_llm", data)]
        frame = frames.AskFrame(frames.escape_surrogates(question), packed, form, wrong)
        self._require_within("ask_bytes", frame.size, self._limits.ask_bytes)
        return self._exchange(frame)

    @property
    def can_ask(self) -> bool:
        """Whether a question is left."""
        return self._asks < self._limits.asks

    def print(self, text: str) -> None:
        """Add to the output, up to the limit."""
        self._refuse_after_failure()
        text = frames.escape_surrogates(text)
        room = self._limits.output - self._output_chars
        self._output_chars += len(text)
        self._buffer(text[:room])
        self._require_within("output", self._output_chars, self._limits.output)

    def flush(self) -> None:
        """Send pending output and coverage. The timer must be off, as it would cut a frame short."""
        if self._pending_chars:
            self._link.send(frames.OutputFrame("".join(self._pending_output)))
        if self.tracer is not None and (arcs := self.tracer.take_new_arcs()):
            self._link.send(frames.CoverageFrame(arcs))
        self._pending_output.clear()
        self._pending_chars, self._flushed_at = 0, time.monotonic()

    def _buffer(self, text: str) -> None:
        self._pending_output.append(text)
        self._pending_chars += len(text)
        if self._pending_chars > _FLUSH_CHARS or time.monotonic() - self._flushed_at > _FLUSH_SECONDS:
            sys.setrecursionlimit(self.depth + _EXCHANGE_FRAMES)
            self._timer.is_armed = False
            self.flush()
            self._timer.is_armed = True
            self._restore_depth()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Let no call pass, and collect no garbage, while hashes and texts of the plan may run after its code."""
        was_closed, collects = self._is_closed, gc.isenabled()
        self._is_closed = True
        gc.disable()
        try:
            yield
        finally:
            self._is_closed = was_closed
            if collects:
                gc.enable()

    def _exchange(self, frame: frames.Frame) -> object:
        reply = self._speak(frame)
        if isinstance(reply, frames.ResultFrame):
            return self._unpacked(reply.value)
        assert isinstance(reply, frames.ErrorFrame), "the conversation allows no other answer"
        raise _failure(reply.error, reply.message)

    def _unpacked(self, packed: frames.Crossing) -> object:
        """The value in an answer, also where it needs more frames than the plan has left."""
        sys.setrecursionlimit(self.depth + _EXCHANGE_FRAMES)
        try:
            return frames.unpack_value(packed)
        finally:
            self._restore_depth()

    def _speak(self, frame: frames.Frame, *, answered: bool = True) -> frames.HostFrame | None:
        """Send a frame after what is pending, and return its answer. The timer is off: it would cut a frame short."""
        sys.setrecursionlimit(self.depth + _EXCHANGE_FRAMES)  # half an exchange would leave the next call its answer
        self._timer.is_armed = False
        began = time.monotonic()
        try:
            self.flush()
            self._link.send(frame)
            return self._link.receive() if answered else None
        except MemoryError:
            self.failure = LimitExceeded("memory", 0, 0)  # a frame may be cut short: read nothing more
            raise self.failure from None
        finally:
            self._timer.waited_seconds += time.monotonic() - began
            self._timer.is_armed = True
            self._restore_depth()

    def _restore_depth(self) -> None:
        with suppress(RecursionError):  # where the plan is deeper: the next exchange restores it
            sys.setrecursionlimit(self.depth)

    def _require_within(self, limit: str, value: int, allowed: int) -> None:
        self._refuse_after_failure()
        if value > allowed:
            self.failure = LimitExceeded(limit, value, allowed)
            raise self.failure

    def _refuse_after_failure(self) -> None:
        if self._is_closed:
            raise RuntimeError("no call is made while the plan does not run")
        if self.failure is not None:
            raise_recorded(self.failure)

    def _record_expiry(self, limit: LimitExceeded) -> None:
        if self.failure is None or type(self.failure) is AssertionFailure:  # which a handler may catch
            self.failure = limit


def _failure(error: str, message: str) -> Exception:
    """The exception that the host names: one of CALL_ERRORS, because the worker trusts the host."""
    kind: type[Exception] = getattr(builtins, error)
    return kind(message)


def _pack_argument(method: str, value: object) -> frames.Crossing:
    try:
        return frames.pack_value(value)
    except NotPlainData as reason:
        hint = user_imports.plain_data_hint()
        raise TypeError(f"{method} was given {reason}; give it texts, numbers, lists, tuples and dicts{hint}") from None


_SAMPLE: Final = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] count')
        seen = [i for i in range(3)]
        said = agent.report()
        assert seen, f'Error in [Step 1]: {said}'
"""


def main(control_fd: int, imports: Sequence[str]) -> NoReturn:
    """Serve as the zygote for runs. ``imports`` are packages that the user named."""
    _preload_modules()
    _load_packages(control_fd, imports)
    saved = encode({"x": [1]}, 1_000)
    text = frames.RunJob(_SAMPLE, frozenset({"report"}), frozenset(), 1, saved, 0, Limits())
    checked = msgspec.structs.replace(text, code=compile_plan(_SAMPLE).pack())
    serve = partial(serve_run, runtime=PlanRuntime(compile_expression))
    zygote.main(control_fd, WorkerRole(checked, serve, prewarmed=True, other_samples=(text,)))


def _load_packages(control_fd: int, imports: Sequence[str]) -> None:
    user_imports.admit(imports)
    try:
        user_imports.load(imports)
    except user_imports.ImportRefused as refused:
        os.write(control_fd, REFUSED_IMPORT + " ".join(str(refused).split())[:2000].encode("utf-8", "replace") + b"\n")
        os._exit(1)


def _preload_modules() -> None:
    """Make the standard library load what it loads lazily: a locked worker cannot open files."""
    warnings.simplefilter("ignore")  # a coroutine that nobody awaits would be shown with its line, from its file
    Counter("a").most_common(1)
    re.compile(r"\N{DIGIT ONE}")
    preload_modules()
    load_time_zones()
    text_codecs()


def serve_run(link: HostLink, job: WorkerJob, timer: PlanTimer, runtime: PlanRuntime) -> None:
    """Answer a RunJob; ignore any other job."""
    if not isinstance(job, frames.RunJob):
        return
    try:
        program = Program.unpack(job.code) if job.code else compile_plan(job.source)
        variables = decode(job.checkpoint) if job.checkpoint else {}
        if job.checkpoint and classes_by_variable(job.checkpoint):
            variables = {}
    except RejectedPlanError as refused:
        link.send(frames.RejectionFrame(diagnostic_rows(refused.diagnostics)))
        return
    except CheckpointError as error:
        link.send(frames.CheckpointErrorFrame(shorten(str(error))))
        return
    link.send(frames.StartFrame())
    PlanExecution(link, job, timer, runtime).run(program, variables)
