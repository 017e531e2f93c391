"""Finds the nouns of product names. WebShop's reward compares them to decide whether two products are of one type."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from codeplan.errors import UsageError
from codeplan.untrusted.values import in_quotes

NounFinder = Callable[[str], tuple[str, ...]]
"""Returns the nouns and proper nouns of a product's name, in lower case and in order, duplicates included."""

_WORD = re.compile(r"[^\W\d_](?:[\w]|['’](?=\w)|&(?=\w))*")
_FUNCTION_WORDS = (
    "a an the this that these those of for with without in on at by to from up off over under into onto out than as "
    "per and or nor but if so not no is are was be been being has have had do does can will would may it its you "
    "your our we us my me his her their them who which what when where how all any both each every more most other "
    "some such only own same too very just also plus one two three four five six seven eight nine ten x w vs via"
)
_ADJECTIVES = (
    "new old big small large medium mini tiny huge long short tall high low wide narrow slim thin thick heavy light "
    "lightweight soft hard warm cool cold hot dry wet fresh clean clear dark bright black white red blue green "
    "yellow brown pink purple gray grey beige navy natural organic pure raw real fake faux genuine vegan healthy "
    "sweet sour salty spicy rich deep full empty whole half double single dual multi extra super ultra best better "
    "good great nice cute sexy cozy comfy loose tight casual formal classic modern vintage retro simple plain fancy "
    "elegant luxury premium professional portable compact foldable adjustable removable reusable washable "
    "waterproof durable sturdy flexible elastic breathable stretchy electric electronic digital analog automatic "
    "manual wireless smart fast quick quiet safe easy free compatible suitable perfect ideal unique special "
    "different various assorted round square oval flat curved straight curly wavy open closed sensitive gentle mild "
    "strong daily annual"
)
_NON_NOUNS = frozenset(f"{_FUNCTION_WORDS} {_ADJECTIVES}".split())
_ADJECTIVE_ENDING = re.compile(r".{3,}(?:able|ible|less|ful|ous|ive|ish|est|ly|proof|ical|ed)$")


def make_noun_finder(how: str) -> NounFinder:
    """The finder for ``rules``, ``spacy`` or ``spacy:PIPELINE``. Raises: UsageError for anything else."""
    if how == "rules":
        return find_nouns_by_rules
    tool, _, pipeline = how.partition(":")
    if tool != "spacy":
        raise UsageError(f"WebShop's setting nouns is {in_quotes(how)}; give rules, spacy, or spacy:PIPELINE")
    return make_spacy_noun_finder(pipeline or "en_core_web_lg")


def find_nouns_by_rules(name: str) -> tuple[str, ...]:
    """All words except function words, common adjectives and words with an adjective's ending."""
    words = (word.lower() for word in _WORD.findall(name))
    return tuple(word for word in words if len(word) > 1 and not _is_not_a_noun(word))


def make_spacy_noun_finder(model: str) -> NounFinder:
    """A finder that uses an installed spaCy pipeline, by name (WebShop's is ``en_core_web_lg``) or folder.

    Nothing is downloaded. Raises: UsageError if spaCy or the pipeline is missing.
    """
    tag = _load_pipeline(model)

    @cache
    def nouns(name: str) -> tuple[str, ...]:
        return tuple(token.text.lower() for token in tag(name) if token.pos_ in ("NOUN", "PROPN"))

    return nouns


def _is_not_a_noun(word: str) -> bool:
    return word in _NON_NOUNS or _ADJECTIVE_ENDING.match(word) is not None


@cache
def _load_pipeline(model: str) -> Callable[[str], Any]:
    try:
        pipeline: Callable[[str], Any] = importlib.import_module("spacy").load(model)
    except ImportError:
        raise UsageError("nouns by spaCy need its package: pip install 'codeplan[spacy]'; or leave nouns out") from None
    except OSError:
        raise UsageError(
            f"the spaCy pipeline {in_quotes(model)} is not installed; install it (python -m spacy download "
            "en_core_web_lg gives the one that WebShop uses), name one by nouns='spacy:NAME', or leave nouns out"
        ) from None
    return pipeline
