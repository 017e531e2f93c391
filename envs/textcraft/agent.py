"""The agent of TextCraft. Models are shown its docstrings."""

from __future__ import annotations

import re
from typing import Any

from codeplan.agent_api import reduced_api
from codeplan.envs.base import ActionLog
from codeplan.errors import AgentError
from codeplan.protocols import Act
from codeplan.types import Observation

_COMMAND = re.compile(r"^craft (\d{1,18}) (.+?) using (.+)$", re.MULTILINE)
_GOAL = re.compile(r"^Goal: craft (.+)\.$", re.MULTILINE)
_HELD = re.compile(r"\[([^\[\]]+)\] \((\d{1,18})\)")
_COUNTED = re.compile(r"(\d{1,18}) (.+)")
_GOT = re.compile(r"Got (\d{1,18}) (.+)")
_CRAFTED = re.compile(r"Crafted (\d{1,18}) minecraft:(\w+)")


class TextCraftAgent:
    """A player who gets and crafts items of Minecraft. The inventory is empty at the start.

    goal is the item to craft; craftable lists every item that the crafting commands make. Both use the names of the
    commands, such as "oak planks". Items that no command makes can be got in any number. An ingredient such as planks
    or wool, which no command makes but which has sorts ("oak planks"), stands for any one sort, crafted before.
    """

    goal: str
    craftable: list[str]

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        text = observation.text if observation else ""
        goal = _GOAL.search(text)
        self.goal = goal[1] if goal else ""
        self._recipes = [(m[2], int(m[1]), _parse_counts(m[3])) for m in _COMMAND.finditer(text)]
        self.craftable = sorted({item for item, _, _ in self._recipes})
        self._log = ActionLog(act)
        self._held: dict[str, int] = {}

    def get(self, count: int, item: str) -> str:
        """Get a number of an item that no crafting command makes. Items that can be crafted are not found.

        Example: agent.get(2, "oak logs") returns "Got 2 oak logs"
        Example: agent.get(1, "stick") returns "Could not find stick"
        """
        answer = self._log.act(f"get {count} {item}")
        if got := _GOT.fullmatch(answer):
            self._add(got[2], int(got[1]))
        return answer

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

    def inventory(self) -> dict[str, int]:
        """Return the counts of all items in the inventory. This is an action, like get and craft.

        Example: agent.inventory() returns {"oak logs": 1, "oak planks": 4}
        """
        answer = self._log.act("inventory")
        if answer.startswith("Inventory: "):
            self._held = {name: int(n) for name, n in _HELD.findall(answer)}
        return dict(self._held)

    def recipes(self, item: str) -> list[dict[str, Any]]:
        """Return the task's crafting commands that make an item; none for an item that can be got.

        This is not an action: it reads the task again.
        Example: agent.recipes("shield") returns [{"count": 1, "ingredients": {"planks": 6, "iron ingot": 1}}]
        """
        return [{"count": n, "ingredients": dict(taken)} for made, n, taken in self._recipes if made == item]

    def report(self) -> str:
        """Return the goal, the inventory, the last action and its answer, for an assertion's message.

        Example: agent.report() returns "My goal is shield. I hold 1 oak logs. Last action: 'get 6 planks'; it answered:
        'Could not find planks'"
        """
        held = ", ".join(f"{n} {name}" for name, n in self._held.items()) or "nothing"
        state = f"My goal is {self.goal or 'not known'}. I hold {held}."
        return f"{state} {self._log.describe_last()}"

    def _add(self, name: str, count: int) -> None:
        self._held[name] = self._held.get(name, 0) + count
        if not self._held[name]:
            del self._held[name]


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


def _parse_counts(ingredients: str) -> dict[str, int]:
    """Parse the ingredients of a command (``2 planks, 1 string``) as counts by name; skip what has another form."""
    found = map(_COUNTED.fullmatch, ingredients.split(", "))
    return {counted[2]: int(counted[1]) for counted in found if counted}
