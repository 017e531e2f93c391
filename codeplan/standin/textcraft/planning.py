"""Plans for TextCraft: computes backwards from the goal what to get and what to craft."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from string import Template

from codeplan.types import Value

VARIANT_INGREDIENTS = ("planks", "wool")
"""Ingredients with variants: any ``oak planks`` are planks."""

_COMMAND = re.compile(r"^craft (\d+) (.+?) using (.+)$", re.MULTILINE)


class PromptRecipe(Value, frozen=True):
    """A crafting command of the prompt."""

    item: str
    count: int
    ingredients: dict[str, int]


class ParsedCraftingGoal(Value, frozen=True):
    """The item to craft and the recipes for it; ``avoid`` are variants that do not work."""

    item: str
    recipes: tuple[PromptRecipe, ...]
    avoid: frozenset[str] = frozenset()

    def recipes_for(self, item: str) -> list[PromptRecipe]:
        """The recipes for an item."""
        return [r for r in self.recipes if r.item == item]

    def variants(self, name: str) -> list[str]:
        """The craftable variants of an ingredient that accepts any of them; none for other ingredients."""
        if name not in VARIANT_INGREDIENTS or self.recipes_for(name):
            return []
        return sorted({r.item for r in self.recipes if r.item.endswith(f" {name}")} - self.avoid)

    def depth(self, name: str, above: frozenset[str] = frozenset()) -> int:
        """How many levels of crafting an item takes; 99 if it needs itself (is in ``above``)."""
        if name in above:
            return 99
        if variants := self.variants(name):
            return min(self.depth(variant, above) for variant in variants)
        below = above | {name}
        return min((1 + max(self.depth(i, below) for i in r.ingredients) for r in self.recipes_for(name)), default=0)

    def simplest_recipe(self, item: str) -> PromptRecipe:
        """The recipe of least depth, for an item that has one."""
        return min(self.recipes_for(item), key=lambda r: (max(map(self.depth, r.ingredients)), len(r.ingredients)))

    def asks_for_variant(self, name: str) -> bool:
        """Whether the plan asks which variant to take: there are several, all made of items that the agent can get."""
        variants = self.variants(name)
        return len(variants) > 1 and all(self.depth(variant) == 1 for variant in variants)

    def chosen_item(self, name: str) -> str:
        """The item for an ingredient: its variant of least depth, if it has variants and the plan does not ask."""
        variants = [] if self.asks_for_variant(name) else self.variants(name)
        return min(variants, key=self.depth) if variants else name


def parse_goal(goal: str, observation: str) -> ParsedCraftingGoal | None:
    """The task in the prompt; None if no crafting command makes its item."""
    recipes = tuple(PromptRecipe(m[2], int(m[1]), _parse_counts(m[3])) for m in _COMMAND.finditer(observation))
    wanted = re.search(r"\bcraft (?:an? |the )?(.+?)\.?\s*$", goal or observation)
    parsed = ParsedCraftingGoal(wanted[1] if wanted else "", recipes)
    return parsed if parsed.recipes_for(parsed.item) else None


def _parse_counts(ingredients: str) -> dict[str, int]:
    pairs = (each.split(" ", 1) for each in ingredients.split(", "))
    return {name: int(count) for count, name in pairs}


# ------------------------------------------------------------------ computing the work


class CraftingWork(Value, frozen=True):
    """Counts of the items to get, and of those to craft, ingredients before products."""

    to_get: dict[str, int]
    to_craft: dict[str, int]


def compute_work(goal: ParsedCraftingGoal, wanted: dict[str, int], held: dict[str, int]) -> CraftingWork:
    """The work for the wanted items, given the held ones."""
    need, spare = Counter(wanted), Counter(held)
    made: dict[str, int] = {}
    while open_ := [name for name in need if _is_craftable(goal, name)]:
        item = max(open_, key=lambda name: (goal.depth(name), name))
        count = need.pop(item)
        lacking = count - spare[item]
        if lacking <= 0:
            continue
        made[item] = count
        if not goal.asks_for_variant(item):
            recipe = goal.simplest_recipe(item)
            for name, n in recipe.ingredients.items():
                need[goal.chosen_item(name)] += n * -(-lacking // recipe.count)
    got = {name: count for name, count in need.items() if count > spare[name]}
    return CraftingWork(got, dict(reversed(made.items())))


def _is_craftable(goal: ParsedCraftingGoal, name: str) -> bool:
    return bool(goal.recipes_for(name) or goal.asks_for_variant(name))


# ------------------------------------------------------------------ the plan, step by step

_HEAD = Template("""\
def solution(agent, start_from=1):
    # General plan: $outline
    def gather(needs):
        # Gets what is still missing of items that no command makes. Returns those that were not found.
        held = agent.inventory()
        missing = {item: count - held.get(item, 0) for item, count in needs.items() if held.get(item, 0) < count}
        return [item for item, count in missing.items() if 'Got' not in agent.get(count, item)]

    def make(count, item, each, ingredients):
        # Follows a command, which makes so many each time, until there are enough. Returns how many there are then.
        held = agent.inventory().get(item, 0)
        while held < count and 'Crafted' in agent.craft(each, item, ingredients):
            held += each
        return held

