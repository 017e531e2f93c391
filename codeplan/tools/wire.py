"""Calls of tools and their answers as JSON texts: the actions and observations of an episode.

See ``json_data`` for the form of the values in them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from codeplan.errors import AgentError
from codeplan.tools.json_data import NotPlain, from_json_data, stands_for_itself, to_json_data
from codeplan.untrusted.terminal import one_line

MAX_RESULT_CHARS: Final = 400_000
"""Maximum length of a result as JSON, in characters: an observation has room for it."""


class Answer(NamedTuple):
    """A tool's answer: its result, or an error with the name of its exception (empty for a result)."""

    result: Any = None
    error: str = ""
    message: str = ""


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call as an action. Raises: AgentError: an argument is too large to write."""
    try:
        return _json({"tool": tool, "arguments": {name: to_json_data(v) for name, v in arguments.items()}})
    except NotPlain as reason:
        raise AgentError(f"{one_line(tool, 100)} was given {reason}", "ValueError") from None


def read_call(action: str) -> tuple[str, dict[str, Any]]:
    """The tool's name and the arguments of an action. Raises: AgentError: the action is no call."""
    form = '{"tool": "NAME", "arguments": {…}}'
    try:
        call = _from_json(action)
    except (ValueError, RecursionError):
        raise AgentError(f"an action is a call as JSON: {form}", "ValueError") from None
    if not isinstance(call, dict) or not isinstance(call.get("tool"), str) or not call.keys() <= {"tool", "arguments"}:
        raise AgentError(f"an action is a call as JSON: {form}", "ValueError")
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict):
        raise AgentError(f"the arguments of a call are an object: {form}", "ValueError")
    if not stands_for_itself(action):
        arguments = {name: from_json_data(v) for name, v in arguments.items()}
    return call["tool"], arguments


def result_text(result: object) -> str:
    """A result as an observation. Raises: NotPlain: it has no plain data, or is too large."""
    text = _json({"result": to_json_data(result)})
    if len(text) > MAX_RESULT_CHARS:
        raise NotPlain(f"{len(text):,} characters of data, more than {MAX_RESULT_CHARS:,}")
    return text


def error_text(error: str, message: str) -> str:
    """A failed call as an observation; ``error`` is the name of the exception."""
    return _json({"error": error, "message": message})


def read_answer(observation: str) -> Answer:
    """The answer that an observation holds. Raises: ValueError: it holds none."""
    try:
        answer = _from_json(observation)
    except RecursionError:
        raise ValueError("the observation is nested too deeply") from None
    if isinstance(answer, dict) and "result" in answer:
        result = answer["result"]
        return Answer(result if stands_for_itself(observation) else from_json_data(result))
    match answer:
        case {"error": str(error), "message": str(message)} if error:
            return Answer(None, error, message)
    raise ValueError("the observation holds no answer of a tool")


def _json(data: object) -> str:
    """The data as JSON. Half surrogate pairs are escaped."""
    try:
        return msgspec.json.encode(data).decode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))


def _from_json(text: str) -> Any:
    """The data of JSON. Raises: ValueError, RecursionError.

    The standard library decides on what msgspec refuses, such as half surrogate pairs.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return json.loads(text)
