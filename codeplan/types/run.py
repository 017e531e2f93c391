"""The outcomes of one run of a plan."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from codeplan.types.display import html_table, html_text, html_value, is_empty, short_repr
from codeplan.types.plan import Checkpoint
from codeplan.types.value import Value


class ResourceUsage(Value, frozen=True):
    """The resources that a run used: wall and CPU seconds in the worker, printed characters, agent calls and
    questions.
    """

    wall: float = 0.0
    cpu: float = 0.0
    output: int = 0
    calls: int = 0
    asks: int = 0


class PlanOutcome(Value, frozen=True):
    """Base of the outcomes: shows the important fields in a line, without checkpoints."""

    def __repr__(self) -> str:
        return short_repr(self, self._shown())

    def _repr_html_(self) -> str:
        """The outcome as a table, for a notebook."""
        rows = {name: html_value(part) for name, part in self._shown().items()}
        return html_table(type(self).__name__, rows | {"output": html_text(getattr(self, "output", ""))})

    def _shown(self) -> dict[str, object]:
        parts = {name: getattr(self, name) for name in self.__struct_fields__ if name not in _LARGE_FIELDS}
        return {name: part for name, part in parts.items() if not is_empty(part)}


_LARGE_FIELDS = frozenset({"output", "checkpoint", "entries", "usage"})


class Finished(PlanOutcome, frozen=True, tag="finished"):
    """The plan ran to its end. Only the environment says whether the task succeeded.

    ``value`` is the value that the plan returned, and ``variables`` are its variables at the end, as plain data of
    bounded size (see ``codeplan.untrusted.json_values``): None, bools, numbers, texts, bytes, lists, tuples, dicts
    and sets. ``omitted`` says which variables are missing, and why; its key ``return`` stands for the value.
    """

    output: str = ""
    step: int | None = None
    checkpoint: Checkpoint = Checkpoint()
    entries: dict[int, Checkpoint] = {}
    usage: ResourceUsage = ResourceUsage()
    value: Any = None
    variables: dict[str, Any] = {}
    omitted: dict[str, str] = {}

    @property
    def value_fault(self) -> str:
        """Why ``value`` is missing, in a sentence that says what to return; empty if it is the value that the plan
        returned.
        """
        if "return" not in self.omitted:
            return ""
        fault = f"what the plan returned cannot be handed over: {self.omitted['return']}"
        return f"{fault}; return plain data, such as a list, a dict, a text or a number"


class Failed(PlanOutcome, frozen=True, tag="failed"):
    """An assertion failed, or the plan raised an exception.

    ``error`` is the exception's name, such as ``"AssertionError"``. The runtime counts ``step`` itself and does not
    read it from the message; it is None outside all steps. ``checkpoint`` holds the variables at the failure,
    ``entries`` those at the entry of each step reached.
    """

    step: int | None
    line: int | None
    error: str
    message: str
    output: str = ""
    checkpoint: Checkpoint = Checkpoint()
    entries: dict[int, Checkpoint] = {}
    usage: ResourceUsage = ResourceUsage()


class Stopped(PlanOutcome, frozen=True, tag="stopped"):
    """A limit ended the run. ``limit`` is the field of ``Limits``, ``value`` the amount used, ``allowed`` the maximum.

    ``limit`` is ``"worker"`` if the worker died or broke the protocol, and ``"episode"`` if the plan acted after the
    end of the episode. ``checkpoint`` is None if the host had to kill the worker.
    """

    limit: str
    value: float
    allowed: float
    step: int | None
    line: int | None
    message: str
    output: str = ""
    checkpoint: Checkpoint | None = None
    entries: dict[int, Checkpoint] = {}
    usage: ResourceUsage = ResourceUsage()


class Replan(PlanOutcome, frozen=True, tag="replan"):
    """The plan called ``replan(reason)``: it asks for further steps, or for another plan, because more is known now.

    This is not a failure. ``step_done`` is true if the call was the last statement of its step's block: then the step
    is done, and the next plan continues with the step after it. Otherwise the next plan resumes as after a failure.
    """

    step: int | None
    line: int | None
    reason: str
    step_done: bool
    output: str = ""
    checkpoint: Checkpoint = Checkpoint()
    entries: dict[int, Checkpoint] = {}
    usage: ResourceUsage = ResourceUsage()


class GiveUp(PlanOutcome, frozen=True, tag="give_up"):
    """The plan called ``give_up(reason)``: it considers the task impossible."""

    step: int | None
    line: int | None
    reason: str
    output: str = ""
    checkpoint: Checkpoint = Checkpoint()
    entries: dict[int, Checkpoint] = {}
    usage: ResourceUsage = ResourceUsage()


Outcome = Finished | Failed | Stopped | Replan | GiveUp


def recorded_outcome(outcome: Outcome) -> Outcome:
    """The outcome as a trace records it, without what other events hold and what differs from run to run: output,
    entries, usage, the value of a plan that ran to its end, and the variables of a stopped one.
    """
    if isinstance(outcome, Finished):
        return Finished(step=outcome.step, checkpoint=outcome.checkpoint)
    kept = replace(outcome, output="", entries={}, usage=ResourceUsage())
    return replace(kept, checkpoint=None) if isinstance(kept, Stopped) else kept
