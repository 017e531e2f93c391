"""The kinds of rooms, receptacles and objects: how much furniture a room has, where objects are usually found, which of
them fit where, and what can be done with them. The last two are ALFRED's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from codeplan.types import Value

Difficulty = Literal["easy", "normal", "hard"]


class Room(Value, frozen=True):
    """A kind of room. ``furniture`` maps each kind of receptacle to its least and greatest number.

    ``usual_places`` maps each kind of object to the kinds of receptacles it is usually in, likeliest first.
    ``rare_places`` does the same for objects that most rooms lack and no task asks for.
    """

    furniture: dict[str, tuple[int, int]]
    usual_places: dict[str, tuple[str, ...]]
    rare_places: dict[str, tuple[str, ...]]


class DifficultySettings(Value, frozen=True):
    """The parameters with which a difficulty fills a room.

    ``furniture_factor`` multiplies the greatest number of each kind of receptacle that may occur more than once;
    ``minimum_furniture`` takes the least number of each. A kind of object is present with ``presence_probability``, in
    one of the ``counts``. An object is in an unusual place with ``misplaced_probability``.
    """

    furniture_factor: float
    minimum_furniture: bool
    presence_probability: float
    counts: tuple[int, ...]
    misplaced_probability: float
    rare_probability: float


DIFFICULTY_SETTINGS: dict[Difficulty, DifficultySettings] = {
    "easy": DifficultySettings(1, True, 0.25, (1,), 0.1, 0.1),
    "normal": DifficultySettings(1, False, 0.6, (1, 1, 1, 2, 2, 3), 0.2, 0.3),
    "hard": DifficultySettings(1.6, False, 0.9, (1, 2, 2, 3, 3, 4), 0.4, 0.8),
}


def _furniture(listed: str) -> dict[str, tuple[int, int]]:
    """``bed 1-1, desk 1-2`` as numbers by kind."""
    words = (item.split() for item in listed.split(", "))
    return {kind: (int(numbers.split("-")[0]), int(numbers.split("-")[1])) for kind, numbers in words}


def _usual(table: str) -> dict[str, tuple[str, ...]]:
    rows = (line.split(":") for line in table.strip().splitlines())
    return {kind.strip(): tuple(places.split()) for kind, places in rows}


KITCHEN = Room(
    _furniture(
        "cabinet 3-6, coffeemachine 1-1, countertop 1-3, diningtable 0-1, drawer 2-4, fridge 1-1, "
        "garbagecan 1-1, microwave 1-1, shelf 0-3, sidetable 0-1, sinkbasin 1-1, stoveburner 2-4, toaster 1-1"
    ),
    _usual(
        """
        apple: countertop diningtable fridge sidetable garbagecan
        bowl: cabinet countertop diningtable shelf fridge
        bread: countertop diningtable fridge
        butterknife: countertop drawer diningtable sinkbasin
        cup: cabinet countertop shelf sinkbasin fridge
        dishsponge: sinkbasin countertop cabinet drawer
        egg: fridge countertop sinkbasin garbagecan
        fork: drawer countertop diningtable sinkbasin
        glassbottle: cabinet shelf countertop fridge
        houseplant: countertop shelf sidetable
        kettle: stoveburner countertop cabinet
        knife: countertop drawer diningtable
        ladle: drawer countertop cabinet
        lettuce: countertop fridge diningtable garbagecan
        mug: cabinet coffeemachine countertop shelf sinkbasin
        pan: stoveburner countertop cabinet
        peppershaker: cabinet countertop shelf drawer
        plate: cabinet countertop diningtable fridge shelf
        pot: stoveburner countertop cabinet fridge
        potato: countertop fridge sinkbasin diningtable garbagecan
        saltshaker: cabinet countertop shelf drawer
        soapbottle: countertop cabinet garbagecan
        spatula: drawer countertop diningtable sinkbasin
        spoon: drawer countertop diningtable sinkbasin
        tomato: countertop fridge diningtable sinkbasin
        vase: shelf countertop cabinet
        winebottle: cabinet countertop fridge
        """
    ),
    _usual("papertowelroll: countertop shelf garbagecan"),
)

BATHROOM = Room(
    _furniture(
        "bathtubbasin 0-1, cabinet 2-4, cart 0-1, countertop 1-1, drawer 0-3, garbagecan 1-1, "
        "handtowelholder 1-2, shelf 0-2, sinkbasin 1-2, toilet 1-1, toiletpaperhanger 1-1, towelholder 1-1"
    ),
    _usual(
        """
        candle: countertop toilet shelf cabinet
        cloth: cabinet bathtubbasin drawer countertop shelf cart
        dishsponge: cabinet bathtubbasin countertop drawer
        handtowel: handtowelholder cabinet countertop
        papertowel: countertop toilet cart
        plunger: cabinet cart
        soapbar: sinkbasin bathtubbasin countertop toilet cabinet garbagecan
        soapbottle: countertop cabinet toilet shelf cart
        spraybottle: cabinet countertop toilet garbagecan shelf
        tissuebox: countertop toilet shelf cabinet
        toiletpaper: toiletpaperhanger toilet cabinet countertop
        towel: towelholder
        """
    ),
    _usual(
        """
        papertowelroll: countertop shelf
        scrubbrush: countertop cabinet
        toiletpaperroll: toiletpaperhanger toilet cabinet countertop
        """
    ),
)

BEDROOM = Room(
    _furniture(
        "armchair 0-1, bed 1-1, desk 1-2, drawer 3-6, dresser 0-1, garbagecan 1-1, laundryhamper 0-1, "
        "safe 0-1, shelf 1-5, sidetable 1-2"
    ),
    _usual(
        """
        alarmclock: desk sidetable shelf dresser
        baseballbat: bed sidetable
        basketball: bed desk dresser
        book: bed desk shelf sidetable drawer
        bowl: desk shelf dresser sidetable
        box: dresser desk shelf armchair
        cd: desk drawer shelf garbagecan safe
        cellphone: bed desk drawer sidetable dresser
        cloth: drawer desk laundryhamper dresser
        creditcard: desk drawer shelf sidetable dresser
        houseplant: shelf dresser sidetable
        keychain: desk drawer safe sidetable dresser
        laptop: bed desk dresser
        mug: desk shelf sidetable
        newspaper: bed drawer garbagecan desk
        pen: desk drawer shelf sidetable
        pencil: desk drawer shelf garbagecan
        pillow: bed armchair
        statue: shelf dresser safe
        tissuebox: sidetable desk drawer garbagecan
        vase: shelf dresser safe
        watch: drawer sidetable safe dresser
        """
    ),
    _usual(
        """
        teddybear: bed
        tennisracket: bed dresser desk
        """
    ),
)

LIVING_ROOM = Room(
    _furniture(
        "armchair 1-2, cabinet 0-4, coffeetable 1-1, diningtable 0-1, drawer 2-5, dresser 0-1, garbagecan 1-1, "
        "ottoman 0-1, safe 0-1, shelf 1-5, sidetable 1-2, sofa 1-1, tvstand 0-1"
    ),
    _usual(
        """
        book: coffeetable shelf sofa sidetable drawer
        box: coffeetable armchair sofa cabinet dresser
        candle: shelf coffeetable diningtable cabinet
        cellphone: sofa coffeetable armchair drawer sidetable
        creditcard: coffeetable sidetable armchair drawer sofa
        houseplant: sidetable shelf dresser
        keychain: sidetable drawer safe sofa coffeetable
        laptop: sofa coffeetable armchair diningtable
        newspaper: sofa coffeetable drawer garbagecan sidetable
        pillow: sofa armchair ottoman
        plate: diningtable coffeetable shelf
        remotecontrol: sofa coffeetable armchair drawer sidetable
        statue: shelf coffeetable sidetable dresser
        tissuebox: sidetable tvstand cabinet drawer
        vase: shelf diningtable sidetable safe
        watch: sidetable drawer safe coffeetable
        wateringcan: shelf cabinet sidetable
        """
    ),
    _usual("television: tvstand dresser"),
)

LAMP_STANDS: dict[str, tuple[str, ...]] = {
    "desklamp": ("desk", "sidetable", "dresser", "shelf"),
    "floorlamp": ("sidetable",),
}
"""The kinds of receptacles that a lamp may stand on."""

INITIAL_CAPACITY = {
    "coffeemachine": 1,
    "handtowelholder": 1,
    "microwave": 2,
    "stoveburner": 1,
    "toiletpaperhanger": 1,
    "towelholder": 1,
    "tvstand": 1,
}
"""The most objects that a small receptacle holds at the start. The game's rules have no such limit."""


