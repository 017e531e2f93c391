"""The headers that the user's environment gives requests to the main endpoint: that of the key in OPENAI_API_KEY."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from codeplan.errors import UsageError
from codeplan.llm.endpoint import MAIN_KEY_VARIABLE, Secret

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


def secrets(headers: Headers) -> list[str]:
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
