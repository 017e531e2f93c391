"""Finds the options with which a command continues the bench in its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from codeplan.untrusted.terminal import shell_word
from codeplan.untrusted.values import in_quotes

_MAX_SETTINGS = 3
"""Maximum number of settings that a message names."""


class CellParts(Protocol):
    """The parts of a bench's cell that options can set."""

    @property
    def suite(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...


def missing_options(before: Sequence[CellParts], missing: CellParts, here: Sequence[CellParts]) -> str:
    """The options with which to continue a bench that has the cells ``before``; empty if a command's options cannot
    express them. ``missing`` is one of those cells that has no equal among the cells ``here``.
    """
    if len(before) > 1:
        return "give its file or its paper:NAME, with the same options"
    if len(here) != 1:
        return ""
    (cell,) = here
    if cell.suite != missing.suite:
        return f"name the suite {in_quotes(missing.suite)}"
    parts = {"--method": (cell.method, missing.method), "--model": (cell.model, missing.model)}
    given = [f"{option} {shell_word(there)}" for option, (name, there) in parts.items() if name != there]
    if given:
        return f"give {' '.join(given)}"
    changed = _changed_settings(missing.settings, cell.settings)
    return f"give the same settings ({'; '.join(changed)})" if changed else ""


def _changed_settings(before: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    names = [name for name in {**before, **here} if before.get(name) != here.get(name)]
    shown = [f"{name} was {_value(before, name)}, here {_value(here, name)}" for name in names[:_MAX_SETTINGS]]
    return shown + ([f"and {len(names) - _MAX_SETTINGS} more"] if len(names) > _MAX_SETTINGS else [])


def _value(settings: Mapping[str, Any], name: str) -> str:
    return in_quotes(settings[name]) if name in settings else "not set"
