"""How the scripted stand-in acts in TextCraft itself, turn by turn: it keeps count, and reckons what is missing."""

from __future__ import annotations

import re
from collections import Counter

from codeplan.standin.executor_prompt import COMPLETED_LINE, ExecutorPrompt, give_up_line
from codeplan.standin.textcraft.planning import CraftingWork, ParsedCraftingGoal, compute_work, parse_goal

_GOAL = re.compile(r"(?:craft|fetch|get) (?:(\d+) |an? |the )?(.+?)(?: using .*)?\.?")
_HELD = re.compile(r"\[([^\]]+)\] \((\d+)\)")
_GOT = re.compile(r"Got (\d+) (.+)")
_CRAFTED = re.compile(r"Crafted (\d+) minecraft:(\w+)")
_USED = re.compile(r"(\d+) ([^,]+)")


class _SelfChoosingGoal(ParsedCraftingGoal, frozen=True):
    """An order of one who chooses the sort of an ingredient without asking."""

    def asks_for_variant(self, name: str) -> bool:
        return False


def act(prompt: ExecutorPrompt, weakness: str) -> str | None:
    """The next line; None where it does not understand the goal."""
    found = _parse_target(prompt)
    if found is None:
        return None
    order, item, count = found
    held = _count_inventory(prompt)
    if held[item] >= count:
        return COMPLETED_LINE
    if not order.recipes_for(item):
        return _get_action(prompt, item, count - held[item])
    work = compute_work(order, {item: count}, held)
    if weakness == "span" and len(work.to_craft) > 1:
        return give_up_line(f"{item} takes more than one recipe, and that is more than I can keep in mind")
    if weakness == "forgetful" and "crafted" not in prompt.notes:
        work = _direct_work(order, item, count, held)
    return _next_action(prompt, order, work, held)


def decompose(prompt: ExecutorPrompt) -> list[str] | None:
    """Sub-goals for a goal: each ingredient, then the item itself. None where it does not understand the goal."""
    found = _parse_target(prompt)
    if found is None or not found[0].recipes_for(found[1]):
        return None
    order, item, count = found
    recipe = order.simplest_recipe(item)
    times = -(-count // recipe.count)
    parts = {order.chosen_item(name): n * times for name, n in recipe.ingredients.items()}
    using = ", ".join(f"{n} {name}" for name, n in parts.items())
    return [*(f"fetch {n} {name}" for name, n in parts.items()), f"craft {count} {item} using {using}"]


def reflect(prompt: ExecutorPrompt) -> str:
    """What a trial that failed teaches."""
    missing = [a.removeprefix("Could not find ") for _, a in prompt.turns if a.startswith("Could not find ")]
    if missing:
        return f"{missing[-1]} cannot be got: it has to be crafted from its own ingredients first."
    return "I have to keep count of what I hold."


def write_general_plan(reflections: str) -> str:
    """A plan for all tasks, out of what some of them taught."""
    steps = ["Find the command that makes the item, and get its ingredients in the counts that it names."]
    if "crafted" in reflections:
        steps.insert(1, "An ingredient that a command makes has to be crafted before, from its own ingredients.")
    steps.append("Follow the command as often as it takes.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _parse_target(scene: ExecutorPrompt) -> tuple[ParsedCraftingGoal, str, int] | None:
    """The commands, with the item that the goal asks for and how many."""
    goal = _GOAL.fullmatch(scene.goal.strip())
    known = parse_goal("", scene.observation) if goal else None
    if goal is None or known is None:
        return None
    missing = {answer.removeprefix("Could not find ") for _, answer in scene.turns}
    avoid = frozenset(r.item for r in known.recipes if missing & set(r.ingredients))
    return _SelfChoosingGoal(known.item, known.recipes, avoid), goal[2], int(goal[1] or 1)


def _direct_work(order: ParsedCraftingGoal, item: str, count: int, held: Counter[str]) -> CraftingWork:
    """The work as one reckons it who forgets that ingredients may have to be made."""
    recipe = order.simplest_recipe(item)
    need = {order.chosen_item(name): n * -(-count // recipe.count) for name, n in recipe.ingredients.items()}
    return CraftingWork({name: n for name, n in need.items() if n > held[name]}, {item: count})


def _next_action(scene: ExecutorPrompt, order: ParsedCraftingGoal, work: CraftingWork, held: Counter[str]) -> str:
    for name, count in work.to_get.items():
        return _get_action(scene, name, count - held[name])
    recipe = order.simplest_recipe(next(iter(work.to_craft)))
    using = ", ".join(f"{n} {order.chosen_item(name)}" for name, n in recipe.ingredients.items())
    return _unless_refused(scene, f"craft {recipe.count} {recipe.item} using {using}")


def _get_action(scene: ExecutorPrompt, name: str, count: int) -> str:
    return _unless_refused(scene, f"get {count} {name}")


def _unless_refused(scene: ExecutorPrompt, action: str) -> str:
    """The action, where it was not refused before."""
    refused = any(said == action and answer.startswith("Could not") for said, answer in scene.turns)
    return give_up_line(f"'{action}' is refused") if refused else action


def _count_inventory(scene: ExecutorPrompt) -> Counter[str]:
    """What the inventory holds after all turns, those told in the notes first."""
    held: Counter[str] = Counter()
    for said, answer in [*scene.earlier_turns, *scene.turns]:
        if answer.startswith("Inventory:"):
            held = Counter({name: int(n) for name, n in _HELD.findall(answer)})
        elif got := _GOT.fullmatch(answer):
            held[got[2]] += int(got[1])
        elif crafted := _CRAFTED.fullmatch(answer):
            held[crafted[2].replace("_", " ")] += int(crafted[1])
            held -= Counter({name.strip(): int(n) for n, name in _USED.findall(said.partition(" using ")[2])})
    return held