def _kinds(words: str, *groups: frozenset[str]) -> frozenset[str]:
    return frozenset(words.split()).union(*groups)


OPENABLE = _kinds("cabinet drawer fridge microwave safe")
"""Receptacles with a door or a lid. They are closed at the start."""

LAMPS = _kinds("desklamp floorlamp")

_FIXED = LAMPS | _kinds("houseplant papertowelroll scrubbrush teddybear television")
"""Objects that cannot be picked up. In ALFRED's files a papertowelroll and a scrubbrush can be picked up but never put
down, so the hand stays full. Here they are fixed, so that every goal stays within reach."""

_FOOD = _kinds("apple bread egg lettuce potato tomato")
_VESSELS = _kinds("bowl cup mug pan plate pot")

CLEANABLE = _kinds(
    "butterknife cloth dishsponge fork kettle knife ladle soapbar spatula spoon", _FOOD - {"bread"}, _VESSELS
)
HEATABLE = _FOOD - {"lettuce"} | _kinds("cup mug plate")
COOLABLE = _FOOD | _VESSELS | {"winebottle"}

CONTAINER_OBJECTS = _VESSELS | {"box"}
"""Objects that can hold other objects. In generated games they are empty."""

_PAPERS = _kinds("newspaper tissuebox toiletpaper toiletpaperroll")
_TRINKETS = _kinds("cd cellphone creditcard keychain watch")
_WRITING = _kinds("pen pencil")
_CUTLERY = _kinds("butterknife fork knife ladle spatula spoon")
_WASHING = _kinds("cloth dishsponge handtowel soapbar soapbottle spraybottle")
_DECORATION = _kinds("candle statue vase wateringcan")
_BOTTLES = _kinds("glassbottle winebottle")
_SHAKERS = _kinds("peppershaker saltshaker")
_DISHES = _kinds("bowl cup mug plate")

