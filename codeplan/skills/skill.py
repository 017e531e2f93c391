"""A skill, the evidence for it, and what the evidence shows."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal, Protocol, runtime_checkable

import msgspec

from codeplan.skills.answer_shapes import ToolAnswersByName
from codeplan.skills.tool_names import NameSource
from codeplan.skills.value_forms import ValueForm
from codeplan.statistics import mcnemar_exact, wilson_interval
from codeplan.types import AgentTool, Task, Value
from codeplan.untrusted.values import in_quotes

SkillStatus = Literal["candidate", "active", "retired"]
"""``candidate``: not proven yet; ``active``: shown to planners; ``retired``: never shown again."""

EvidencePhase = Literal["acquire", "filter", "check", "use"]
"""Why the episode ran: to prove a new candidate on its own task, to compare with and without it, to test an active
skill, or as a user's episode.
"""


class SkillOrigin(Value, frozen=True):
    """An episode whose success became the skill: its task, the model and the run (empty without a trace)."""

    task: str
    goal: str = ""
    model: str = ""
    run: str = ""


MAX_PATTERN: Final = 600
MAX_PATTERNS: Final = 40
MAX_THINGS: Final = 6

_Pattern = Annotated[str, msgspec.Meta(max_length=MAX_PATTERN)]
_Patterns = Annotated[tuple[_Pattern, ...], msgspec.Meta(max_length=MAX_PATTERNS)]


class GoalPieces(Value, frozen=True):
    """Patterns (``skills.patterns``) of the pieces in which people say a skill's goal, in any order.

    ``does`` has a group for each thing that the goal asks for: a goal says each in one of its patterns. ``has`` are
    patterns that give values. ``other`` are patterns of whole goals that sound like it and ask for something else.
    """

    does: Annotated[tuple[_Patterns, ...], msgspec.Meta(max_length=MAX_THINGS)] = ()
    has: _Patterns = ()
    other: _Patterns = ()


class Skill(Value, frozen=True):
    """A plan for a kind of task, whose parameters are set at its head.

    ``kind`` is empty if it is for any kind; ``parameters`` are the names that ``parameter_binding`` finds in the plan.
    ``version`` counts from 1 and grows with each change of the plan; evidence counts for one version. ``pinned`` keeps
    curation from changing its status. ``score`` is how well it fits the task it was found for (higher is better), 0
    outside a search. ``tools`` are the user's tools that the plan needs, as they were when it solved its task. ``said``
    are other phrases for its goal, with parameters' names in braces, ``words`` are groups of words that mean the same
    in them, and ``pieces`` say it in pieces (``skills.phrases``). ``forms`` are how goals say values in other words
    than the plan, and ``sources`` the calls whose answers list values. ``answers`` are the shapes of what tools
    answered to the plan when it was proven.
    """

    name: str
    env: str
    plan: str
    kind: str = ""
    description: str = ""
    parameters: tuple[str, ...] = ()
    version: int = 1
    status: SkillStatus = "candidate"
    pinned: bool = False
    origins: tuple[SkillOrigin, ...] = ()
    score: float = 0.0
    tools: tuple[AgentTool, ...] = ()
    said: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()
    pieces: GoalPieces = GoalPieces()
    forms: tuple[ValueForm, ...] = ()
    sources: tuple[NameSource, ...] = ()
    answers: ToolAnswersByName = {}


def find_tool_difference(needed: Iterable[AgentTool], offered: Iterable[AgentTool], *, by_words: bool = True) -> str:
    """How the tools at hand differ from those that a skill needs, in clauses; empty if they are described alike.

    A description that has changed may say that a number is in another unit, or that a list has pages now. Without
    ``by_words``, only signatures count.
    """
    there = {tool.method.name: tool for tool in offered}
    return "; ".join(d for tool in needed if (d := _difference_of(tool, there.get(tool.method.name), by_words)))


def shares_tools(needed: Iterable[AgentTool], offered: Iterable[AgentTool]) -> bool:
    """Whether one of the tools that a skill needs is at hand, by its name."""
    return not {tool.method.name for tool in needed}.isdisjoint(tool.method.name for tool in offered)


def _difference_of(tool: AgentTool, now: AgentTool | None, by_words: bool) -> str:
    name = tool.method.name
    if now is None:
        return f"there is no tool {in_quotes(name, 100)}"
    if _typed_signature(tool) != _typed_signature(now):
        is_text, was_text = (in_quotes(f"{name}{t.method.signature}", 300) for t in (now, tool))
        more = ", with other types" if is_text == was_text else ""
        return f"the tool is {is_text}, and the skill needs {was_text}{more}"
    is_doc, was_doc = (" ".join(t.method.doc.split()) for t in (now, tool))
    if by_words and is_doc != was_doc:
        said = f"is described as {in_quotes(is_doc, 300)} now, and was as {in_quotes(was_doc, 300)}"
        return f"the tool {in_quotes(name, 100)} {said}"
    return ""


def _typed_signature(tool: AgentTool) -> tuple[str, frozenset[tuple[str, str]]]:
    return tool.method.signature, frozenset((t.name, t.text) for t in tool.types)


class EvidenceRecord(Value, frozen=True):
    """One episode with, or without, a skill in its prompt.

    ``version`` is the skill's; ``shown`` is whether the episode had it; ``run`` is the episode's folder, empty without
    a trace; ``at`` is Unix time; ``reason`` says why the skill's own plan failed, as in a tool's new error. Two records
    of one task, seed, model and phase, one with the skill and one without, are a pair.
    """

    task: str
    seed: int
    model: str
    shown: bool
    success: bool
    version: int = 1
    phase: EvidencePhase = "use"
    run: str = ""
    at: float = 0.0
    reason: str = ""


_decoder = msgspec.json.Decoder(EvidenceRecord)

_RECENT_EPISODES = 10
_MIN_RECENT_EPISODES = 3


class EvidenceSummary(Value, frozen=True):
    """Counts over the evidence for one version of a skill.

    ``shown`` and ``baseline`` count the episodes with and without the skill, ``solved`` and ``baseline_solved`` their
    successes. ``wins`` are the pairs that only the episode with the skill solved, ``losses`` those that only the
    episode without it solved. ``failing`` means that most of the last ten episodes with the skill failed (of at least
    three).
    """

    shown: int = 0
    solved: int = 0
    baseline: int = 0
    baseline_solved: int = 0
    wins: int = 0
    losses: int = 0
    failing: bool = False


def decode_records(data: bytes) -> tuple[list[EvidenceRecord], list[int]]:
    """Return the records of a file, and the numbers (from 1) of the lines that hold none."""
    records: list[EvidenceRecord] = []
    bad: list[int] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            records.append(_decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            bad.append(number)
    return records, bad


def paired_outcomes(records: Iterable[EvidenceRecord], version: int) -> list[tuple[bool, bool]]:
    """Return (success with, success without) for each task, seed and model that filtering ran both ways; the latest
    counts.
    """
    outcomes: dict[tuple[str, int, str], dict[bool, bool]] = {}
    for t in records:
        if t.version == version and t.phase == "filter":
            outcomes.setdefault((t.task, t.seed, t.model), {})[t.shown] = t.success
    return [(both[True], both[False]) for both in outcomes.values() if len(both) == 2]


def summarise_evidence(records: Sequence[EvidenceRecord], version: int) -> EvidenceSummary:
    """Return the counts for one version."""
    of_version = [t for t in records if t.version == version]
    shown = [t.success for t in of_version if t.shown]
    plain = [t.success for t in of_version if not t.shown]
    paired = paired_outcomes(of_version, version)
    recent = shown[-_RECENT_EPISODES:]
    return EvidenceSummary(
        shown=len(shown),
        solved=sum(shown),
        baseline=len(plain),
        baseline_solved=sum(plain),
        wins=sum(w and not wo for w, wo in paired),
        losses=sum(wo and not w for w, wo in paired),
        failing=len(recent) >= _MIN_RECENT_EPISODES and 2 * sum(recent) < len(recent),
    )


SkillVerdict = Literal["helps", "harms", "open"]


# ------------------------------------------------------------------ an anytime-valid test of whether a skill helps

_UNIT = 1 << 256
"""So fine that the rounding of the terms does not change the float."""


def e_value(wins: int, losses: int) -> float:
    """Return the evidence that wins are likelier than losses: 1 at the start; 20 corresponds to p = 0.05 at any time.

    Of the pairs of episodes with and without a skill, only the discordant ones count: a win if only the episode with
    the skill succeeded, a loss if only the other one did. If the skill does not help, a win is at most as likely as a
    loss, and a gambler who bets on wins gains nothing on average. The wealth of one who spreads one unit evenly over
    all win rates from 1/2 to 1 is

        E = 2 ∫ 2^n θ^wins (1 - θ)^losses dθ,  θ from 1/2 to 1,  n = wins + losses

    This is an e-process: by Ville's inequality (Ville, "Étude critique de la notion de collectif", 1939) it ever
    exceeds 1/α with probability at most α. The test may therefore be evaluated after every pair and stopped at any
    time. Such mixtures go back to Robbins, "Statistical methods related to the law of the iterated logarithm" (1970);
    for this use see Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid inference"
    (2023), sections 2 and 4.

    The integral is a sum of binomial coefficients, added up from the largest index in units of 2^-256, each term from
    the one before. The sum ends where terms vanish, or above the largest float, which is the cap. Raises: ValueError
    for negative counts.
    """
    if wins < 0 or losses < 0:
        raise ValueError("counts must not be negative")
    total = term = _UNIT
    highest = int(sys.float_info.max) * (losses + 1) * _UNIT
    for i in range(wins):
        term = term * (wins - i) // (losses + 2 + i)
        total += term
        if not term or total > highest:
            break
    return min(total, highest) / ((losses + 1) * _UNIT)


def sequential_verdict(wins: int, losses: int, level: float = 0.05) -> SkillVerdict:
    """Return the verdict at this point. Each of the two claims is wrong with probability at most ``level``."""
    if e_value(wins, losses) >= 1 / level:
        return "helps"
    return "harms" if e_value(losses, wins) >= 1 / level else "open"


def can_reach(wins: int, losses: int, left: int, level: float = 0.05) -> bool:
    """Whether ``left`` more pairs, if all are wins, would show that the skill helps."""
    return e_value(wins + left, losses) >= 1 / level


class SkillStatistics(Value, frozen=True):
    """One version of a skill: episodes ``shown`` with it and ``baseline`` without, successes, and Wilson intervals.

    ``wins`` and ``losses`` are the discordant pairs; ``p_value`` is McNemar's exact p, ``e_value`` the evidence that
    the skill helps. ``failing`` means that most of its latest episodes failed. ``last_failure`` is why its own plan
    failed last, as in a tool's new error; empty if it has not.
    """

    skill: str
    env: str
    version: int
    status: str
    shown: int
    solved: int
    interval: tuple[float, float]
    baseline: int
    baseline_solved: int
    baseline_interval: tuple[float, float]
    wins: int
    losses: int
    p_value: float
    e_value: float
    failing: bool
    last_failure: str = ""


def skill_statistics(skill: Skill, records: Sequence[EvidenceRecord]) -> SkillStatistics:
    """Return the statistics of the skill's current version."""
    t = summarise_evidence(records, skill.version)
    failures = [r.reason for r in records if r.version == skill.version and not r.success and r.reason]
    return SkillStatistics(
        **msgspec.structs.asdict(t),
        last_failure=failures[-1] if failures else "",
        skill=skill.name,
        env=skill.env,
        version=skill.version,
        status=skill.status,
        interval=wilson_interval(t.solved, t.shown),
        baseline_interval=wilson_interval(t.baseline_solved, t.baseline),
        p_value=mcnemar_exact(t.losses, t.wins),
        e_value=e_value(t.wins, t.losses),
    )


@runtime_checkable
class SkillStore(Protocol):
    """Finds skills for tasks and records evidence."""

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """Return at most ``limit`` skills for the task, best first; never retired or failing ones."""
        ...

    def get(self, env: str, name: str) -> Skill:
        """Return a skill, whatever its status. Raises: UsageError: there is none of this name."""
        ...

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Store the outcome of an episode with or without the skill as evidence."""
        ...
