"""What the grammar of a game file says: the task in words, and the wording of commands and answers."""

from __future__ import annotations

import json
import re

from codeplan.envs.household.game import Dialect

_STRING = r'"((?:[^"\\]|\\.)*)"'


def parse_goal_text(grammar: str) -> str:
    """The task in words. Raises ValueError where the grammar does not tell it."""
    found = re.search(r'"Your task is to: ((?:[^"\\]|\\.)*)"', grammar)
    if not found:
        raise ValueError('its grammar does not say "Your task is to: …"')
    words: str = json.loads(f'"{found[1]}"', strict=False)
    return words


def parse_dialect(grammar: str) -> Dialect:
    """The wording of what releases of the data word differently. Raises ValueError where the grammar lacks it."""
    command = _said(grammar, rf"action PutObject\s*\{{\s*template\s*::\s*{_STRING}", "the command that puts things")
    head, first, rest = command.partition("{o}")
    middle, second, _ = rest.partition("{r}")
    if not (head.strip() and first and middle.strip() and second):
        raise ValueError(f"its command that puts things names not first an object, then a receptacle: {command!r}")
    putting = _said(grammar, rf'"PutObject\.feedback"\s*:\s*\[\s*\{{\s*"rhs"\s*:\s*{_STRING}', "what putting answers")
    arriving = _said(grammar, rf'"GotoLocation\.feedback"\s*:\s*\[\s*\{{\s*"rhs"\s*:\s*{_STRING}', "what going answers")
    return Dialect(
        "put" if head.startswith("put") else "move",
        (head, middle),
        _fields(putting, {"{o.name}": "{object}", "{r.name}": "{receptacle}"}),
        _fields(arriving.partition("#")[0].strip(), {"{lend.name}": "loc {location}", "{r.name}": "{receptacle}"}),
        re.search(r"action help\s*\{", grammar) is not None,
    )


def _said(grammar: str, pattern: str, what: str) -> str:
    found = re.search(pattern, grammar)
    if not found:
        raise ValueError(f"its grammar does not have {what}")
    return found[1]


def _fields(text: str, names: dict[str, str]) -> str:
    for theirs, ours in names.items():
        text = text.replace(theirs, ours)
    if left := set(re.findall(r"\{.*?\}|[{}]", text)) - {"{object}", "{receptacle}", "{location}"}:
        raise ValueError(f"its grammar has a field that is not known here: {', '.join(sorted(left))}")
    return text
