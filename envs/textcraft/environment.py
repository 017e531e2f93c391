"""TextCraft: craft items of Minecraft in two to four levels of recipes, among misleading commands."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from codeplan.envs.base import ActionLimit, AgentSetting, EpisodeSnapshot, RestorableEnvironment
from codeplan.envs.textcraft.agent import PaperTextCraftAgent, TextCraftAgent
from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.types import ActionSpace, Observation, Task, Value
from codeplan.untrusted.files import read_user_text
from codeplan.untrusted.values import in_quotes

# ------------------------------------------------------------------ recipes

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


# ------------------------------------------------------------------ tasks

NAME = "textcraft"
MIN_DEPTH = 2
"""The least depth of a goal."""

_DEV = 50
"""Number of tasks in the split dev; the remaining ones are in train."""


def tasks_in_split(split: str) -> tuple[Task, ...]:
    """Return the tasks of a split, by seed; none if there is no such split."""
    return _splits().get(split, ())


def find_task(task: Task) -> Task:
    """Return TextCraft's own task with the same id or, if the id is unknown, the same kind and seed.

    Raises: UsageError if there is none.
    """
    known = _ids().get(task.id) or _ids().get(f"{task.kind}/{task.seed}")
    if known is None:
        raise UsageError(
            f"TextCraft has no task {in_quotes(task.id, 80)}; an id is a depth and a seed, as in depth3/17, "
            f"and the seeds run from 0 to {len(_ids()) - 1}"
        )
    return known


def goal_item(task: Task) -> str:
    """Return the item that a task asks for."""
    return task.goal.removeprefix("craft ").replace(" ", "_")


@cache
def _splits() -> dict[str, tuple[Task, ...]]:
    """The 200 tasks of ``test``, 50 of ``dev`` and 147 of ``train``, with consecutive seeds.

    The goals of ``test`` are TextCraft's own for these seeds. The goals of the other splits are the remaining items of
    depth 2 or more, in a random but fixed order.
    """
    recipes = recipe_book()
    test = read_data_file("goals.txt").split()
    draw = random.Random("the goals of dev and train").random
    rest = sorted(set(recipes.recipes_by_output) - set(test))
    others = [item for _, item in sorted((draw(), item) for item in rest if recipes.depth(item) >= MIN_DEPTH)]
    parts = {"test": test, "dev": others[:_DEV], "train": others[_DEV:]}
    starts = {"test": 0, "dev": len(test), "train": len(test) + _DEV}
    return {
        split: tuple(_task(recipes, goal, seed, split) for seed, goal in enumerate(goals, starts[split]))
        for split, goals in parts.items()
    }


@cache
def _ids() -> dict[str, Task]:
    return {task.id: task for tasks in _splits().values() for task in tasks}


def _task(recipes: RecipeBook, goal: str, seed: int, split: str) -> Task:
    kind = f"depth{recipes.depth(goal)}"
    return Task(f"{kind}/{seed}", NAME, kind, f"craft {display_name(goal)}", seed, split)


# ------------------------------------------------------------------ the commands that a task shows

MAX_DISTRACTORS = 10
MAX_FILE_BYTES = 64 << 20
"""A larger file of recorded tasks is not read."""

CommandLists = dict[int, tuple[str, ...]]
"""Ordered commands by the task's seed."""


def draw_commands(recipes: RecipeBook, goal: str, seed: int) -> tuple[str, ...]:
    """Return the commands that a goal needs, mixed with up to ten others that use the same ingredients.

    The result depends only on the arguments, on every platform, Python version and hash seed: the draws use only
    ``random.Random.random``, whose stream Python's documentation fixes.
    """
    draw = random.Random(f"textcraft {goal} {seed}").random
    needed = recipes.recipes_needed_for(goal)
    near: set[str] = set()
    for recipe in needed.values():
        for each in recipe.ingredients:
            near.update(_draw(recipes.commands_by_ingredient[each.name], MAX_DISTRACTORS, draw))
    distractors = _draw(sorted(near - needed.keys()), MAX_DISTRACTORS, draw)
    return tuple(_draw([*needed, *distractors], None, draw))


