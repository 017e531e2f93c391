"""Runs plans in Monty, an interpreter of Python written in Rust (the extra ``monty``).

A process of Monty runs the plans: its language gives no access to the system, but no cage surrounds the process. Use
it on machines without the Linux cage, and as a second opinion. ``differences`` lists what it lacks.

Other processes read the texts of plans there (``TextProcess``). They run no code of a plan, but no cage surrounds their
parsers. A process serves many jobs, because one job alone could do as much harm.
"""

from __future__ import annotations

import atexit
import os
import signal
import string
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO, Final, NamedTuple, cast

from codeplan.errors import SandboxError, UsageError
from codeplan.plain_data import NotPlainData
from codeplan.sandbox.host.agent_port import AgentPort, Decoded, LimitExceededError, RunAccount, processor_seconds
from codeplan.sandbox.host.backend import Capability, RunRequest
from codeplan.sandbox.host.import_paths import import_paths, python_program
from codeplan.sandbox.host.plan_texts import PlanTexts, TextWorkers
from codeplan.sandbox.host.worker_process import DeadlineExceeded, WorkerDisconnected, WorkerEnd
from codeplan.sandbox.monty.script import MontyScript, ScriptError, build_script
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import OTHERS_KEY, CheckpointError, decode, encode
from codeplan.sandbox.protocol.frames import (
    Frame,
    FrameAssembler,
    Sender,
    State,
    WorkerConversation,
    WorkerFrame,
    escape_surrogates,
    pack,
    pack_value,
    unpack_value,
)
from codeplan.sandbox.protocol.limits import ENTRY_CHECKPOINTS_FACTOR, Limits, shorten
from codeplan.sandbox.runtime.names import ASK_USER, ENDING_NAMES, PREDEFINED_NAMES, RESERVED_NAMES, is_reserved
from codeplan.sandbox.runtime.namespace import missing_message
from codeplan.types import Checkpoint, Diagnostic, GiveUp, Outcome, Rejected, Replan, ResourceUsage, Stopped

MAX_TEXT_JOBS: Final = 500
"""After this many jobs, a new process replaces the old one."""

_CHUNK: Final = 1 << 16
_START_SECONDS: Final = 60.0
_END_SECONDS: Final = 5.0
_READY: Final = b"ready\n"
_BOOTSTRAP: Final = """\
import os, sys
sys.path[:] = sys.argv[1:]
from codeplan.sandbox.monty.text_reader import main
os.write(1, b"ready\\n")
main()
"""
_INHERITED: Final = ("SYSTEMROOT",)  # without it Python does not start on Windows


