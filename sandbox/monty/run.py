"""One run of a plan in Monty: its calls answered and counted, its checkpoints checked, its end told."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from codeplan.errors import SandboxError
from codeplan.sandbox.host.agent_port import AgentPort
from codeplan.sandbox.limits import ENTRIES, Limits, sentence, shorten
from codeplan.sandbox.monty.script import Script
from codeplan.sandbox.protocol import frames as wire
from codeplan.sandbox.protocol.codec import CheckpointError, decode, encode
from codeplan.sandbox.protocol.progress import Printed, Progress, StepEntered
from codeplan.sandbox.protocol.table import OTHERS
from codeplan.sandbox.protocol.values import NotPlain, from_wire, printable, to_wire
from codeplan.sandbox.runtime.names import GIVEN
from codeplan.types import Checkpoint, Diagnostic, Failed, Finished, Plan, Rejected, Spent, Stopped

_METHOD: Final = "_method_"


def monty() -> Any:
    """The module of Monty's client. Raises SandboxError where it is not installed."""
    try:
        return import_module("pydantic_monty")
    except ImportError:
        raise SandboxError("Monty is not installed; install it: pip install 'codeplan[monty]'") from None


class _Over(Exception):
    """A limit that the host found passed, with what was reached."""

    def __init__(self, limit: str, value: float) -> None:
        self.limit, self.value = limit, value


class Run:
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
        self._spent: dict[str, int] = dict.fromkeys(("output", "calls", "reads", "asks"), 0)
        self._wall = 0.0
        self._at: int | None = None

    def go(self, session: Any) -> Finished | Failed | Stopped | Rejected:
        """See it through. Raises what the agent, ``ask`` or the listener raise for the caller."""
        began = _processor_seconds(session.worker_pid)
        try:
            snapshot = self._timed(lambda: session.feed_start(self._script.text, **self._inputs()))
            while not isinstance(snapshot, monty().MontyComplete):
                snapshot = self._turn(snapshot)
            self._hear()
        except _Over as over:
            return self._stopped(over.limit, over.value, session, began)
        except monty().MontyCrashedError as error:
            return self._lost(f"Monty's process died ({shorten(str(error), 200)})")
        except (monty().MontySyntaxError, monty().MontyRuntimeError) as error:
            return self._failure(error, session, began)
        checkpoint = self._save(session)
        return Finished("".join(self._output), self._step, checkpoint, self._entries, self._used(session, began))

    def _inputs(self) -> dict[str, Any]:
        names = self._port.methods | self._port.attributes
        agent = monty().ClassInstance(_Agent(), lazy_attrs=names, allowed_methods=self._port.methods)
        return {"inputs": {"agent": agent, "_nodes_": self._nodes}, "print_callback": self._print}

    # ------------------------------------------------------------------ turns

    def _turn(self, snapshot: Any) -> Any:
        """Answer what Monty stopped for."""
        self._at = self._script.origin(_line_at(self._script.text, snapshot.position.start))
        self._hear()
        if isinstance(snapshot, monty().NameLookupSnapshot):
            return self._looked_up(snapshot)
        if not isinstance(snapshot, monty().FunctionSnapshot):
            raise SandboxError("Monty waits for what no plan can wait for")
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
            return _raising("TypeError", f"{method} was given {reason}; give it texts, numbers, lists and dicts")
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
        try:
            return self._checkpoint(session.feed_run("_save_()"), self._limits.checkpoint_bytes)
        except (monty().MontyError, CheckpointError) as error:
            return Checkpoint({}, [], {OTHERS: shorten(str(error), 150)})

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


def _processor_seconds(pid: int | None) -> float:
    """What the kernel has counted for a process; 0 where it does not say."""
    try:
        return time.clock_gettime((~pid << 3) | 2) if pid else 0.0
    except OSError:
        return 0.0
