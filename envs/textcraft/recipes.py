"""The recipes of TextCraft, read once from a table of facts of Minecraft 1.16.5.

A line of the table is one recipe: ``output*count@category=count input,count #category``. A name after ``#`` stands for
any one item of that category. The facts are from the npm package minecraft-data (MIT licence, PrismarineJS).
"""

from __future__ import annotations

from functools import cache, cached_property
from importlib.resources import files

from codeplan.types import Value

UNCRAFTABLE_ITEMS = (
    *("coal", "diamond", "dried_kelp", "emerald", "gold_ingot", "honey_block", "iron_ingot", "lapis_lazuli"),
    *("purpur_slab", "purpur_stairs", "quartz_bricks", "quartz_pillar", "quartz_slab", "quartz_stairs"),
    *("redstone", "slime_ball", "snow", "wheat"),
)
"""Items that Minecraft can craft, from a block or from their own products, but TextCraft gives on ``get`` instead."""


class Ingredient(Value, frozen=True):
    """An item and its count; if ``is_category``, any one item of the category ``name``."""

    name: str
    count: int
    is_category: bool = False


class CraftingRecipe(Value, frozen=True):
    """Makes ``count`` of ``output``. ``category`` is the category of the output, empty if it has none."""

    output: str
    count: int
    ingredients: tuple[Ingredient, ...]
    category: str = ""

    @property
    def command(self) -> str:
        """The action that follows the recipe; a category appears by its name."""
        inputs = ", ".join(f"{i.count} {display_name(i.name)}" for i in self.ingredients)
        return f"craft {self.count} {display_name(self.output)} using {inputs}"


def display_name(name: str) -> str:
    """Return an item's name in commands and answers: ``oak planks`` for ``oak_planks``."""
    return name.replace("_", " ")


class RecipeBook:
    """All recipes, by output and by ingredient. ``recipes`` is in the order of the table."""

    def __init__(self, table: str) -> None:
        self.recipes = tuple(_recipe(line) for line in table.splitlines())
        self.recipes_by_output: dict[str, list[CraftingRecipe]] = {}
        self.recipes_by_category: dict[str, list[CraftingRecipe]] = {}
        self.category_of_item: dict[str, str] = {}
        for recipe in self.recipes:
            self.recipes_by_output.setdefault(recipe.output, []).append(recipe)
            if recipe.category:
                self.recipes_by_category.setdefault(recipe.category, []).append(recipe)
            if recipe.category not in ("", recipe.output):
                self.category_of_item[recipe.output] = recipe.category  # if there are several, the last one counts
        self.categories = frozenset(self.category_of_item.values())
        self.items = frozenset(self.recipes_by_output) | {
            i.name for r in self.recipes for i in r.ingredients if not i.is_category
        }
        self.items |= frozenset(UNCRAFTABLE_ITEMS)
        self._depths: dict[str, int] = {}
        self._needed: dict[str, dict[str, CraftingRecipe]] = {}

    def is_obtainable(self, name: str) -> bool:
        """Return whether ``get`` gives this item: no recipe makes it."""
        return name in self.items and not (
            name in self.recipes_by_output or name in self.recipes_by_category or name in self.categories
        )

    def recipes_for(self, name: str) -> list[CraftingRecipe]:
        """Return the recipes that make an item, or any item of a category."""
        return self.recipes_by_output.get(name) or self.recipes_by_category.get(name, [])

    def depth(self, name: str) -> int:
        """Return the depth of an item or a category, by the shallowest of its recipes.

        It is 0 if no recipe makes it, otherwise one more than the depth of the recipe's deepest ingredient.
        """
        if name not in self._depths:
            deepest = (max(self.depth(i.name) for i in r.ingredients) for r in self.recipes_for(name))
            self._depths[name] = min(deepest, default=-1) + 1
        return self._depths[name]

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """The command of each recipe, in the order of the table."""
        return tuple(r.command for r in self.recipes)

    @cached_property
    def commands_by_ingredient(self) -> dict[str, tuple[str, ...]]:
        """The commands of the recipes that use an item or a category, without duplicates."""
        found: dict[str, dict[str, None]] = {}
        for recipe, command in zip(self.recipes, self.commands, strict=True):
            for each in recipe.ingredients:
                found.setdefault(each.name, {})[command] = None
        return {name: tuple(commands) for name, commands in found.items()}

    def recipes_needed_for(self, goal: str) -> dict[str, CraftingRecipe]:
        """Return every recipe that can contribute to ``goal``, by command, in the order of the table."""
        if goal not in self._needed:
            names, left = {goal}, [goal]
            while left:
                inputs = {i.name for recipe in self.recipes_for(left.pop()) for i in recipe.ingredients}
                left += inputs - names
                names |= inputs
            parts = {id(r) for name in names for r in self.recipes_for(name)}
            listed = zip(self.commands, self.recipes, strict=True)
            self._needed[goal] = {command: r for command, r in listed if id(r) in parts}
        return self._needed[goal]


@cache
def recipe_book() -> RecipeBook:
    """Return the recipes of TextCraft, one shared copy."""
    return RecipeBook(read_data_file("recipes.txt"))


def read_data_file(name: str) -> str:
    """Return the text of a data file next to this module."""
    return files("codeplan.envs.textcraft").joinpath(name).read_text("utf-8")


def _recipe(line: str) -> CraftingRecipe:
    made, _, taken = line.partition("=")
    made, _, category = made.partition("@")
    output, _, count = made.partition("*")
    return CraftingRecipe(output, int(count), tuple(_input(each) for each in taken.split(",")), category)


def _input(text: str) -> Ingredient:
    count, _, name = text.partition(" ")
    return Ingredient(name.lstrip("#"), int(count), name.startswith("#"))
