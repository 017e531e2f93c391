"""Households made from a kind of task, a seed and a difficulty: the same three make the same game for ever.

First the task is drawn (room, furniture, goal, its sentence), then the room is filled: the objects that the goal
needs, lamps, and others that stand about. Most things are where they are usually kept; some are not. How much there
is of all this is the difficulty's matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec.structs import replace

from codeplan.envs.household import affordances
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
from codeplan.envs.household.portable_random import PortableRandom
from codeplan.envs.household.rooms import (
    BATHROOM,
    BEDROOM,
    DIFFICULTY_SETTINGS,
    INITIAL_CAPACITY,
    KITCHEN,
    LAMP_STANDS,
    LIVING_ROOM,
    Difficulty,
    DifficultySettings,
    Room,
)
from codeplan.envs.household.walkthrough import find_walkthrough
from codeplan.types.value import Value

KINDS = ("pick", "clean", "heat", "cool", "examine", "pick_two")

_ROOMS: dict[str, tuple[Room, ...]] = {
    "pick": (KITCHEN, BATHROOM, BEDROOM, LIVING_ROOM),
    "clean": (KITCHEN, KITCHEN, BATHROOM),
    "heat": (KITCHEN,),
    "cool": (KITCHEN,),
    "examine": (BEDROOM, LIVING_ROOM),
    "pick_two": (KITCHEN, BATHROOM, BEDROOM, LIVING_ROOM),
}
_SENTENCES = {
    "pick": ("put a {object} in {receptacle}.", "put some {object} on {receptacle}."),
    "clean": ("put a clean {object} in {receptacle}.", "clean some {object} and put it in {receptacle}."),
    "heat": ("put a hot {object} in {receptacle}.", "heat some {object} and put it in {receptacle}."),
    "cool": ("put a cool {object} in {receptacle}.", "cool some {object} and put it in {receptacle}."),
    "examine": ("look at {object} under the {lamp}.", "examine the {object} with the {lamp}."),
    "pick_two": ("put two {object} in {receptacle}.", "find two {object} and put them in {receptacle}."),
}
_MOST_TARGETS = 3


class RoomSetup(Value, frozen=True):
    """A task before the room is filled: which room, its receptacles by kind and in order, what is to be done."""

    room: Room
    furniture: tuple[str, ...]
    goal: HouseholdGoal
    goal_text: str


@lru_cache(maxsize=64)  # a task is looked at and then played: the same game twice
def generate_game(kind: str, seed: int, dialect: Dialect = PUT_DIALECT, difficulty: Difficulty = "normal") -> Game:
    """The game of a kind and a seed (not negative), with a walkthrough that wins it."""
    name, clutter = _name(kind, seed, difficulty), DIFFICULTY_SETTINGS[difficulty]
    dice = PortableRandom(name)
    setting = _setting(dice, kind, clutter)
    game = _RoomFiller(dice, setting, kind, clutter, PortableRandom(f"{name} rare")).game(dialect)
    return replace(game, walkthrough=find_walkthrough(game))


def generate_goal_text(kind: str, seed: int, difficulty: Difficulty = "normal") -> str:
    """The goal of ``generate(kind, seed)`` in words, for much less work."""
    return _setting(PortableRandom(_name(kind, seed, difficulty)), kind, DIFFICULTY_SETTINGS[difficulty]).goal_text


def _name(kind: str, seed: int, difficulty: Difficulty) -> str:
    return f"household {kind} {seed}" if difficulty == "normal" else f"household {difficulty} {kind} {seed}"


# ------------------------------------------------------------------ the task


def _setting(dice: PortableRandom, kind: str, clutter: DifficultySettings) -> RoomSetup:
    room = dice.pick(_ROOMS[kind])
    furniture = tuple(
        name for name, (least, most) in sorted(room.furniture.items()) for _ in range(_many(dice, least, most, clutter))
    )
    goal = _light_goal(dice, room) if kind == "examine" else _place_goal(dice, kind, room, furniture)
    words = {"object": goal.object, "receptacle": goal.receptacle, "lamp": goal.lamp}
    return RoomSetup(room, furniture, goal, dice.pick(_SENTENCES[kind]).format(**words))


def _many(dice: PortableRandom, least: int, most: int, clutter: DifficultySettings) -> int:
    """How many there are of a kind of furniture."""
    if clutter.minimum_furniture:
        return least
    return dice.between(least, round(most * clutter.furniture_factor) if most > 1 else most)


def _light_goal(dice: PortableRandom, room: Room) -> HouseholdGoal:
    lamp = "floorlamp" if room is LIVING_ROOM and dice.chance(0.3) else "desklamp"
    return HouseholdGoal(
        dice.pick([o for o in room.usual_places if "pickupable" in affordances.traits_of_kind(o)]), lamp=lamp
    )


def _place_goal(dice: PortableRandom, kind: str, room: Room, furniture: Sequence[str]) -> HouseholdGoal:
    treatment = TREATMENTS.get(kind)
    trait, appliance = (treatment.trait, treatment.appliance) if treatment else ("pickupable", None)
    count = 2 if kind == "pick_two" else 1
    receptacles = [r for r in dict.fromkeys(furniture) if r != appliance and INITIAL_CAPACITY.get(r, count) >= count]
    goals = [
        (o, [r for r in receptacles if o in affordances.ALLOWED_CONTENTS[r] and _kept_elsewhere(o, r, furniture)])
        for o in room.usual_places
        if trait in affordances.traits_of_kind(o)
    ]
    thing, places = dice.pick([(o, rs) for o, rs in goals if rs])
    return HouseholdGoal(thing, dice.pick(places), treatment.condition if treatment else None, count)


def _kept_elsewhere(thing: str, receptacle: str, furniture: Sequence[str]) -> bool:
    """Whether there is room in other kinds of receptacles for as many of the thing as may be drawn."""
    others = (r for r in furniture if r != receptacle and thing in affordances.ALLOWED_CONTENTS[r])
    return sum(INITIAL_CAPACITY.get(r, _MOST_TARGETS) for r in others) >= _MOST_TARGETS


# ------------------------------------------------------------------ the things in the room


class _RoomFiller:
    """Puts things into the receptacles of a setting. Receptacles are indices into its furniture."""

    def __init__(
        self,
        random: PortableRandom,
        setting: RoomSetup,
        kind: str,
        clutter: DifficultySettings,
        rare_random: PortableRandom,
    ) -> None:
        """``apart`` is thrown for what is rare, so that it changes nothing about the rest."""
        self.random, self.setting, self.kind, self.clutter, self.rare_random = (
            random,
            setting,
            kind,
            clutter,
            rare_random,
        )
        self.homes: list[tuple[str, int]] = []
        """Kind and receptacle of every thing that was put somewhere."""
        self.place_targets()
        self.place_lamps()
        self.place_others()

    def place_targets(self) -> None:
        goal = self.setting.goal
        count = goal.count + self.random.pick((0, 0, 0, 1, 1, 2 if goal.count == 1 else 1))
        already = 0
        if goal.receptacle and self.kind != "pick" and self.random.chance(0.2):
            already = self.place(goal.object, lambda r: self.setting.furniture[r] == goal.receptacle)
        for _ in range(count - already):
            self.place(goal.object, lambda r: self.setting.furniture[r] != goal.receptacle)

    def place_lamps(self) -> None:
        wanted = self.setting.goal.lamp
        if wanted:
            self.place_lamp(wanted)
        if self.setting.room in (BEDROOM, LIVING_ROOM) and self.random.chance(0.4):
            self.place_lamp("desklamp")

    def place_lamp(self, lamp: str) -> None:
        stands = [r for r, name in enumerate(self.setting.furniture) if name in LAMP_STANDS[lamp]]
        self.homes.append((lamp, self.random.pick(stands)))

    def place_others(self) -> None:
        for kind in self.setting.room.usual_places:
            if kind != self.setting.goal.object and self.random.chance(self.clutter.presence_probability):
                for _ in range(self.random.pick(self.clutter.counts)):
                    self.place(kind, lambda _: True)

    def place(self, kind: str, allowed: Callable[[int], bool]) -> bool:
        """Put one thing where it usually is, or now and then where it merely may be. False where there is no room."""
        usual, possible = self.setting.room.usual_places[kind], [r for r in self.possible(kind) if allowed(r)]
        if not possible:
            return False
        kept = [name for name in usual if any(self.setting.furniture[r] == name for r in possible)]
        if kept and not self.random.chance(self.clutter.misplaced_probability):
            name = self.random.pick_favouring_early(kept)
            possible = [r for r in possible if self.setting.furniture[r] == name]
        self.homes.append((kind, self.random.pick(possible)))
        return True

    def rare(self) -> list[tuple[str, int]]:
        """Kind and receptacle of the rare things, each in one of its usual places."""
        found: list[tuple[str, int]] = []
        for kind, usual in self.setting.room.rare_places.items():
            places = [r for r, name in enumerate(self.setting.furniture) if name in usual and not self.full(r)]
            if places and self.rare_random.chance(self.clutter.rare_probability):
                found.append((kind, self.rare_random.pick(places)))
        return found

    def possible(self, kind: str) -> list[int]:
        """Receptacles that may hold a thing of this kind and are not full."""
        return [r for r, name in enumerate(self.setting.furniture) if self.may_hold(name, kind) and not self.full(r)]

    def may_hold(self, receptacle: str, kind: str) -> bool:
        if "pickupable" in affordances.traits_of_kind(kind):
            return kind in affordances.ALLOWED_CONTENTS[receptacle]
        return receptacle in self.setting.room.usual_places[kind]

    def full(self, r: int) -> bool:
        capacity = INITIAL_CAPACITY.get(self.setting.furniture[r])
        return capacity is not None and sum(home == r for _, home in self.homes) >= capacity

    def game(self, dialect: Dialect) -> Game:
        # Mixed before they are sorted by kind, so that a number tells nothing of where its thing is.
        homes = sorted([*self.random.permutation(self.homes), *self.rare()], key=lambda home: home[0])
        furniture = self.setting.furniture
        *locations, start = self.random.permutation(range(1, len(furniture) + 2))
        receptacles = tuple(
            Receptacle(name, kind, location, kind in affordances.OPENABLE)
            for name, kind, location in zip(number_names(furniture), furniture, locations, strict=True)
        )
        objects = tuple(
            Object(name, kind, affordances.traits_of_kind(kind), () if kind in affordances.CONTAINER_OBJECTS else None)
            for name, (kind, _) in zip(number_names(kind for kind, _ in homes), homes, strict=True)
        )
        contents = tuple(tuple(o for o, (_, home) in enumerate(homes) if home == r) for r in range(len(furniture)))
        places = tuple(frozenset({locations[home]}) for _, home in homes)
        state = HouseholdState(start, contents, places)
        return Game(
            receptacles, objects, affordances.CAN_CONTAIN, self.setting.goal, self.setting.goal_text, state, dialect
        )
