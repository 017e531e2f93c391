"""What a household game is: rooms' furniture, the objects in it, the goal. Frozen values, whoever made them.

A game comes from the generator here, or from a file in another format; the rules (``engine``) and the
sentences (``text``) need nothing but these values. Receptacles and objects are named by their place in two
tuples, which stand in the order in which every sentence lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from codeplan.types.value import Value

Condition = Literal["clean", "hot", "cool"]
"""What an object can be made."""

DialectName = Literal["put", "move"]


class Dialect(Value, frozen=True):
    """The wording that differs between the two releases of ALFWorld's data."""

    name: DialectName
    put_command: tuple[str, str]
    """The command that puts object X down in receptacle Y is ``put[0] X put[1] Y``."""
    put_answer: str
    """Its answer, with the fields ``object`` and ``receptacle``."""
    arrival_sentence: str
    """The sentence on arrival, with the fields ``location`` (a number) and ``receptacle``."""
    has_help: bool
    """Whether there is a command ``help``."""


PUT_DIALECT = Dialect(
    "put", ("put ", " in/on "), "You put the {object} in/on the {receptacle}.", "You arrive at loc {location}.", False
)
MOVE_DIALECT = Dialect(
    "move", ("move ", " to "), "You move the {object} to the {receptacle}.", "You arrive at {receptacle}.", True
)
DIALECTS: dict[str, Dialect] = {"put": PUT_DIALECT, "move": MOVE_DIALECT}


class Receptacle(Value, frozen=True):
    """Furniture that holds objects. ``location`` is the number of the place before it, which several may share."""

    name: str
    kind: str
    location: int
    openable: bool = False


class Object(Value, frozen=True):
    """A thing. ``traits`` are among pickupable, cleanable, heatable, coolable, toggleable, sliceable.

    ``inner`` is None for most; for a thing that can hold others, the names of what is in it, which nobody can take.
    """

    name: str
    kind: str
    traits: frozenset[str] = frozenset()
    inner: tuple[str, ...] | None = None


class HouseholdGoal(Value, frozen=True):
    """When a game is won: ``count`` objects of a kind lie in one receptacle of a kind, each in the condition asked for.

    Where ``lamp`` is the name of a kind, the goal is instead to hold the object beside such a lamp that is switched on.
    """

    object: str
    receptacle: str | None = None
    condition: Condition | None = None
    count: int = 1
    lamp: str | None = None


class HouseholdState(Value, frozen=True):
    """How things stand at one moment. Objects and receptacles are indices into those of the game.

    A state never changes, so that keeping one is a snapshot and going on from it a restoration.
    """

    location: int
    """Where the agent is."""
    contents: tuple[tuple[int, ...], ...]
    """For each receptacle, the objects in it, ascending. In recorded games an object may lie in two at once."""
    places: tuple[frozenset[int], ...]
    """For each object, the locations it is at; none while it is carried."""
    holding: int | None = None
    opened: frozenset[int] = frozenset()
    clean: frozenset[int] = frozenset()
    hot: frozenset[int] = frozenset()
    cool: frozenset[int] = frozenset()
    sliced: frozenset[int] = frozenset()
    lit: frozenset[int] = frozenset()
    removed: frozenset[tuple[int, int]] = frozenset()
    """Objects that were taken from a receptacle and not put back there: what ``look`` shows."""


class Game(Value, frozen=True, dict=True):
    """A household and what is to be done in it. ``goal`` is for the rules, ``sentence`` says it in words.

    ``can_contain`` holds the allowed pairs of a receptacle's kind and an object's kind. ``walkthrough`` is a list of
    actions that wins from the start, empty where none is known.
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
        """The receptacles within reach at a location, in order; none in the middle of the room."""
        return self._by_location.get(location, ())


def number_names(kinds: Iterable[str]) -> list[str]:
    """A name for each thing of a list of kinds: its kind and a number, which counts down to 1 within the kind."""
    ordered = list(kinds)
    left = Counter(ordered)
    names = []
    for kind in ordered:
        names.append(f"{kind} {left[kind]}")
        left[kind] -= 1
    return names
