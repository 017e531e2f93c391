"""Where a model is asked for, and with which key: read from settings or the environment, and fit to be shown."""

from __future__ import annotations

import base64
import os
from urllib.parse import unquote, urlsplit, urlunsplit

from codeplan.errors import UsageError

OPENAI_URL = "https://api.openai.com/v1"
"""Where models are asked for when no base URL is given."""


def resolve_base_url(given: str | None = None) -> str:
    """The base URL to use: the given one, else ``OPENAI_BASE_URL`` or ``OPENAI_API_BASE``, else OpenAI's own.

    Raises UsageError where it is no URL of http or https with a host, or has a query or a fragment: the client would
    not send them as meant, and logs show them.
    """
    variables = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    url = (given or variables or OPENAI_URL).strip().rstrip("/")
    if not _is_valid_url(url):
        raise UsageError("the base URL is not one; give it whole, as in http://localhost:8000/v1")
    if "?" in url or "#" in url:
        raise UsageError(
            "the base URL has a query or a fragment in it, which no request can carry; end it before that, as in "
            "http://localhost:8000/v1, and put a key into OPENAI_API_KEY"
        )
    return url


class Secret:
    """A key, or nothing. Only ``value`` shows it: not ``repr``, and so no traceback that lists variables."""

    def __init__(self, value: str = "") -> None:
        self.value = value.strip()

    def __repr__(self) -> str:
        return "Secret(***)" if self.value else "Secret()"

    def __bool__(self) -> bool:
        return bool(self.value)

    @property
    def is_valid_header(self) -> bool:
        """Whether it can stand in a header."""
        return self.value.isascii() and self.value.isprintable() and " " not in self.value


def resolve_key(given: Secret | None = None, *, required: bool = False, variable: str = "OPENAI_API_KEY") -> Secret:
    """The key to use: the given one, else that of the environment; empty where there is none and none is ``needed``.

    Raises UsageError where it is needed and missing, or holds what cannot stand in a header.
    """
    found = given or Secret(os.environ.get(variable) or "")
    if not found and required:
        raise UsageError(
            f"no key and no base URL for the model: set {variable}, or give --base-url for a server of your own "
            "(--model scripted needs neither)"
        )
    if not found.is_valid_header:
        raise UsageError(f"the key in {variable} holds characters that no key has; copy it again")
    return found


def without_credentials(url: str) -> str:
    """The URL without credentials: the part that may be shown and recorded."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def basic_login(url: str) -> str:
    """The login in the URL as HTTP's basic authentication has it; empty where there is none."""
    given = urlsplit(url).netloc.rpartition("@")[0]
    return base64.b64encode(unquote(given).encode()).decode()


def secrets(url: str, key: Secret) -> list[str]:
    """What must not stand in a message: the key, and the URL's password (a name alone is one), as written and as meant,
    and its login as it is sent.
    """
    parts = urlsplit(url)
    password = parts.password or parts.username or ""
    return [secret for secret in (key.value, password, unquote(password), basic_login(url)) if secret]


def _is_valid_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and has_host and url.isprintable() and " " not in url
