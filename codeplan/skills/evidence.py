"""``evidence.jsonl``: every trial of a skill, a line each; and what the trials come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from codeplan.skills.skill import EvidencePhase, EvidenceRecord
from codeplan.types.value import Value

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(EvidenceRecord)

_RECENT_EPISODES = 10
_MIN_RECENT_EPISODES = 3


class EvidenceSummary(Value, frozen=True):
    """Counts over the trials of one version.

    ``shown`` and ``plain`` are the trials with the skill and without, ``solved`` and ``plain_solved`` the successes
    among them; ``wins`` are the pairs that only the trial with the skill solved, ``losses`` those that only the one
    without did; ``failing`` says that the latest trials with it (ten at most, three at least) mostly failed.
    """

    shown: int = 0
    solved: int = 0
    baseline: int = 0
    baseline_solved: int = 0
    wins: int = 0
    losses: int = 0
    failing: bool = False


def encode_record(record: EvidenceRecord) -> bytes:
    """The line of a trial, without its end."""
    return _encoder.encode(record)


def decode_records(data: bytes) -> tuple[list[EvidenceRecord], list[int]]:
    """The trials of a file, and the numbers of the lines that hold none, counted from 1."""
    trials: list[EvidenceRecord] = []
    bad: list[int] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            trials.append(_decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            bad.append(number)
    return trials, bad


def paired_outcomes(
    records: Iterable[EvidenceRecord], version: int, phase: EvidencePhase = "filter"
) -> list[tuple[bool, bool]]:
    """Success with the skill and without, for each task, seed and model that was tried both ways; the latest counts."""
    outcomes: dict[tuple[str, int, str], dict[bool, bool]] = {}
    for t in records:
        if t.version == version and t.phase == phase:
            outcomes.setdefault((t.task, t.seed, t.model), {})[t.shown] = t.success
    return [(both[True], both[False]) for both in outcomes.values() if len(both) == 2]


def summarise_evidence(records: Sequence[EvidenceRecord], version: int) -> EvidenceSummary:
    """What the trials of a version come to."""
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
