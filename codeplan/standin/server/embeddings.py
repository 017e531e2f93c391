"""What the served endpoint answers for embeddings: vectors that are near where texts share words."""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any

DIMENSIONS = 256


def read_texts(request: dict[str, Any]) -> list[str]:
    """The texts of a request. Raises ValueError where it has none that are sound."""
    given = request.get("input")
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, list) or not found or not all(isinstance(text, str) and text for text in found):
        raise ValueError("the input is no text, and no list of texts")
    return found


def embeddings_body(texts: list[str], model: str, fault: str) -> dict[str, Any]:
    """The vectors of the texts, with the fault (``"null"``, ``"length"``) in them if it is one of these."""
    vectors = [None if fault == "null" else text_vector(text) for text in texts]
    if fault == "length":
        vectors = vectors[: len(vectors) // 2]
    tokens = sum(1 + len(text) // 4 for text in texts)
    return {
        "object": "list",
        "model": model,
        "data": [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def text_vector(text: str) -> list[float]:
    """A text's vector, of length 1: its words, hashed into so many dimensions and counted.

    That is feature hashing (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009,
    section 2).
    """
    counts = [0.0] * DIMENSIONS
    for word in re.findall(r"[^\W_]+", text.lower()) or [text]:
        number = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8])
        counts[number % DIMENSIONS] += 1.0 if number >> 63 else -1.0
    length = math.hypot(*counts)
    return [count / length for count in counts] if length else [1.0, *counts[1:]]
