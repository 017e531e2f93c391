"""Reads the parameters of clients' requests that break the protocol where it is plain what they mean."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from codeplan.tools.mcp.messages import parse_message
from codeplan.untrusted.json_values import has_more_values

MAX_VALUES: Final = 10_000
"""Maximum number of values in arguments that come as a JSON text."""


_NO_PARAMETERS: Final = re.compile(rb'("params"\s*+:\s*+)\[\s*+\]')


def mend_message(data: bytes) -> bytes:
    """The message, with {} for parameters that are an empty list: the protocol knows no list of them."""
    if _NO_PARAMETERS.search(data):
        try:
            parse_message(data)
        except ValueError:
            return _NO_PARAMETERS.sub(rb"\1{}", data)
    return data


def mend_parameters(method: str, params: dict[str, Any]) -> None:
    """Change the parameters in place: null means absent, and a list without items, as PHP writes it, an empty table.

    What a client says of itself and of its capabilities need not be right, and the arguments of a call may come as a
    JSON text.
    """
    _drop_nulls(params)
    meta = params.get("_meta")
    if isinstance(meta, dict):
        _drop_nulls(meta)
    if method == "initialize":
        params["capabilities"] = _capabilities(params.get("capabilities"))
        params["clientInfo"] = _client_info(params.get("clientInfo"))
    elif method == "tools/call" and "arguments" in params:
        params["arguments"] = _arguments(params["arguments"])


def _drop_nulls(table: dict[str, Any]) -> None:
    for name in [name for name, value in table.items() if value is None]:
        del table[name]


def _capabilities(given: Any) -> dict[str, Any]:
    """The capabilities that a client has: some write true for one, others the list of what it offers."""
    if not isinstance(given, dict):
        return {}
    return {name: value if isinstance(value, dict) else {} for name, value in given.items() if value or value == {}}


def _client_info(given: Any) -> dict[str, Any]:
    info = given if isinstance(given, dict) else {}
    named = {name: str(info.get(name) or "unknown") for name in ("name", "version")}
    return {**info, **named}


def _arguments(given: Any) -> Any:
    if given == []:
        return {}
    if not isinstance(given, str):
        return given
    if not given.strip():
        return {}
    if has_more_values(given.encode(errors="replace"), MAX_VALUES):
        return given
    try:
        return msgspec.json.decode(given, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return given
