"""Where a model is asked for, and with which key: read from settings or the environment, and fit to be shown."""

from __future__ import annotations

import os
from urllib.parse import unquote, urlsplit, urlunsplit

from codeplan.errors import UsageError

OPENAI_URL = "https://api.openai.com/v1"
"""Where models are asked for when no base URL is given."""


def base_url(given: str | None = None) -> str:
    """The base URL to use: the given one, else ``OPENAI_BASE_URL`` or ``OPENAI_API_BASE``, else OpenAI's own.

    Raises UsageError where it is no URL of http or https with a host.
    """
    variables = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    url = (given or variables or OPENAI_URL).strip().rstrip("/")
    if not _is_sound(url):
        raise UsageError("the base URL is not one; give it whole, as in http://localhost:8000/v1")
    return url


def key(given: str | None = None, *, needed: bool = False) -> str:
    """The key to use: the given one, else ``OPENAI_API_KEY``; empty where there is none and none is ``needed``.

    Raises UsageError where it is needed and missing, or holds what cannot stand in a header.
    """
    found = (given or os.environ.get("OPENAI_API_KEY") or "").strip()
    if not found and needed:
        raise UsageError(
            "no key and no base URL for the model: set OPENAI_API_KEY, or give --base-url for a server of your own "
            "(--model scripted needs neither)"
        )
    if not (found.isascii() and found.isprintable()) or " " in found:
        raise UsageError("the key in OPENAI_API_KEY holds characters that no key has; copy it again")
    return found


def shown(url: str) -> str:
    """The URL without credentials, query and fragment: the part that may be shown and recorded."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def secrets(url: str, key: str) -> list[str]:
    """What must not stand in a message: the key, and a password in the URL, as written and as meant."""
    password = urlsplit(url).password or ""
    return [secret for secret in (key, password, unquote(password)) if secret]


def _is_sound(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and has_host and url.isprintable() and " " not in url
