"""Scores answers by exact match and F1, like HotpotQA's official evaluation (Yang et al., 2018)."""

from __future__ import annotations

import re
import string
from collections import Counter

from codeplan.types import Value

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_EXACT_ONLY = frozenset({"yes", "no", "noanswer"})
"""Answers that get no credit for words they share with another answer."""


class AnswerScore(Value, frozen=True):
    """``em`` is whether the answer matches exactly; the others, from 0 to 1, measure how far the words agree."""

    em: bool
    f1: float
    precision: float
    recall: float


def normalise_answer(answer: str) -> str:
    """The answer in lower case, without ASCII punctuation and articles, its words separated by single spaces."""
    bare = answer.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", bare).split())


def score_answer(answer: str, gold: str) -> AnswerScore:
    """Score an answer. Repeated words count as often as they occur."""
    given, right = normalise_answer(answer), normalise_answer(gold)
    if given != right and _EXACT_ONLY & {given, right}:
        return AnswerScore(False, 0.0, 0.0, 0.0)
    mine, theirs = given.split(), right.split()
    common = (Counter(mine) & Counter(theirs)).total()
    if not common:
        return AnswerScore(given == right, 0.0, 0.0, 0.0)
    precision, recall = common / len(mine), common / len(theirs)
    return AnswerScore(given == right, 2 * precision * recall / (precision + recall), precision, recall)
