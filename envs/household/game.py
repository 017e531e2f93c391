"""The values of a household game: furniture, objects, goal and state. All are frozen.

The generator makes games, and ``codeplan.envs.alfworld`` reads them from files; ``engine`` plays both. Receptacles and
objects are identified by their indices in a game's tuples, in the order of every listing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from codeplan.types import Value

Condition = Literal["clean", "hot", "cool"]
"""A condition that a treatment gives to an object."""

DialectName = Literal["put", "move"]


class Dialect(Value, frozen=True):
    """The wording that differs between the two releases of ALFWorld's data."""

    name: DialectName
    put_command: tuple[str, str]
    """The two fixed parts of the command that puts X in or on Y: ``put_command[0] X put_command[1] Y``."""
    put_answer: str
    """The answer to that command, with the fields ``object`` and ``receptacle``."""
    arrival_sentence: str
    """The answer on arrival, with the fields ``location`` (a number) and ``receptacle``."""
    has_help: bool
    """Whether the command ``help`` exists."""


PUT_DIALECT = Dialect(
    "put", ("put ", " in/on "), "You put the {object} in/on the {receptacle}.", "You arrive at loc {location}.", False
)
MOVE_DIALECT = Dialect(
    "move", ("move ", " to "), "You move the {object} to the {receptacle}.", "You arrive at {receptacle}.", True
)
DIALECTS: dict[str, Dialect] = {"put": PUT_DIALECT, "move": MOVE_DIALECT}


class Receptacle(Value, frozen=True):
    """Furniture that holds objects. ``location`` is where the agent stands to use it; several may share one."""

    name: str
    kind: str
    location: int
    openable: bool = False


class Object(Value, frozen=True):
    """An object. ``traits`` are among pickupable, cleanable, heatable, coolable, toggleable, sliceable.

    For an object that can hold others, ``inner`` names its contents, which no action can take; otherwise it is None.
    """

    name: str
    kind: str
    traits: frozenset[str] = frozenset()
    inner: tuple[str, ...] | None = None


class HouseholdGoal(Value, frozen=True):
    """The goal: ``count`` objects of a kind are in one receptacle of a kind, each in ``condition``.

    If ``lamp`` is a kind of lamp, the goal is instead to hold the object next to such a lamp that is switched on.
    """

    object: str
    receptacle: str | None = None
    condition: Condition | None = None
    count: int = 1
    lamp: str | None = None


class HouseholdState(Value, frozen=True):
    """The state of a game. Objects and receptacles are indices. A state is its own snapshot, as it never changes."""

    location: int
    """The agent's location."""
    contents: tuple[tuple[int, ...], ...]
    """For each receptacle, its objects, ascending. In recorded games an object may be in two receptacles."""
    places: tuple[frozenset[int], ...]
    """For each object, its locations; none while the agent holds it."""
    holding: int | None = None
    opened: frozenset[int] = frozenset()
    clean: frozenset[int] = frozenset()
    hot: frozenset[int] = frozenset()
    cool: frozenset[int] = frozenset()
    sliced: frozenset[int] = frozenset()
    lit: frozenset[int] = frozenset()
    removed: frozenset[tuple[int, int]] = frozenset()
    """Pairs of an object and the receptacle it was taken from and not put back into; ``look`` lists such objects."""


class Game(Value, frozen=True, dict=True):
    """A household and its goal; ``goal_text`` is the goal in words.

    ``can_contain`` has the allowed pairs of a receptacle's kind and an object's kind. ``walkthrough`` is a list of
    actions that win from the initial state; it is empty if none is known.
    """

    receptacles: tuple[Receptacle, ...]
    objects: tuple[Object, ...]
    can_contain: frozenset[tuple[str, str]]
    goal: HouseholdGoal
    goal_text: str
    initial_state: HouseholdState
    dialect: Dialect = PUT_DIALECT
    walkthrough: tuple[str, ...] = ()

    @cached_property
    def receptacle_indices(self) -> dict[str, int]:
        """The index of each receptacle, by name."""
        return {r.name: i for i, r in enumerate(self.receptacles)}

    @cached_property
    def object_indices(self) -> dict[str, int]:
        """The index of each object, by name."""
        return {o.name: i for i, o in enumerate(self.objects)}

    @cached_property
    def _by_location(self) -> dict[int, tuple[int, ...]]:
        locations = {r.location for r in self.receptacles}
        return {at: tuple(i for i, r in enumerate(self.receptacles) if r.location == at) for at in locations}

    def receptacles_at(self, location: int) -> tuple[int, ...]:
        """Return the receptacles within reach at a location, in order; none in the middle of the room."""
        return self._by_location.get(location, ())


def number_names(kinds: Iterable[str]) -> list[str]:
    """Name each item of a list of kinds by its kind and a number that counts down to 1 within the kind."""
    ordered = list(kinds)
    left = Counter(ordered)
    names = []
    for kind in ordered:
        names.append(f"{kind} {left[kind]}")
        left[kind] -= 1
    return names
