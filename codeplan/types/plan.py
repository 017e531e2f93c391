"""Plans, the API that they are written over, their checkpoints, and the outcomes of their runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from codeplan.types.value import MAX_ROWS, Value, html_table, html_text, html_value, is_empty, short_repr

_MAX_SENTENCE = 100
_MAX_NAMES = 100  # characters of a method's name and parameters, on one line
_MAX_UNKNOWN = 5  # names of arguments that a method lacks, in one message


class AgentParameter(Value, frozen=True):
    """One parameter of an agent's method; ``kind`` is the name of an ``inspect`` parameter kind.

    ``type`` is the type of its values in Python's notation, if every call with a constant of another type would be
    refused; otherwise it is empty.
    """

    name: str
    kind: Literal["POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD"] = (
        "POSITIONAL_OR_KEYWORD"
    )
    required: bool = True
    type: str = ""


class AgentMethod(Value, frozen=True):
    """A public method. ``signature`` is Python's, without ``self``; ``doc`` is the whole docstring."""

    name: str
    signature: str
    doc: str = ""
    parameters: tuple[AgentParameter, ...] = ()

    @property
    def first_line(self) -> str:
        """The method on one line: its name, its parameters' names, its type and its first sentence, shortened."""
        names = ", ".join(p.name if p.required else f"{p.name}=…" for p in self.parameters)
        said, returns = self.doc.partition("\n")[0].partition(". ")[0], self.signature.rpartition(" -> ")[2]
        shown = f" -> {returns}" if " -> " in self.signature and len(returns) <= _MAX_SENTENCE else ""
        form = f"{self.name}({_shortened(names, max(0, _MAX_NAMES - len(self.name)))})"
        return f"{form}{shown}: {_shortened(said, _MAX_SENTENCE)}"

    def explain_misfit(self, keywords: Iterable[str], error: TypeError) -> str:
        """Why a call does not fit: the keywords that the method lacks, otherwise what ``inspect`` said in ``error``.

        Python would name the missing argument, and not the argument with a wrong name.
        """
        if any(p.kind == "VAR_KEYWORD" for p in self.parameters):
            return str(error)
        own = [p.name for p in self.parameters if p.kind != "VAR_POSITIONAL"]
        unknown = [f"`{name[:_MAX_SENTENCE]}`" for name in keywords if name not in own][:_MAX_UNKNOWN]
        if not unknown:
            return str(error)
        return f"{self.name} has no argument {' or '.join(unknown)}; it has {', '.join(own) or 'none'}"


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


class AgentAttribute(Value, frozen=True):
    """A public attribute that a plan may read. ``type`` is the annotation's text, or empty."""

    name: str
    type: str = ""
    doc: str = ""


class AgentType(Value, frozen=True):
    """A name in signatures that stands for plain data; ``text`` says for which, in Python's notation."""

    name: str
    text: str


class AgentTool(Value, frozen=True):
    """A tool as data: its method, and the names in the method's signature that stand for plain data."""

    method: AgentMethod
    types: tuple[AgentType, ...] = ()


class ReturnType(Value, frozen=True):
    """The type that the user wants the value of a plan to have, in Python's notation.

    ``types`` are the names in it that stand for plain data, without those that tools' signatures have as well.
    """

    text: str
    types: tuple[AgentType, ...] = ()


ASK_USER = AgentMethod(
    "ask_user",
    "(question, form='', refused='')",
    "The user's answer.",
    (AgentParameter("question"), AgentParameter("form", required=False), AgentParameter("refused", required=False)),
)
"""The method behind a plan's ``ask_user``: ``form`` is the form of the answer in words, empty for any text, and
``refused`` says what the answer before lacked, if this is the same question again.
"""


class AgentApi(Value, frozen=True):
    """Everything that a plan may use of an agent; made by ``codeplan.agent_interface.agent_api``.

    ``aliases`` are pairs of another name, under which models look for a method, and the method's name. The check
    rewrites them. ``types`` are the names in signatures that a reader must have explained. ``brief`` names methods that
    prompts show on one line only, and ``unlisted`` those that they do not show. ``describe`` is the name of the method
    that returns their whole descriptions, if there are any, and ``report`` that of the agent's report. ``asks_user``:
    plans may ask the user (``ask_user``).
    """

    methods: tuple[AgentMethod, ...] = ()
    attributes: tuple[AgentAttribute, ...] = ()
    doc: str = ""
    aliases: tuple[tuple[str, str], ...] = ()
    types: tuple[AgentType, ...] = ()
    brief: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    describe: str = ""
    report: str = "report"
    asks_user: bool = False

    @property
    def callables(self) -> tuple[AgentMethod, ...]:
        """The methods that a running plan may call; only ``ask_user`` is not written as one."""
        return (*self.methods, ASK_USER) if self.asks_user else self.methods

    @property
    def names(self) -> tuple[str, ...]:
        """All public names: methods, then attributes."""
        return tuple(m.name for m in self.methods) + tuple(a.name for a in self.attributes)


class Diagnostic(Value, frozen=True):
    """One reason why the check refuses a plan. ``line`` and ``column`` count from 1; 0 means the whole plan.

    ``rule`` is a stable name to filter by; ``message`` says what to write instead.
    """

    line: int
    column: int
    rule: str
    message: str

    @property
    def place(self) -> str:
        """What follows a file's name: ``:3:5``; empty for the whole plan."""
        return f":{self.line}:{self.column}" if self.line else ""

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        return f"{f'line {self.line}{column}: ' if self.line else ''}{self.message} [{self.rule}]"


