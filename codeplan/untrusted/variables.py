"""Shows a plan's variables as text, within one budget of characters that they share fairly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from codeplan.untrusted.scalars import ELLIPSIS
from codeplan.untrusted.values import MAX_COUNT_CHARS, ValueWriter

_MAX_ROUNDS: Final = 4  # how often the unused room of short values is shared again
_MIN_SHARE: Final = 100  # characters for a variable and its value; where all cannot have them, some are only named
_MAX_NAME: Final = 60

_T = TypeVar("_T")


class VariableTexts(NamedTuple):
    """Variables as text, by their whole names.

    ``unshown`` are names of variables without their values; ``unnamed`` counts the rest. ``abbreviated`` is whether
    the texts contain an ellipsis or a mark.
    """

    texts: dict[str, str]
    unshown: list[str]
    unnamed: int
    abbreviated: bool


def variable_texts(
    variables: Mapping[str, object],
    max_characters: int,
    *,
    max_each: int | None = None,
    max_string: int | None = None,
    counts: bool = False,
    names: Mapping[str, str] | None = None,
) -> VariableTexts:
    """Each variable in Python's notation; all names and values together take at most ``max_characters``.

    Values that need little leave the rest of their share to the others, so an early variable cannot use up the room of
    a later one. ``max_each`` limits one value, ``max_string`` a text within it. If there are too many variables, the
    last are only named. ``counts`` and ``names`` are as in ``ValueWriter``.
    """
    shown = dict(islice(variables.items(), max(1, max_characters // _MIN_SHARE)))
    unshown = _names_that_fit(islice(variables, len(shown), None), max_characters // 4)
    room = max_characters - sum(map(_name_room, (*shown, *unshown)))
    most = room if max_each is None else max_each

    def length(value: object, share: int) -> int | None:
        writer = ValueWriter(max_string=max_string, counts=counts, names=names)
        text = writer.text(value, min(share, most))
        return len(text) if len(text) <= share else None

    shares = fair_shares(shown, room, length)
    if counts:
        cut = {n: shares.pop(n) for n, value in shown.items() if length(value, shares[n]) is None}
        shares |= {n: share - MAX_COUNT_CHARS for n, share in cut.items() if share > MAX_COUNT_CHARS}
        unshown = [clip_name(n) for n in shown if n not in shares] + unshown
    writer = ValueWriter(max_string=max_string, counts=counts, names=names)
    texts = {n: writer.text(value, min(most, shares[n])) for n, value in shown.items() if n in shares}
    unnamed = len(variables) - len(texts) - len(unshown)
    return VariableTexts(texts, unshown, unnamed, writer.abbreviated)


def clip_name(name: str) -> str:
    """The name of a variable in at most 60 characters and an ellipsis."""
    return name if len(name) <= _MAX_NAME else name[:_MAX_NAME] + ELLIPSIS


def _names_that_fit(names: Iterable[str], room: int) -> list[str]:
    fitting: list[str] = []
    for name in names:
        room -= _name_room(name)
        if room < 0:
            break
        fitting.append(clip_name(name))
    return fitting


def _name_room(name: str) -> int:
    """The characters that a name takes on its line, with an equals sign, two ellipses and the line's end."""
    return min(len(name), _MAX_NAME) + 6


def fair_shares(values: Mapping[str, _T], room: int, size: Callable[[_T, int], int | None]) -> dict[str, int]:
    """The room of each value. ``size`` measures a value up to a limit; None means that it is larger.

    In each round the values without a share may take equal parts of the room. Those that need less free the rest.
    """
    shares: dict[str, int] = {}
    waiting = dict(values)
    for _ in range(_MAX_ROUNDS):
        if not waiting:
            break
        part = max(0, room // len(waiting))
        fitting = {name: needed for name, value in waiting.items() if (needed := size(value, part)) is not None}
        if not fitting:
            break
        shares |= fitting
        room -= sum(fitting.values())
        waiting = {name: value for name, value in waiting.items() if name not in fitting}
    return shares | {name: max(0, room // len(waiting)) for name in waiting}
