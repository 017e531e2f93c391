"""The values that travel through codeplan. All are frozen; none knows how it was made.

Everything here is plain data (msgspec structs), so that it can be written to a trace, sent to a
worker or compared, without running anybody's code.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, TypeVar

import msgspec

_Number = TypeVar("_Number", int, float)

Purpose = Literal["plan", "check", "refine", "resume", "ask", "act", "formalise", "reflect", "embed"]
"""Why a model is called: to write a plan, to repair one that was refused, to refine one that failed,
to name the step to resume at (only with ``resume_by="model"``), to answer a plan's ``ask_llm``, to choose
an executor's next action (in methods where the model acts itself), to put that into a valid action's form, to look
back at what was done, or to embed texts, so that they can be compared by what they mean."""


class Message(TypedDict):
    """One chat message, in the form every chat endpoint takes."""

    role: Literal["system", "user", "assistant"]
    content: str


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of all values: frozen, compared by content."""


# ------------------------------------------------------------------ the task and the world


class Task(Value, frozen=True):
    """What an agent is to do in an environment.

    ``id`` is unique within the environment; ``kind`` is the family it belongs to (``"heat"``); ``goal`` is
    the sentence that the model sees, and may be empty where only the environment's ``reset`` reveals it;
    ``seed`` makes a generated task repeatable; ``split`` is ``"train"``, ``"dev"`` or ``"test"``, or the
    data set's own name for a split. ``notes`` is what a method gives along to the one that it hands
    the task to: what was done before, a reflection, a plan to go by. Tasks of environments have none.
    """

    id: str
    env: str = ""
    kind: str = ""
    goal: str = ""
    seed: int = 0
    split: str = "test"
    notes: tuple[str, ...] = ()


class Observation(Value, frozen=True):
    """What the environment answers to an action (or to ``reset``).

    ``done`` says that no further action counts; ``success`` is the environment's own word that the goal
    is reached, the only one that is believed.
    """

    text: str
    reward: float = 0.0
    done: bool = False
    success: bool = False

    def __str__(self) -> str:
        return self.text


class ActionSpace(Value, frozen=True):
    """What a model needs to know that writes an environment's actions itself, and what judges how it gets on.

    ``forms`` are the forms of all valid actions, one each, such as ``"go to RECEPTACLE"``. ``futile`` are the
    beginnings of observations that say that an action did nothing. ``calls`` is how many model calls an executor gets
    for one goal, ``patience`` after how many futile turns in a row it gives up (both as in ADaPT, where that knows the
    environment). ``status`` is an action that shows all that the agent has, empty where there is none. ``rollback``
    says that what a failed attempt did is to be undone before the next. ``rewrites`` are pairs of a regular expression
    and its replacement, for slips in an action's form.
    """

    forms: tuple[str, ...]
    futile: tuple[str, ...] = ()
    calls: int = 30
    patience: int = 5
    status: str = ""
    rollback: bool = False
    rewrites: tuple[tuple[str, str], ...] = ()

    def did_nothing(self, observation: str) -> bool:
        """Whether this observation says that the action before it did nothing."""
        return observation.startswith(self.futile)


# ------------------------------------------------------------------ the agent's API, as data


class Parameter(Value, frozen=True):
    """One parameter of an agent's method; ``kind`` is the name of an ``inspect`` parameter kind."""

    name: str
    kind: Literal["POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD"] = (
        "POSITIONAL_OR_KEYWORD"
    )
    required: bool = True


class AgentMethod(Value, frozen=True):
    """A public method: ``signature`` as Python writes it without ``self``, ``doc`` its whole docstring."""

    name: str
    signature: str
    doc: str = ""
    parameters: tuple[Parameter, ...] = ()


class AgentAttribute(Value, frozen=True):
    """A public attribute that a plan may read; ``type`` is the annotation's text, or empty."""

    name: str
    type: str = ""
    doc: str = ""


