"""Generates games from a kind of task, a seed and a difficulty; the same three always give the same game.

It draws the task first (room, furniture, goal, goal text). Then it fills the room with the objects that the goal
needs, lamps, and other objects. Most objects are in their usual places. The difficulty sets the amounts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from msgspec.structs import replace

from codeplan.envs.household.engine import TREATMENTS
from codeplan.envs.household.game import (
    PUT_DIALECT,
    Dialect,
    Game,
    HouseholdGoal,
    HouseholdState,
    Object,
    Receptacle,
    number_names,
)
from codeplan.envs.household.rooms import (
    ALLOWED_CONTENTS,
    BATHROOM,
    BEDROOM,
    CAN_CONTAIN,
    CONTAINER_OBJECTS,
    DIFFICULTY_SETTINGS,
    INITIAL_CAPACITY,
    KITCHEN,
    LAMP_STANDS,
    LIVING_ROOM,
    OPENABLE,
    Difficulty,
    DifficultySettings,
    Room,
    traits_of_kind,
)
from codeplan.envs.household.walkthrough import find_walkthrough
from codeplan.types import Value

T = TypeVar("T")


class PortableRandom:
    """Random draws from a seed text.

    It uses only the float stream of ``random.Random``, which Python's documentation fixes. How ``choice``, ``sample``
    and ``shuffle`` use that stream has changed between versions.
    """

    def __init__(self, seed_text: str) -> None:
        self._draw = random.Random(seed_text).random

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._draw() < probability

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to ``bound - 1``."""
        return int(self._draw() * bound)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def pick(self, values: Sequence[T]) -> T:
        """Return one of the values, all equally likely."""
        return values[self.below(len(values))]

    def pick_favouring_early(self, values: Sequence[T]) -> T:
        """Return one of the values, with the weights n, n-1, ..., 1."""
        at = self.below(len(values) * (len(values) + 1) // 2)
        for i in range(len(values)):
            at -= len(values) - i
            if at < 0:
                return values[i]
        return values[-1]

    def permutation(self, values: Sequence[T]) -> list[T]:
        """Return the values in random order."""
        mixed = list(values)
        for i in range(len(mixed) - 1, 0, -1):
            j = self.below(i + 1)
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed


KINDS = ("pick", "clean", "heat", "cool", "examine", "pick_two")

_ROOMS: dict[str, tuple[Room, ...]] = {
    "pick": (KITCHEN, BATHROOM, BEDROOM, LIVING_ROOM),
    "clean": (KITCHEN, KITCHEN, BATHROOM),
    "heat": (KITCHEN,),
    "cool": (KITCHEN,),
    "examine": (BEDROOM, LIVING_ROOM),
    "pick_two": (KITCHEN, BATHROOM, BEDROOM, LIVING_ROOM),
}
GOAL_TEXTS = {
    "pick": ("put a {object} in {receptacle}.", "put some {object} on {receptacle}."),
    "clean": ("put a clean {object} in {receptacle}.", "clean some {object} and put it in {receptacle}."),
    "heat": ("put a hot {object} in {receptacle}.", "heat some {object} and put it in {receptacle}."),
    "cool": ("put a cool {object} in {receptacle}.", "cool some {object} and put it in {receptacle}."),
    "examine": ("look at {object} under the {lamp}.", "examine the {object} with the {lamp}."),
    "pick_two": ("put two {object} in {receptacle}.", "find two {object} and put them in {receptacle}."),
}
"""The two wordings of a goal, by kind of task."""
_MAX_TARGETS = 3


class RoomSetup(Value, frozen=True):
    """A task before the room is filled. ``furniture`` is the kind of each receptacle, in order."""

    room: Room
    furniture: tuple[str, ...]
    goal: HouseholdGoal
    goal_text: str


@lru_cache(maxsize=64)  # callers list a task and then play it, which generates the same game twice
def generate_game(kind: str, seed: int, dialect: Dialect = PUT_DIALECT, difficulty: Difficulty = "normal") -> Game:
    """Return the game of a kind and a seed (0 or more), with a walkthrough that wins it."""
    name = _name(kind, seed, difficulty)
    random, settings = PortableRandom(name), DIFFICULTY_SETTINGS[difficulty]
    setup = _draw_setup(random, kind, settings)
    game = _RoomFiller(random, setup, kind, settings, PortableRandom(f"{name} rare")).game(dialect)
    return replace(game, walkthrough=find_walkthrough(game))


def generate_goal_text(kind: str, seed: int, difficulty: Difficulty = "normal") -> str:
    """Return the ``goal_text`` of ``generate_game``, without filling the room."""
    random = PortableRandom(_name(kind, seed, difficulty))
    return _draw_setup(random, kind, DIFFICULTY_SETTINGS[difficulty]).goal_text


def _name(kind: str, seed: int, difficulty: Difficulty) -> str:
    return f"household {kind} {seed}" if difficulty == "normal" else f"household {difficulty} {kind} {seed}"


# ------------------------------------------------------------------ the task


def _draw_setup(random: PortableRandom, kind: str, settings: DifficultySettings) -> RoomSetup:
    room = random.pick(_ROOMS[kind])
    furniture = tuple(
        name
        for name, (least, most) in sorted(room.furniture.items())
        for _ in range(_draw_number(random, least, most, settings))
    )
    goal = _draw_light_goal(random, room) if kind == "examine" else _draw_place_goal(random, kind, room, furniture)
    words = {"object": goal.object, "receptacle": goal.receptacle, "lamp": goal.lamp}
    return RoomSetup(room, furniture, goal, random.pick(GOAL_TEXTS[kind]).format(**words))


def _draw_number(random: PortableRandom, least: int, most: int, settings: DifficultySettings) -> int:
    if settings.minimum_furniture:
        return least
    return random.between(least, round(most * settings.furniture_factor) if most > 1 else most)


def _draw_light_goal(random: PortableRandom, room: Room) -> HouseholdGoal:
    lamp = "floorlamp" if room is LIVING_ROOM and random.chance(0.3) else "desklamp"
    return HouseholdGoal(random.pick([o for o in room.usual_places if "pickupable" in traits_of_kind(o)]), lamp=lamp)


def _draw_place_goal(random: PortableRandom, kind: str, room: Room, furniture: Sequence[str]) -> HouseholdGoal:
    treatment = TREATMENTS.get(kind)
    trait, appliance = (treatment.trait, treatment.appliance) if treatment else ("pickupable", None)
    count = 2 if kind == "pick_two" else 1
    receptacles = [r for r in dict.fromkeys(furniture) if r != appliance and INITIAL_CAPACITY.get(r, count) >= count]
    goals = [
        (o, [r for r in receptacles if o in ALLOWED_CONTENTS[r] and _fits_elsewhere(o, r, furniture)])
        for o in room.usual_places
        if trait in traits_of_kind(o)
    ]
    target, places = random.pick([(o, rs) for o, rs in goals if rs])
    return HouseholdGoal(target, random.pick(places), treatment.condition if treatment else None, count)


def _fits_elsewhere(kind: str, receptacle: str, furniture: Sequence[str]) -> bool:
    """Whether other kinds of receptacles have room for the greatest number of target objects."""
    others = (r for r in furniture if r != receptacle and kind in ALLOWED_CONTENTS[r])
    return sum(INITIAL_CAPACITY.get(r, _MAX_TARGETS) for r in others) >= _MAX_TARGETS


# ------------------------------------------------------------------ the objects in the room


class _RoomFiller:
    """Puts objects into the receptacles of a setup. Receptacles are indices into its furniture."""

    def __init__(
        self,
        random: PortableRandom,
        setup: RoomSetup,
        kind: str,
        settings: DifficultySettings,
        rare_random: PortableRandom,
    ) -> None:
        """``rare_random`` draws the rare objects, so that they do not change the other draws."""
        self.random, self.rare_random = random, rare_random
        self.setup, self.kind, self.settings = setup, kind, settings
        self.homes: list[tuple[str, int]] = []
        """The kind and the receptacle of every object placed so far."""
        self.place_targets()
        self.place_lamps()
        self.place_others()

    def place_targets(self) -> None:
        goal = self.setup.goal
        count = goal.count + self.random.pick((0, 0, 0, 1, 1, 2 if goal.count == 1 else 1))
        already = 0
        if goal.receptacle and self.kind != "pick" and self.random.chance(0.2):
            already = self.place(goal.object, lambda r: self.setup.furniture[r] == goal.receptacle)
        for _ in range(count - already):
            self.place(goal.object, lambda r: self.setup.furniture[r] != goal.receptacle)

    def place_lamps(self) -> None:
        if self.setup.goal.lamp:
            self.place_lamp(self.setup.goal.lamp)
        if self.setup.room in (BEDROOM, LIVING_ROOM) and self.random.chance(0.4):
            self.place_lamp("desklamp")

    def place_lamp(self, lamp: str) -> None:
        stands = [r for r, name in enumerate(self.setup.furniture) if name in LAMP_STANDS[lamp]]
        self.homes.append((lamp, self.random.pick(stands)))

    def place_others(self) -> None:
        for kind in self.setup.room.usual_places:
            if kind != self.setup.goal.object and self.random.chance(self.settings.presence_probability):
                for _ in range(self.random.pick(self.settings.counts)):
                    self.place(kind, lambda _: True)

    def place(self, kind: str, allowed: Callable[[int], bool]) -> bool:
        """Put an object in a usual place or, sometimes, any possible place. Return False if there is no room."""
        possible = [r for r in self.possible(kind) if allowed(r)]
        if not possible:
            return False
        present = {self.setup.furniture[r] for r in possible}
        usual = [name for name in self.setup.room.usual_places[kind] if name in present]
        if usual and not self.random.chance(self.settings.misplaced_probability):
            name = self.random.pick_favouring_early(usual)
            possible = [r for r in possible if self.setup.furniture[r] == name]
        self.homes.append((kind, self.random.pick(possible)))
        return True

    def rare(self) -> list[tuple[str, int]]:
        """Draw the rare objects: the kind of each, and one of its usual receptacles."""
        drawn: list[tuple[str, int]] = []
        for kind, usual in self.setup.room.rare_places.items():
            places = [r for r, name in enumerate(self.setup.furniture) if name in usual and not self.full(r)]
            if places and self.rare_random.chance(self.settings.rare_probability):
                drawn.append((kind, self.rare_random.pick(places)))
        return drawn

    def possible(self, kind: str) -> list[int]:
        """The receptacles that may hold an object of this kind and are not full."""
        return [r for r, name in enumerate(self.setup.furniture) if self.may_hold(name, kind) and not self.full(r)]

    def may_hold(self, receptacle: str, kind: str) -> bool:
        if "pickupable" in traits_of_kind(kind):
            return kind in ALLOWED_CONTENTS[receptacle]
        return receptacle in self.setup.room.usual_places[kind]

    def full(self, r: int) -> bool:
        capacity = INITIAL_CAPACITY.get(self.setup.furniture[r])
        return capacity is not None and sum(home == r for _, home in self.homes) >= capacity

    def game(self, dialect: Dialect) -> Game:
        # Shuffled before they are sorted by kind, so that an object's number does not reveal its place.
        homes = sorted([*self.random.permutation(self.homes), *self.rare()], key=lambda home: home[0])
        furniture = self.setup.furniture
        *locations, start = self.random.permutation(range(1, len(furniture) + 2))
        receptacles = tuple(
            Receptacle(name, kind, location, kind in OPENABLE)
            for name, kind, location in zip(number_names(furniture), furniture, locations, strict=True)
        )
        objects = tuple(
            Object(name, kind, traits_of_kind(kind), () if kind in CONTAINER_OBJECTS else None)
            for name, (kind, _) in zip(number_names(kind for kind, _ in homes), homes, strict=True)
        )
        contents = tuple(tuple(o for o, (_, home) in enumerate(homes) if home == r) for r in range(len(furniture)))
        places = tuple(frozenset({locations[home]}) for _, home in homes)
        state = HouseholdState(start, contents, places)
        return Game(receptacles, objects, CAN_CONTAIN, self.setup.goal, self.setup.goal_text, state, dialect)
