"""Writes and reads replies that hold only a plan's changes, by line patterns, without parsing Python."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import TypeVar

from codeplan.standin.plan_edits import split_steps

_Key = TypeVar("_Key", int, str)
_MARGIN = "    "
_DEFINITION = re.compile(r"^    (?:def (\w+)|(\w+) = )", re.MULTILINE)
_OUTER_GUARD = re.compile(r"^if start_from <= \d+:", re.MULTILINE)


def write_changes(before: str, after: str) -> str:
    """The steps and definitions of ``after`` that differ from those of ``before``, without a header.

    It is all of ``after`` if the changes cannot be separated from the rest.
    """
    old, new = split_steps(before), split_steps(after)
    changed = [part for number, part in new.items() if number and part.rstrip() != old.get(number, "").rstrip()]
    old_code, new_code = _split_definitions(old[0]), _split_definitions(new[0])
    code = [part for name, part in new_code.items() if name and part.rstrip() != old_code.get(name, "").rstrip()]
    changes = textwrap.dedent("".join(f"{part.rstrip()}\n" for part in [*code, *changed]))
    same = changes and _without_gaps(apply_changes(before, changes)) == _without_gaps(after)
    return changes if same and len(changes) < len(after) else after


def apply_changes(before: str, reply: str) -> str:
    """The plan after a reply: the old plan with the reply's steps and definitions, or the reply itself if it is a
    whole plan.
    """
    if re.search(r"^ *def solution\(", reply, re.MULTILINE):
        return reply
    inner = textwrap.indent(reply, _MARGIN) if _is_outer(reply) else reply
    old, new = split_steps(f"{before.rstrip()}\n"), split_steps(f"{inner.rstrip()}\n")
    head, definitions = _split_definitions(old[0]), _split_definitions(new[0])
    definitions.pop("", None)
    steps = _replace_parts(old, new)
    parts = [*_replace_parts(head, definitions).values(), *(steps[number] for number in sorted(steps) if number)]
    return "".join(parts)


def _replace_parts(old: Mapping[_Key, str], new: Mapping[_Key, str]) -> dict[_Key, str]:
    """The old parts with the new ones in their places, each with the empty lines after the old one."""
    spaced = {key: f"{part.rstrip()}{_gap(old[key])}" if key in old else part for key, part in new.items()}
    return {**old, **spaced}


def _gap(part: str) -> str:
    return part[len(part.rstrip()) :]


def _is_outer(reply: str) -> bool:
    return _OUTER_GUARD.search(reply) is not None or re.search(r"^(?:def|\w+ =)", reply) is not None


def _split_definitions(head: str) -> dict[str, str]:
    """The text before the first step by the name that it defines; "" is the text before the first definition."""
    found = [("", 0), *((m[1] or m[2], m.start()) for m in _DEFINITION.finditer(head))]
    ends = [start for _, start in found[1:]] + [len(head)]
    return {name: head[start:end] for (name, start), end in zip(found, ends, strict=True)}


def _without_gaps(plan: str) -> list[str]:
    return [line.rstrip() for line in plan.split("\n") if line.strip()]
