"""Answers get the scores of HotpotQA's official evaluation."""

import re
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codeplan.envs.hotpotqa.scoring import normalise_answer, score_answer


def official_words(text):
    """The rules of the evaluation, step by step: small letters; no punctuation; no articles; single spaces."""
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def official_f1(answer, gold):
    mine, right = official_words(answer), official_words(gold)
    for special in (["yes"], ["no"], ["noanswer"]):
        if special in (mine, right) and mine != right:
            return 0.0, 0.0, 0.0
    left, same = list(right), 0
    for word in mine:
        if word in left:
            left.remove(word)
            same += 1
    if same == 0:
        return 0.0, 0.0, 0.0
    precision, recall = same / len(mine), same / len(right)
    return 2 * precision * recall / (precision + recall), precision, recall


WORDS = st.sampled_from(
    [
        "yes",
        "No",
        "noanswer",
        "the",
        "A",
        "an",
        "sea",
        "Sea,",
        "North",
        "1,094",
        "U.S.",
        "—",
        "É",
        'Jonny"',
        "a.",
        "the-end",
    ]
)
ANSWERS = st.one_of(
    st.lists(WORDS, max_size=6).map(" ".join), st.text(max_size=20), st.lists(WORDS, max_size=4).map("\t".join)
)


@settings(max_examples=1000, deadline=None)
@given(ANSWERS, ANSWERS)
@example("", "")
@example("the", "")
@example("no", "no way")
def test_exact_match_and_f1_are_the_official_ones(answer, gold):
    made = score_answer(answer, gold)
    assert made.em == (official_words(answer) == official_words(gold))
    assert (made.f1, made.precision, made.recall) == pytest.approx(official_f1(answer, gold))


@pytest.mark.parametrize(
    ("answer", "gold", "em", "f1"),
    [
        ("The North Sea.", "north sea", True, 1.0),
        ("Sea", "the North Sea", False, 2 / 3),
        ("sea sea", "sea", False, 2 / 3),
        ("yes it is", "yes", False, 0.0),
        ("noanswer", "the noanswer", True, 1.0),
        ("1,094", "1094", True, 1.0),
        ("theatre", "atre", False, 0.0),
        ("", "the", True, 0.0),
    ],
)
def test_answers_get_these_scores(answer, gold, em, f1):
    assert (score_answer(answer, gold).em, score_answer(answer, gold).f1) == (em, pytest.approx(f1))


def test_an_answer_is_normalised():
    assert normalise_answer("  An  Apple, a\tDay—the 'end'! ") == "apple day— end"
