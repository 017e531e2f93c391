"""A second executor: plans run by Monty, an interpreter of Python written in Rust (the extra ``monty``).

Plans are checked in the locked cage, as ever; what runs them is Monty's process, which has a language of its own and no
way out of it, but no cage around it. It is a second opinion on the contract, and runs where the cage cannot be built;
``differences`` says what it lacks.
"""

from __future__ import annotations

import atexit
import string
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox import wire
from codeplan.sandbox.agent_port import AgentPort
from codeplan.sandbox.codec import CheckpointError, decode, encode
from codeplan.sandbox.crossing import NotPlain, from_wire, printable, to_wire
from codeplan.sandbox.executor import Capability
from codeplan.sandbox.language.names import GIVEN, RESERVED
from codeplan.sandbox.limits import ENTRIES, Limits, sentence, shorten
from codeplan.sandbox.monty_script import NoScript, Script, script
from codeplan.sandbox.progress import Printed, Progress, StepEntered
from codeplan.sandbox.run import Sandbox
from codeplan.types import AgentApi, Checkpoint, Diagnostic, Failed, Finished, Plan, Rejected, Spent, Stopped

if TYPE_CHECKING:
    import pydantic_monty

_MOST_AT_ONCE: Final = 64
_MOST_TURNS: Final = 1_000_000
_METHOD: Final = "_method_"
_STRING: Final = ("ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "hexdigits", "octdigits")
_MARKS: Final = ("printable", "punctuation", "whitespace")

DIFFERENCES: Final[Mapping[Capability, str]] = {
    Capability.ASSERTIONS: "in Monty a failed assertion is an exception, which `except Exception` catches",
    Capability.TURNS: "Monty counts no turns of loops; a loop meets the limits of time",
    Capability.RECURSION: "in Monty too deep a recursion is an exception, which `except Exception` catches",
    Capability.SAVED_AT_LIMIT: "at a limit Monty's process is given up, with the plan's variables",
    Capability.SURROGATES: "Monty's texts are UTF-8, and half a surrogate pair becomes a replacement character",
    Capability.DELETION: "Monty's parser does not know the del statement",
    Capability.GENERATORS: "in Monty a generator expression is a list, made at once, which next does not take",
    Capability.IN_PLACE: "in Monty `b *= 2` makes a new list",
    Capability.BOUND_METHODS: "in Monty a method of a value can be called, but not handed on, as in key=d.get",
    Capability.MODULES: "Monty lacks members of modules: OrderedDict, re.sub with a function, string.capwords, import ast",
    Capability.BUILTINS: "Monty lacks builtins and methods: callable, issubclass, str.format_map, int.bit_length",
    Capability.ERRORS: "Monty's exceptions take one text at most, and some messages are its own, as those of json",
    Capability.TYPE_METHODS: "Monty has no methods on types, as in map(str.strip, lines)",
}
"""What Monty lacks of the contract of executors."""


class MontyExecutor:
    """Runs plans in Monty. Safe to share between threads; the processes are shared, and each serves one run.

    ``allow_weak`` is for the check, which runs in the locked cage. Raises SandboxError where pydantic-monty is not
    installed.
    """

    differences: Mapping[Capability, str] = DIFFERENCES

    def __init__(self, limits: Limits = Limits(), *, allow_weak: bool = False) -> None:  # noqa: B008  # frozen
        self.limits = limits
        self._cage = Sandbox(limits, allow_weak=allow_weak)
        _pool()

    def check(self, source: str, api: AgentApi | type) -> Plan | Rejected:
        """Whether the source is a plan; the same check as the sandbox's, in the same cage."""
        return self._cage.check(source, api)

    def run(
        self,
        plan: Plan | str,
        agent: object,
        ask: Callable[[str], str],
        start_from: int = 1,
        checkpoint: Checkpoint | None = None,
        *,
        listen: Callable[[Progress], None] | None = None,
        seed: int = 0,
    ) -> Finished | Failed | Stopped | Rejected:
        """Run a plan as ``Sandbox.run`` does; a text is checked first."""
        for name, value in {"start_from": start_from, "seed": seed}.items():
            if type(value) is not int:
                raise UsageError(f"{name} must be a whole number, not {value!r:.80}")
        if checkpoint is not None:
            decode(checkpoint)
        checked = self.check(plan, type(agent)) if isinstance(plan, str) else plan
        if isinstance(checked, Rejected):
            return checked
        saved = {n: at for n, at in (checkpoint.names if checkpoint else {}).items() if not n.startswith("_")}
        try:
            text = script(checked, start_from, {n: at for n, at in saved.items() if n not in RESERVED})
        except NoScript as reason:
            return Rejected(checked.source, (Diagnostic(0, 0, "executor", str(reason)),))
        run = _Run(checked, text, AgentPort(agent, ask), self.limits, listen or (lambda progress: None), checkpoint)
        with _pool().checkout(**_settings(self.limits, seed)) as session:
            return run.go(session)


class _Over(Exception):
    """A limit that the host found passed, with what was reached."""

    def __init__(self, limit: str, value: float) -> None:
        self.limit, self.value = limit, value


class _Run:
    """One run, from the first line to the outcome."""

    def __init__(
        self,
        plan: Plan,
        text: Script,
        port: AgentPort,
        limits: Limits,
        listen: Callable[[Progress], None],
        checkpoint: Checkpoint | None,
    ) -> None:
        self._plan, self._script, self._port, self._limits, self._listen = plan, text, port, limits, listen
        self._dropped = dict(checkpoint.dropped) if checkpoint else {}
        self._nodes = checkpoint.nodes if checkpoint else []
        self._entries: dict[int, Checkpoint] = {}
        self._room = ENTRIES * limits.checkpoint_bytes
        self._step: int | None = None
        self._output: list[str] = []
        self._unheard: list[str] = []
        self._spent = dict.fromkeys(("output", "calls", "reads", "asks"), 0)
        self._wall = 0.0
        self._at: int | None = None

    def go(self, session: pydantic_monty.MontySession) -> Finished | Failed | Stopped | Rejected:
        """See it through. Raises what the agent, ``ask`` or the listener raise for the caller."""
        import pydantic_monty as monty

        began = _processor_seconds(session.worker_pid)
        try:
            snapshot = self._timed(lambda: session.feed_start(self._script.text, **self._inputs()))
            while not isinstance(snapshot, monty.MontyComplete):
                snapshot = self._turn(snapshot)
            self._hear()
        except _Over as over:
            return self._stopped(over.limit, over.value, session, began)
        except monty.MontyCrashedError as error:
            return self._lost(f"Monty's process died ({shorten(str(error), 200)})")
        except (monty.MontySyntaxError, monty.MontyRuntimeError) as error:
            return self._failure(error, session, began)
        checkpoint = self._save(session)
        return Finished("".join(self._output), self._step, checkpoint, self._entries, self._used(session, began))

    def _inputs(self) -> dict[str, Any]:
        import pydantic_monty as monty

        names = self._port.methods | self._port.attributes
        agent = monty.ClassInstance(_Agent(), lazy_attrs=names, allowed_methods=self._port.methods)
        return {"inputs": {"agent": agent, "_nodes_": self._nodes}, "print_callback": self._print}

    # ------------------------------------------------------------------ turns

    def _turn(self, snapshot: Any) -> Any:
        """Answer what Monty stopped for."""
        import pydantic_monty as monty

        self._at = self._script.origin(_line_at(self._script.text, snapshot.position.start))
        self._hear()
        if isinstance(snapshot, monty.NameLookupSnapshot):
            return self._looked_up(snapshot)
        if not isinstance(snapshot, monty.FunctionSnapshot):
            raise monty_refuses("it waits for what no plan can wait for")
        if snapshot.is_os_function:
            return self._timed(snapshot.resume_auto)
        answer = self._called(snapshot)
        return self._timed(lambda: snapshot.resume(answer))

    def _looked_up(self, snapshot: Any) -> Any:
        name = snapshot.variable_name
        if snapshot.object_id is None:
            value: Any = _named(name) if name in ("ask_llm", "ask") else _ABSENT
        elif name in self._port.methods:
            value = _named(_METHOD + name)
        elif name in self._port.attributes:
            self._count("reads")
            value = self._result(wire.Read(name)).get("return_value", _ABSENT)
        else:
            value = _ABSENT
        return self._timed(snapshot.resume if value is _ABSENT else lambda: snapshot.resume(value=value))

    def _called(self, snapshot: Any) -> Any:
        name, args, kwargs = snapshot.function_name, snapshot.args, snapshot.kwargs
        if snapshot.object_id is not None or name.startswith(_METHOD):
            return self._call(name.removeprefix(_METHOD), args, kwargs)
        if name in ("ask_llm", "ask"):
            return self._ask(args, kwargs)
        if name == "_enter_":
            self._enter(*args)
            return {"return_value": None}
        return _raising("NameError", f"name '{name}' is not defined")

    def _call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if method not in self._port.methods:
            there = ", ".join(sorted(self._port.methods | self._port.attributes))
            return _raising("AttributeError", f"the agent has no '{method}'; it has: {there}")
        self._count("calls")
        try:
            call = wire.Call(method, [to_wire(a) for a in args], {k: to_wire(v) for k, v in kwargs.items()})
        except NotPlain as reason:
            return _raising("TypeError", f"{method} was given {reason}; give it texts, numbers, lists, tuples and dicts")
        self._allow("call_bytes", wire.size(call))
        return self._result(call)

    def _ask(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        question = next(iter((*args, *kwargs.values())), None)
        if type(question) is not str or len(args) + len(kwargs) != 1:
            return _raising("TypeError", "ask_llm takes one text; write ask_llm(f'…')")
        self._count("asks")
        self._allow("ask_bytes", len(printable(question).encode()))
        return self._result(wire.Ask(printable(question)))

    def _result(self, request: wire.Call | wire.Read | wire.Ask) -> dict[str, Any]:
        try:
            reply = self._port.answer(request)
        except wire.ProtocolError as error:
            return _raising("TypeError", str(error))
        if isinstance(reply, wire.Raised):
            return _raising("RuntimeError", reply.message)
        return {"return_value": from_wire(reply.value)}

    def _enter(self, step: int | None, table: Any) -> None:
        self._step = step
        if step is None:
            return
        checkpoint = self._checkpoint(table, min(self._limits.checkpoint_bytes, self._room))
        self._room = max(0, self._room - wire.size(checkpoint))
        self._entries.setdefault(step, checkpoint)
        known = self._plan.step(step)
        self._listen(StepEntered(step, known.title if known else "", checkpoint))

    # ------------------------------------------------------------------ counting

    def _count(self, limit: str) -> None:
        self._spent[limit] += 1
        self._allow(limit, self._spent[limit])

    def _allow(self, limit: str, value: float) -> None:
        if value > getattr(self._limits, limit):
            raise _Over(limit, value)

    def _timed(self, work: Callable[[], Any]) -> Any:
        began = time.monotonic()
        try:
            return work()
        finally:
            self._wall += time.monotonic() - began

    def _print(self, stream: str, text: str) -> None:
        """Take what is printed; nothing may be raised here."""
        kept = printable(text)[: max(0, self._limits.output - self._spent["output"])]
        self._spent["output"] += len(text)
        if kept:
            self._output.append(kept)
            self._unheard.append(kept)

    def _hear(self) -> None:
        """Hand on what was printed, whole before anything else happens."""
        if self._unheard:
            text = "".join(self._unheard)
            self._unheard.clear()
            self._listen(Printed(text))
        self._allow("output", self._spent["output"])

    # ------------------------------------------------------------------ endings

    def _failure(self, error: Any, session: Any, began: float) -> Finished | Failed | Stopped | Rejected:
        try:
            self._hear()
        except _Over as over:
            return self._stopped(over.limit, over.value, session, began)
        frames = [(self._script.origin(f.line), f.function_name) for f in error.traceback()]
        raised = error.exception()
        if self._step is None and not self._entries and frames and frames[-1][1] is None:
            return self._unknown_syntax(str(raised), frames[-1][0])
        self._at = next((line for line, _ in reversed(frames) if line), None)
        if (limit := self._limit_of(raised)) is not None:
            return self._stopped(limit, max(self._wall, getattr(self._limits, limit)), session, began)
        name, message = self._said(raised)
        checkpoint = self._save(session)
        output, used = "".join(self._output), self._used(session, began)
        return Failed(self._step, self._at, name, message, output, checkpoint, self._entries, used)

    def _unknown_syntax(self, message: str, line: int | None) -> Rejected:
        return Rejected(self._plan.source, (Diagnostic(line or 0, 0, "executor", shorten(message)),))

    def _limit_of(self, raised: BaseException) -> str | None:
        """The limit that an exception stands for; a plan can raise none of these but TimeoutError."""
        if isinstance(raised, MemoryError):
            return "memory"
        if isinstance(raised, RecursionError):
            return "recursion"
        timed, allowed = min(("wall", self._limits.wall), ("cpu", self._limits.cpu), key=lambda item: item[1])
        return timed if isinstance(raised, TimeoutError) and self._wall >= allowed else None

    def _said(self, raised: BaseException) -> tuple[str, str]:
        """The name and the message of an exception; for a name that was not saved, why."""
        message = printable(shorten(str(raised)))
        for name, why in self._dropped.items():
            if isinstance(raised, NameError) and f"'{name}'" in message:
                return "NotSaved", f"{name} was not saved ({why}); compute it again in this step"
        return type(raised).__name__, message

    def _save(self, session: Any) -> Checkpoint:
        """The variables at the end. Where Monty cannot give them any more, all are named as dropped."""
        import pydantic_monty as monty

        try:
            return self._checkpoint(session.feed_run("_save_()"), self._limits.checkpoint_bytes)
        except (monty.MontyError, CheckpointError) as error:
            return Checkpoint({}, [], {"variables": shorten(str(error), 200)})

    def _checkpoint(self, table: Any, most: int) -> Checkpoint:
        """What the guest saved, checked and brought under the limit."""
        names, nodes, dropped = table
        found = encode(decode(Checkpoint(names, nodes, dropped)), most)
        unsaved = {n: why for n, why in dropped.items() if n not in GIVEN}
        return Checkpoint(found.names, found.nodes, {**self._still_dropped(names), **unsaved, **found.dropped})

    def _still_dropped(self, names: Mapping[str, int]) -> dict[str, str]:
        return {name: why for name, why in self._dropped.items() if name not in names}

    def _stopped(self, limit: str, value: float, session: Any, began: float) -> Stopped:
        allowed = float(getattr(self._limits, limit))
        message, output = sentence(limit, value, allowed), "".join(self._output)
        used = self._used(session, began)
        return Stopped(limit, value, allowed, self._step, self._at, message, output, None, self._entries, used)

    def _lost(self, message: str) -> Stopped:
        output = "".join(self._output)
        used = self._used(None, 0.0)
        return Stopped("worker", 0.0, 0.0, self._step, self._at, message, output, None, self._entries, used)

    def _used(self, session: Any, began: float) -> Spent:
        cpu = max(0.0, _processor_seconds(session.worker_pid) - began) if session else 0.0
        output = min(self._spent["output"], self._limits.output)
        return Spent(self._wall, cpu, output, self._spent["calls"], self._spent["asks"])


class _Agent:
    """What Monty is shown in the agent's place: it has nothing, and all that is asked of it comes to the host."""


_ABSENT: Final = object()


def _named(name: str) -> Callable[..., None]:
    """A function that Monty is to call the host for, by this name; it is never run."""

    def function() -> None:
        return None

    function.__name__ = name
    return function


def _raising(kind: str, message: str) -> dict[str, Any]:
    return {"exc_type": kind, "message": message}


def _line_at(text: str, offset: int) -> int:
    return text.encode()[:offset].count(b"\n") + 1


def monty_refuses(why: str) -> SandboxError:
    """Where Monty does what no plan can make it do."""
    return SandboxError(f"Monty cannot run this plan: {why}")


def _settings(limits: Limits, seed: int) -> dict[str, Any]:
    return {
        "limits": {
            "max_feed_duration_secs": min(limits.wall, limits.cpu),
            "max_memory": limits.memory,
            "max_recursion_depth": limits.recursion,
            "max_suspensions": _MOST_TURNS,
        },
        "assert_message_annotations": False,
        "os_policy": {"random_start": {"seed": seed}, "sleep": "zero"},
        "external_modules": {"string": _string_module()},
    }


def _string_module() -> Any:
    import pydantic_monty as monty

    return monty.ExternalModule({name: getattr(string, name) for name in (*_STRING, *_MARKS)})


def _processor_seconds(pid: int | None) -> float:
    """What the kernel has counted for a process; 0 where it does not say."""
    try:
        return time.clock_gettime((~pid << 3) | 2) if pid else 0.0
    except OSError:
        return 0.0


_lock: Final = threading.Lock()
_pools: Final[list[Any]] = []


def _pool() -> pydantic_monty.Monty:
    """The pool of Monty's processes that all executors share. Raises SandboxError where Monty is not installed."""
    with _lock:
        if not _pools:
            _pools.append(_opened())
        pool: pydantic_monty.Monty = _pools[0]
        return pool


def _opened() -> pydantic_monty.Monty:
    try:
        import pydantic_monty as monty
    except ImportError:
        raise SandboxError("Monty is not installed; install it: pip install 'codeplan[monty]'") from None
    pool = monty.Monty(max_processes=_MOST_AT_ONCE, max_checkouts_per_worker=1)
    pool.__enter__()
    atexit.register(pool.__exit__, None, None, None)
    return pool
