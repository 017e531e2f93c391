"""Embeddings of the server: texts that share words have similar vectors."""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any

DIMENSIONS = 256
MAX_TEXTS = 2048
"""The most texts of one request, as at OpenAI's endpoint."""

MAX_CHARACTERS = 1_200_000
"""The most characters of one request: the 300,000 tokens of OpenAI's endpoint."""


def read_texts(request: dict[str, Any]) -> list[str]:
    """The texts of a request. Raises ValueError if it has none, or an invalid one."""
    given = request.get("input")
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, list) or not found or not all(isinstance(text, str) and text for text in found):
        raise ValueError("the input is not a text or a list of texts")
    if len(found) > MAX_TEXTS:
        raise ValueError(f"the input has {len(found):,} texts; one request may have {MAX_TEXTS:,}")
    if (length := sum(map(len, found))) > MAX_CHARACTERS:
        raise ValueError(f"the input has {length:,} characters; one request may have {MAX_CHARACTERS:,}")
    return found


def embeddings_body(texts: list[str], model: str, fault: str) -> dict[str, Any]:
    """The body with the texts' vectors; the faults ``"null"`` and ``"length"`` remove vectors."""
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
    """A vector of length 1 that counts the text's words by feature hashing.

    See Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009, section 2.
    """
    counts = [0.0] * DIMENSIONS
    for word in re.findall(r"[^\W_]+", text.lower()) or [text]:
        number = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8])
        counts[number % DIMENSIONS] += 1.0 if number >> 63 else -1.0
    length = math.hypot(*counts)
    return [count / length for count in counts] if length else [1.0, *counts[1:]]
