"""ALFRED's kinds of receptacles and objects: which objects fit where, and what can be done with them."""

from __future__ import annotations

from functools import lru_cache


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
