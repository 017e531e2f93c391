"""The rules of TextCraft and its sentences, word for word: inventory and action in, inventory and answer out.

Inventories are never changed: an action makes a new one. Its order is the order in which items came in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from codeplan.envs.textcraft.recipes import CraftingRecipe, Ingredient, RecipeBook, display_name

Inventory = Mapping[str, int]
"""Counts by item; all are above 0, except after ``get 0``."""

_CRAFT = re.compile(r"craft (.*) using (.*)")
_GET = re.compile(r"get ([0-9]{1,18}) (.*)")
_COUNTED = re.compile(r"([0-9]{1,18}) (.*)")


class ActionResult(NamedTuple):
    """The result of an action; ``crafted`` is the item that it made, empty if it made none."""

    inventory: Inventory
    answer: str
    crafted: str = ""


def apply_action(book: RecipeBook, inventory: Inventory, action: str) -> ActionResult:
    """Do one action. Text after a complete action is ignored; a count has at most 18 digits."""
    if found := _CRAFT.match(action):
        return _craft(book, inventory, found[1], found[2])
    if found := _GET.match(action):
        return _get(book, inventory, int(found[1]), found[2])
    if action.startswith("inventory"):
        return ActionResult(inventory, _list_inventory(inventory))
    return ActionResult(inventory, f"Could not execute {action}")


def _get(book: RecipeBook, inventory: Inventory, count: int, name: str) -> ActionResult:
    item = _item(name)
    if not book.is_obtainable(item):
        return ActionResult(inventory, f"Could not find {name}")
    return ActionResult({**inventory, item: inventory.get(item, 0) + count}, f"Got {count} {name}")


def _list_inventory(inventory: Inventory) -> str:
    things = "".join(f"[{display_name(item)}] ({count}) " for item, count in inventory.items())
    return f"Inventory: {things or 'You are not carrying anything.'}"


# ------------------------------------------------------------------ crafting


def _craft(book: RecipeBook, inventory: Inventory, made: str, taken: str) -> ActionResult:
    counted = _COUNTED.match(made)
    output, count = (_item(counted[2]), int(counted[1])) if counted else (_item(made), 1)
    inputs: list[tuple[str, int]] = []
    for piece in taken.split(","):
        counted = _COUNTED.match(piece.strip())
        if counted is None:
            return ActionResult(inventory, f"Wrong item format: {piece.strip()}")
        inputs.append((_item(counted[2]), int(counted[1])))
    if not all(item in inventory and inventory[item] >= n for item, n in inputs):
        return ActionResult(inventory, f"Could not find enough items to craft {_item_id(book, output) or None}")
    recipe = _find_recipe(book, output, inputs)
    if recipe is None:
        return ActionResult(inventory, f"Could not find a valid recipe for {_format_request(book, output, count)}")
    answer = f"Crafted {recipe.count} minecraft:{output}"
    return ActionResult(_exchange(inventory, inputs, recipe), answer, output)


def _find_recipe(book: RecipeBook, output: str, inputs: list[tuple[str, int]]) -> CraftingRecipe | None:
    """The first recipe of an item with exactly these ingredients; None if there is none, and for a category."""
    if output in book.categories:
        return None
    return next((r for r in book.recipes_by_output.get(output, ()) if _matches(book, r, inputs)), None)


def _matches(book: RecipeBook, recipe: CraftingRecipe, inputs: list[tuple[str, int]]) -> bool:
    left = list(inputs)
    for wanted in recipe.ingredients:
        given = next((each for each in left if _fits(book, wanted, each[0])), None)
        if given is None or given[1] != wanted.count:
            return False
        left.remove(given)
    return not left


def _fits(book: RecipeBook, wanted: Ingredient, item: str) -> bool:
    return book.category_of_item.get(item) == wanted.name if wanted.is_category else item == wanted.name


def _exchange(inventory: Inventory, inputs: list[tuple[str, int]], recipe: CraftingRecipe) -> Inventory:
    after = dict(inventory)
    for item, count in inputs:
        after[item] -= count
        if not after[item]:
            del after[item]
    after[recipe.output] = after.get(recipe.output, 0) + recipe.count
    return after


# ------------------------------------------------------------------ names in the answers


def _item(name: str) -> str:
    return name.replace(" ", "_")


def _item_id(book: RecipeBook, name: str) -> str:
    """The game's id of an item; empty for a category, which is not an item."""
    return "" if name in book.categories else f"minecraft:{name}"


def _format_request(book: RecipeBook, name: str, count: int) -> str:
    """The requested item, as TextCraft's answer writes it."""
    tag, item = (f"'minecraft:{name}'", None) if name in book.categories else (None, f"'minecraft:{name}'")
    return f"ItemTagWithCount(item_tag=ItemTag(tag={tag}, item_id={item}), count={count})"