_SMALL = _kinds("", _PAPERS, _TRINKETS, _WRITING, _WASHING, _SHAKERS)
_TABLE = _SMALL.union(_FOOD, _VESSELS, _CUTLERY, _DECORATION, _BOTTLES) | _kinds(
    "alarmclock baseballbat basketball book box kettle laptop papertowel remotecontrol tennisracket"
)
_SEAT = _kinds("basketball book box cellphone cloth creditcard keychain laptop newspaper pillow remotecontrol")
_DRESSER = _PAPERS.union(_TRINKETS, _WRITING, _DECORATION, _BOTTLES, _DISHES) | _kinds(
    "alarmclock basketball book box cloth laptop remotecontrol spraybottle tennisracket"
)

_CABINET = _kinds("book box candle cd kettle ladle plunger vase wateringcan")

ALLOWED_CONTENTS: dict[str, frozenset[str]] = {
    "armchair": _SEAT,
    "bathtubbasin": _kinds("cloth dishsponge handtowel soapbar"),
    "bed": _kinds("baseballbat basketball book cellphone laptop newspaper pillow tennisracket"),
    "cabinet": _VESSELS.union(_PAPERS, _WASHING, _BOTTLES, _SHAKERS) | _CABINET,
    "cart": _kinds("mug papertowel plunger tissuebox toiletpaper toiletpaperroll candle statue vase", _WASHING),
    "coffeemachine": _kinds("mug"),
    "coffeetable": _TABLE,
    "countertop": _TABLE,
    "desk": _DRESSER | {"soapbottle"},
    "diningtable": _TABLE,
    "drawer": _kinds("book candle remotecontrol wateringcan", _SMALL, _CUTLERY),
    "dresser": _DRESSER,
    "fridge": _FOOD | _VESSELS | _BOTTLES,
    "garbagecan": _kinds("cd papertowel winebottle", _FOOD, _PAPERS, _WRITING, _WASHING),
    "handtowelholder": _kinds("handtowel"),
    "laundryhamper": _kinds("cloth"),
    "microwave": _FOOD - {"lettuce"} | _DISHES | {"glassbottle"},
    "ottoman": _SEAT,
    "safe": _TRINKETS | _kinds("statue vase"),
    "shelf": _kinds("alarmclock book box kettle papertowel pot remotecontrol", _SMALL, _DECORATION, _BOTTLES, _DISHES),
    "sidetable": _TABLE,
    "sinkbasin": CLEANABLE | _kinds("glassbottle handtowel"),
    "sofa": _SEAT,
    "stoveburner": _kinds("kettle pan pot"),
    "toaster": frozenset(),
    "toilet": _WASHING | _PAPERS | _kinds("candle papertowel"),
    "toiletpaperhanger": _kinds("toiletpaper toiletpaperroll"),
    "towelholder": _kinds("towel"),
    "tvstand": _kinds("tissuebox"),
}
"""For each kind of receptacle, the kinds of objects that may be put there."""

CAN_CONTAIN = frozenset((receptacle, kind) for receptacle, kinds in ALLOWED_CONTENTS.items() for kind in kinds)

_TRAITS = {"cleanable": CLEANABLE, "heatable": HEATABLE, "coolable": COOLABLE, "sliceable": _FOOD, "toggleable": LAMPS}


@lru_cache(maxsize=1024)
def traits_of_kind(kind: str) -> frozenset[str]:
    """Return the ``Object.traits`` of a kind of object."""
    found = frozenset(trait for trait, kinds in _TRAITS.items() if kind in kinds)
    return found if kind in _FIXED else found | {"pickupable"}
