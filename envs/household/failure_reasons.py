"""Explains in one sentence why an action cannot be done, after the kinds of feedback of AutoPlan (Ouyang and Li, 2023).

A reason reveals nothing that the agent cannot know: the contents of a receptacle are looked at only after checking that
the agent stands there and that the receptacle is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from codeplan.envs.household.engine import BLADES, TREATMENTS, ActionRule, rules_by_verb
from codeplan.envs.household.game import Game, HouseholdState, Receptacle
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes


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
    causes = _CAUSES.get(failed.verb, _put)(failed)
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


def _go(a: FailedAction) -> Iterator[str | None]:
    yield _unknown_receptacle(a, a.first)
    yield f"The {a.first} is within reach already, from where you stand."


def _open_or_close(a: FailedAction) -> Iterator[str | None]:
    yield _unknown_receptacle(a, a.first)
    yield _away(a, a.first)
    if not a.receptacle(a.first).openable:
        yield f"The {a.first} has nothing to open or close."
    yield f"The {a.first} is {'open' if a.is_open(a.first) else 'closed'} already."


def _take(a: FailedAction) -> Iterator[str | None]:
    yield _not_an_object(a)
    yield _unknown_receptacle(a, a.second)
    yield _away(a, a.second)
    yield _closed(a)
    if a.game.object_indices.get(a.first) not in a.state.contents[a.game.receptacle_indices[a.second]]:
        yield f"There is no {a.first} in or on the {a.second}."
    if a.held_object:
        yield f"Your hands are full: you carry the {a.held_object}."
    yield f"The {a.first} cannot be picked up."


def _put(a: FailedAction) -> Iterator[str | None]:
    yield _not_an_object(a)
    yield _unknown_receptacle(a, a.second)
    yield _away(a, a.second)
    yield _closed(a)
    yield _not_carried(a, a.first)
    yield f"The {a.first} does not belong in or on a {a.second.split()[0]}."


def _treat(a: FailedAction) -> Iterator[str | None]:
    yield _not_an_object(a)
    yield _unknown_receptacle(a, a.second)
    yield _away(a, a.second)
    yield _not_carried(a, a.first)
    needed = TREATMENTS[a.verb].appliance
    if a.receptacle(a.second).kind != needed:
        yield f"You cannot {a.verb} anything with the {a.second}: that takes a {needed}."
    yield f"The {a.first} is nothing to {a.verb}."


def _use(a: FailedAction) -> Iterator[str | None]:
    verb = next((v for v, t in TREATMENTS.items() if a.first.split(" ")[0] == t.appliance), None)
    if verb:
        yield f"The {a.first} is not used so, but: {verb} OBJECT with {a.first}."
    yield _not_an_object(a)
    yield _out_of_sight(a)
    yield f"The {a.first} has nothing to switch on."


def _slice(a: FailedAction) -> Iterator[str | None]:
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


_CAUSES = {"go": _go, "open": _open_or_close, "close": _open_or_close, "take": _take, "use": _use, "slice": _slice}
_CAUSES |= {"examine": _examine} | dict.fromkeys(TREATMENTS, _treat)
"""The checks for each action, by its first word. The word for putting depends on the dialect, so ``_put`` is for any
other word.
"""
