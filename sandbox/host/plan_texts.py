"""Checks plans and analyses their texts in workers of any kind, and verifies every answer of a worker."""

from __future__ import annotations

import keyword
import os
import re
import threading
import time
import unicodedata
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from typing import Annotated, Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from codeplan.agent_interface import agent_api
from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox.host.worker_process import (
    DeadlineExceeded,
    TextWorker,
    WorkerDisconnected,
    WorkerKilled,
    repeat_if_killed,
)
from codeplan.sandbox.language.extraction import STALE_RETURN, STEPS_ALONE, MergedReply, extract_code, readings
from codeplan.sandbox.language.fstring_repair import expand_indentation, is_repair_of
from codeplan.sandbox.language.plan_outline import MAX_STEP
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.frames import PlanRow, ProtocolError, RejectionFrame, StepRow
from codeplan.sandbox.protocol.limits import (
    MAX_CODE_BYTES,
    MAX_FIX_CHARS,
    MAX_FIXES,
    MAX_MESSAGE_CHARS,
    MAX_NAME_CHARS,
    MAX_OUTLINE_BYTES,
    MAX_STEPS,
    Limits,
)
from codeplan.sandbox.protocol.plain_data import ANALYSIS_RULES, MAX_ANALYSIS_BYTES, find_non_plain
from codeplan.sandbox.runtime.names import RESERVED_NAMES, is_reserved
from codeplan.types import AgentApi, Diagnostic, Fix, Plan, Rejected
from codeplan.untrusted.texts import one_line, with_article
from codeplan.untrusted.values import in_quotes


def count_lines(source: str) -> int:
    """The number of lines of a source, at least as large as any parser's count."""
    return source.count("\n") + source.count("\r") + 1


def verified_plan(row: PlanRow, source: str) -> Plan:
    """The plan that a worker made of this source.

    Raises ProtocolError unless it has the source (or its f-strings were repaired), steps that are numbered from 1 and
    follow one another within the source, and names that are identifiers.
    """
    given = (source, expand_indentation(source))
    if row.source not in given and not any(is_repair_of(row.source, text) for text in given):
        raise ProtocolError("the plan has another source than the one to check")
    last_line = 0
    for number, step in enumerate(row.steps, 1):
        if step.number != number:
            raise ProtocolError(f"step {number} of the plan has the number {step.number}")
        if not last_line < step.line <= step.end_line:
            raise ProtocolError(f"step {number} of the plan is not behind the step before it")
        if step.replan_line is not None and not step.line <= step.replan_line <= step.end_line:
            raise ProtocolError(f"step {number} of the plan ends with a replan outside of it")
        last_line = step.end_line
    if last_line > count_lines(row.source):
        raise ProtocolError(f"the plan has a step on line {last_line}, beyond the source")
    _require_identifiers(row)
    return row.to_plan()


def verified_rejection(frame: RejectionFrame, source: str) -> Rejected:
    """The refusal of this source. Raises ProtocolError if it names a line beyond it."""
    most = count_lines(source) + 1  # the error in an unfinished source lies after its last line
    if any(row.line > most for row in frame.diagnostics):
        raise ProtocolError("a refusal names a line beyond the source")
    return Rejected(source, tuple(row.to_diagnostic() for row in frame.diagnostics))


def parser_failure() -> Diagnostic:
    """The diagnostic for a source that crashed the parser or took too long to parse."""
    return Diagnostic(0, 0, "size", "the parser gave up on this plan; write it shorter and flatter")


def broken_check(reason: ProtocolError) -> Diagnostic:
    """The diagnostic for a source whose worker broke the protocol, so that the check has no result."""
    return Diagnostic(0, 0, "worker", f"the check of this plan broke off ({reason}); write it in a simpler way")


def _require_identifiers(row: PlanRow) -> None:
    for names in (row.provides, row.needs, row.kept, *_step_names(row.steps)):
        if not all(map(str.isidentifier, names)):
            raise ProtocolError("the plan has a name that is no identifier")


