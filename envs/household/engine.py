"""The rules of the household: the actions, their effects and answers, and why an action cannot be done.

All functions are pure. The rules and sentences are those of ALFWorld's text engine, including its oddities. Reasons
are of the kinds of feedback of AutoPlan (Ouyang and Li, 2023). A reason reveals nothing that the agent cannot know:
the contents of a receptacle are looked at only after checking that the agent stands there and that the receptacle is
open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import TypeVar

from msgspec.structs import replace

from codeplan.envs.household.game import Condition, Dialect, Game, HouseholdState, Receptacle
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes

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


ActionOutcome = tuple[HouseholdState, str] | None
"""The state after an action and the answer; None if the action cannot be done."""


class Treatment(Value, frozen=True):
    """A change that an appliance makes to an object: an object with ``trait`` gets ``condition``."""

    condition: Condition
    trait: str
    appliance: str


TREATMENTS: dict[str, Treatment] = {
    "clean": Treatment("clean", "cleanable", "sinkbasin"),
    "heat": Treatment("hot", "heatable", "microwave"),
    "cool": Treatment("cool", "coolable", "fridge"),
}
"""The treatments by verb."""

BLADES = ("knife", "butterknife")
"""Kinds of objects that slice other objects."""

_TRAIT_FOR = {t.condition: t.trait for t in TREATMENTS.values()}
_T = TypeVar("_T")


class ActionRule(Value, frozen=True):
    """The form and effect of an action: ``prefix X`` or ``prefix X separator Y``.

    ``argument_types`` has a letter for each argument: ``o`` for an object, ``r`` for a receptacle.
    """

    prefix: str
    separator: str
    argument_types: str
    apply: Callable[..., ActionOutcome]


def try_action(game: Game, state: HouseholdState, action: str) -> ActionOutcome:
    """Do one action, given by its exact text; surrounding white space does not matter."""
    action = action.strip()
    if action == "look":
        return state, describe_surroundings(game, state)
    if action == "inventory":
        return state, describe_inventory(game, state)
    if action == "help":
        return (state, HELP) if game.dialect.has_help else None
    for rule in rules_by_verb(game.dialect).get(action.partition(" ")[0], ()):
        arguments = _find_arguments(game, rule, action)
        if arguments is not None:
            return rule.apply(game, state, *arguments)
    return None


def is_goal_reached(game: Game, state: HouseholdState) -> bool:
    """Return whether the state meets the game's goal."""
    if game.goal.lamp is not None:
        return _holds_target(game, state) and _lamp_shines_here(game, state, game.goal.lamp)
    return any(
        sum(_meets_goal(game, state, o) for o in contents) >= game.goal.count
        for r, contents in zip(game.receptacles, state.contents, strict=True)
        if r.kind == game.goal.receptacle
    )


# ------------------------------------------------------------------ the goal


def _meets_goal(game: Game, state: HouseholdState, o: int) -> bool:
    condition, it = game.goal.condition, game.objects[o]
    if it.kind != game.goal.object:
        return False
    in_condition = {"clean": state.clean, "hot": state.hot, "cool": state.cool}
    return condition is None or (_TRAIT_FOR[condition] in it.traits and o in in_condition[condition])


def _holds_target(game: Game, state: HouseholdState) -> bool:
    return state.holding is not None and game.objects[state.holding].kind == game.goal.object


def _lamp_shines_here(game: Game, state: HouseholdState, lamp: str) -> bool:
    here = (o for r in game.receptacles_at(state.location) for o in state.contents[r])
    return any(o in state.lit and game.objects[o].kind == lamp and "toggleable" in game.objects[o].traits for o in here)


# ------------------------------------------------------------------ the actions


def _find_arguments(game: Game, rule: ActionRule, action: str) -> list[int] | None:
    """The indices of the things that an action names; None if it does not have the rule's form or names an unknown
    thing.
    """
    if not action.startswith(rule.prefix):
        return None
    rest = action[len(rule.prefix) :]
    first, separator, second = rest.partition(rule.separator) if rule.separator else (rest, "", "")
    if separator != rule.separator:
        return None
    tables = (game.object_indices if letter == "o" else game.receptacle_indices for letter in rule.argument_types)
    found_or_none = [table.get(name) for table, name in zip(tables, (first, second), strict=False)]
    known = [index for index in found_or_none if index is not None]
    return known if len(known) == len(found_or_none) else None


