"""Explains in one sentence why an action cannot be done, after the kinds of feedback of AutoPlan (Ouyang and Li, 2023).

A reason reveals nothing that the agent cannot know: the contents of a receptacle are looked at only after checking that
the agent stands there and that the receptacle is open.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from codeplan.envs.household.engine import BLADES, TREATMENTS, ActionRule, rules_by_verb
from codeplan.envs.household.game import Game, HouseholdState
from codeplan.types.value import Value


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


FailureCheck = Callable[[FailedAction], str | None]
"""Checks for one possible cause: returns its sentence, or None if the cause does not apply."""


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
    found_or_none = (check(failed) for check in _CHECKS.get(failed.verb, _PUTTING))
    return next((sentence for sentence in found_or_none if sentence), "It cannot be done now.")


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
    return None if re.fullmatch(r"[a-z]+ \d+", name) else f"{name[:40]!r} is no name; a name is like: apple 1."


def _unknown_receptacle(game: Game, name: str) -> str | None:
    if name in game.receptacle_indices:
        return None
    return _ill_formed(name) or f"There is no receptacle {name} in this room."


def _no_receptacle_first(a: FailedAction) -> str | None:
    return _unknown_receptacle(a.game, a.first)


def _no_receptacle_second(a: FailedAction) -> str | None:
    return _unknown_receptacle(a.game, a.second)


def _no_object(a: FailedAction) -> str | None:
    if a.first in a.game.receptacle_indices:
        return f"The {a.first} is a receptacle, not an object."
    return _ill_formed(a.first)


def _bad_name(a: FailedAction) -> str | None:
    return None if a.first in a.game.receptacle_indices else _ill_formed(a.first)


# ------------------------------------------------------------------ where the agent is, and what it holds


def _near_already(a: FailedAction) -> str | None:
    return f"The {a.first} is within reach already, from where you stand."


def _is_away(a: FailedAction, receptacle: str) -> str | None:
    there = a.game.receptacles[a.game.receptacle_indices[receptacle]]
    return None if there.location == a.state.location else f"You are not at the {receptacle}: go to {receptacle} first."


def _away_from_first(a: FailedAction) -> str | None:
    return _is_away(a, a.first)


def _away_from_second(a: FailedAction) -> str | None:
    return _is_away(a, a.second)


def _hands_full(a: FailedAction) -> str | None:
    return f"Your hands are full: you carry the {a.held_object}." if a.held_object else None


def _not_carried(a: FailedAction) -> str | None:
    return _does_not_carry(a, a.first)


def _blade_not_carried(a: FailedAction) -> str | None:
    return _ill_formed(a.second) or _does_not_carry(a, a.second)


def _does_not_carry(a: FailedAction, thing: str) -> str | None:
    if a.held_object == thing:
        return None
    return f"You do not carry the {thing}: " + (
        f"you carry the {a.held_object}." if a.held_object else "your hands are empty."
    )


def _out_of_sight(a: FailedAction) -> str | None:
    return None if a.first in a.visible_objects else f"There is no {a.first} to be seen from where you stand."


# ------------------------------------------------------------------ what a thing is good for


def _closed(a: FailedAction) -> str | None:
    at = a.game.receptacle_indices[a.second]
    if not a.game.receptacles[at].openable or at in a.state.opened:
        return None
    return f"The {a.second} is closed: open {a.second} first."


def _no_door(a: FailedAction) -> str | None:
    openable = a.game.receptacles[a.game.receptacle_indices[a.first]].openable
    return None if openable else f"The {a.first} has nothing to open or close."


def _already_so(a: FailedAction) -> str | None:
    opened = a.game.receptacle_indices[a.first] in a.state.opened
    return f"The {a.first} is {'open' if opened else 'closed'} already."


def _not_there(a: FailedAction) -> str | None:
    contents = a.state.contents[a.game.receptacle_indices[a.second]]
    here = a.game.object_indices.get(a.first) in contents
    return None if here else f"There is no {a.first} in or on the {a.second}."


def _immovable(a: FailedAction) -> str | None:
    return f"The {a.first} cannot be picked up."


def _unfit(a: FailedAction) -> str | None:
    return f"The {a.first} does not belong in or on a {a.second.split()[0]}."


def _wrong_appliance(a: FailedAction) -> str | None:
    needed = TREATMENTS[a.verb].appliance
    if a.game.receptacles[a.game.receptacle_indices[a.second]].kind == needed:
        return None
    return f"You cannot {a.verb} anything with the {a.second}: that takes a {needed}."


def _untreatable(a: FailedAction) -> str | None:
    return f"The {a.first} is nothing to {a.verb}."


def _appliance(a: FailedAction) -> str | None:
    """The agent tried to use an appliance, which has a verb of its own."""
    verb = next((v for v, t in TREATMENTS.items() if a.first.split(" ")[0] == t.appliance), None)
    return f"The {a.first} is not used so, but: {verb} OBJECT with {a.first}." if verb else None


def _no_switch(a: FailedAction) -> str | None:
    return f"The {a.first} has nothing to switch on."


def _blunt(a: FailedAction) -> str | None:
    return None if a.second.split()[0] in BLADES else f"The {a.second} does not cut; a {' or a '.join(BLADES)} does."


def _uncuttable(a: FailedAction) -> str | None:
    return f"The {a.first} is nothing to slice."


def _not_held(a: FailedAction) -> str | None:
    if a.first in a.game.receptacle_indices:
        return _is_away(a, a.first)
    carried = f"carry the {a.held_object}" if a.held_object else "carry nothing"
    return f"Of objects only what you carry can be examined, and you {carried}."


_TREATING = (_no_object, _no_receptacle_second, _away_from_second, _not_carried, _wrong_appliance, _untreatable)
_PUTTING = (_no_object, _no_receptacle_second, _away_from_second, _closed, _not_carried, _unfit)
_CHECKS: dict[str, tuple[FailureCheck, ...]] = {
    "go": (_no_receptacle_first, _near_already),
    "open": (_no_receptacle_first, _away_from_first, _no_door, _already_so),
    "close": (_no_receptacle_first, _away_from_first, _no_door, _already_so),
    "take": (
        _no_object,
        _no_receptacle_second,
        _away_from_second,
        _closed,
        _not_there,
        _hands_full,
        _immovable,
    ),
    "clean": _TREATING,
    "heat": _TREATING,
    "cool": _TREATING,
    "use": (_appliance, _no_object, _out_of_sight, _no_switch),
    "slice": (_no_object, _blade_not_carried, _blunt, _out_of_sight, _uncuttable),
    "examine": (_bad_name, _not_held),
}
"""The causes to check for an action, by its first word, in order. The word for putting depends on the dialect, so
``_PUTTING`` applies to any other word."""