def _step_names(steps: Iterable[StepRow]) -> Iterable[tuple[str, ...]]:
    for step in steps:
        yield step.needs
        yield step.sets


_FRAME_EXTRA: Final = 1 << 10


def build_job(topic: str, source: str, arguments: Mapping[str, Any]) -> frames.AnalysisJob:
    """Build the job. Raises UsageError if the arguments are not plain data or are too large."""
    job = frames.AnalysisJob(topic, source, dict(arguments))
    problem = find_non_plain([topic, job.arguments], ANALYSIS_RULES)
    if problem is None and frames.packed_size(job.arguments) > MAX_ANALYSIS_BYTES:
        problem = f"more than {MAX_ANALYSIS_BYTES:,} bytes"
    if problem is not None:
        raise UsageError(
            f"the arguments of the analysis {in_quotes(topic)} hold {problem}; give it texts, numbers, lists and dicts"
        )
    return job


def run_analysis(worker: TextWorker, job: frames.AnalysisJob, limits: Limits) -> Any | Rejected:
    """Run the job and return its findings as plain data, or Rejected if the source is not Python.

    Raises UsageError if the topic is unknown or the arguments do not fit, SandboxError if the analysis fails,
    WorkerKilled if something outside killed the worker.
    """
    deadline = time.monotonic() + limits.wall
    worker.set_max_frame(MAX_ANALYSIS_BYTES + _FRAME_EXTRA)
    try:
        worker.send(job, deadline)
        reply = worker.receive(deadline)
        return _verify_reply(reply, job)
    except DeadlineExceeded:
        raise SandboxError(f"the analysis {in_quotes(job.topic)} took longer than {limits.wall:g} s") from None
    except WorkerDisconnected:
        end = worker.find_end()
        if end.killed:
            raise WorkerKilled(end, had_job=True) from None
        raise SandboxError(
            f"the analysis {in_quotes(job.topic)} crashed on this source or exceeded its limits"
        ) from None
    except frames.ProtocolError as error:
        raise SandboxError(f"the analysis {in_quotes(job.topic)} broke the protocol: {error}") from None


def _verify_reply(reply: frames.WorkerFrame, job: frames.AnalysisJob) -> Any | Rejected:
    if isinstance(reply, frames.RejectionFrame):
        return verified_rejection(reply, job.source)
    if isinstance(reply, frames.AnalysisFailed):
        raise (UsageError if reply.invalid_job else SandboxError)(
            f"the analysis {in_quotes(job.topic)} failed: {one_line(reply.message, MAX_MESSAGE_CHARS)}"
        )
    assert isinstance(reply, frames.Analysis), "the conversation allows no other answer"
    try:
        findings = msgspec.json.decode(reply.findings)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SandboxError(f"the analysis {in_quotes(job.topic)} returned unreadable JSON ({error})") from None
    problem = find_non_plain(findings, ANALYSIS_RULES)
    if problem is not None:
        raise SandboxError(f"the analysis {in_quotes(job.topic)} returned {problem}, which is not plain data")
    return findings


BEYOND_MENDING: Final = frozenset({"size", "syntax", "no-python", "empty", "text", "worker"})
"""Rules of the check whose failure leaves no syntax tree to mend."""

MENDED_WARNINGS: Final = frozenset({"assert-tuple"})
"""Rules of warnings that a fix may remove."""

_Line = Annotated[str, msgspec.Meta(max_length=MAX_FIX_CHARS)]


class _FixRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change to a plan (see ``Fix``)."""

    rule: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z-]{0,49}\Z")]
    line: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
    was: _Line
    now: _Line


class MendedPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The analysis's answer: the plan after the fixes. Without fixes, ``source`` is the given source."""

    source: str
    fixes: Annotated[tuple[_FixRow, ...], msgspec.Meta(max_length=MAX_FIXES)]

    def to_fixes(self) -> tuple[Fix, ...]:
        """The fixes as values, in the order in which the analysis made them; empty if nothing was fixed."""
        return tuple(Fix(row.rule, row.line, row.was, row.now) for row in self.fixes)