@cache
def rules_by_verb(dialect: Dialect) -> dict[str, tuple[ActionRule, ...]]:
    """Return the rules of all actions that have arguments, by the action's first word."""
    head, middle = dialect.put_command
    every = (
        ActionRule("go to ", "", "r", _go),
        ActionRule("open ", "", "r", _open),
        ActionRule("close ", "", "r", _close),
        ActionRule("take ", " from ", "or", _take),
        ActionRule(head, middle, "or", _put),
        *(ActionRule(f"{verb} ", " with ", "or", partial(_treat, verb)) for verb in TREATMENTS),
        ActionRule("use ", "", "o", _use),
        ActionRule("slice ", " with ", "oo", _slice),
        ActionRule("examine ", "", "r", _examine_receptacle),
        ActionRule("examine ", "", "o", _examine_object),
    )
    words = dict.fromkeys(rule.prefix.split()[0] for rule in every)
    return {word: tuple(rule for rule in every if rule.prefix.startswith(word + " ")) for word in words}


def _go(game: Game, state: HouseholdState, r: int) -> ActionOutcome:
    there = game.receptacles[r]
    if there.location == state.location:
        return None
    after = replace(state, location=there.location)
    arrival = game.dialect.arrival_sentence.format(location=there.location, receptacle=there.name)
    return after, f"{arrival} {describe_receptacle(game, after, r)}"


def _open(game: Game, state: HouseholdState, r: int) -> ActionOutcome:
    if not _at(game, state, r) or not game.receptacles[r].openable or r in state.opened:
        return None
    after = replace(state, opened=state.opened | {r})
    return after, f"You open the {game.receptacles[r].name}. {describe_receptacle(game, after, r)}"


def _close(game: Game, state: HouseholdState, r: int) -> ActionOutcome:
    if not _at(game, state, r) or not game.receptacles[r].openable or r not in state.opened:
        return None
    return replace(state, opened=state.opened - {r}), f"You close the {game.receptacles[r].name}."


def _take(game: Game, state: HouseholdState, o: int, r: int) -> ActionOutcome:
    there = _at(game, state, r) and _reaches_into(game, state, r) and o in state.contents[r]
    if not there or state.holding is not None or "pickupable" not in game.objects[o].traits:
        return None
    after = replace(
        state,
        holding=o,
        contents=_replace_at(state.contents, r, tuple(other for other in state.contents[r] if other != o)),
        places=_replace_at(state.places, o, state.places[o] - {state.location}),
        removed=state.removed | {(o, r)},
    )
    return after, f"You pick up the {game.objects[o].name} from the {game.receptacles[r].name}."


def _put(game: Game, state: HouseholdState, o: int, r: int) -> ActionOutcome:
    if state.holding != o or not _at(game, state, r) or not _reaches_into(game, state, r):
        return None
    if (game.receptacles[r].kind, game.objects[o].kind) not in game.can_contain:
        return None
    after = replace(
        state,
        holding=None,
        contents=_replace_at(state.contents, r, tuple(sorted({*state.contents[r], o}))),
        places=_replace_at(state.places, o, state.places[o] | {state.location}),
        removed=state.removed - {(o, r)},
    )
    return after, game.dialect.put_answer.format(object=game.objects[o].name, receptacle=game.receptacles[r].name)


def _treat(verb: str, game: Game, state: HouseholdState, o: int, r: int) -> ActionOutcome:
    """Treat an object. The appliance works with its door open or closed."""
    treatment = TREATMENTS[verb]
    fit = treatment.trait in game.objects[o].traits and game.receptacles[r].kind == treatment.appliance
    if not fit or state.holding != o or not _at(game, state, r):
        return None
    match treatment.condition:
        case "clean":
            after = replace(state, clean=state.clean | {o})
        case "hot":
            after = replace(state, hot=state.hot | {o}, cool=state.cool - {o})
        case "cool":
            after = replace(state, cool=state.cool | {o}, hot=state.hot - {o})
    return after, f"You {verb} the {game.objects[o].name} using the {game.receptacles[r].name}."


def _use(game: Game, state: HouseholdState, o: int) -> ActionOutcome:
    """Switch a lamp on. It stays on; using it again gives the same answer."""
    here = any(o in state.contents[r] for r in game.receptacles_at(state.location))
    if not here or "toggleable" not in game.objects[o].traits:
        return None
    return replace(state, lit=state.lit | {o}), f"You turn on the {game.objects[o].name}."


def _slice(game: Game, state: HouseholdState, o: int, knife: int) -> ActionOutcome:
    cut, blade = game.objects[o], game.objects[knife]
    if state.holding != knife or blade.kind not in BLADES or "sliceable" not in cut.traits:
        return None
    if state.location not in state.places[o]:
        return None
    return replace(state, sliced=state.sliced | {o}), f"You sliced the {cut.name} with the {blade.name}."


def _examine_receptacle(game: Game, state: HouseholdState, r: int) -> ActionOutcome:
    return (state, describe_receptacle(game, state, r)) if _at(game, state, r) else None


def _examine_object(game: Game, state: HouseholdState, o: int) -> ActionOutcome:
    return (state, describe_object(game, state, o)) if state.holding == o else None