def _draw(values: Sequence[str], count: int | None, draw: Callable[[], float]) -> list[str]:
    """Draw up to ``count`` of the values (None: all), in random order."""
    left = list(values)
    count = len(left) if count is None else min(count, len(left))
    for i in range(count):
        j = i + int(draw() * (len(left) - i))
        left[i], left[j] = left[j], left[i]
    return left[:count]


# ------------------------------------------------------------------ recorded lists


@cache
def bundled_command_lists() -> CommandLists:
    """Return the lists of half of the test tasks, from the episodes published with ADaPT."""
    lines = (line.split(": ") for line in read_data_file("recorded.txt").splitlines())
    return {int(seed): tuple(recipe_book().commands[int(n) - 1] for n in numbers.split()) for seed, numbers in lines}


def read_command_lists(file: str) -> CommandLists:
    """Return the lists in a file of JSON lines with ``seed`` and ``commands``; other keys are ignored.

    Raises: UsageError, with file and line, if the file cannot be read or a line is wrong.
    """
    try:
        lines = read_user_text(Path(file).expanduser(), MAX_FILE_BYTES).splitlines()
    except OSError as e:
        raise UsageError(f"the recorded tasks in {file} cannot be read: {e.strerror}") from None
    return dict(_parse_line(line, f"{file}, line {number}") for number, line in enumerate(lines, 1) if line.strip())