def is_mendable(checked: Plan | Rejected) -> bool:
    """Whether fixes could change the result of a check."""
    if isinstance(checked, Rejected):
        return not any(d.rule in BEYOND_MENDING for d in checked.diagnostics)
    return any(w.rule in MENDED_WARNINGS for w in checked.warnings)


def mending_arguments(api: AgentApi) -> dict[str, Any]:
    """The analysis's arguments from an agent's API: the names of its methods, and the aliases of methods by name."""
    return {"names": list(api.names), "aliases": dict(api.aliases)}


def verified_mending(findings: object) -> MendedPlan | None:
    """The mended plan; None if the worker's answer is malformed, or if there is nothing to fix."""
    try:
        found = msgspec.convert(findings, MendedPlan)
    except msgspec.ValidationError:
        return None
    return found if found.fixes else None


def with_fix_warnings(plan: Plan) -> Plan:
    """The plan with a warning for each fix that took something away from what the plan does."""
    stale = [fix for fix in plan.fixes if fix.rule == STALE_RETURN]
    said = "was removed: nothing sets its names any more; return what this plan sets"
    found = [Diagnostic(fix.line, 0, fix.rule, f"`{fix.was}` {said}") for fix in stale]
    return replace(plan, warnings=(*plan.warnings, *found)) if found else plan


_Number = Annotated[int, msgspec.Meta(ge=-1, le=MAX_STEP)]


class _MergedRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    source: str
    steps: Annotated[tuple[_Number, ...], msgspec.Meta(max_length=MAX_STEPS)]


NOT_MERGED: Final = Diagnostic(
    0, 0, STEPS_ALONE, "the reply's steps cannot be merged into the plan before them; write the whole plan"
)


def verified_merging(findings: object, reply: str) -> MergedReply | Rejected | None:
    """The worker's verified answer: the merged plan, None if the reply is a whole plan, or a refusal of ``reply``."""
    if findings is None or isinstance(findings, Rejected):
        return findings
    try:
        found = msgspec.convert(findings, _MergedRow)
    except msgspec.ValidationError:
        return Rejected(reply, (NOT_MERGED,))
    if any(number >= later for number, later in pairwise(found.steps)):
        return Rejected(reply, (NOT_MERGED,))
    return MergedReply(found.source, found.steps)


MAX_WORKERS_PER_PROCESSOR: Final = 2  # one computes while another starts or ends


class WorkerSlots:
    """Lets at most ``count`` threads in at once. The others wait and are served in the order in which they came."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()
        self._free = count
        self._waiting: deque[threading.Lock] = deque()

    @property
    def waiting(self) -> int:
        """How many threads wait."""
        return len(self._waiting)

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a slot and hold it inside the context. A waiting thread that is interrupted by an exception leaves
        the queue.
        """
        gate = threading.Lock()  # open once the thread has a slot
        gate.acquire()
        entered = False
        try:
            with self._lock:
                entered = True
                self._waiting.append(gate)
                self._serve_waiting()
            gate.acquire()
            yield
        finally:
            if entered:
                self._leave(gate)

    def _leave(self, gate: threading.Lock) -> None:
        with self._lock:
            if gate in self._waiting:
                self._waiting.remove(gate)
            else:
                self._free += 1
            self._serve_waiting()

    def _serve_waiting(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            self._waiting.popleft().release()

    def reset_after_fork(self) -> None:
        """Reset in a forked child, which does not have the threads that hold slots."""
        self._lock = threading.Lock()
        self._free = self.count
        self._waiting = deque()


def usable_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


computing_slots: Final = WorkerSlots(MAX_WORKERS_PER_PROCESSOR * usable_processors())  # checks and analyses share them
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=computing_slots.reset_after_fork)


MAX_PLANS: Final = 256  # maximum number of plans; the least recently used one is dropped first


