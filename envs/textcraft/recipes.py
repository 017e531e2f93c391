"""What can be crafted from what: the recipes of TextCraft, read once from a table of facts of Minecraft 1.16.5.

A line of the table is one recipe, ``output*count@category=count input,count #category``; a name after ``#`` may be any
one item of that category. The facts are those of the npm package minecraft-data (MIT licence, PrismarineJS).
"""

from __future__ import annotations

from functools import cache, cached_property
from importlib.resources import files

from codeplan.types import Value

UNCRAFTED = (
    *("coal", "diamond", "dried_kelp", "emerald", "gold_ingot", "honey_block", "iron_ingot", "lapis_lazuli"),
    *("purpur_slab", "purpur_stairs", "quartz_bricks", "quartz_pillar", "quartz_slab", "quartz_stairs"),
    *("redstone", "slime_ball", "snow", "wheat"),
)
"""Items that the game makes of a block, or of what is made of them: TextCraft does not, and lets them be found."""


class Input(Value, frozen=True):
    """What a recipe takes: so many of an item or, where ``any_of`` is set, of one item of the category ``name``."""

    name: str
    count: int
    any_of: bool = False


class Recipe(Value, frozen=True):
    """Makes ``count`` of ``output``. ``category`` is the recipe's group of outputs, empty where it has none."""

    output: str
    count: int
    inputs: tuple[Input, ...]
    category: str = ""

    @property
    def command(self) -> str:
        """The action that follows the recipe; a category stands in it under its name."""
        inputs = ", ".join(f"{i.count} {spoken(i.name)}" for i in self.inputs)
        return f"craft {self.count} {spoken(self.output)} using {inputs}"


def spoken(name: str) -> str:
    """An item's name as commands and answers have it: ``oak_planks`` is ``oak planks``."""
    return name.replace("_", " ")


class Book:
    """All recipes, by what they make and by what they take. ``recipes`` keeps the order of the table."""

    def __init__(self, table: str) -> None:
        self.recipes = tuple(_recipe(line) for line in table.splitlines())
        self.makes: dict[str, list[Recipe]] = {}
        self.members: dict[str, list[Recipe]] = {}
        self.category: dict[str, str] = {}
        for recipe in self.recipes:
            self.makes.setdefault(recipe.output, []).append(recipe)
            if recipe.category:
                self.members.setdefault(recipe.category, []).append(recipe)
            if recipe.category not in ("", recipe.output):
                self.category[recipe.output] = recipe.category  # the last one counts where there are several
        self.categories = frozenset(self.category.values())
        self.items = frozenset(self.makes) | {i.name for r in self.recipes for i in r.inputs if not i.any_of}
        self.items |= frozenset(UNCRAFTED)
        self._depths: dict[str, int] = {}
        self._needed: dict[str, dict[str, Recipe]] = {}

    def is_found(self, name: str) -> bool:
        """Whether ``get`` gives it: an item that no recipe makes."""
        return name in self.items and not (name in self.makes or name in self.members or name in self.categories)

    def ways(self, name: str) -> list[Recipe]:
        """The recipes that make an item, or any item of a category."""
        return self.makes.get(name) or self.members.get(name, [])

    def depth(self, name: str) -> int:
        """How many crafts deep an item or a category is: 0 for what is found, else one more than its recipe's inputs.

        Among several recipes the one that is least deep counts.
        """
        if name not in self._depths:
            deepest = (max(self.depth(i.name) for i in r.inputs) for r in self.ways(name))
            self._depths[name] = min(deepest, default=-1) + 1
        return self._depths[name]

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """The command of every recipe, in the order of the table."""
        return tuple(r.command for r in self.recipes)

    @cached_property
    def taking(self) -> dict[str, tuple[str, ...]]:
        """The commands of the recipes that have an item, or a category, among their inputs, none twice."""
        found: dict[str, dict[str, None]] = {}
        for recipe, command in zip(self.recipes, self.commands, strict=True):
            for each in recipe.inputs:
                found.setdefault(each.name, {})[command] = None
        return {name: tuple(commands) for name, commands in found.items()}

    def needed(self, goal: str) -> dict[str, Recipe]:
        """Every recipe that can have a part in making ``goal``, by its command, in the order of the table."""
        if goal not in self._needed:
            names, left = {goal}, [goal]
            while left:
                inputs = {i.name for recipe in self.ways(left.pop()) for i in recipe.inputs}
                left += inputs - names
                names |= inputs
            parts = {id(r) for name in names for r in self.ways(name)}
            listed = zip(self.commands, self.recipes, strict=True)
            self._needed[goal] = {command: r for command, r in listed if id(r) in parts}
        return self._needed[goal]


@cache
def book() -> Book:
    """The recipes of TextCraft; one copy for all who ask."""
    return Book(data("recipes.txt"))


def data(name: str) -> str:
    """The text of a file of facts beside this module."""
    return files("codeplan.envs.textcraft").joinpath(name).read_text("utf-8")


def _recipe(line: str) -> Recipe:
    made, _, taken = line.partition("=")
    made, _, category = made.partition("@")
    output, _, count = made.partition("*")
    return Recipe(output, int(count), tuple(_input(each) for each in taken.split(",")), category)


def _input(text: str) -> Input:
    count, _, name = text.partition(" ")
    return Input(name.lstrip("#"), int(count), name.startswith("#"))
