"""Keeps the text of tools and models apart from instructions in the prompts for revised plans.

What tools answer may come from an attacker who writes to the planner. Quoted, it stands between tags whose name he
cannot know. Blind, the planner gets shapes in place of it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from codeplan.recording.events import Event
from codeplan.tools.call_texts import unpacked
from codeplan.types import Answer, Call, Failed, Outcome, Replan
from codeplan.untrusted.texts import with_count

Feedback = Literal["quoted", "blind"]
"""How a prompt tells what happened: data between tags that it cannot forge, or the shapes of data alone."""

_MARK_CHARS: Final = 6
_MAX_NAMES: Final = 12  # keys and items whose shapes are shown
_MAX_DEPTH: Final = 3
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")


def tag_mark(first: Event, texts: Iterable[object]) -> str:
    """The end of the tags' names around these texts.

    Nobody who wrote a part of the texts can know it: it depends on all of them, and on the time at which the episode
    began. A replay finds the same one.
    """
    digest = hashlib.sha256(f"{first.at:.9f}".encode())
    for text in texts:
        digest.update(b"\0" + str(text).encode(errors="replace"))
    return f"-{digest.hexdigest()[:_MARK_CHARS]}"


def shape_text(value: object, depth: int = _MAX_DEPTH) -> str:
    """What a value is, without what it says: ``str of 412 characters``, ``list of 3 of dict(id: int)``."""
    match value:
        case str():
            return f"str of {with_count(len(value), 'character')}"
        case list() | tuple():
            each = f" of {shape_text(value[0], depth - 1)}" if value and depth else ""
            return f"{type(value).__name__} of {len(value):,}{each}"
        case dict():
            return f"dict({_fields(value, depth)})" if depth else f"dict of {len(value):,}"
        case bytes() | set() | frozenset():
            return f"{type(value).__name__} of {len(value):,}"
    return type(value).__name__


def _fields(value: Mapping[Any, Any], depth: int) -> str:
    """The shapes of a dict's values under its keys; a key that is no plain name is not shown: data may be in it."""
    names = [key if isinstance(key, str) and _NAME.fullmatch(key) else "?" for key in value]
    shown = [f"{name}: {shape_text(each, depth - 1)}" for name, each in zip(names, value.values(), strict=True)]
    more = [f"and {len(shown) - _MAX_NAMES:,} more"] if len(shown) > _MAX_NAMES else []
    return ", ".join(shown[:_MAX_NAMES] + more)


def call_shape(call: Call) -> str:
    """A call with the shapes of its arguments."""
    given = {name: shape_text(unpacked(value)) for name, value in (call.arguments or {}).items()}
    return f"{call.name}({', '.join(f'{name}: {shape}' for name, shape in given.items())})"


def answer_shape(answer: Answer) -> str:
    """The shape of an answer, or the type of its error."""
    return f"raised {answer.error}" if answer.error else shape_text(unpacked(answer.value))


def blind_outcome(outcome: Outcome, told: str) -> str:
    """What went wrong in a run, as ``told``, without the words that the plan made from data."""
    match outcome:
        case Failed():
            where = f"[Step {outcome.step}]" if outcome.step else "code outside the steps"
            return f"{where}, line {outcome.line} raised {outcome.error}"
        case Replan():
            return f"[Step {outcome.step}] asked to replan" if outcome.step else "the plan asked to replan"
    return told
