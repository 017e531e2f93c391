"""``evidence.jsonl``: one record a line for each episode with or without a skill, and summaries of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from codeplan.skills.skill import EvidencePhase, EvidenceRecord
from codeplan.types import Value

_encoder = msgspec.json.Encoder()
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


def encode_record(record: EvidenceRecord) -> bytes:
    """Return a record as a line, without its newline."""
    return _encoder.encode(record)


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


def paired_outcomes(
    records: Iterable[EvidenceRecord], version: int, phase: EvidencePhase = "filter"
) -> list[tuple[bool, bool]]:
    """Return (success with, success without) for each task, seed and model run both ways; the latest counts."""
    outcomes: dict[tuple[str, int, str], dict[bool, bool]] = {}
    for t in records:
        if t.version == version and t.phase == phase:
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