def _at(game: Game, state: HouseholdState, r: int) -> bool:
    return game.receptacles[r].location == state.location


def _reaches_into(game: Game, state: HouseholdState, r: int) -> bool:
    return not game.receptacles[r].openable or r in state.opened


def _replace_at(values: tuple[_T, ...], index: int, value: _T) -> tuple[_T, ...]:
    return (*values[:index], value, *values[index + 1 :])


def admissible_actions(game: Game, state: HouseholdState) -> tuple[str, ...]:
    """Return every action that can be done in this state, sorted."""
    return tuple(sorted(a for a in set(_candidates(game, state)) if try_action(game, state, a) is not None))


def _candidates(game: Game, state: HouseholdState) -> Iterator[str]:
    """A superset of the admissible actions."""
    yield from ("look", "inventory", "help")
    held = None if state.holding is None else game.objects[state.holding].name
    for r in game.receptacles:
        yield f"go to {r.name}"
    for i in game.receptacles_at(state.location):
        yield from _candidates_at(game, state, i, held)
    if held is not None:
        yield f"examine {held}"
        yield from (f"slice {o.name} with {held}" for o in game.objects if "sliceable" in o.traits)


def _candidates_at(game: Game, state: HouseholdState, r: int, held: str | None) -> Iterator[str]:
    name = game.receptacles[r].name
    yield from (f"{verb} {name}" for verb in ("open", "close", "examine"))
    for o in state.contents[r]:
        yield f"take {game.objects[o].name} from {name}"
        yield f"use {game.objects[o].name}"
    if held is not None:
        prefix, separator = game.dialect.put_command
        yield f"{prefix}{held}{separator}{name}"
        yield from (f"{verb} {held} with {name}" for verb in TREATMENTS)


# ------------------------------------------------------------------ why an action cannot be done


class FailedAction(Value, frozen=True):
    """An action that cannot be done: the first word of its rule, and the one or two names in it."""

    game: Game
    state: HouseholdState
    verb: str
    first: str
    second: str = ""

    @property
    def held_object(self) -> str:
        """The name of the object that the agent holds; empty if it holds none."""
        return "" if self.state.holding is None else self.game.objects[self.state.holding].name

    @property
    def visible_objects(self) -> set[str]:
        """The names of the objects that the agent can see from where it stands."""
        game, state = self.game, self.state
        near = (r for r in game.receptacles_at(state.location) if not game.receptacles[r].openable or r in state.opened)
        return {game.objects[o].name for r in near for o in state.contents[r]}

    def receptacle(self, name: str) -> Receptacle:
        """Return the receptacle with this name."""
        return self.game.receptacles[self.game.receptacle_indices[name]]

    def is_open(self, name: str) -> bool:
        """Return whether the receptacle was opened."""
        return self.game.receptacle_indices[name] in self.state.opened


def explain_failure(game: Game, state: HouseholdState, action: str) -> str:
    """Return one sentence that says why an action that is answered ``Nothing happens.`` cannot be done."""
    words = action.strip()
    found = rules_by_verb(game.dialect).get(words.partition(" ")[0])
    if not found:
        return f"That is no action here; the actions are: {', '.join(_forms(game))}."
    names = _names(found[0], words)
    if names is None:
        return f"That action has the form: {_form(found[0])}."
    failed = FailedAction(game, state, found[0].prefix.split()[0], *names)
    causes = _CAUSES.get(failed.verb, _put_causes)(failed)
    return next((sentence for sentence in causes if sentence), "It cannot be done now.")


# ------------------------------------------------------------------ the words of an action


def _names(rule: ActionRule, words: str) -> list[str] | None:
    """The one or two names in an action; None if it does not have the rule's form."""
    if not words.startswith(rule.prefix):
        return None
    rest = words[len(rule.prefix) :]
    names = [name.strip() for name in (rest.split(rule.separator, 1) if rule.separator else [rest])]
    return names if all(names) and len(names) == len(rule.argument_types) else None


def _forms(game: Game) -> list[str]:
    found = [_form(rule) for by_word in rules_by_verb(game.dialect).values() for rule in by_word]
    return [*dict.fromkeys(found), "look", "inventory", *(["help"] if game.dialect.has_help else [])]


def _form(rule: ActionRule) -> str:
    if rule.prefix == "examine ":
        return "examine RECEPTACLE or OBJECT"
    words = [{"o": "OBJECT", "r": "RECEPTACLE"}[letter] for letter in rule.argument_types]
    return rule.prefix + rule.separator.join(words)


def _ill_formed(name: str) -> str | None:
    if re.fullmatch(r"[A-Za-z]+", name):
        return f"The number of the {name} is missing, as in: {name} 1."
    return None if re.fullmatch(r"[a-z]+ \d+", name) else f"{in_quotes(name, 40)} is no name; a name is like: apple 1."


