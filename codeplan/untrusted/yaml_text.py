"""Reads and writes the YAML of front matter that anyone may have written: mappings, lists, and texts.

Every scalar stays the text that it is written as: ``no``, ``1.0`` and ``2026-01-01`` are not guessed at. PyYAML reads
the events; nothing is constructed from tags, and anchors and aliases, with which a short text can stand for a huge
one, are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

MAX_DEPTH = 16
"""Maximum depth of mappings and lists in one another."""

YamlValue: TypeAlias = "str | list[YamlValue] | dict[str, YamlValue]"


class YamlError(ValueError):
    """The text is not the YAML that is read here; the message says why, and in which line."""


def parse_yaml(text: str) -> dict[str, YamlValue]:
    """Return the mapping that the text holds.

    Raises: YamlError: the text is not YAML or holds no mapping, has an anchor, an alias, a tag, a key twice or a key
        that is no text, or is nested too deeply.
    """
    import yaml

    events = yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    try:
        found = _read_document(events)
    except yaml.MarkedYAMLError as e:
        raise _error(e.problem or "it cannot be read", e.problem_mark) from None
    except yaml.YAMLError as e:
        raise YamlError(str(e)) from None
    except RecursionError:
        raise YamlError("it is nested too deeply") from None
    except ValueError as e:  # PyYAML converts numbers of escapes and of directives without a check
        raise e if isinstance(e, YamlError) else YamlError("a character or a number in it is impossible") from None
    finally:
        events.close()
    return found


def _read_document(events: Iterator[Any]) -> dict[str, YamlValue]:
    import yaml

    next(events)  # the stream's start
    if not isinstance(next(events), yaml.DocumentStartEvent):
        raise YamlError("it is empty")
    first = next(events)
    found = _read_value(first, events, 0)
    if not isinstance(found, dict):
        raise _error("it holds no mapping", first.start_mark)
    next(events)  # the document's end
    if not isinstance(again := next(events), yaml.StreamEndEvent):
        raise _error("it holds a second document", again.start_mark)
    return found


def _read_value(event: Any, events: Iterator[Any], depth: int) -> YamlValue:
    import yaml

    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise _error("anchors and aliases are not allowed", event.start_mark)
    if event.tag is not None:
        raise _error("tags are not allowed", event.start_mark)
    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    if depth == MAX_DEPTH:
        raise _error("it is nested too deeply", event.start_mark)
    if isinstance(event, yaml.SequenceStartEvent):
        return [_read_value(e, events, depth + 1) for e in _until(events, yaml.SequenceEndEvent)]
    return _read_mapping(events, depth)


def _read_mapping(events: Iterator[Any], depth: int) -> dict[str, YamlValue]:
    import yaml

    found: dict[str, YamlValue] = {}
    for event in _until(events, yaml.MappingEndEvent):
        key = _read_value(event, events, depth + 1)
        if not isinstance(key, str) or key in found:
            fault = "a key is there twice" if isinstance(key, str) else "a key is not a text"
            raise _error(fault, event.start_mark)
        found[key] = _read_value(next(events), events, depth + 1)
    return found


def _until(events: Iterator[Any], end: type) -> Iterator[Any]:
    for event in events:
        if isinstance(event, end):
            return
        yield event


def _error(problem: str, mark: Any) -> YamlError:
    return YamlError(f"{problem} (at line {mark.line + 1})" if mark is not None else problem)


def yaml_text(text: str) -> str:
    """The text as a double-quoted scalar on one line.

    Three hyphens in it are escaped, because some readers end the front matter there.
    """
    written = re.sub("(?<=--)-", r"\\u002d", json.dumps(text, ensure_ascii=False))
    return "".join(_escape(c) for c in written)


def _escape(character: str) -> str:
    code = ord(character)
    if character.isprintable():
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
