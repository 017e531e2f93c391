"""Keeps the text of tools and models apart from instructions in the prompts for revised plans.

What tools answer may come from an attacker who writes to the planner. Quoted, it stands between tags whose name he
cannot know. Blind, the planner gets shapes in place of it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from codeplan.episode.episode import Episode
from codeplan.recording.event_log import events_of
from codeplan.recording.events import Event, PlanDrafted, PlanFixed
from codeplan.types import Answer, Call, Failed, Outcome, Replan
from codeplan.untrusted.texts import with_count
from codeplan.untrusted.values import unpacked

_MARK_DIGITS: Final = 9
_MAX_NAMES: Final = 12  # keys and items whose shapes are shown
_MAX_DEPTH: Final = 3
_WORD: Final = re.compile(r"\w+")


def tag_mark(first: Event, texts: Iterable[object]) -> str:
    """The end of the tags' names around these texts.

    Nobody who wrote a part of the texts can know it: it depends on all of them, and on the time at which the episode
    began. A replay finds the same one.
    """
    digest = hashlib.sha256(f"{first.at:.9f}".encode())
    for text in texts:
        digest.update(b"\0" + str(text).encode(errors="replace"))
    return f"-{int(digest.hexdigest(), 16) % 10**_MARK_DIGITS:0{_MARK_DIGITS}}"  # digits always take as many tokens


def shape_text(value: object, words: Collection[str] = (), depth: int = _MAX_DEPTH) -> str:
    """What a value is, without what it says: ``str of 412 characters``, ``list of 3 of dict(id: int)``.

    ``words`` are those of the plan and of the tools' descriptions; another key is not shown, as it may be data.
    """
    match value:
        case str():
            return f"str of {with_count(len(value), 'character')}"
        case list() | tuple():
            each = f" of {shape_text(value[0], words, depth - 1)}" if value and depth else ""
            return f"{type(value).__name__} of {len(value):,}{each}"
        case dict():
            return f"dict({_fields(value, words, depth)})" if depth else f"dict of {len(value):,}"
        case bytes() | set() | frozenset():
            return f"{type(value).__name__} of {len(value):,}"
    return type(value).__name__


def words_if_blind(episode: Episode) -> frozenset[str] | None:
    """The words of an episode's plans and tools, if prompts for revised plans have shapes in place of data."""
    return words_of(episode) if episode.is_blind else None


def words_of(episode: Episode) -> frozenset[str]:
    """The words of an episode's plans and tools, in which no data stands."""
    plans = (event.source for event in events_of(episode.trace.events, PlanDrafted, PlanFixed))
    types = (each.text for each in episode.api.types)
    texts = (*plans, *(f"{m.name} {m.signature} {m.doc}" for m in episode.api.methods), *types)
    return frozenset(word for text in texts for word in _WORD.findall(text))


def _fields(value: Mapping[Any, Any], words: Collection[str], depth: int) -> str:
    """The shapes of a dict's values under its keys."""
    names = [key if isinstance(key, str) and key in words else "?" for key in value]
    shown = [f"{name}: {shape_text(each, words, depth - 1)}" for name, each in zip(names, value.values(), strict=True)]
    more = [f"and {len(shown) - _MAX_NAMES:,} more"] if len(shown) > _MAX_NAMES else []
    return ", ".join(shown[:_MAX_NAMES] + more)


def call_shape(call: Call, words: Collection[str]) -> str:
    """A call with the shapes of its arguments."""
    given = {name: shape_text(unpacked(value), words) for name, value in (call.arguments or {}).items()}
    return f"{call.name}({', '.join(f'{name}: {shape}' for name, shape in given.items())})"


def answer_shape(answer: Answer, words: Collection[str]) -> str:
    """The shape of an answer, or the type of its error."""
    return f"raised {answer.error}" if answer.error else shape_text(unpacked(answer.value), words)


def blind_outcome(outcome: Outcome, told: str) -> str:
    """What went wrong in a run, as ``told``, without the words that the plan made from data."""
    match outcome:
        case Failed():
            where = f"[Step {outcome.step}]" if outcome.step else "code outside the steps"
            return f"{where}, line {outcome.line} raised {outcome.error}"
        case Replan():
            return f"[Step {outcome.step}] asked to replan" if outcome.step else "the plan asked to replan"
    return told