def _unknown_receptacle(a: FailedAction, name: str) -> str | None:
    if name in a.game.receptacle_indices:
        return None
    return _ill_formed(name) or f"There is no receptacle {name} in this room."


def _not_an_object(a: FailedAction) -> str | None:
    if a.first in a.game.receptacle_indices:
        return f"The {a.first} is a receptacle, not an object."
    return _ill_formed(a.first)


# ------------------------------------------------------------------ the state


def _away(a: FailedAction, receptacle: str) -> str | None:
    if a.receptacle(receptacle).location == a.state.location:
        return None
    return f"You are not at the {receptacle}: go to {receptacle} first."


def _not_carried(a: FailedAction, name: str) -> str | None:
    if a.held_object == name:
        return None
    held = f"you carry the {a.held_object}" if a.held_object else "your hands are empty"
    return f"You do not carry the {name}: {held}."


def _out_of_sight(a: FailedAction) -> str | None:
    return None if a.first in a.visible_objects else f"There is no {a.first} to be seen from where you stand."


def _closed(a: FailedAction) -> str | None:
    if not a.receptacle(a.second).openable or a.is_open(a.second):
        return None
    return f"The {a.second} is closed: open {a.second} first."


# ------------------------------------------------------------------ the causes to check, in order, for each action


def _go_causes(a: FailedAction) -> Iterator[str | None]:
    yield _unknown_receptacle(a, a.first)
    yield f"The {a.first} is within reach already, from where you stand."


def _open_or_close(a: FailedAction) -> Iterator[str | None]:
    yield _unknown_receptacle(a, a.first)
    yield _away(a, a.first)
    if not a.receptacle(a.first).openable:
        yield f"The {a.first} has nothing to open or close."
    yield f"The {a.first} is {'open' if a.is_open(a.first) else 'closed'} already."


def _take_causes(a: FailedAction) -> Iterator[str | None]:
    yield _not_an_object(a)
    yield _unknown_receptacle(a, a.second)
    yield _away(a, a.second)
    yield _closed(a)
    if a.game.object_indices.get(a.first) not in a.state.contents[a.game.receptacle_indices[a.second]]:
        yield f"There is no {a.first} in or on the {a.second}."
    if a.held_object:
        yield f"Your hands are full: you carry the {a.held_object}."
    yield f"The {a.first} cannot be picked up."


def _put_causes(a: FailedAction) -> Iterator[str | None]:
    yield _not_an_object(a)
    yield _unknown_receptacle(a, a.second)
    yield _away(a, a.second)
    yield _closed(a)
    yield _not_carried(a, a.first)
    yield f"The {a.first} does not belong in or on a {a.second.split()[0]}."


def _treat_causes(a: FailedAction) -> Iterator[str | None]:
    yield _not_an_object(a)
    yield _unknown_receptacle(a, a.second)
    yield _away(a, a.second)
    yield _not_carried(a, a.first)
    needed = TREATMENTS[a.verb].appliance
    if a.receptacle(a.second).kind != needed:
        yield f"You cannot {a.verb} anything with the {a.second}: that takes a {needed}."
    yield f"The {a.first} is nothing to {a.verb}."


def _use_causes(a: FailedAction) -> Iterator[str | None]:
    verb = next((v for v, t in TREATMENTS.items() if a.first.split(" ")[0] == t.appliance), None)
    if verb:
        yield f"The {a.first} is not used so, but: {verb} OBJECT with {a.first}."
    yield _not_an_object(a)
    yield _out_of_sight(a)
    yield f"The {a.first} has nothing to switch on."


def _slice_causes(a: FailedAction) -> Iterator[str | None]:
    yield _not_an_object(a)
    yield _ill_formed(a.second)
    yield _not_carried(a, a.second)
    if a.second.split()[0] not in BLADES:
        yield f"The {a.second} does not cut; a {' or a '.join(BLADES)} does."
    yield _out_of_sight(a)
    yield f"The {a.first} is nothing to slice."


def _examine(a: FailedAction) -> Iterator[str | None]:
    if a.first in a.game.receptacle_indices:
        yield _away(a, a.first)
    else:
        yield _ill_formed(a.first)
        held = f"carry the {a.held_object}" if a.held_object else "carry nothing"
        yield f"Of objects only what you carry can be examined, and you {held}."


_CAUSES = {
    "go": _go_causes,
    "open": _open_or_close,
    "close": _open_or_close,
    "take": _take_causes,
    "use": _use_causes,
    "slice": _slice_causes,
}
_CAUSES |= {"examine": _examine} | dict.fromkeys(TREATMENTS, _treat_causes)
"""The checks for each action, by its first word. The word for putting depends on the dialect, so ``_put`` is for any
other word.
"""
