"""Households made from a kind of task, a seed and a difficulty: the same three make the same game for ever.

First the task is drawn (room, furniture, goal, its sentence), then the room is filled: the objects that the goal
needs, lamps, and others that stand about. Most things are where they are usually kept; some are not. How much there
is of all this is the difficulty's matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec.structs import replace

from codeplan.envs.household import facts
from codeplan.envs.household.dice import Dice
from codeplan.envs.household.engine import TREATMENTS
from codeplan.envs.household.game import PUT, Dialect, Game, Goal, Object, Receptacle, State, numbered
from codeplan.envs.household.rooms import (
    BATHROOM,
    BEDROOM,
    CAPACITY,
    CLUTTER,
    KITCHEN,
    LAMP_STANDS,
    LIVING_ROOM,
    Clutter,
    Difficulty,
    Room,
)
from codeplan.envs.household.walkthrough import walkthrough
from codeplan.types import Value

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


class Setting(Value, frozen=True):
    """A task before the room is filled: which room, its receptacles by kind and in order, what is to be done."""

    room: Room
    furniture: tuple[str, ...]
    goal: Goal
    sentence: str


@lru_cache(maxsize=64)  # a task is looked at and then played: the same game twice
def generate(kind: str, seed: int, dialect: Dialect = PUT, difficulty: Difficulty = "normal") -> Game:
    """The game of a kind and a seed (not negative), with a walkthrough that wins it."""
    name, clutter = _name(kind, seed, difficulty), CLUTTER[difficulty]
    dice = Dice(name)
    setting = _setting(dice, kind, clutter)
    game = _Filling(dice, setting, kind, clutter, Dice(f"{name} rare")).game(dialect)
    return replace(game, walkthrough=walkthrough(game))


def sentence(kind: str, seed: int, difficulty: Difficulty = "normal") -> str:
    """The goal of ``generate(kind, seed)`` in words, for much less work."""
    return _setting(Dice(_name(kind, seed, difficulty)), kind, CLUTTER[difficulty]).sentence


def _name(kind: str, seed: int, difficulty: Difficulty) -> str:
    return f"household {kind} {seed}" if difficulty == "normal" else f"household {difficulty} {kind} {seed}"


# ------------------------------------------------------------------ the task


def _setting(dice: Dice, kind: str, clutter: Clutter) -> Setting:
    room = dice.pick(_ROOMS[kind])
    furniture = tuple(
        name for name, (least, most) in sorted(room.furniture.items()) for _ in range(_many(dice, least, most, clutter))
    )
    goal = _light_goal(dice, room) if kind == "examine" else _place_goal(dice, kind, room, furniture)
    words = {"object": goal.object, "receptacle": goal.receptacle, "lamp": goal.lamp}
    return Setting(room, furniture, goal, dice.pick(_SENTENCES[kind]).format(**words))


def _many(dice: Dice, least: int, most: int, clutter: Clutter) -> int:
    """How many there are of a kind of furniture."""
    if clutter.few:
        return least
    return dice.between(least, round(most * clutter.more) if most > 1 else most)


def _light_goal(dice: Dice, room: Room) -> Goal:
    lamp = "floorlamp" if room is LIVING_ROOM and dice.chance(0.3) else "desklamp"
    return Goal(dice.pick([o for o in room.usual if "pickupable" in facts.traits(o)]), lamp=lamp)


def _place_goal(dice: Dice, kind: str, room: Room, furniture: Sequence[str]) -> Goal:
    treatment = TREATMENTS.get(kind)
    trait, appliance = (treatment.trait, treatment.appliance) if treatment else ("pickupable", None)
    count = 2 if kind == "pick_two" else 1
    receptacles = [r for r in dict.fromkeys(furniture) if r != appliance and CAPACITY.get(r, count) >= count]
    goals = [
        (o, [r for r in receptacles if o in facts.HOLDS[r] and _kept_elsewhere(o, r, furniture)])
        for o in room.usual
        if trait in facts.traits(o)
    ]
    thing, places = dice.pick([(o, rs) for o, rs in goals if rs])
    return Goal(thing, dice.pick(places), treatment.condition if treatment else None, count)


def _kept_elsewhere(thing: str, receptacle: str, furniture: Sequence[str]) -> bool:
    """Whether there is room in other kinds of receptacles for as many of the thing as may be drawn."""
    others = (r for r in furniture if r != receptacle and thing in facts.HOLDS[r])
    return sum(CAPACITY.get(r, _MOST_TARGETS) for r in others) >= _MOST_TARGETS


# ------------------------------------------------------------------ the things in the room


class _Filling:
    """Puts things into the receptacles of a setting. Receptacles are indices into its furniture."""

    def __init__(self, dice: Dice, setting: Setting, kind: str, clutter: Clutter, apart: Dice) -> None:
        """``apart`` is thrown for what is rare, so that it changes nothing about the rest."""
        self.dice, self.setting, self.kind, self.clutter, self.apart = dice, setting, kind, clutter, apart
        self.homes: list[tuple[str, int]] = []
        """Kind and receptacle of every thing that was put somewhere."""
        self.place_targets()
        self.place_lamps()
        self.place_others()

    def place_targets(self) -> None:
        goal = self.setting.goal
        count = goal.count + self.dice.pick((0, 0, 0, 1, 1, 2 if goal.count == 1 else 1))
        already = 0
        if goal.receptacle and self.kind != "pick" and self.dice.chance(0.2):
            already = self.place(goal.object, lambda r: self.setting.furniture[r] == goal.receptacle)
        for _ in range(count - already):
            self.place(goal.object, lambda r: self.setting.furniture[r] != goal.receptacle)

    def place_lamps(self) -> None:
        wanted = self.setting.goal.lamp
        if wanted:
            self.place_lamp(wanted)
        if self.setting.room in (BEDROOM, LIVING_ROOM) and self.dice.chance(0.4):
            self.place_lamp("desklamp")

    def place_lamp(self, lamp: str) -> None:
        stands = [r for r, name in enumerate(self.setting.furniture) if name in LAMP_STANDS[lamp]]
        self.homes.append((lamp, self.dice.pick(stands)))

    def place_others(self) -> None:
        for kind in self.setting.room.usual:
            if kind != self.setting.goal.object and self.dice.chance(self.clutter.present):
                for _ in range(self.dice.pick(self.clutter.numbers)):
                    self.place(kind, lambda _: True)

    def place(self, kind: str, allowed: Callable[[int], bool]) -> bool:
        """Put one thing where it usually is, or now and then where it merely may be. False where there is no room."""
        usual, possible = self.setting.room.usual[kind], [r for r in self.possible(kind) if allowed(r)]
        if not possible:
            return False
        kept = [name for name in usual if any(self.setting.furniture[r] == name for r in possible)]
        if kept and not self.dice.chance(self.clutter.astray):
            name = self.dice.pick_early(kept)
            possible = [r for r in possible if self.setting.furniture[r] == name]
        self.homes.append((kind, self.dice.pick(possible)))
        return True

    def rare(self) -> list[tuple[str, int]]:
        """Kind and receptacle of the rare things, each in one of its usual places."""
        found: list[tuple[str, int]] = []
        for kind, usual in self.setting.room.rare.items():
            places = [r for r, name in enumerate(self.setting.furniture) if name in usual and not self.full(r)]
            if places and self.apart.chance(self.clutter.rare):
                found.append((kind, self.apart.pick(places)))
        return found

    def possible(self, kind: str) -> list[int]:
        """Receptacles that may hold a thing of this kind and are not full."""
        return [r for r, name in enumerate(self.setting.furniture) if self.may_hold(name, kind) and not self.full(r)]

    def may_hold(self, receptacle: str, kind: str) -> bool:
        if "pickupable" in facts.traits(kind):
            return kind in facts.HOLDS[receptacle]
        return receptacle in self.setting.room.usual[kind]

    def full(self, r: int) -> bool:
        capacity = CAPACITY.get(self.setting.furniture[r])
        return capacity is not None and sum(home == r for _, home in self.homes) >= capacity

    def game(self, dialect: Dialect) -> Game:
        # Mixed before they are sorted by kind, so that a number tells nothing of where its thing is.
        homes = sorted([*self.dice.shuffled(self.homes), *self.rare()], key=lambda home: home[0])
        furniture = self.setting.furniture
        *locations, start = self.dice.shuffled(range(1, len(furniture) + 2))
        receptacles = tuple(
            Receptacle(name, kind, location, kind in facts.OPENABLE)
            for name, kind, location in zip(numbered(furniture), furniture, locations, strict=True)
        )
        objects = tuple(
            Object(name, kind, facts.traits(kind), () if kind in facts.HOLDERS else None)
            for name, (kind, _) in zip(numbered(kind for kind, _ in homes), homes, strict=True)
        )
        contents = tuple(tuple(o for o, (_, home) in enumerate(homes) if home == r) for r in range(len(furniture)))
        places = tuple(frozenset({locations[home]}) for _, home in homes)
        state = State(start, contents, places)
        return Game(receptacles, objects, facts.CAN_CONTAIN, self.setting.goal, self.setting.sentence, state, dialect)
