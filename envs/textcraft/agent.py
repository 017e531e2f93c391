"""The agent of TextCraft. Models are shown its docstrings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from codeplan.agent_interface import reduced_api
from codeplan.envs.base import ActionLog
from codeplan.errors import AgentError
from codeplan.protocols import Act
from codeplan.types import Observation
from codeplan.untrusted.values import in_quotes

_COMMAND = re.compile(r"^craft (\d{1,18}) (.+?) using (.+)$", re.MULTILINE)
_GOAL = re.compile(r"^Goal: craft (.+)\.$", re.MULTILINE)
_HELD = re.compile(r"\[([^\[\]]+)\] \((\d{1,18})\)")
_COUNTED = re.compile(r"(\d{1,18}) (.+)")
_GOT = re.compile(r"Got (\d{1,18}) (.+)")
_CRAFTED = re.compile(r"Crafted (\d{1,18}) minecraft:(\w+)")


class _Command(NamedTuple):
    """A crafting command of the task: what it makes, how many, and what it takes."""

    item: str
    makes: int
    ingredients: dict[str, int]


class TextCraftAgent:
    """A player who gets and crafts items of Minecraft. The inventory is empty at the start.

    goal is the item to craft; craftable lists every item that the crafting commands make. Both use the names of the
    commands, such as "oak planks". held has the counts of all items in the inventory, and reading it is no action.
    Items that no command makes can be got in any number. An ingredient such as planks or wool, which no command makes
    but which has sorts ("oak planks"), stands for any one sort, crafted before. Crafting the goal ends the task.
    """

    goal: str
    craftable: list[str]
    held: dict[str, int]

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        text = observation.text if observation else ""
        goal = _GOAL.search(text)
        self.goal = goal[1] if goal else ""
        self._commands = [_Command(m[2], int(m[1]), _parse_counts(m[3])) for m in _COMMAND.finditer(text)]
        self.craftable = sorted({command.item for command in self._commands})
        self.held = {}
        self._useful = _find_useful_items(self._commands, self.goal)
        self._answered: dict[str, bool] = {}
        self._log = ActionLog(act)

    def get(self, count: int, item: str) -> str:
        """Get a number of an item that no crafting command makes. Items that can be crafted are not found.

        Example: agent.get(2, "oak logs") returns "Got 2 oak logs"
        Example: agent.get(1, "stick") returns "Could not find stick"
        """
        answer = self._log.act(f"get {count} {item}")
        if got := _GOT.fullmatch(answer):
            self._add(got[2], int(got[1]))
        if got or answer == f"Could not find {item}":
            self._answered[str(item)] = got is not None
        return answer

    def can_get(self, item: str) -> bool | None:
        """Return whether get gives an item: True or False if that is known, None if only trying get can tell.

        False: a command makes it, or get did not find it. True: get gave it before, or commands for the goal take it,
        none makes it, and no item of craftable may be a sort of it. None is common: the task does not list the commands
        for all that its commands take. This is not an action.
        Example: agent.can_get("iron ingot") returns True
        Example: agent.can_get("oak planks") returns False
        Example: agent.can_get("oak logs") returns None
        """
        if not isinstance(item, str):
            raise AgentError(f"can_get takes the name of an item, not {in_quotes(item)}")
        if item in self._answered:
            return self._answered[item]
        if item in self.craftable:
            return False
        may_have_sorts = any(name.endswith(f" {item}") for name in self.craftable)
        return True if item in self._useful and not may_have_sorts else None

    def craft(self, count: int, item: str, ingredients: dict[str, int]) -> str:
        """Follow one crafting command once, with exactly its counts. Call again for more of the item.

        The ingredients must be in the inventory and are used up. For an ingredient that has sorts, give one sort: for
        "2 planks" in the command, {"oak planks": 2}.
        Example: agent.craft(1, "shield", {"oak planks": 6, "iron ingot": 1}) returns "Could not find enough items to
        craft minecraft:shield"
        Example: agent.craft(4, "oak planks", {"oak logs": 1}) returns "Crafted 4 minecraft:oak_planks"
        """
        if not isinstance(ingredients, dict):
            kind = type(ingredients).__name__
            raise AgentError(f"craft takes the ingredients as a dict such as {{'oak planks': 2}}, not as a {kind}")
        using = ", ".join(f"{n} {name}" for name, n in ingredients.items())
        answer = self._log.act(f"craft {count} {item} using {using}")
        if crafted := _CRAFTED.fullmatch(answer):
            for name, n in ingredients.items():
                self._add(name, -n)
            self._add(crafted[2].replace("_", " "), int(crafted[1]))
        return answer

    def craft_until(self, count: int, item: str, ingredients: list[str], sorts: dict[str, str] | None = None) -> int:
        """Follow one crafting command until the inventory has count of the item; return how many it has then.

        The command is the one that makes the item from these ingredients, by the command's own names; a dict from
        recipes will do. sorts names the sort for an ingredient that has sorts. Each time that the command is followed
        is an action. What all of them take has to be in the inventory before: otherwise none is taken, and the error
        says what is missing. With count of the item in the inventory already, nothing is done. If the world refuses,
        as it does a wrong sort, there are fewer than count, and report tells its answer: assert what is returned.
        Example: agent.craft_until(7, "oak planks", ["oak logs"]) returns 8
        Example: agent.craft_until(1, "shield", ["planks", "iron ingot"], {"planks": "oak planks"}) returns 1
        """
        command = self._find_command(item, ingredients)
        taken = _name_sorts(command, sorts)
        times = -(-(_check_count(count) - self.held.get(item, 0)) // command.makes)
        self._require_held(times, command, taken)
        for _ in range(times):
            if not _CRAFTED.fullmatch(self.craft(command.makes, item, taken)):
                break
        return self.held.get(item, 0)

    def inventory(self) -> dict[str, int]:
        """Return the counts of all items in the inventory. This is an action, like get and craft.

        Example: agent.inventory() returns {"oak logs": 1, "oak planks": 4}
        """
        answer = self._log.act("inventory")
        if answer.startswith("Inventory: "):
            self.held = {name: int(n) for name, n in _HELD.findall(answer)}
        return dict(self.held)

    def recipes(self, item: str) -> list[dict[str, Any]]:
        """Return the task's crafting commands that make an item; none for an item that can be got.

        This is not an action: it reads the task again.
        Example: agent.recipes("shield") returns [{"count": 1, "ingredients": {"planks": 6, "iron ingot": 1}}]
        """
        return [{"count": c.makes, "ingredients": dict(c.ingredients)} for c in self._commands if c.item == item]

    def report(self) -> str:
        """Return the goal, the inventory, the last action and its answer, for an assertion's message.

        Example: agent.report() returns "My goal is shield. I hold 1 oak logs. Last action: 'get 6 planks'; it answered:
        'Could not find planks'"
        """
        held = ", ".join(f"{n} {name}" for name, n in self.held.items()) or "nothing"
        state = f"My goal is {self.goal or 'not known'}. I hold {held}."
        return f"{state} {self._log.describe_last()}"

    def _add(self, name: str, count: int) -> None:
        self.held[name] = self.held.get(name, 0) + count
        if not self.held[name]:
            del self.held[name]

    def _find_command(self, item: str, ingredients: object) -> _Command:
        if not isinstance(ingredients, (list, tuple, set, dict)) or not all(isinstance(i, str) for i in ingredients):
            raise AgentError("craft_until takes the ingredients as a list of names such as ['planks', 'iron ingot']")
        commands = [command for command in self._commands if command.item == item]
        for command in commands:
            if command.ingredients.keys() == set(ingredients):
                return command
        if not commands:
            raise AgentError(f"no command makes {in_quotes(item)}; the attribute craftable lists what commands make")
        named = ", ".join(map(str, ingredients)) or "nothing"
        known = "; ".join(", ".join(command.ingredients) for command in commands)
        raise AgentError(
            f"no command makes {item} from {in_quotes(named)}; a command makes it from: {known}. Give the names as the "
            "command has them, and the sort of an ingredient by sorts, such as {'planks': 'oak planks'}"
        )

    def _require_held(self, times: int, command: _Command, taken: Mapping[str, int]) -> None:
        """Raise AgentError if ingredients are missing to follow a command ``times`` times; it names them."""
        missing = {name: times * n - self.held.get(name, 0) for name, n in taken.items()}
        lacking = ", ".join(f"{n} {name}" for name, n in missing.items() if n > 0)
        if lacking:
            made = f"{times * command.makes} {command.item}"
            raise AgentError(f"to craft {made}, the inventory lacks {lacking}; get or craft that first")


class PaperTextCraftAgent(TextCraftAgent):
    """The agent with the three actions of TextCraft (Prasad et al. 2024) as methods, and what every agent has."""

    _api = reduced_api(
        TextCraftAgent,
        ("get", "craft", "inventory", "report"),
        """
        A player who gets and crafts items of Minecraft. The inventory is empty at the start.

        Names are those of the crafting commands, such as "oak planks". Items that no command makes can be got in any
        number. An ingredient such as planks or wool, which no command makes but which has sorts ("oak planks"), stands
        for any one sort, crafted before.
        """,
    )


def _find_useful_items(commands: list[_Command], goal: str) -> set[str]:
    """The goal, and all that the commands for it take by their own names.

    A task lists every command for these items, but not for what its other commands take. What may be a sort of an
    ingredient is not followed: red terracotta is no sort of terracotta, as oak planks are of planks.
    """
    inputs: dict[str, set[str]] = {}
    for command in commands:
        inputs.setdefault(command.item, set()).update(command.ingredients)
    found, left = {goal}, [goal]
    while left:
        new = inputs.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def _name_sorts(command: _Command, sorts: object) -> dict[str, int]:
    """What a command takes, with the named sorts in place of the ingredients that have sorts."""
    if sorts is not None and not (isinstance(sorts, dict) and all(isinstance(s, str) for s in sorts.values())):
        raise AgentError("craft_until takes sorts as a dict of names such as {'planks': 'oak planks'}")
    named: Mapping[str, str] = sorts or {}
    if unknown := [name for name in named if name not in command.ingredients]:
        raise AgentError(f"sorts names {in_quotes(unknown[0])}, which the command of {command.item} does not take")
    taken: dict[str, int] = {}
    for name, n in command.ingredients.items():
        chosen = named.get(name, name)
        taken[chosen] = taken.get(chosen, 0) + n
    return taken


def _check_count(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise AgentError(f"craft_until takes a count from 1 up, not {in_quotes(count)}")
    return count


def _parse_counts(ingredients: str) -> dict[str, int]:
    """Parse the ingredients of a command (``2 planks, 1 string``) as counts by name; skip what has another form."""
    found = map(_COUNTED.fullmatch, ingredients.split(", "))
    return {counted[2]: int(counted[1]) for counted in found if counted}
