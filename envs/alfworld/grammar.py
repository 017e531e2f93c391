"""Reads the grammar of a game file: the goal in words, and the wording of commands and answers."""

from __future__ import annotations

import json
import re

from codeplan.envs.household.game import Dialect
from codeplan.untrusted.values import in_quotes

_STRING = r'"((?:[^"\\]|\\.)*+)"'
_GOAL = '"Your task is to: '
_GOAL_TEXT = re.compile(_GOAL + _STRING.removeprefix('"'))


def parse_goal_text(grammar: str) -> str:
    """Return the goal in words. Raises: ValueError if the grammar does not have it."""
    found = _GOAL_TEXT.match(grammar, max(grammar.find(_GOAL), 0))
    if not found:
        raise ValueError('its grammar does not say "Your task is to: …"')
    words: str = json.loads(f'"{found[1]}"', strict=False)
    return words


def parse_dialect(grammar: str) -> Dialect:
    """Return the file's dialect. Raises: ValueError if the grammar lacks a part of it."""
    command = _find(grammar, rf"action PutObject\s*\{{\s*template\s*::\s*{_STRING}", "the command that puts things")
    head, first, rest = command.partition("{o}")
    middle, second, _ = rest.partition("{r}")
    if not (head.strip() and first and middle.strip() and second):
        raise ValueError(
            f"its command that puts things must name an object and then a receptacle: {in_quotes(command)}"
        )
    putting = _find(grammar, rf'"PutObject\.feedback"\s*:\s*\[\s*\{{\s*"rhs"\s*:\s*{_STRING}', "the answer to putting")
    arriving = _find(grammar, rf'"GotoLocation\.feedback"\s*:\s*\[\s*\{{\s*"rhs"\s*:\s*{_STRING}', "the arrival")
    return Dialect(
        "put" if head.startswith("put") else "move",
        (head, middle),
        _fields(putting, {"{o.name}": "{object}", "{r.name}": "{receptacle}"}),
        _fields(arriving.partition("#")[0].strip(), {"{lend.name}": "loc {location}", "{r.name}": "{receptacle}"}),
        re.search(r"action help\s*\{", grammar) is not None,
    )


def _find(grammar: str, pattern: str, what: str) -> str:
    found = re.search(pattern, grammar)
    if not found:
        raise ValueError(f"its grammar does not have {what}")
    return found[1]


def _fields(text: str, names: dict[str, str]) -> str:
    for theirs, ours in names.items():
        text = text.replace(theirs, ours)
    if left := set(re.findall(r"\{[^{}\n]*\}|[{}]", text)) - {"{object}", "{receptacle}", "{location}"}:
        raise ValueError(f"its grammar has an unknown field: {', '.join(sorted(left))}")
    return text
