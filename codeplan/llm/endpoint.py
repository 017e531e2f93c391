"""The address and the key of an endpoint, from settings or environment variables."""

from __future__ import annotations

import base64
import os
from urllib.parse import unquote, urlsplit, urlunsplit

from codeplan.errors import UsageError

OPENAI_URL = "https://api.openai.com/v1"
"""The default base URL."""

MAIN_KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable with the key of the main endpoint, unless a setting names another."""


def resolve_base_url(given: str | None = None) -> str:
    """The given base URL, or else ``OPENAI_BASE_URL``, ``OPENAI_API_BASE``, or OpenAI's own.

    Raises:
        UsageError: it is not an http(s) URL with a host, or it has a query or a fragment: the client would not send
            these as meant, and logs would show them.
    """
    variables = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    url = (given or variables or OPENAI_URL).strip().rstrip("/")
    if not _is_valid_url(url):
        raise UsageError("the base URL is not a URL; give it whole, as in http://localhost:8000/v1")
    if "?" in url or "#" in url:
        raise UsageError(
            "the base URL has a query or a fragment, which requests cannot carry; end it before that, as in "
            "http://localhost:8000/v1, and put a key into OPENAI_API_KEY"
        )
    return url


class Secret:
    """A key or another secret, possibly empty. Only ``value`` reveals it; ``repr``, and so a traceback, does not."""

    def __init__(self, value: str = "") -> None:
        self.value = value.strip()

    def __repr__(self) -> str:
        return "Secret(***)" if self.value else "Secret()"

    def __bool__(self) -> bool:
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)

    @property
    def is_valid_header(self) -> bool:
        """Whether an HTTP header can hold it."""
        return self.value.isascii() and self.value.isprintable() and " " not in self.value


def resolve_key(given: Secret | None = None, *, required: bool = False, variable: str = MAIN_KEY_VARIABLE) -> Secret:
    """The given key, or else the one in the environment variable, which may be empty unless ``required``.

    Raises: UsageError: a required key is missing, or the key has characters that no header can hold.
    """
    found = given or Secret(os.environ.get(variable) or "")
    if not found and required:
        raise UsageError(
            f"no key and no base URL for the model: set {variable}, or give --base-url URL (base_url=URL) for a "
            "server of your own (--model scripted needs neither, for codeplan's own environments)"
        )
    if not found.is_valid_header:
        raise UsageError(f"the key in {variable} has characters that keys cannot have; copy it again")
    return found


def without_credentials(url: str) -> str:
    """The URL without its login, fit to be shown and recorded."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def basic_login(url: str) -> str:
    """The URL's login, encoded for HTTP basic authentication; empty if there is none."""
    given = urlsplit(url).netloc.rpartition("@")[0]
    return base64.b64encode(unquote(given).encode()).decode()


def secrets(url: str, key: Secret) -> list[str]:
    """The texts that no message may show: the key, the URL's password (a name alone counts), decoded or not, and its
    login.
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
