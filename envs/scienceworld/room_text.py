"""Reads the engine's descriptions of rooms, containers and the inventory."""

from __future__ import annotations

import re

from codeplan.types import Value

_ROOM = re.compile(r"This (?:room|outside location) is called the ([^.\n]{1,80})\. (?:In it,|Here) you see:")
_DOOR = re.compile(r"^\tA door to the ([^(\n]+) \(that is (open|closed)\)", re.MULTILINE)
_CLOSED = re.compile(r"The ([^.\n]{1,80}) door is closed\.")
_ARTICLE = re.compile(r"(?:an?|the) (?:substance called )?", re.IGNORECASE)
_REMARK = re.compile(r"\((?!containing |that )[^()\n]*\) ?")
_INSIDE = re.compile(r"\(containing |: ")
_NAME_END = re.compile(r"[.,(]| titled ")
_NO_THINGS = ("nothing", "which ", "currently ", "that is ", "On the ", "In the ", "The ")


class RoomView(Value, frozen=True):
    """The content of a room, from a look around.

    ``doors`` maps the room behind each door to whether the door is open or closed. ``things`` maps the name of each
    thing to the names of the things in or on it. ``closed`` lists the containers that are closed.
    """

    name: str
    doors: dict[str, str]
    things: dict[str, list[str]]
    closed: list[str]


def read_room(text: str) -> RoomView | None:
    """The room that a text describes; None if it describes none."""
    found = _ROOM.search(text)
    if found is None:
        return None
    inside, _, beyond = text[found.end() :].partition("You also see:")
    things: dict[str, list[str]] = {}
    for line in _lines(inside):
        name, contents = read_thing(line)
        if name and name not in ("agent", "air"):
            things.setdefault(name, []).extend(contents)
    closed = [name for name in _CLOSED.findall(inside) if name in things]
    return RoomView(found[1], dict(_DOOR.findall(beyond)), things, closed)


def read_list(text: str) -> list[str]:
    """The names in the indented lines of a text, such as an inventory; what is in a thing follows it."""
    return [name for line in _lines(text) for one in [read_thing(line)] for name in (one[0], *one[1]) if name]


def read_thing(line: str) -> tuple[str, list[str]]:
    """The name of the thing that a line describes, and the names of what is in or on it, at any depth."""
    parts = _INSIDE.split(_REMARK.sub("", line.strip()))
    names = [name for part in parts[1:] for item in part.split(", ") if (name := _name(item))]
    return _name(parts[0]), names


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("\t")]


def _name(item: str) -> str:
    """The name at the start of an item; empty if the item is a remark on the thing before it, or says "nothing"."""
    item = item.strip().lstrip("(")
    if item.startswith(_NO_THINGS):
        return ""
    bare = item[found.end() :] if (found := _ARTICLE.match(item)) else item
    return _NAME_END.split(bare.rstrip(")"), maxsplit=1)[0].strip(" )")
