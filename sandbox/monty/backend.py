"""Runs plans in Monty, an interpreter of Python written in Rust (the extra ``monty``).

A process of Monty runs the plans: its language gives no access to the system, but no cage surrounds the process. Use
it on machines without the Linux cage, and as a second opinion. ``differences`` lists what it lacks.
"""

from __future__ import annotations

import atexit
import os
import string
import threading
from collections.abc import Mapping
from typing import Any, Final

from codeplan.errors import UsageError
from codeplan.sandbox.host.agent_port import AgentPort, RunAccount
from codeplan.sandbox.host.backend import Capability, PlanRun
from codeplan.sandbox.host.plan_texts import PlanTexts, TextWorkers
from codeplan.sandbox.limits import Limits
from codeplan.sandbox.monty.run import MontyRun, load_monty
from codeplan.sandbox.monty.script import ScriptError, build_script
from codeplan.sandbox.monty.text_process import uncaged_workers
from codeplan.sandbox.protocol.codec import decode
from codeplan.sandbox.runtime.names import RESERVED_NAMES
from codeplan.types import Diagnostic, Outcome, Rejected

_MAX_PROCESSES: Final = 64
_MAX_SUSPENSIONS: Final = 1_000_000
_STRING_ALPHABETS: Final = ("ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "hexdigits", "octdigits")
_STRING_SYMBOLS: Final = ("printable", "punctuation", "whitespace")

DIFFERENCES: Final[Mapping[Capability, str]] = {
    Capability.ASSERTIONS: "in Monty a failed assertion is an exception, which `except Exception` catches",
    Capability.TURNS: "Monty does not count loop turns; the limits of time stop a loop",
    Capability.RECURSION: "in Monty too deep a recursion is an exception, which `except Exception` catches",
    Capability.SAVED_AT_LIMIT: "at a limit Monty's process ends, and the plan's variables are lost",
    Capability.SURROGATES: "Monty's texts are UTF-8, and half a surrogate pair becomes a replacement character",
    Capability.DELETION: "Monty's parser does not support the del statement",
    Capability.GENERATORS: "in Monty a generator expression is a list, built at once",
    Capability.CALLBACKS: "in Monty a function that list.sort calls as its key reaches neither agent nor model",
    Capability.IN_PLACE: "in Monty `b *= 2` makes a new list",
    Capability.BOUND_METHODS: "in Monty a method of a value can be called but not passed on, as in key=d.get",
    Capability.MODULES: "Monty's modules lack members: OrderedDict, re.sub with a function, string.capwords, ast",
    Capability.BUILTINS: "Monty lacks builtins and methods: callable, issubclass, str.format_map, int.bit_length",
    Capability.ERRORS: "Monty's exceptions take one text at most, and some messages are its own, as those of json",
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

    def run(self, run: PlanRun) -> Outcome | Rejected:
        """Run a plan; see ``Backend.run``. A plan given as text is checked first.

        Raises UsageError also for ``on_coverage``: Monty does not say which lines run.
        """
        if run.on_coverage is not None:
            raise UsageError(NO_COVERAGE)
        if run.checkpoint is not None:
            decode(run.checkpoint)
        plan = self.texts.check(run.plan, type(run.agent)) if isinstance(run.plan, str) else run.plan
        if isinstance(plan, Rejected):
            return plan
        names = run.checkpoint.names if run.checkpoint else {}
        saved = {n: at for n, at in names.items() if not n.startswith("_") and n not in RESERVED_NAMES}
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
