"""How an answer is scored: exact match and F1, as the official evaluation of HotpotQA does (Yang et al., 2018)."""

from __future__ import annotations

import re
import string
from collections import Counter

from codeplan.types.value import Value

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_WHOLE = frozenset({"yes", "no", "noanswer"})
"""Answers that are right or wrong as a whole: words that they share with another answer count for nothing."""


class AnswerScore(Value, frozen=True):
    """What an answer is worth: whether it matches the right one exactly, and how far their words agree (0 to 1)."""

    em: bool
    f1: float
    precision: float
    recall: float


def normalise_answer(answer: str) -> str:
    """The answer in small letters, without ASCII punctuation, without articles, single spaces between its words."""
    bare = answer.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", bare).split())


def score_answer(answer: str, gold: str) -> AnswerScore:
    """Score an answer. Words are counted as often as they occur."""
    given, right = normalise_answer(answer), normalise_answer(gold)
    if given != right and _WHOLE & {given, right}:
        return AnswerScore(False, 0.0, 0.0, 0.0)
    mine, theirs = given.split(), right.split()
    common = (Counter(mine) & Counter(theirs)).total()
    if not common:
        return AnswerScore(given == right, 0.0, 0.0, 0.0)
    precision, recall = common / len(mine), common / len(theirs)
    return AnswerScore(given == right, 2 * precision * recall / (precision + recall), precision, recall)