class AgentApi(Value, frozen=True):
    """All that a plan may use of an agent. Made by ``codeplan.api.agent_api``, and nowhere else."""

    methods: tuple[AgentMethod, ...] = ()
    attributes: tuple[AgentAttribute, ...] = ()
    doc: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every public name: methods first, then attributes."""
        return tuple(m.name for m in self.methods) + tuple(a.name for a in self.attributes)


# ------------------------------------------------------------------ the plan


class Diagnostic(Value, frozen=True):
    """One reason why a plan is refused. ``line`` and ``column`` count from 1; 0 means the whole plan.

    ``rule`` is a stable name to filter by; ``message`` is a sentence that says what to write instead.
    """

    line: int
    column: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message} [{self.rule}]"


class Step(Value, frozen=True):
    """One step of a plan: the block under ``if start_from <= number``.

    ``line`` to ``end_line`` is its range in the source, both included. ``digest`` changes when the step's
    code, or that of a helper function it uses, changes as syntax; comments and layout do not count.
    ``needs`` are the names that it reads before it has surely set them itself; ``sets`` those that it has surely set
    when it ends.
    """

    number: int
    line: int
    end_line: int
    title: str
    digest: str
    needs: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


class Plan(Value, frozen=True):
    """A plan that passed the check. ``provides`` are the names that code outside the steps sets anew at each run."""

    source: str
    steps: tuple[Step, ...] = ()
    provides: tuple[str, ...] = ()

    def step(self, number: int | None) -> Step | None:
        """The step with this number; None where there is none."""
        return next((s for s in self.steps if s.number == number), None)


class Rejected(Value, frozen=True):
    """A plan that was refused before any of it ran, with at least one diagnostic."""

    source: str
    diagnostics: tuple[Diagnostic, ...]


class Checkpoint(Value, frozen=True):
    """A plan's variables as data: a flat table of tagged nodes, made and read by ``codeplan.sandbox.codec`` only.

    ``names`` maps a variable to its node; ``dropped`` maps a variable that could not be saved to the reason.
    """

    names: dict[str, int] = {}
    nodes: list[Any] = []
    dropped: dict[str, str] = {}


# ------------------------------------------------------------------ what a run of a plan ends in


class Spent(Value, frozen=True):
    """What a run used: seconds of wall and CPU time in the worker, characters printed, calls and asks made."""

    wall: float = 0.0
    cpu: float = 0.0
    output: int = 0
    calls: int = 0
    asks: int = 0


class Finished(Value, frozen=True, tag="finished"):
    """The plan ran to its end (which says nothing of success: that is the environment's word)."""

    output: str
    step: int | None
    checkpoint: Checkpoint
    entries: dict[int, Checkpoint]
    spent: Spent


class Failed(Value, frozen=True, tag="failed"):
    """An assertion failed, or the plan raised. ``step`` is the runtime's own count, never the message's claim.

    ``error`` is ``"AssertionError"`` or the name of the exception; ``checkpoint`` holds the variables at the
    failure, ``entries`` those at the entry of each step that was reached. ``step`` is None outside all steps.
    """

    step: int | None
    line: int | None
    error: str
    message: str
    output: str
    checkpoint: Checkpoint
    entries: dict[int, Checkpoint]
    spent: Spent


class Stopped(Value, frozen=True, tag="stopped"):
    """A limit ended the run: ``limit`` names the field of ``Limits``, ``value`` was spent, ``allowed`` is the limit.

    ``limit`` is ``"worker"`` when the worker died or broke the protocol, ``"episode"`` when the plan acted on after
    the environment's end. ``checkpoint`` is None where the worker had to be killed.
    """

    limit: str
    value: float
    allowed: float
    step: int | None
    line: int | None
    message: str
    output: str
    checkpoint: Checkpoint | None
    entries: dict[int, Checkpoint]
    spent: Spent


Outcome = Finished | Failed | Stopped


# ------------------------------------------------------------------ the model


class Usage(Value, frozen=True):
    """Tokens of one or many model calls, and what they cost. None where that is not known (never guessed).

    ``cached_tokens`` are part of the input, ``reasoning_tokens`` of the output; ``money`` is in US dollars, None where
    the model has no known price.
    """

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    money: float | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            _sum(self.money, other.money),
        )

    @property
    def total_tokens(self) -> int | None:
        """Input and output together; None where either is unknown."""
        return _sum(self.input_tokens, self.output_tokens)


NOTHING = Usage(money=0.0)
"""The usage of no call at all: what sums begin with."""


def _sum(a: _Number | None, b: _Number | None) -> _Number | None:
    return None if a is None or b is None else a + b


class Completion(Value, frozen=True):
    """A model's answer. ``text`` is never an error in disguise: failures are exceptions.

    ``finish_reason`` is ``"stop"`` for a whole answer; ``model`` is what the endpoint says answered;
    ``fingerprint`` is the endpoint's, or empty; ``retries`` is how many attempts failed before this one, and ``usage``
    counts what they are known to have spent, too.
    """

    text: str
    usage: Usage = Usage()
    finish_reason: str = "stop"
    model: str = ""
    fingerprint: str = ""
    retries: int = 0


class Embeddings(Value, frozen=True):
    """Texts as vectors: one for each text, in their order, all of the same length, their numbers finite.

    The nearer the directions of two, the nearer the texts in meaning. ``usage`` counts what failed attempts are known
    to have spent, too.
    """

    vectors: tuple[tuple[float, ...], ...]
    usage: Usage = Usage()


# ------------------------------------------------------------------ the end


class Result(Value, frozen=True):
    """How an episode ended, with its counts.

    ``reason`` is one short sentence in every case. ``asks`` are in-plan refinements (``ask_llm``), ``refinements``
    out-of-plan ones (a new plan after a failure), ``model_calls`` all calls of any purpose. ``usage`` sums the
    tokens; ``seconds`` is wall time. ``trace`` is the trace's path, None where none was written. ``plan`` is the
    source of the last plan, None for methods that write none. ``claim`` is whether the method itself held the task for
    done, None where it says nothing of that: success is the environment's word alone.
    """

    task: Task
    success: bool
    reason: str
    method: str = ""
    model: str = ""
    reward: float = 0.0
    actions: int = 0
    asks: int = 0
    refinements: int = 0
    model_calls: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    trace: str | None = None
    plan: str | None = None
    claim: bool | None = None