def _parse_line(line: str, where: str) -> tuple[int, tuple[str, ...]]:
    try:
        task: Any = json.loads(line)
        seed, listed = task["seed"], task["commands"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError(f"{where} is not a recorded task: give JSON with a seed and a list of commands") from None
    if type(seed) is not int or not isinstance(listed, list) or not listed:
        raise UsageError(f"{where} is not a recorded task: its seed must be a number and its commands a list of texts")
    unknown = next((c for c in listed if c not in recipe_book().commands), None)
    if unknown is not None:
        raise UsageError(f"{where} has the command {in_quotes(unknown)}, which is not one of TextCraft's recipes")
    return seed, tuple(listed)


@cache
def find_walkthrough(goal: str) -> tuple[str, ...]:
    """Return actions that craft an item from nothing, always by the shallowest recipe."""
    wanted = Counter({goal: 1})
    crafts: list[str] = []
    while deep := [name for name in wanted if recipe_book().depth(name)]:
        item = max(deep, key=lambda name: (recipe_book().depth(name), name))
        recipe, count = _shallowest_recipe(item), wanted.pop(item)
        times = -(-count // recipe.count)
        taken = [(_item_for(i), i.count) for i in recipe.ingredients]
        inputs = ", ".join(f"{n} {display_name(name)}" for name, n in taken)
        crafts[:0] = [f"craft {recipe.count} {display_name(item)} using {inputs}"] * times
        wanted.update({name: n * times for name, n in taken})
    return (*(f"get {count} {display_name(name)}" for name, count in wanted.items()), *crafts)


def _shallowest_recipe(item: str) -> CraftingRecipe:
    def depth(recipe: CraftingRecipe) -> int:
        return max(recipe_book().depth(i.name) for i in recipe.ingredients)

    return min(recipe_book().recipes_by_output[item], key=lambda r: (depth(r), len(r.ingredients), r.command))


def _item_for(wanted: Ingredient) -> str:
    """The item to use for an ingredient: the shallowest of its category if any item will do."""
    if not wanted.is_category:
        return wanted.name
    items = {
        r.output
        for r in recipe_book().recipes_by_category[wanted.name]
        if recipe_book().category_of_item[r.output] == wanted.name
    }
    return min(items, key=lambda name: (recipe_book().depth(name), name))


Inventory = Mapping[str, int]
"""Counts by item; all are above 0, except after ``get 0``."""


# ------------------------------------------------------------------ the rules, with TextCraft's sentences

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


# ------------------------------------------------------------------ the environment


class TextCraftSnapshot(EpisodeSnapshot, frozen=True):
    """The state of an episode."""

    inventory: Mapping[str, int] = {}


class TextCraft(RestorableEnvironment[TextCraftSnapshot]):
    """TextCraft. A task's id is its depth and its seed, as in ``depth3/17``; the seed alone determines the goal.

    ``kinds`` are the depths: the least number of crafting levels that a goal needs.
    """

    name: str = NAME
    agent: type = TextCraftAgent
    agents: Mapping[str, type] = {"full": TextCraftAgent, "paper": PaperTextCraftAgent}
    kinds: tuple[str, ...] = ("depth2", "depth3", "depth4")
    space: ActionSpace = ActionSpace(
        forms=("get COUNT ITEM", "craft COUNT ITEM using COUNT INGREDIENT, COUNT INGREDIENT", "inventory"),
        no_effect_prefixes=("Could not",),
        calls=39,
        max_idle_turns=8,
        status="inventory",
    )

    def __init__(
        self,
        *,
        exact: Annotated[
            bool, Setting("Show the recorded commands, which exist for half of the test tasks.", "safe")
        ] = False,
        recorded: Annotated[
            str | None, Setting("File of more recorded commands, for exact.", "trusted", repeat="live")
        ] = None,
        agent: AgentSetting = "full",
        actions: ActionLimit = 60,  # the original has no limit; the longest walkthrough has 27 actions
    ) -> None:
        """Raises: UsageError if a setting is not allowed, or if the file of recorded commands cannot be read."""
        super().__init__(actions)
        self._choose_agent(agent)
        if recorded is not None and not exact:
            raise UsageError("the setting recorded of textcraft needs exact=True; give both, or neither")
        self._recorded: CommandLists | None = None
        if exact:
            self._recorded = bundled_command_lists() | (read_command_lists(recorded) if recorded is not None else {})
        self._goal = ""

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test`` (200, seeds 0 to 199), ``dev`` (50) or ``train`` (147), by seed."""
        return tasks_in_split(split)

    def depth(self, task: Task) -> int:
        """Return the depth of a task's goal: 2, 3 or 4. Raises what ``reset`` raises."""
        return recipe_book().depth(goal_item(find_task(task)))

    def commands(self, task: Task) -> tuple[str, ...]:
        """Return the crafting commands that a task shows. Raises what ``reset`` raises."""
        known = find_task(task)
        if self._recorded is None:
            return draw_commands(recipe_book(), goal_item(known), known.seed)
        if known.seed not in self._recorded:
            raise UsageError(
                f"no commands were recorded for the task {known.id}; "
                "name a file that has them with the setting recorded, or leave exact out"
            )
        return self._recorded[known.seed]

    def walkthrough(self, task: Task) -> tuple[str, ...]:
        """Return actions that win a task. Raises what ``reset`` raises."""
        return find_walkthrough(goal_item(find_task(task)))

    def reset(self, task: Task) -> Observation:
        """Begin a task, found by its id or, if TextCraft has no such id, by its kind and seed.

        Raises: UsageError if there is no such task or, with ``exact``, if its commands were not recorded.
        """
        known = find_task(task)
        commands = "\n".join(self.commands(known))
        self._goal = goal_item(known)
        self._begin(TextCraftSnapshot())
        return Observation(f"Crafting commands:\n{commands}\n\nGoal: {known.goal}.")

    def _apply(self, before: TextCraftSnapshot, action: str) -> tuple[TextCraftSnapshot, Observation]:
        inventory, answer, crafted = apply_action(recipe_book(), before.inventory, action)
        won = crafted == self._goal
        return TextCraftSnapshot(inventory), Observation(answer, reward=float(won), done=won, success=won)


make = TextCraft
"""The factory that the entry point ``textcraft`` names."""
