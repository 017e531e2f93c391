"""Reads the hostile plans of a folder. ``tests/escapes/README.md`` describes the files."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from codeplan.errors import UsageError

_HEADER: Final = re.compile(r"^# (id|kind|tries|a correct runtime must|layer): (.*)$", re.MULTILINE)
_STEP: Final = re.compile(r"^    if start_from <= (-?\d{1,15}):", re.MULTILINE)
_REPEAT: Final = re.compile(r"^# repeat for k from (\d+) to (\d+)(, deeper each time)?\n(.*?)^# end\n", re.M | re.S)
_INDEX: Final = re.compile(r"<(?:(\d+)\*)?k(?:\+(\d+))?(?: mod (\d+))?>")


class HostilePlan(msgspec.Struct, frozen=True):
    """A hostile plan, as its header describes it.

    ``for_cage`` marks a plan that needs more of Python than the plan language has. It attacks the cage alone, and the
    check must refuse it.
    """

    id: str
    kind: str
    tries: str
    source: str
    for_cage: bool = False

    @property
    def steps(self) -> tuple[int, ...]:
        """The numbers of the plan's own steps."""
        return tuple(int(n) for n in _STEP.findall(self.source))


def read_hostile_plan(path: Path) -> HostilePlan:
    """Read one hostile plan. Raises UsageError if the file is unreadable or its header incomplete."""
    try:
        text = path.read_bytes().decode()  # not read_text: line ends may be part of the attack
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the hostile plan {path} cannot be read: {error}") from None
    header = dict(_HEADER.findall(text.replace("\r", "\n")))
    missing = [key for key in ("id", "kind", "tries") if key not in header]
    if missing:
        raise UsageError(f"the hostile plan {path} has no line '# {missing[0]}: …'; add it to its header")
    return HostilePlan(header["id"], header["kind"], header["tries"], expand(text), header.get("layer") == "cage")


def read_corpus(folder: Path) -> list[HostilePlan]:
    """Read all hostile plans of a folder, sorted by file name. Raises UsageError if there are none."""
    plans = [read_hostile_plan(path) for path in sorted(folder.glob("*.py"))]
    if not plans:
        raise UsageError(f"there are no hostile plans (*.py) in {folder}; name their folder with --corpus")
    return plans


def expand(text: str) -> str:
    """Write out each block from ``# repeat for k from A to B`` to ``# end``; fill in ``<k>`` and ``<7*k+1 mod 900>``.

    ``, deeper each time`` indents each copy by one more space.
    """
    return _REPEAT.sub(_copies, text)


def _copies(block: re.Match[str]) -> str:
    first, last, deeper, body = int(block[1]), int(block[2]), block[3], block[4]
    copies = [" " * (k - first if deeper else 0) + _INDEX.sub(partial(_value, k), body) for k in range(first, last + 1)]
    return "".join(copies)


def _value(k: int, index: re.Match[str]) -> str:
    value = int(index[1] or 1) * k + int(index[2] or 0)
    return str(value % int(index[3]) if index[3] else value)