""")

_GATHER = Template("""\
    if start_from <= $step:
        print('[Step $step] Nothing makes these, so I get them: $names')
        missing = gather($needs)
        assert not missing, f'Error in [Step $step]: I cannot get {missing}. {agent.report()}'
""")

_STEP = Template("""\
    if start_from <= $step:
        print('[Step $step] I craft $count $item$why')
$work        assert made >= $count, f'Error in [Step $step]: I have {made} $thing and need $count. {agent.report()}'
""")

_CHOOSE = Template("""\
        sorts = [name for name in agent.craftable if name.endswith(' $item')]
        question = f'In Minecraft I need $count $item and can craft {sorts}. Which sort is easily come by?'
        $item = literal_eval(ask_llm(question + ' Answer with its name as a Python string.'))
        recipe = agent.recipes($item)[0]
        gather({name: n * -(-$count // recipe['count']) for name, n in recipe['ingredients'].items()})
        made = make($count, $item, recipe['count'], recipe['ingredients'])
""")


def write_plan(goal: ParsedCraftingGoal) -> str:
    """A plan that is correct according to the commands."""
    work = compute_work(goal, {goal.item: 1}, {})
    return _HEAD.substitute(outline=outline(work)) + "".join(_write_steps(goal, work))


def outline(work: CraftingWork) -> str:
    """A one-line summary of the plan."""
    verbs = (("get", work.to_get), ("craft", work.to_craft))
    return ", ".join(f"{verb} {n} {name}" for verb, counts in verbs for name, n in counts.items()) + "."


def make_call_source(goal: ParsedCraftingGoal, item: str, count: int) -> str:
    """The source of the call that crafts ``count`` of an item."""
    recipe = goal.simplest_recipe(item)
    taken = (
        (name if goal.asks_for_variant(name) else repr(goal.chosen_item(name)), n)
        for name, n in recipe.ingredients.items()
    )
    ingredients = ", ".join(f"{name}: {n}" for name, n in taken)  # a chosen variant is in a variable of this name
    return f"make({count}, {item!r}, {recipe.count}, {{{ingredients}}})"


def _write_steps(goal: ParsedCraftingGoal, work: CraftingWork) -> Iterator[str]:
    first = 1
    if work.to_get:
        yield _GATHER.substitute(step=1, names=", ".join(work.to_get), needs=repr(work.to_get))
        first = 2
    for step, (item, count) in enumerate(work.to_craft.items(), first):
        names = {"step": step, "count": count, "item": item}
        if goal.asks_for_variant(item):
            lines = variant_choice_lines(item, count)
            yield _STEP.substitute(names, why="; any one sort will do", work=lines, thing=f"{{{item}}}")
        else:
            call = make_call_source(goal, item, count)
            yield _STEP.substitute(names, why="", work=f"        made = {call}\n", thing=item)


def variant_choice_lines(item: str, count: int) -> str:
    """The lines of a step that ask for a variant of an ingredient and craft ``count`` of it."""
    return _CHOOSE.substitute(item=item, count=count)


def answer_question(question: str) -> str | None:
    """The Python literal that says which variant to take; None for any other question."""
    needed = question.partition("In Minecraft I need ")[2]
    found = re.search(r" and can craft (\[[^\[\]]*\])", needed)
    names = re.findall(r"'([^']+)'", found[1]) if found else []
    return repr(min(names, key=lambda name: (not name.startswith("oak "), len(name), name))) if names else None
