"""The household's sentences, word for word those of ALFWorld's text engine."""

from __future__ import annotations

from collections.abc import Sequence

from codeplan.envs.household.game import Game, HouseholdState

NOTHING_HAPPENS = "Nothing happens."

_COMMANDS = (
    ("look", 33, "look around your current location"),
    ("inventory", 33, "check your current inventory"),
    ("go to (receptacle)", 33, "move to a receptacle"),
    ("open (receptacle)", 33, "open a receptacle"),
    ("close (receptacle)", 33, "close a receptacle"),
    ("take (object) from (receptacle)", 33, "take an object from a receptacle"),
    ("move (object) to (receptacle)", 31, "place an object in or on a receptacle"),
    ("examine (something)", 33, "examine a receptacle or an object"),
    ("use (object)", 33, "use an object"),
    ("heat (object) with (receptacle)", 33, "heat an object using a receptacle"),
    ("clean (object) with (receptacle)", 33, "clean an object using a receptacle"),
    ("cool (object) with (receptacle)", 33, "cool an object using a receptacle"),
    ("slice (object) with (object)", 33, "slice an object using a sharp object"),
)
HELP = "Available commands:\n" + "".join(f"  {c + ':':{width}} {what}\n" for c, width, what in _COMMANDS)


def describe_start(game: Game) -> str:
    """Return the first observation: the room, and the task in the last line."""
    seen = list_names([r.name for r in game.receptacles])
    return (
        "-= Welcome to TextWorld, ALFRED! =-\n\n"
        f"You are in the middle of a room. Looking quickly around you, you see {seen}.\n\n"
        f"Your task is to: {game.goal_text}"
    )


def list_names(names: Sequence[str]) -> str:
    """Return ``nothing``, ``a X``, ``a X, and a Y``, or ``a X, a Y, and a Z``."""
    return _join([f"a {name}" for name in names]) or "nothing"


def describe_receptacle(game: Game, state: HouseholdState, r: int) -> str:
    """Return the description of a receptacle for an agent that stands there."""
    name = game.receptacles[r].name
    contents = list_names([game.objects[o].name for o in state.contents[r]])
    if not game.receptacles[r].openable:
        return f"On the {name}, you see {contents}."
    return f"The {name} is open. In it, you see {contents}." if r in state.opened else f"The {name} is closed."


def describe_object(game: Game, state: HouseholdState, o: int) -> str:
    """Return the description of the object that the agent holds."""
    it = game.objects[o]
    if it.inner is not None:
        return f"This is a normal {it.name}. In it, you see {list_names(it.inner)}."
    if condition := _condition(state, o):
        return f"This is a {condition} {it.name}."
    if "toggleable" in it.traits and o in state.lit:
        return f"This {it.name} is on."
    if "sliceable" in it.traits and o in state.sliced:
        return f"This is a sliced {it.name}."
    return f"There's nothing special about {it.name}."


def _condition(state: HouseholdState, o: int) -> str:
    """The words for an object's treatments; empty if it is at most sliced."""
    clean, sliced = o in state.clean, o in state.sliced
    # ALFWorld says "cold" only on its own; beside another word it says "cool".
    temperature = "hot" if o in state.hot else "cool" if o in state.cool else ""
    if temperature == "cool" and not clean and not sliced:
        return "cold"
    words = " and ".join(w for w in (temperature, "clean" if clean else "") if w)
    return f"{words} sliced" if words and sliced else words


def describe_surroundings(game: Game, state: HouseholdState) -> str:
    """Return the answer to ``look``."""
    here = game.receptacles_at(state.location)
    if not here:
        return "You are in the middle of a room. Looking quickly around you, you see nothing."
    moved = [
        thing.name
        for o, thing in enumerate(game.objects)
        for r in here
        if state.location in state.places[o] and (o, r) in state.removed
    ]
    facing = _join([game.receptacles[r].name for r in here])
    return f"You are facing the {facing}. Next to it, you see {list_names(moved)}."


def describe_inventory(game: Game, state: HouseholdState) -> str:
    """Return the answer to ``inventory``."""
    if state.holding is None:
        return "You are not carrying anything."
    return f"You are carrying: a {game.objects[state.holding].name}."


def _join(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + f", and {parts[-1]}" if len(parts) > 1 else "".join(parts)