class TextProcess:
    """One process. Not thread-safe. Raises SandboxError if it cannot start."""

    def __init__(self) -> None:
        self.jobs = 0
        self._conversation = WorkerConversation(State.READY)
        self._assembler = FrameAssembler(_CHUNK)
        self._expired = threading.Event()
        environment = {"PYTHONHASHSEED": "0"} | {n: os.environ[n] for n in _INHERITED if n in os.environ}
        try:
            self._process = subprocess.Popen(
                [python_program(), "-s", "-S", "-P", "-c", _BOOTSTRAP, *import_paths()],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        except OSError as error:
            raise SandboxError(f"codeplan could not start {python_program() or 'Python'}: {error}") from error
        self._stdin, self._stdout = cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)
        self._wait_until_ready()

    @property
    def is_idle(self) -> bool:
        """Whether the process has answered its last job and can take another."""
        answered = self._conversation.state in (State.READY, State.ENDED)
        return answered and not self._expired.is_set() and self._process.poll() is None

    def begin_job(self) -> None:
        """Expect a new job."""
        self.jobs += 1
        self._conversation = WorkerConversation(State.READY)

    def set_max_frame(self, max_bytes: int) -> None:
        """Accept frames of up to ``max_bytes`` from now on."""
        self._assembler.max_bytes = max_bytes

    def send(self, frame: Frame, deadline: float) -> None:
        """Send a job; see ``TextWorker.send``."""
        self._conversation.take(Sender.HOST, frame)
        left = memoryview(pack(frame))
        with self._killed_at(deadline):
            while left:
                left = left[os.write(self._stdin.fileno(), left) :]

    def receive(self, deadline: float) -> WorkerFrame:
        """Receive the answer; see ``TextWorker.receive``. At the deadline the process is killed."""
        with self._killed_at(deadline):
            frame = self._assembler.next_worker_frame()
            while frame is None:
                frame = self._assembler.next_worker_frame(self._read())
        self._conversation.take(Sender.WORKER, frame)
        return frame

    def find_end(self) -> WorkerEnd:
        """Why the process closed its pipe."""
        try:
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return WorkerEnd("the process that reads plans closed its pipe")
        if status in (-signal.SIGTERM, -getattr(signal, "SIGKILL", signal.SIGTERM)):
            return WorkerEnd("the process that reads plans was killed", -status, killed=True)
        return WorkerEnd("the process that reads plans ended without an answer")

    def kill(self) -> None:
        """End the process and wait for its end. Safe to call twice."""
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def _wait_until_ready(self) -> None:
        try:
            with self._killed_at(time.monotonic() + _START_SECONDS):
                message = b""
                while message != _READY:
                    message += self._read()
        except (DeadlineExceeded, WorkerDisconnected):
            self.kill()
            raise SandboxError("the process that reads plans could not start") from None

    def _read(self) -> bytes:
        data = os.read(self._stdout.fileno(), _CHUNK)
        if not data:
            raise WorkerDisconnected
        return data

    @contextmanager
    def _killed_at(self, deadline: float) -> Iterator[None]:
        """Kill the process at the deadline: pipes cannot wait with a timeout on every system."""
        watchdog = threading.Timer(max(0.0, deadline - time.monotonic()), self._expire)
        watchdog.start()
        try:
            yield
        except (OSError, WorkerDisconnected):
            raise (DeadlineExceeded if self._expired.is_set() else WorkerDisconnected) from None
        finally:
            watchdog.cancel()

    def _expire(self) -> None:
        self._expired.set()
        self._process.kill()


class UncagedWorkers:
    """Hands out processes that read plan texts, and keeps idle ones for the next job. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[TextProcess] = []

    @contextmanager
    def check_worker(self) -> Iterator[TextProcess]:
        """A process that waits for a CheckJob. Raises SandboxError if none can start."""
        process = self._take()
        try:
            yield process
        finally:
            self._give_back(process)

    analysis_worker = check_worker  # the same processes do both

    def close(self) -> None:
        """End the idle processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.kill()

    def forget(self) -> None:
        """Forget all processes in a forked child: they belong to the parent."""
        self._lock = threading.Lock()
        self._idle = []

    def _take(self) -> TextProcess:
        with self._lock:
            process = self._idle.pop() if self._idle else None
        if process is not None and not process.is_idle:
            process.kill()
            process = None
        process = process or TextProcess()
        process.begin_job()
        return process

    def _give_back(self, process: TextProcess) -> None:
        if not process.is_idle or process.jobs >= MAX_TEXT_JOBS:
            process.kill()
            return
        with self._lock:
            self._idle.append(process)


uncaged_workers: Final = UncagedWorkers()
"""The processes that all backends of this process share."""

atexit.register(uncaged_workers.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=uncaged_workers.forget)


def load_monty() -> Any:
    """The module of Monty's client. Raises SandboxError if it is not installed."""
    try:
        return import_module("pydantic_monty")
    except ImportError:
        raise SandboxError("Monty is not installed; install it: pip install 'codeplan[monty]'") from None


class EndRequest(NamedTuple):
    """The plan called ``replan`` or ``give_up`` on this line."""

    function: str
    reason: str
    line: int | None


class AgentStandIn:
    """Represents the agent in Monty. It has no attributes: Monty asks the host for each."""


ABSENT: Final = object()
"""The answer for a name that does not exist."""


def named_function(name: str) -> Callable[..., None]:
    """A function by which Monty names a call to the host; it never runs."""

    def function() -> None:
        return None

    function.__name__ = name
    return function


def error_result(kind: str, message: str) -> dict[str, Any]:
    """The answer that raises this exception in the plan."""
    return {"exc_type": kind, "message": message}


_METHOD: Final = "_method_"
_FUNCTIONS: Final = frozenset({"ask_llm", "ask"}) | ENDING_NAMES


