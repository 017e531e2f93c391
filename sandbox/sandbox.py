"""Chooses the backend of this machine: locked processes if the cage is available, otherwise Monty."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from typing import Any, Final, Literal, NoReturn

from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox.host.backend import Backend, LineCoverage, Progress, RunRequest
from codeplan.sandbox.language.extraction import MergedReply
from codeplan.sandbox.protocol.frames import Layer
from codeplan.sandbox.protocol.limits import Limits
from codeplan.sandbox.runtime.user_imports import find_bad_import
from codeplan.types import AgentApi, Checkpoint, Outcome, Plan, Rejected
from codeplan.untrusted.values import in_quotes

# The modules of the cage need Linux, so they are imported only there.

BackendName = Literal["auto", "cage", "monty"]
"""The backend: the cage's locked processes, Monty, or (``auto``) Monty only if the cage is not available."""

CAGE_VARIABLE: Final = "CODEPLAN_CAGE"
"""The environment variable that, set to ``off``, makes codeplan act as if the cage were not available."""


class Sandbox:
    """Checks and runs untrusted plans. Cheap to create, thread-safe, nothing to close.

    ``limits`` holds for each run. If this machine lacks a layer of the cage, Monty runs the plans, or with
    ``allow_weak`` the locked processes without that layer. ``backend`` may also be a backend of your own, which brings
    its own limits. ``imports`` are packages that plans may import: names, or a text with commas between them. They are
    loaded in the cage, whose layers then hold plans with less help from the language; Monty loads none. Every method
    raises UsageError if a package cannot be loaded, and SandboxError if this machine cannot run plans: ``backend`` is
    ``"cage"`` and a layer is missing, or Monty is needed and not installed.
    """

    def __init__(
        self,
        limits: Limits = Limits(),  # noqa: B008  # frozen
        *,
        allow_weak: bool = False,
        backend: BackendName | Backend = "auto",
        imports: Iterable[str] | str = (),
    ) -> None:
        self.imports = read_imports(imports)
        self.limits = limits if isinstance(backend, str) else backend.limits
        self._allow_weak = allow_weak
        self._asked_for = backend

    @cached_property
    def _backend(self) -> Backend:
        if not isinstance(self._asked_for, str):
            return self._asked_for if not self.imports else _refuse_imports("a backend of your own runs")
        if self._asked_for != "cage":
            lack = find_cage_lack(allow_weak=self._allow_weak)
            if lack or self._asked_for == "monty":
                if self.imports:
                    _refuse_imports("Monty runs")
                return _monty_backend(self.limits, lack)
        elif unavailable := _find_cage_off():
            raise SandboxError(f"the cage is not available: {unavailable}")
        from codeplan.sandbox.host.locked_backend import LockedBackend

        return LockedBackend(self.limits, allow_weak=self._allow_weak, imports=self.imports)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_backend"}

    @property
    def uses_monty(self) -> bool:
        """Whether Monty runs the plans."""
        backend, monty = self._backend, sys.modules.get("codeplan.sandbox.monty.backend")  # imported where it is chosen
        return monty is not None and isinstance(backend, monty.MontyBackend)

    @property
    def missing_layers(self) -> tuple[str, ...]:
        """The necessary layers of the cage that are missing and that ``allow_weak`` accepts; empty with Monty."""
        return self._backend.missing_layers

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for readers of the results: that the sandbox is weaker or another one. Empty if the cage is
        complete.
        """
        if self.uses_monty:
            lack = find_cage_lack(allow_weak=self._allow_weak)
            return (f"Monty runs the plans: {f'the cage is not available ({lack})' if lack else 'as asked for'}",)
        return tuple(f"the sandbox runs without {layer}" for layer in self.missing_layers)

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
        """Check ``source`` for an agent with this API, given as data or as the agent's class. Nothing of it runs.

        Faults with only one possible correction are mended, unless ``fixes`` is false: the result has the mended
        source and its fixes.

        ``kept`` are the names of the variables that an earlier run left; names that no plan can have are ignored. The
        plan may read them as it may read its own, unless the next run ``starts_over``, without them. ``set_before`` are
        the names that the plan of that run set: a ``return`` of one that is gone is removed, with a warning.

        Raises: UsageError: ``api`` is neither, for example the agent itself.
        """
        if not isinstance(api, AgentApi | type):
            name = type(api).__name__
            raise UsageError(
                f"check takes the class of an agent or an AgentApi, not an object of the class {name}; give type(agent)"
            )
        before: dict[str, Any] = {"kept": kept, "starts_over": starts_over, "set_before": set_before}
        return self._backend.texts.check(source, api, fixes=fixes, **before)

    def read_reply(self, reply: str) -> str:
        """Return the code in a model's reply with one final newline, or "" if there is none: a plan, or some steps.

        It is that of ``extract_code``, unless that is not Python and the reply can be read in another way that is: as
        a plan as a whole, or up to a later fence or line of prose. A worker finds out.
        """
        return self._backend.texts.read_reply(reply)

    def merge_reply(self, reply: str, before: str) -> MergedReply | Rejected | None:
        """Merge the code of a reply into the plan ``before``, if it holds only some steps; None if it is a whole plan.

        Rejected if the reply is not Python, or if its steps have no readable plan to belong to.
        """
        return self._backend.texts.merge_reply(reply, before)

    def analyse(self, topic: str, source: str, arguments: Mapping[str, Any] = {}) -> Any | Rejected:
        """Run the analysis ``topic`` on a plan's text and return plain data; Rejected if the text is not Python.

        ``codeplan.sandbox.analysis.topics`` lists the topics; ``arguments`` is plain data. A worker reads the text;
        nothing of it runs.

        Raises UsageError if the topic is unknown or the arguments do not fit, SandboxError if the analysis fails.
        """
        return self._backend.texts.analyse(topic, source, arguments)

    def run(
        self,
        plan: Plan | str,
        agent: object,
        ask: Callable[[str], str],
        start_from: int = 1,
        checkpoint: Checkpoint | None = None,
        *,
        on_event: Callable[[Progress], None] | None = None,
        seed: int = 0,
        on_coverage: Callable[[LineCoverage], None] | None = None,
        started: float | None = None,
        waits: bool = True,
    ) -> Outcome | Rejected:
        """Run a plan from step ``start_from`` with the variables of ``checkpoint``.

        The plan reaches the public methods and attributes of ``agent``, and ``ask`` as ``ask_llm``; ``seed`` seeds its
        random numbers. Its clock begins at ``started``, Unix time in seconds (None: now), and it sleeps if ``waits``.
        ``on_event`` receives each step and each piece of output at once. ``on_coverage`` receives the lines that run;
        it slows the plan down. A checked plan is not checked again. A plan given as text is compiled
        without the check of its structure (Monty checks it), and Rejected if it does not compile. Exceptions of
        codeplan that ``agent`` or ``ask`` raise pass through, except AgentError.

        Raises CheckpointError if the checkpoint is damaged, UsageError if an argument is wrong, or for ``on_coverage``
        if Monty runs the plan.
        """
        what = (plan, agent, ask, start_from, checkpoint, on_event, seed, on_coverage, started, waits)
        return self._backend.run(RunRequest(*what))


def read_imports(given: Iterable[str] | str) -> tuple[str, ...]:
    """The names of packages, in order and once each; a text has commas between them. Raises UsageError."""
    parts = [part.strip() for part in given.split(",") if part.strip()] if isinstance(given, str) else list(given)
    for name in parts:
        if fault := find_bad_import(name):
            raise UsageError(f"--imports: {in_quotes(name, 80)} {fault}")
    return tuple(sorted(set(parts)))


def _refuse_imports(who: str) -> NoReturn:
    raise UsageError(f"packages (--imports) are loaded in the cage, but here {who} the plans; leave --imports out")


def probe_layers() -> tuple[Layer, ...]:
    """The layers of the cage on this machine, found by locking a worker. Raises SandboxError if none can start."""
    if unavailable := _find_cage_off():
        raise SandboxError(f"the cage is not available: {unavailable}")
    from codeplan.sandbox.host.locked_backend import probe_layers as probe

    return probe()


def find_cage_lack(*, allow_weak: bool = False) -> str:
    """Why the cage is not available on this machine, as half a sentence; empty if it is.

    With ``allow_weak``, a cage that lacks layers counts as available. Raises SandboxError if no worker can start at
    all.
    """
    return _find_cage_off() or ("" if allow_weak else _find_missing_layers())


def _find_cage_off() -> str:
    setting = os.environ.get(CAGE_VARIABLE, "")
    if setting not in ("", "on", "off"):
        raise UsageError(f"{CAGE_VARIABLE} is {in_quotes(setting, 80)}; set it to on or off")
    if setting == "off":
        return f"{CAGE_VARIABLE} is off"
    return "" if sys.platform == "linux" else f"it needs Linux, and this is {sys.platform}"


@cache
def _find_missing_layers() -> str:
    from codeplan.sandbox.host import launcher
    from codeplan.sandbox.host.locked_backend import lacking, probe_layers

    launcher.check_workers.start()  # a check usually comes next, and the probe waits for other workers
    missing = [f"{layer.name} ({layer.detail})" for layer in lacking(probe_layers())]
    return f"this machine lacks {', '.join(missing)}" if missing else ""


def _monty_backend(limits: Limits, lack: str) -> Backend:
    """Monty; the cage checks its plans if it is available. Raises SandboxError if Monty is not installed."""
    from codeplan.sandbox.monty.backend import MontyBackend

    if lack:
        try:
            return MontyBackend(limits)
        except SandboxError as error:
            raise SandboxError(f"no plan can run here: the cage is not available ({lack}), and {error}") from None
    from codeplan.sandbox.host.locked_backend import CagedWorkers

    return MontyBackend(limits, CagedWorkers(limits, allow_weak=False))
