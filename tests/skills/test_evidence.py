"""Evidence: what counts as a pair, and when a skill counts as failing."""

import pytest

from codeplan.skills.skill import EvidenceRecord, paired_outcomes, summarise_evidence


def records(outcomes, version=1):
    return [EvidenceRecord(f"t/{i}", i, "m", True, success, version) for i, success in enumerate(outcomes)]


@pytest.mark.parametrize(
    ("outcomes", "failing"),
    [
        ([False] * 2, False),
        ([False] * 3, True),
        ([True, True, False, False], False),
        ([True, False, False], True),
        ([False] * 10 + [True] * 5, False),
        ([True] * 5 + [False] * 6, True),
        ([True] * 20 + [False] * 5, False),
        ([True] * 20 + [False] * 6, True),
    ],
)
def test_a_skill_fails_if_most_of_the_last_ten_and_at_least_three_episodes_failed(outcomes, failing):
    assert summarise_evidence(records(outcomes), 1).failing is failing
    assert not summarise_evidence(records(outcomes), 2).failing


def test_a_pair_is_one_task_seed_and_model_and_the_latest_outcome_counts():
    def record(shown, success, **more):
        return EvidenceRecord(
            more.get("task", "t/1"), 1, more.get("model", "m"), shown, success, 1, more.get("phase", "filter")
        )

    both = [record(True, False), record(False, False), record(True, True)]
    alone = [record(True, True, task="t/2"), record(False, True, model="n"), record(True, True, phase="use", model="n")]
    assert paired_outcomes([*both, *alone], 1) == [(True, False)]
    assert paired_outcomes(both, 2) == []