class MontyRun:
    """One run, from the first line to the outcome."""

    def __init__(self, account: RunAccount, script: MontyScript, checkpoint: Checkpoint | None) -> None:
        self._account, self._script = account, script
        self._plan, self._port, self._limits = account.plan, account.port, account.limits
        self._dropped = dict(checkpoint.dropped) if checkpoint else {}
        self._missing = {*self._plan.kept}.difference(checkpoint.names if checkpoint else ())
        self._nodes = checkpoint.nodes if checkpoint else []
        self._free_bytes = ENTRY_CHECKPOINTS_FACTOR * self._limits.checkpoint_bytes
        self._wall = self._began = 0.0
        self._pid: int | None = None
        self._line: int | None = None
        self._request: EndRequest | None = None

    def run(self, session: Any) -> Outcome | Rejected:
        """Run the script to its end. Raises the exceptions that the agent, ``ask`` or a callback raise for the
        caller.
        """
        self._pid, self._began = session.worker_pid, processor_seconds(session.worker_pid)
        account = self._account
        try:
            try:
                snapshot = self._timed(lambda: session.feed_start(self._script.text, **self._inputs()))
                while not isinstance(snapshot, load_monty().MontyComplete):
                    snapshot = self._answer_snapshot(snapshot)
                account.report_output()
            except (load_monty().MontySyntaxError, load_monty().MontyRuntimeError) as error:
                account.report_output()
                if self._request is None:
                    return self._failure(error, session)
        except LimitExceededError as over:
            return self._stopped(over.limit, over.value)
        except load_monty().MontyCrashedError as error:
            self._pid = None
            if error.timed_out:  # a single operation that did not end; the host has ended the process
                return self._stopped(self._time_limit, max(self._wall, self._allowed_seconds))
            return account.lost(f"Monty's process died ({shorten(str(error), 200)})", self._line, self._usage())
        if self._request is not None:
            return self._requested(self._request, session)
        saved, returned = (
            Decoded(checkpoint, decode(checkpoint))
            for checkpoint in (self._save(session), self._save(session, "_save_returned_()"))
        )
        return account.finished(saved, returned, self._usage())

    def _inputs(self) -> dict[str, Any]:
        names = self._port.methods | self._port.attributes
        agent = load_monty().ClassInstance(AgentStandIn(), lazy_attrs=names, allowed_methods=self._port.methods)
        return {
            "inputs": {"agent": agent, "_nodes_": self._nodes, "_most_bytes_": self._limits.checkpoint_bytes},
            "print_callback": self._print,
        }

    def _print(self, stream: str, text: str) -> None:
        """Collect printed text, until the plan asks for its end. Monty calls this, so it must not raise."""
        if self._request is None:
            self._account.take_output(escape_surrogates(text))

    # ------------------------------------------------------------------ turns

    def _answer_snapshot(self, snapshot: Any) -> Any:
        """Answer the request for which Monty paused."""
        self._line = self._script.plan_line_at(snapshot.position.start)
        self._account.report_output()
        if isinstance(snapshot, load_monty().NameLookupSnapshot):
            return self._answer_lookup(snapshot)
        if not isinstance(snapshot, load_monty().FunctionSnapshot):
            raise SandboxError("Monty paused for something that no plan can wait for")
        if snapshot.is_os_function:
            return self._timed(snapshot.resume_auto)
        answer = self._answer_call(snapshot)
        return self._timed(lambda: snapshot.resume(answer))

    def _answer_lookup(self, snapshot: Any) -> Any:
        name = snapshot.variable_name
        if snapshot.object_id is None:
            is_there = name in _FUNCTIONS or (name == ASK_USER and name in self._port.methods)
            value: Any = named_function(name) if is_there else ABSENT
        elif name in self._port.methods:
            value = named_function(_METHOD + name)
        elif name in self._port.attributes:
            value = self._exchange(frames.ReadFrame(name)).get("return_value", ABSENT)
        else:
            value = ABSENT
        return self._timed(snapshot.resume if value is ABSENT else lambda: snapshot.resume(value=value))

    def _answer_call(self, snapshot: Any) -> Any:
        name, args, kwargs = snapshot.function_name, snapshot.args, snapshot.kwargs
        if self._request is not None:
            return error_result("SystemExit", "the plan has ended")
        if snapshot.object_id is not None or name.startswith(_METHOD):
            return self._call_agent(name.removeprefix(_METHOD), args, kwargs)
        if name in ("ask_llm", "ask"):
            return self._ask_model(args, kwargs)
        if name == ASK_USER:
            return self._ask_user(args, kwargs)
        if name in ENDING_NAMES:
            return self._end_plan(name, args, kwargs)
        if name == "_enter_":
            self._take_step(*args)
            return {"return_value": None}
        return error_result("NameError", f"name '{name}' is not defined")

    def _call_agent(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if method not in self._port.methods:
            there = ", ".join(sorted(self._port.methods | self._port.attributes))
            return error_result("AttributeError", f"the agent has no '{method}'; it has: {there}")
        try:
            named = {k: pack_value(v) for k, v in kwargs.items()}
            call = frames.CallFrame(method, [pack_value(a) for a in args], named, self._line)
        except NotPlainData as reason:
            self._account.count("calls")
            return error_result("TypeError", f"{method} was given {reason}; give it texts, numbers, lists and dicts")
        return self._exchange(call)

    def _ask_model(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        question = next(iter((*args, *kwargs.values())), None)
        if type(question) is not str or len(args) + len(kwargs) != 1:
            return error_result("TypeError", "ask_llm takes one text; write ask_llm(f'…')")
        return self._exchange(frames.AskFrame(escape_surrogates(question)))

    def _ask_user(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        question = next(iter((*args, *kwargs.values())), None)
        if type(question) is not str or len(args) + len(kwargs) != 1:
            return error_result("TypeError", "ask_user takes one text; write ask_user(f'…')")
        return self._call_agent(ASK_USER, (question,), {})

    def _end_plan(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record the ending that the plan asks for. The run ends with it, even if the plan catches the error."""
        reason = args[0] if args else kwargs.get("reason")
        if type(reason) is not str or len(args) + len(kwargs) != 1:
            return error_result("TypeError", f"{name} takes one text; write {name}(f'…')")
        self._request = EndRequest(name, escape_surrogates(shorten(reason)), self._line)
        return error_result("SystemExit", "the plan has ended")

    def _exchange(self, request: frames.CallFrame | frames.ReadFrame | frames.AskFrame) -> dict[str, Any]:
        try:
            reply = self._account.answer(request)
        except frames.ProtocolError as error:
            return error_result("TypeError", str(error))
        if isinstance(reply, frames.ErrorFrame):
            return error_result(reply.error, reply.message)
        return {"return_value": unpack_value(reply.value)}

    def _take_step(self, step: int | None, table: Any) -> None:
        self._account.step = step
        if step is None:
            return
        checkpoint = self._checkpoint(table, min(self._limits.checkpoint_bytes, self._free_bytes))
        self._free_bytes = max(0, self._free_bytes - frames.packed_size(checkpoint))
        self._account.enter_step(step, checkpoint)

    def _timed(self, work: Callable[[], Any]) -> Any:
        began = time.monotonic()
        try:
            return work()
        finally:
            self._wall += time.monotonic() - began

    # ------------------------------------------------------------------ endings

    def _failure(self, error: Any, session: Any) -> Outcome | Rejected:
        step = self._account.step
        trace = [(self._script.plan_line(f.line), f.function_name) for f in error.traceback()]
        raised = error.exception()
        if step is None and not self._account.entries and trace and trace[-1][1] is None:
            message = shorten(_in_our_words(str(raised)))
            return Rejected(self._plan.source, (Diagnostic(trace[-1][0] or 0, 0, "backend", message),))
        self._line = next((line for line, _ in reversed(trace) if line), None)
        if (limit := self._limit_of(raised)) is not None:
            return self._stopped(limit, max(self._wall, getattr(self._limits, limit)))
        name, message = self._error_text(raised)
        return self._account.failed(step, self._line, name, message, self._save(session), self._usage())

    def _requested(self, request: EndRequest, session: Any) -> Replan | GiveUp:
        step = self._account.step
        known = self._plan.step(step)
        step_done = known is not None and request.line is not None and known.replan_line == request.line
        rest = (step_done, self._save(session), self._usage())
        return self._account.ended_early(request.function, step, request.line, request.reason, *rest)

    def _limit_of(self, raised: BaseException) -> str | None:
        """The limit behind an exception, if any. A plan can raise these exceptions itself, too: a TimeoutError counts
        only when the time is over.
        """
        if isinstance(raised, MemoryError):
            return "memory"
        return self._time_limit if isinstance(raised, TimeoutError) and self._wall >= self._allowed_seconds else None

    @property
    def _allowed_seconds(self) -> float:
        return float(getattr(self._limits, self._time_limit))

    @property
    def _time_limit(self) -> str:
        """The limit of time that is met first: Monty's clock runs only while the plan does, so both mean the same."""
        return "cpu" if self._limits.cpu < self._limits.wall else "wall"

    def _error_text(self, raised: BaseException) -> tuple[str, str]:
        """The name and the message of an exception; for a name that was not saved, the reason."""
        message = escape_surrogates(shorten(str(raised)))
        for name, why in self._dropped.items():
            if isinstance(raised, NameError) and f"'{name}'" in message:
                return "NotSaved", f"{name} was not saved ({why}); compute it again in this step"
        for name in self._missing:
            if isinstance(raised, NameError) and f"'{name}'" in message:
                return "NameError", missing_message(name)
        if isinstance(raised, ModuleNotFoundError):
            message = f"{message} in Monty; {_LOCKED_RUNS_IT}"
        return type(raised).__name__, message

    def _save(self, session: Any, call: str = "_save_()") -> Checkpoint:
        """The variables at the end. If Monty can no longer return them, all count as dropped."""
        try:
            return self._checkpoint(session.feed_run(call), self._limits.checkpoint_bytes)
        except (load_monty().MontyError, CheckpointError, RuntimeError) as error:  # the last, if the process is gone
            return Checkpoint({}, [], {OTHERS_KEY: shorten(str(error), 150)})

    def _checkpoint(self, table: Any, most: int) -> Checkpoint:
        """The guest's checkpoint, verified and cut to the limit."""
        names, nodes, dropped = table
        found = encode(decode(Checkpoint(names, nodes, dropped)), most)
        unsaved = {n: why for n, why in dropped.items() if n not in PREDEFINED_NAMES}
        return Checkpoint(found.names, found.nodes, {**self._dropped_before(names), **unsaved, **found.dropped})

    def _dropped_before(self, names: Mapping[str, int]) -> dict[str, str]:
        return {name: why for name, why in self._dropped.items() if name not in names}

    def _stopped(self, limit: str, value: float) -> Stopped:
        return self._account.stopped(limit, value, self._line, self._usage())

    def _usage(self) -> ResourceUsage:
        """What the run used; no processor time if the process is gone."""
        cpu = max(0.0, processor_seconds(self._pid) - self._began) if self._pid else 0.0
        return self._account.usage(self._wall, cpu)


_LOCKED_RUNS_IT: Final = "the locked backend, on Linux, runs it"
_UNSUPPORTED: Final = "The monty syntax parser does not yet support "


def _in_our_words(message: str) -> str:
    """Return Monty's message; about a construct that it lacks, with the backend that runs it."""
    if not message.startswith(_UNSUPPORTED):
        return message
    return f"Monty does not yet support {message.removeprefix(_UNSUPPORTED)}; {_LOCKED_RUNS_IT}"


_MAX_PROCESSES: Final = 64
_MAX_SUSPENSIONS: Final = 1_000_000
_STRING_ALPHABETS: Final = ("ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "hexdigits", "octdigits")
_STRING_SYMBOLS: Final = ("printable", "punctuation", "whitespace")

DIFFERENCES: Final[Mapping[Capability, str]] = {
    Capability.ASSERTIONS: "in Monty a failed assertion is an exception, which `except Exception` catches",
    Capability.TURNS: "Monty does not count loop turns; the limits of time stop a loop",
    Capability.SAVED_AT_LIMIT: "at a limit Monty's process ends, and the plan's variables are lost",
    Capability.SURROGATES: "Monty's texts are UTF-8, and half a surrogate pair becomes a replacement character",
    Capability.DELETION: "Monty's parser does not support the del statement",
    Capability.GENERATORS: "in Monty a generator expression is a list, built at once",
    Capability.CALLBACKS: "in Monty a function that list.sort calls as its key reaches neither agent nor model",
    Capability.IN_PLACE: "in Monty `b *= 2` makes a new list",
    Capability.CONCURRENCY: "Monty makes one call after the other; write plain calls, without async, await and asyncio",
    Capability.BOUND_METHODS: "in Monty a method of a value can be called but not passed on, as in key=d.get",
    Capability.MODULES: "Monty's modules lack members: OrderedDict, re.sub with a function, string.capwords, ast",
    Capability.BUILTINS: "Monty lacks builtins and methods: callable, issubclass, str.format_map, int.bit_length",
    Capability.ERRORS: "Monty's exceptions take one text at most, and some messages are its own, as those of json",
    Capability.INHERITANCE: "Monty has classes without bases only",
    Capability.METHOD_DECORATORS: "Monty has no decorated methods, such as properties",
    Capability.YIELD: "Monty has no generator functions",
    Capability.ERROR_GROUPS: "Monty has no except*",
    Capability.FUNCTION_ATTRIBUTES: "Monty's functions take no attributes",
    Capability.FORMS: "in Monty ask_llm takes a question alone; write the data and the answer's form into it",
    Capability.TYPE_METHODS: "Monty has no methods on types, as in map(str.strip, lines)",
}
"""The capabilities of the backend contract that Monty lacks."""

NO_COVERAGE: Final = (
    "the coverage of plans needs the cage: Monty, which runs the plans here, does not say which lines run"
)
"""The message that refuses a run with ``on_coverage``."""


class MontyBackend:
    """Runs plans in Monty. Thread-safe; all backends share a pool of processes, and each process serves one run.

    ``text_workers`` check plans and analyse their texts: those of the cage where it is available, processes without a
    cage elsewhere. Raises SandboxError if pydantic-monty is not installed.
    """

    differences: Mapping[Capability, str] = DIFFERENCES
    missing_layers: tuple[str, ...] = ()

    def __init__(self, limits: Limits = Limits(), text_workers: TextWorkers = uncaged_workers) -> None:  # noqa: B008
        load_monty()
        self.limits = limits
        self.texts = PlanTexts(limits, text_workers)

    def run(self, run: RunRequest) -> Outcome | Rejected:
        """Run a plan; see ``Backend.run``. A plan given as text is checked first.

        Raises UsageError also for ``on_coverage``: Monty does not say which lines run.
        """
        if run.on_coverage is not None:
            raise UsageError(NO_COVERAGE)
        if run.checkpoint is not None:
            decode(run.checkpoint)
        names = run.checkpoint.names if run.checkpoint else {}
        plan = self.texts.check(run.plan, type(run.agent), kept=names) if isinstance(run.plan, str) else run.plan
        if isinstance(plan, Rejected):
            return plan
        saved = {n: at for n, at in names.items() if not is_reserved(n) and n not in RESERVED_NAMES}
        try:
            script = build_script(plan, run.start_from, saved)
        except ScriptError as reason:
            return Rejected(plan.source, (Diagnostic(0, 0, "backend", str(reason)),))
        account = RunAccount(plan, AgentPort(run.agent, run.ask), self.limits, run.on_event)
        with _shared_pool().checkout(**_settings(self.limits, run.seed)) as session:
            return MontyRun(account, script, run.checkpoint).run(session)


def _settings(limits: Limits, seed: int) -> dict[str, Any]:
    return {
        "limits": {
            "max_feed_duration_secs": min(limits.wall, limits.cpu),
            "max_memory": limits.memory,
            "max_recursion_depth": limits.recursion,
            "max_suspensions": _MAX_SUSPENSIONS,
        },
        "assert_message_annotations": False,
        "os_policy": {"random_start": {"seed": seed}, "sleep": "zero"},
        "external_modules": {"string": _string_module()},
    }


def _string_module() -> Any:
    return load_monty().ExternalModule({name: getattr(string, name) for name in (*_STRING_ALPHABETS, *_STRING_SYMBOLS)})


_lock = threading.Lock()
_pools: Final[list[Any]] = []


def _shared_pool() -> Any:
    """The process pool that all backends share. Raises SandboxError if Monty is not installed."""
    with _lock:
        if not _pools:
            _pools.append(_start_pool())
        return _pools[0]


def _start_pool() -> Any:
    pool = load_monty().Monty(max_processes=_MAX_PROCESSES, max_checkouts_per_worker=1)
    pool.__enter__()
    atexit.register(_close_pools)
    return pool


def _close_pools() -> None:
    while _pools:
        _pools.pop().__exit__(None, None, None)


def _reset_after_fork() -> None:
    """The pool's threads do not survive a fork, and its processes are the parent's; the child starts its own."""
    global _lock
    _lock = threading.Lock()
    _parents_pools.extend(_pools)  # never closed here: that would end the parent's processes
    _pools.clear()


_parents_pools: Final[list[Any]] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
