"""Rules of thumb for the places of things in households, not taken from a data set."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable

_FOOD = "countertop diningtable fridge sinkbasin garbagecan sidetable microwave"
_CUTLERY = "countertop diningtable drawer sinkbasin sidetable"
_CROCKERY = "countertop diningtable cabinet sinkbasin shelf fridge microwave sidetable coffeetable desk dresser"
_COOKWARE = "stoveburner countertop diningtable cabinet sinkbasin"
_CUP = (
    "countertop diningtable coffeemachine sinkbasin shelf desk sidetable coffeetable cabinet microwave fridge dresser"
)
_SPICE = "countertop diningtable cabinet drawer shelf sidetable"
_BOTTLE = "countertop diningtable shelf garbagecan cabinet fridge sinkbasin sidetable coffeetable desk"
_BATH = "countertop toilet sinkbasin bathtubbasin cart shelf garbagecan sidetable cabinet drawer"
_LINEN = "handtowelholder towelholder countertop toilet bathtubbasin cart shelf cabinet drawer laundryhamper"
_PAPER = "desk bed sidetable shelf coffeetable dresser sofa armchair diningtable countertop drawer cabinet"
_POCKET = "desk sidetable dresser coffeetable shelf sofa armchair bed diningtable countertop drawer safe cabinet"
_DECORATION = "shelf dresser sidetable coffeetable desk diningtable countertop tvstand cabinet drawer safe"
_CUSHION = "sofa armchair bed ottoman"
_LAMP = "desk sidetable dresser shelf coffeetable diningtable countertop tvstand floor"

_THINGS_BY_PLACES = {
    _FOOD: "apple bread egg lettuce potato tomato",
    _CUTLERY: "butterknife fork knife ladle spatula spoon",
    _CROCKERY: "bowl plate",
    _COOKWARE: "kettle pan pot",
    _CUP: "cup mug",
    _SPICE: "peppershaker saltshaker",
    _BOTTLE: "glassbottle winebottle wateringcan",
    _BATH: "candle cottonswab dishsponge plunger scrubbrush soapbar soapbottle spraybottle tissuebox toiletpaper "
    "papertowelroll papertowel toiletpaperroll",
    _LINEN: "cloth handtowel towel",
    _PAPER: "book laptop newspaper magazine box basketball baseballbat tennisracket teddybear",
    _POCKET: "alarmclock cd cellphone creditcard keychain pen pencil remotecontrol watch",
    _DECORATION: "boots houseplant statue vase",
    _CUSHION: "pillow blanket",
    _LAMP: "desklamp floorlamp",
}
_PLACES = {thing: places.split() for places, things in _THINGS_BY_PLACES.items() for thing in things.split()}

_OPEN = "countertop diningtable desk sidetable dresser shelf coffeetable sofa armchair bed sinkbasin stoveburner"
_HIDDEN = "coffeemachine toilet bathtubbasin cart ottoman tvstand garbagecan drawer cabinet fridge microwave safe"
_ANYWHERE = f"{_OPEN} {_HIDDEN} laundryhamper".split()


def is_known_thing(thing: str) -> bool:
    """Whether the rules say where to find things of this class (``"mug"``)."""
    return thing in _PLACES


def sort_by_likelihood(thing: str, receptacles: Iterable[str]) -> list[str]:
    """The receptacles (``"shelf 2"``), sorted by how likely they hold a thing of this class."""
    return sorted(receptacles, key=lambda r: (_rank(thing, r), _receptacle_class(r), _receptacle_number(r)))


def likely_places(thing: str, receptacles: Iterable[str]) -> list[str]:
    """The receptacles where such a thing is usually kept, likeliest first; empty for unknown things."""
    kept = _PLACES.get(thing, ())
    return sort_by_likelihood(thing, [r for r in receptacles if _receptacle_class(r) in kept])


def unlikely_places(thing: str, receptacles: Iterable[str]) -> list[str]:
    """A wrong guess: up to three receptacles of the least likely class."""
    ordered = sort_by_likelihood(thing, receptacles)
    return [r for r in ordered if _receptacle_class(r) == _receptacle_class(ordered[-1])][:3] if ordered else []


def answer_question(question: str) -> str | None:
    """The Python literal that answers a plan's question: places by likelihood, or a thing's name in a view."""
    thing = next((word for word in re.findall(r"\b[a-z]+\b", question) if is_known_thing(word)), "")
    lists = [found for text in re.findall(r"\[[^\[\]]*\]", question) if (found := _parse_names(text)) is not None]
    if lists:
        return repr(sort_by_likelihood(thing, lists[-1]))
    if thing and (seen := re.search(rf"\b{thing} \d+", question)):
        return repr(seen[0])
    return None


def _parse_names(text: str) -> list[str] | None:
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if all(isinstance(v, str) for v in value) else None


def _rank(thing: str, receptacle: str) -> int:
    cls, order = _receptacle_class(receptacle), [*_PLACES.get(thing, ()), *_ANYWHERE]
    return order.index(cls) if cls in order else len(order)


def _receptacle_class(receptacle: str) -> str:
    return receptacle.split(" ")[0]


def _receptacle_number(receptacle: str) -> int:
    digits = receptacle.split(" ")[-1]
    return int(digits) if digits.isdigit() else 0