class Fix(Value, frozen=True):
    """One change that the check made to a plan, by a rule. ``line`` counts from 1 in the text that the rule found.

    ``was`` and ``now`` are the line of code before and after; ``now`` is empty if the code was removed.
    """

    rule: str
    line: int
    was: str
    now: str

    @property
    def change(self) -> str:
        """The change in words."""
        return f"`{self.was}` became `{self.now}`" if self.now else f"`{self.was}` was removed"

    def __str__(self) -> str:
        return f"line {self.line}: {self.change}"


class Step(Value, frozen=True):
    """One step of a plan: the block under ``if start_from <= number``.

    It spans the source from ``line`` to ``end_line``, inclusive. ``digest`` identifies the syntax of the step and of
    the helper functions it uses; comments and layout do not count. ``needs`` are the names that it may read before it
    sets them; ``sets`` are the names that it has certainly set at its end. ``replan_line`` is the line of the call of
    ``replan`` that ends the block; None if the block ends otherwise. That call is not part of the digest.
    """

    number: int
    line: int
    end_line: int
    title: str
    digest: str
    needs: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    replan_line: int | None = None


class Plan(Value, frozen=True):
    """A plan that passed the check. ``provides`` are the names that code outside the steps sets at every run.

    ``source`` is the text after the ``fixes``. ``warnings`` do not keep the plan from running. ``start_from`` is the
    step at which the plan's header says to resume (``start_from=3``); None if it says 1 or nothing. ``needs`` are the
    names that the code after the last step may read before it sets them. ``kept`` are names that are read before
    anything in the plan sets them: variables of a run before, with which this plan must start.
    """

    source: str
    steps: tuple[Step, ...] = ()
    provides: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    start_from: int | None = None
    needs: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    def step(self, number: int | None) -> Step | None:
        """The step with this number, or None."""
        return next((s for s in self.steps if s.number == number), None)

    def __repr__(self) -> str:
        shown: dict[str, object] = {"steps": [step.title for step in self.steps]}
        shown |= {"fixes": len(self.fixes)} if self.fixes else {}
        shown |= {"warnings": [w.rule for w in self.warnings]} if self.warnings else {}
        return short_repr(self, shown | ({"start_from": self.start_from} if self.start_from else {}))

    def _repr_html_(self) -> str:
        """The plan's steps as a table, for a notebook; the source unfolds below it."""
        steps = {f"Step {step.number}": html_text(step.title) or "…" for step in self.steps[:MAX_ROWS]}
        rows = steps | {"Fixes": html_text("\n".join(map(str, self.fixes)))}
        return html_table("Plan", rows | {"Warnings": html_text("\n".join(map(str, self.warnings)))}, self.source)


class Rejected(Value, frozen=True):
    """A plan that the check refused, with at least one diagnostic. None of it ran.

    ``source`` is the text after the ``fixes``; the diagnostics are about that text.
    """

    source: str
    diagnostics: tuple[Diagnostic, ...]
    fixes: tuple[Fix, ...] = ()

    def __repr__(self) -> str:
        return short_repr(self, {"diagnostics": [str(d) for d in self.diagnostics]})

    def _repr_html_(self) -> str:
        """The diagnostics as a table, for a notebook; the source unfolds below it."""
        return html_table("Refused", {"Reasons": html_text("\n".join(map(str, self.diagnostics)))}, self.source)


def refuse_warnings(checked: Plan | Rejected) -> Plan | Rejected:
    """The result of a strict check, which refuses a plan with warnings."""
    if isinstance(checked, Plan) and checked.warnings:
        return Rejected(checked.source, checked.warnings, checked.fixes)
    return checked


class Checkpoint(Value, frozen=True):
    """A plan's variables as data: a flat table of tagged nodes. Only ``sandbox.protocol.codec`` makes and reads it.

    ``names`` maps a variable to its node; ``dropped`` maps a variable that could not be saved to the reason.
    """

    names: dict[str, int] = {}
    nodes: list[Any] = []
    dropped: dict[str, str] = {}

    def __repr__(self) -> str:
        return short_repr(self, {"names": list(self.names)} | ({"dropped": self.dropped} if self.dropped else {}))


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


class Fault(NamedTuple):
    """What ended a plan before its end: the name of an error, of a limit, ``replan`` or ``give_up``, and the words."""

    name: str
    message: str


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
    def fault(self) -> None:
        """Nothing ended the plan before its end."""
        return None

    @property
    def line(self) -> None:
        """A plan that ran to its end ended at no line."""
        return None

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

    @property
    def fault(self) -> Fault:
        """What ended the plan."""
        return Fault(self.error, self.message)


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

    @property
    def fault(self) -> Fault:
        """What ended the plan."""
        return Fault(self.limit, self.message)


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

    @property
    def fault(self) -> Fault:
        """What ended the plan."""
        return Fault("replan", self.reason)


class GiveUp(PlanOutcome, frozen=True, tag="give_up"):
    """The plan called ``give_up(reason)``: it considers the task impossible."""

    step: int | None
    line: int | None
    reason: str
    output: str = ""
    checkpoint: Checkpoint = Checkpoint()
    entries: dict[int, Checkpoint] = {}
    usage: ResourceUsage = ResourceUsage()

    @property
    def fault(self) -> Fault:
        """What ended the plan."""
        return Fault("give_up", self.reason)


Outcome = Finished | Failed | Stopped | Replan | GiveUp


def recorded_outcome(outcome: Outcome) -> Outcome:
    """The outcome as a trace records it, without what other events hold and what differs from run to run: output,
    entries, usage, the value of a plan that ran to its end, and the variables of a stopped one.
    """
    if isinstance(outcome, Finished):
        return Finished(step=outcome.step, checkpoint=outcome.checkpoint)
    kept = replace(outcome, output="", entries={}, usage=ResourceUsage())
    return replace(kept, checkpoint=None) if isinstance(kept, Stopped) else kept
