"""The address of an endpoint, its key and the headers from the environment; and how secrets stay out of messages."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from typing import Final
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


_CUSTOM: Final = "OPENAI_CUSTOM_HEADERS"

_ACCOUNT: Final = {"Openai-Organization": "OPENAI_ORG_ID", "Openai-Project": "OPENAI_PROJECT_ID"}
"""Headers that name an account, and their variables. They are not secret."""

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

Headers = Mapping[str, Secret]
"""Headers by name, each word of which begins with a capital letter, so that no header stands there twice."""


def resolve_headers(given: Secret, *, variable: str) -> Headers:
    """The organisation, project and custom headers, if the key that was not ``given`` is in the main variable.

    An endpoint with a key of its own gets none of them: they may be keys, and are for another one.

    Raises: UsageError: a variable holds what no header can hold.
    """
    if given or variable != MAIN_KEY_VARIABLE:
        return {}
    account = {name: _read_account(source) for name, source in _ACCOUNT.items()}
    return {name: value for name, value in {**account, **_custom_headers()}.items() if value}


def header_secrets(headers: Headers) -> list[str]:
    """The texts of these headers that no message may show: custom values, and logins and tokens within them."""
    values = {name: value.value for name, value in headers.items() if name not in _ACCOUNT}
    logins = [value.partition(" ")[2] for name, value in values.items() if name.endswith("Authorization")]
    return [secret for secret in (*values.values(), *logins) if secret]


def _read_account(variable: str) -> Secret:
    value = Secret(os.environ.get(variable) or "")
    if not value.is_valid_header:
        raise UsageError(f"the variable {variable} has characters that its header cannot have; copy it again")
    return value


def _custom_headers() -> dict[str, Secret]:
    lines = [Secret(line) for line in (os.environ.get(_CUSTOM) or "").splitlines()]
    return dict(_parse_line(line) for line in lines if line)


def _parse_line(line: Secret) -> tuple[str, Secret]:
    name, value = map(Secret, line.value.partition(":")[::2])
    is_plain = value.value.isascii() and value.value.isprintable()
    if ":" not in line.value or not _NAME.fullmatch(name.value) or not is_plain:
        raise UsageError(f"a line of the variable {_CUSTOM} is not a header; write NAME: VALUE in ASCII, one to a line")
    return name.value.title(), value


MIN_MASKED_LENGTH: Final = 8
"""Shorter secrets are not masked: they could match ordinary text."""

MAX_WORD_LENGTH: Final = 23
"""A secret up to this length could be an ordinary word, so it is masked only where it stands alone. Longer ones, as
real keys are, are masked everywhere."""

MASK: Final = "***"


def mask(text: str, secrets: Sequence[str]) -> str:
    """The text with each secret masked; longer secrets first, since one may contain another."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) > MAX_WORD_LENGTH:
            text = text.replace(secret, MASK)
        elif len(secret) >= MIN_MASKED_LENGTH and secret in text:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
    return text
