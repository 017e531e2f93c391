"""Keeps requests within their origin: a redirection elsewhere would carry the prompt and the user's headers along."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from codeplan.llm.requests import API_PATHS

MAX_REDIRECTS: Final = 5

MAX_LOCATION_CHARS: Final = 2_000
"""Maximum length of an address that is followed, in characters."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class ForeignRedirectError(Exception):
    """The endpoint redirects to another origin. ``address`` is the base URL there, without login and query; empty if
    the endpoint names nothing that could be one.
    """

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


async def follow_within_origin(response: Any) -> None:
    """A response hook for the HTTP library. A redirection has the request's scheme, host and port afterwards.

    Raises: ForeignRedirectError: it leads elsewhere, or to what is not an address.
    """
    if not response.has_redirect_location:
        return
    here, location = urlsplit(str(response.request.url)), response.headers["location"]
    try:
        there = urlsplit(urljoin(here.geturl(), location[: MAX_LOCATION_CHARS + 1]))
        origin = _origin(there)
    except ValueError:
        raise ForeignRedirectError("") from None
    if origin != _origin(here):
        raise ForeignRedirectError(_base_url(there))
    if len(location) > MAX_LOCATION_CHARS:
        raise ForeignRedirectError("")
    # the library reads addresses in its own way: put together here, this one has no other host for it either
    response.headers["location"] = urlunsplit((here.scheme, here.netloc, f"/{there.path[1:]}", there.query, ""))


def _origin(url: SplitResult) -> tuple[str, str, int | None]:
    """Scheme, host and port. Raises: ValueError: the port is not one."""
    port = _DEFAULT_PORTS.get(url.scheme) if url.port is None else url.port
    return url.scheme, url.hostname or "", port


def _base_url(url: SplitResult) -> str:
    """What a user can give as base URL to get to this address; empty if it is not one of the web."""
    if url.scheme not in _DEFAULT_PORTS or not url.hostname:
        return ""
    path = next((url.path.removesuffix(end) for end in API_PATHS if url.path.endswith(end)), url.path)
    return urlunsplit((url.scheme, url.netloc.rpartition("@")[2], path, "", ""))