class CodeCache:
    """Maps a plan's source to its code. Thread-safe; empty again after pickling."""

    def __init__(self) -> None:
        self._codes: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[CodeCache], tuple[()]]:
        return CodeCache, ()

    def store(self, source: str, code: bytes) -> None:
        """Store the compiled code of a plan, unless it is longer than MAX_CODE_BYTES: such a plan is compiled again."""
        if len(code) > MAX_CODE_BYTES:
            return
        with self._lock:
            self._codes[source] = code
            self._codes.move_to_end(source)
            if len(self._codes) > MAX_PLANS:
                self._codes.popitem(last=False)

    def get(self, source: str) -> bytes:
        """The code of a plan; empty bytes if the plan must be compiled."""
        with self._lock:
            if source not in self._codes:
                return b""
            self._codes.move_to_end(source)
            return self._codes[source]


_CHECK_FRAME_EXTRA: Final = MAX_CODE_BYTES + MAX_OUTLINE_BYTES + (64 << 10)


class TextWorkers(Protocol):
    """Starts the workers that read plan texts. Both methods raise SandboxError if no worker can start."""

    def check_worker(self) -> AbstractContextManager[TextWorker]:
        """A worker that waits for a CheckJob."""

    def analysis_worker(self) -> AbstractContextManager[TextWorker]:
        """A worker that waits for an AnalysisJob."""


class PlanTexts:
    """The reading half of a backend. ``codes`` is the compiled code of the plans that it checked."""

    def __init__(self, limits: Limits, workers: TextWorkers) -> None:
        self.limits, self.codes = limits, CodeCache()
        self._workers = workers

    def check(
        self,
        source: str,
        api: AgentApi | type,
        *,
        fixes: bool = True,
        kept: Iterable[str] = (),
        starts_over: bool = False,
        set_before: Iterable[str] = (),
    ) -> Plan | Rejected:
        """Check and mend a plan; see ``Sandbox.check``. Raises SandboxError if no worker can start."""
        described, names = agent_api(api) if isinstance(api, type) else api, frozenset(filter(may_be_variable, kept))
        found = self._check(source, described, names, starts_over)
        if not fixes or not is_mendable(found):
            return found
        gone = sorted(filter(may_be_variable, set_before))
        before = {"kept": [] if starts_over else sorted(names), "set_before": gone}
        mended = self._mend(source, mending_arguments(described) | before)
        if mended is None:
            return found
        checked = replace(self._check(mended.source, described, names, starts_over), fixes=mended.to_fixes())
        return with_fix_warnings(checked) if isinstance(checked, Plan) else checked

    def merge_reply(self, reply: str, before: str) -> MergedReply | Rejected | None:
        """Merge the code of a reply into the plan ``before``; see ``Sandbox.merge_reply``."""
        if any(find_unreadable(text, self.limits) for text in (reply, before)):
            return None
        try:
            return verified_merging(self.analyse("merge-reply", reply, {"before": before}), reply)
        except SandboxError:
            return Rejected(reply, (NOT_MERGED,))

    def read_reply(self, reply: str) -> str:
        """Return the code in a reply; see ``Sandbox.read_reply``."""
        if find_unreadable(reply, self.limits):
            return extract_code(reply)
        found = readings(reply)
        if len(found) == 1:
            return found[0]
        try:
            number = self.analyse("choose-reading", reply)
        except SandboxError:
            return extract_code(reply)
        return found[number] if type(number) is int and 0 <= number < len(found) else extract_code(reply)

    def analyse(self, topic: str, source: str, arguments: Mapping[str, Any] = {}) -> Any | Rejected:
        """Analyse a plan's text; see ``Sandbox.analyse``."""
        refusal = find_unreadable(source, self.limits)
        if refusal is not None:
            return Rejected(source, (refusal,))
        job = build_job(topic, source, arguments)

        def attempt() -> Any | Rejected:
            with computing_slots.take(), self._workers.analysis_worker() as worker:
                return run_analysis(worker, job, self.limits)

        return repeat_if_killed(attempt, "an analysis")

    def _check(self, source: str, api: AgentApi, kept: frozenset[str], starts_over: bool) -> Plan | Rejected:
        refusal = find_unreadable(source, self.limits)
        if refusal is not None:
            return Rejected(source, (refusal,))
        read = sorted(kept & {*_WORD.findall(unicodedata.normalize("NFKC", source))}) if kept else ()
        job = frames.CheckJob(source, api, tuple(read[: frames.MAX_STEP_NAMES]), starts_over)

        def attempt() -> Plan | Rejected:
            with computing_slots.take(), self._workers.check_worker() as worker:
                return self.exchange_check(worker, job)

        return repeat_if_killed(attempt, "a check")

    def _mend(self, source: str, arguments: Mapping[str, Any]) -> MendedPlan | None:
        """The plan after its fixes; None if nothing can be fixed, or if the analysis fails on this source."""
        try:
            return verified_mending(self.analyse("mend", source, arguments))
        except SandboxError:
            return None

    def exchange_check(self, worker: TextWorker, job: frames.CheckJob) -> Plan | Rejected:
        """Send the job to a worker, and verify its answer. Raises WorkerKilled if something outside killed it."""
        deadline = time.monotonic() + self.limits.wall
        worker.set_max_frame(_CHECK_FRAME_EXTRA + self.limits.source_bytes)
        try:
            worker.send(job, deadline)
            reply = worker.receive(deadline)
            return self._verify_check(reply, job)
        except DeadlineExceeded:
            return Rejected(job.source, (parser_failure(),))
        except WorkerDisconnected:
            end = worker.find_end()
            if end.killed:
                raise WorkerKilled(end, had_job=True) from None
            return Rejected(job.source, (parser_failure(),))
        except frames.ProtocolError as error:
            return Rejected(job.source, (broken_check(error),))

    def _verify_check(self, reply: frames.WorkerFrame, job: frames.CheckJob) -> Plan | Rejected:
        source = job.source
        if isinstance(reply, frames.RejectionFrame):
            return verified_rejection(reply, source)
        assert isinstance(reply, frames.AcceptanceFrame), "the conversation allows no other answer"
        plan = verified_plan(reply.plan, source)
        if not {*plan.kept} <= (set() if job.starts_over else {*job.kept}):
            raise ProtocolError("the plan reads a variable that no run before has kept")
        if find_unreadable(plan.source, self.limits) is not None:
            raise frames.ProtocolError("the mended plan is larger than a plan may be")
        if plan.source == source and reply.code:  # otherwise the code could belong to another plan
            self.codes.store(source, reply.code)
        return plan


