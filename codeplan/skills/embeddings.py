"""Retrieval by embeddings: ranks skills by the cosine similarity of their text to the goal.

Vectors are stored with length 1, so that their dot product is the cosine.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import mul
from typing import Protocol, runtime_checkable

import msgspec

from codeplan.skills import skill_folder
from codeplan.skills.index import IndexEntry
from codeplan.skills.skill import Skill
from codeplan.types import Task

MAX_CHARACTERS = 2_000
"""Maximum length of the embedded part of a text, in characters."""

_BATCH_SIZE = 256  # texts in a request, well below what endpoints accept

_GOAL = ""  # the goal's key among digests


class Embedder(msgspec.Struct, frozen=True):
    """An embedding model's name, and a function that returns one vector for each text."""

    model: str
    embed: Callable[[Sequence[str]], Sequence[Sequence[float]]]


@runtime_checkable
class EmbeddingSkillStore(Protocol):
    """A SkillStore that can also rank skills by embeddings."""

    def nearest(self, task: Task, limit: int, embedder: Embedder) -> Sequence[Skill]:
        """Return at most ``limit`` skills that fit the task, the most similar to its goal first."""
        ...


class VectorCache(Protocol):
    """Caches vectors by embedding model and digest of the text. They can be computed again at any time."""

    def read_vectors(self, model: str, digests: Sequence[str]) -> dict[str, bytes]:
        """Return the cached vectors by digest."""
        ...

    def store_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors by digest."""
        ...


class EmbeddingRanker:
    """Ranks index entries. ``read`` returns an entry's current skill, or None if it cannot be used."""

    def __init__(self, cache: VectorCache, embedder: Embedder, read: Callable[[IndexEntry], Skill | None]) -> None:
        self._cache, self._embedder, self._read = cache, embedder, read

    def rank(self, goal: str, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        """Return the usable entries, the most similar first, with the cosine as their score.

        Embeds the goal, texts that are not cached, and texts whose cached vector has another length (the model has
        changed).
        """
        if not entries:
            return []
        by_digest = {_text_digest(e.description, e.digest): e for e in entries}
        known = _decode_vectors(self._cache.read_vectors(self._embedder.model, list(by_digest)))
        new = (e for key, e in by_digest.items() if key not in known)
        known |= self._embed({_GOAL: goal, **self._texts(new)})
        towards = known.pop(_GOAL)
        changed = (by_digest[key] for key, vector in known.items() if len(vector) != len(towards))
        known |= self._embed(self._texts(changed))
        scored = (
            msgspec.structs.replace(e, score=_cosine(known[key], towards))
            for e in entries
            if (key := _text_digest(e.description, e.digest)) in known
        )
        return sorted(scored, key=lambda e: (-e.score, -e.evidence.solved, e.name))

    def _texts(self, entries: Iterable[IndexEntry]) -> dict[str, str]:
        """The texts to embed for the entries' skills (description and plan), by digest."""
        texts: dict[str, str] = {}
        for entry in entries:
            skill, key = self._read(entry), _text_digest(entry.description, entry.digest)
            if skill and key == _text_digest(skill.description, skill_folder.plan_digest(skill.plan)):
                texts[key] = f"{skill.description}\n{skill.plan}"
        return texts

    def _embed(self, texts: Mapping[str, str]) -> dict[str, array[float]]:
        """The vectors of these texts, by digest. Each batch is cached as it arrives, since calls cost money."""
        keys = list(texts)
        found: dict[str, array[float]] = {}
        for some in (keys[i : i + _BATCH_SIZE] for i in range(0, len(keys), _BATCH_SIZE)):
            vectors = self._embedder.embed([texts[key][:MAX_CHARACTERS] for key in some])
            new = {key: _normalise(vector) for key, vector in zip(some, vectors, strict=True)}
            found |= new
            self._cache.store_vectors(self._embedder.model, {k: v.tobytes() for k, v in new.items() if k != _GOAL})
        return found


def _text_digest(description: str, plan: str) -> str:
    """16 hexadecimal digits that identify a skill's embedded text; ``plan`` is the digest of its plan."""
    return hashlib.sha256(f"{plan} {description}".encode()).hexdigest()[:16]


def _normalise(vector: Sequence[float]) -> array[float]:
    length = math.hypot(*vector) or 1.0
    return array("f", (number / length for number in vector))


def _decode_vectors(kept: Mapping[str, bytes]) -> dict[str, array[float]]:
    """The cached vectors without malformed ones: an index file may hold anything."""
    vectors = {k: array("f", v) for k, v in kept.items() if isinstance(v, bytes) and v and len(v) % 4 == 0}
    return {k: v for k, v in vectors.items() if math.isfinite(sum(v))}


def _cosine(one: array[float], other: array[float]) -> float:
    """The cosine of two vectors of length 1; 0 if their lengths differ."""
    return round(sum(map(mul, one, other)), 4) if len(one) == len(other) else 0.0
