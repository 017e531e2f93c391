"""``Element`` of ``xml.etree`` as plans have it: no code of the plan runs while Python's own works on an element.

Python's goes on in children and attributes that a comparison, an index or an iterator of the plan may have freed.
"""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any
from xml.etree import ElementTree as Trees

from codeplan.untrusted.texts import with_article


class Element(Trees.Element):
    """An element whose tag compares by no code of the plan, and that gets indices and children as Python's own."""

    __slots__ = ()

    def __init__(self, /, *args: Any, **extra: Any) -> None:
        super().__init__(*map(tag_text, args[:1]), *args[1:], **extra)

    def __getitem__(self, key: Any, /) -> Any:
        return super().__getitem__(_plain_index(key))

    def __setitem__(self, key: Any, value: Any, /) -> None:
        super().__setitem__(_plain_index(key), _listed(value) if type(key) is slice else value)

    def __delitem__(self, key: Any, /) -> None:
        super().__delitem__(_plain_index(key))

    def __copy__(self) -> Element:
        made = Element(self.tag)
        made.attrib, made.text, made.tail = self.attrib, self.text, self.tail
        made.extend(self[:])
        return made

    def extend(self, elements: Any, /) -> None:
        super().extend(_listed(elements))

    def get(self, key: Any, default: Any = None) -> Any:
        return self.attrib.get(key, default)

    def set(self, key: Any, value: Any, /) -> None:
        self.attrib[key] = value

    def find(self, path: Any, namespaces: Any = None) -> Any:
        return super().find(tag_text(path), namespaces)

    def findall(self, path: Any, namespaces: Any = None) -> Any:
        return super().findall(tag_text(path), namespaces)

    def findtext(self, path: Any, default: Any = None, namespaces: Any = None) -> Any:
        return super().findtext(tag_text(path), default, namespaces)

    def iter(self, tag: Any = None) -> Any:
        return super().iter(tag_text(tag))

    def iterfind(self, path: Any, namespaces: Any = None) -> Any:
        return super().iterfind(tag_text(path), namespaces)


Element.__module__ = "xml.etree.ElementTree"
for _name, _member in vars(Element).items():
    if type(_member) is FunctionType:
        _member.__qualname__ = f"Element.{_name}"


def tag_text(value: Any) -> Any:
    """Return a tag, or a path of tags, that compares without code of the plan's.

    Raises: TypeError: it is neither a text nor a number.
    """
    if type(value) in (str, int, float, bool, type(None)):
        return value
    if not issubclass(type(value), str):
        raise TypeError(f"the tag of an element is a text here, not {with_article(type(value).__name__)}")
    return str.__str__(value)


def _listed(elements: Any) -> Any:
    return elements if issubclass(type(elements), (list, tuple)) else list(elements)


def _plain_index(key: Any) -> Any:
    """Return an index, or a slice whose parts are Python's own numbers."""
    if type(key) is not slice:
        return key
    return slice(*(part if part is None else operator.index(part) for part in (key.start, key.stop, key.step)))