_WORD: Final = re.compile(r"\w+")


def may_be_variable(name: str) -> bool:
    """Whether a plan can have a variable of this name."""
    return (
        len(name) <= MAX_NAME_CHARS
        and name.isidentifier()
        and name.strip("_") != ""
        and not is_reserved(name)
        and not keyword.iskeyword(name)
        and name not in RESERVED_NAMES
    )


def find_unreadable(source: str, limits: Limits) -> Diagnostic | None:
    """Why the host does not even send a source to a worker; None if it can."""
    if not isinstance(source, str):
        raise UsageError(f"a plan is text, not {with_article(type(source).__name__)}")
    if not source.strip():
        return Diagnostic(0, 0, "empty", "the plan is empty; write one function solution(agent, start_from=1)")
    try:
        length = len(source.encode())
    except UnicodeEncodeError as error:
        line = source.count("\n", 0, error.start) + 1
        return Diagnostic(line, 0, "text", "the plan contains half of a surrogate pair, which is not text; remove it")
    if length > limits.source_bytes:
        return Diagnostic(
            0,
            0,
            "size",
            f"the plan takes {length:,} bytes; write at most {limits.source_bytes:,} (the limit source_bytes)",
        )
    if "\0" in source:
        line = source.count("\n", 0, source.index("\0")) + 1
        return Diagnostic(line, 0, "text", "the plan contains a NUL character; remove it")
    return None
