"""Calls of tools as a model writes them, ``NAME {"argument": value}``, and their answers as it reads them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from typing import Any, Final, NamedTuple, NoReturn

from codeplan.tools import wire
from codeplan.untrusted.json_values import json_value
from codeplan.untrusted.surrogates import escape_surrogates
from codeplan.untrusted.values import in_quotes

MAX_ANSWER_CHARS: Final = 20_000
"""Maximum length of a tool's answer in a prompt, in characters, about 5,000 tokens."""

MAX_REPLY_CHARS: Final = 20_000
"""Maximum length of a model's own earlier reply in a prompt, in characters."""

CALL_FORM: Final = 'NAME {"argument": value}'
"""The form of a call, for messages."""

_MAX_NAME = 60
_START = re.compile(r"^[ \t>`]*+(?:action[ \t]*+:[ \t]*+)?+([A-Za-z_]\w*+)[ \t]*+(?=\{)", re.IGNORECASE | re.MULTILINE)


class JsonCall(NamedTuple):
    """One call of a reply. ``text`` is the reply up to the call's end; ``more`` is true if further calls follow."""

    name: str
    arguments: dict[str, Any]
    text: str
    more: bool = False


class NoCall(Exception):
    """A reply holds no call that can be made; the message tells the model why, in one sentence."""


def read_reply(reply: str, names: Collection[str]) -> JsonCall:
    """The first call in a reply: a line that begins with a name and a JSON object, which may span lines.

    ``names`` are those that may be called. Raises: NoCall.
    """
    starts = list(_START.finditer(reply))
    found = next((s for s in starts if s[1] in names), None)
    if found is None:
        if starts:
            raise NoCall(f"There is no tool {in_quotes(starts[0][1], _MAX_NAME)}.")
        raise NoCall(f"Your reply holds no call. End it with one call on a line of its own: {CALL_FORM}")
    name, at = found[1], found.end()
    try:
        arguments, end = _DECODER.raw_decode(reply, at)
    except json.JSONDecodeError as e:
        where = f"line {reply.count(chr(10), at, e.pos) + 1} of it" if "\n" in reply[at : e.pos] else "it"
        near = in_quotes(reply[e.pos : e.pos + 20])
        raise NoCall(f"The arguments of {name} are no JSON object: {e.msg} in {where}, before {near}.") from None
    except _RefusedJson as e:
        raise NoCall(f"The arguments of {name} are no JSON object: {e}.") from None
    except (ValueError, RecursionError):
        raise NoCall(f"The arguments of {name} hold a number that is too long, or are nested too deeply.") from None
    more = any(s[1] in names and s.start() >= end for s in starts)
    return JsonCall(name, arguments, reply[:end].strip(), more)


def show_call(action: str) -> str:
    """An action of an episode with tools as the call that a model would write."""
    call = json.loads(action)
    return _cut(f"{call['tool']} {json.dumps(call.get('arguments', {}), ensure_ascii=False)}", MAX_REPLY_CHARS)


def show_answer(observation: str) -> str:
    """A tool's answer, as the model reads it: a text as it is, other data as JSON, an error by its name."""
    answer = wire.read_answer(observation)
    if answer.error:
        return _cut(f"{answer.error}: {answer.message}", MAX_ANSWER_CHARS)
    return show_value(answer.result)


def show_value(value: object) -> str:
    """A value as a model reads it, at most ``MAX_ANSWER_CHARS`` of it."""
    text = value if isinstance(value, str) else json.dumps(_json_data(value), ensure_ascii=False)
    return _cut(text, MAX_ANSWER_CHARS)


def _json_data(value: object) -> Any:
    """The data in the form that JSON has. A result fits the bound in any notation."""
    return json_value(value, 16 * wire.MAX_RESULT_CHARS)


def _cut(text: str, most: int) -> str:
    text = escape_surrogates(text)
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… (the first {most:,} of {len(text):,} characters)"


class _RefusedJson(ValueError):
    """Names the value that Python's reader accepts but JSON does not have."""


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedJson(f"JSON has no {name}")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise _RefusedJson("a number is too large")
    return value


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RefusedJson(f"the key {in_quotes(key, _MAX_NAME)} stands there twice")
        found[key] = value
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_without_twins, parse_float=_finite, parse_constant=_refuse_constant)
