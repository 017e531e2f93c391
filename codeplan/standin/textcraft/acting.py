"""Acts in TextCraft turn by turn, and splits TextCraft goals."""

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
    """A goal whose solver chooses variants without asking."""

    def asks_for_variant(self, name: str) -> bool:
        return False


def act(prompt: ExecutorPrompt, weakness: str) -> str | None:
    """The next line; None if the goal is not understood."""
    found = _parse_target(prompt)
    if found is None:
        return None
    goal, item, count = found
    held = _count_inventory(prompt)
    if held[item] >= count:
        return COMPLETED_LINE
    if not goal.recipes_for(item):
        return _get_action(prompt, item, count - held[item])
    work = compute_work(goal, {item: count}, held)
    if weakness == "span" and len(work.to_craft) > 1:
        return give_up_line(f"{item} takes more than one recipe, and that is more than I can keep in mind")
    if weakness == "forgetful" and "crafted" not in prompt.notes:
        work = _direct_work(goal, item, count, held)
    return _next_action(prompt, goal, work, held)


def decompose(prompt: ExecutorPrompt) -> list[str] | None:
    """A sub-goal for each ingredient, then the item itself; None if the goal is not understood."""
    found = _parse_target(prompt)
    if found is None or not found[0].recipes_for(found[1]):
        return None
    goal, item, count = found
    recipe = goal.simplest_recipe(item)
    times = -(-count // recipe.count)
    parts = {goal.chosen_item(name): n * times for name, n in recipe.ingredients.items()}
    using = ", ".join(f"{n} {name}" for name, n in parts.items())
    return [*(f"fetch {n} {name}" for name, n in parts.items()), f"craft {count} {item} using {using}"]


def reflect(prompt: ExecutorPrompt) -> str:
    """The lesson of a failed trial."""
    missing = [a.removeprefix("Could not find ") for _, a in prompt.turns if a.startswith("Could not find ")]
    if missing:
        return f"{missing[-1]} cannot be got: it has to be crafted from its own ingredients first."
    return "I have to keep count of what I hold."


def write_general_plan(reflections: str) -> str:
    """A plan in words for all tasks, from the lessons of some."""
    steps = ["Find the command that makes the item, and get its ingredients in the counts that it names."]
    if "crafted" in reflections:
        steps.insert(1, "An ingredient that a command makes has to be crafted before, from its own ingredients.")
    steps.append("Follow the command as often as it takes.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _parse_target(prompt: ExecutorPrompt) -> tuple[ParsedCraftingGoal, str, int] | None:
    """The parsed goal, the item that the prompt's goal names, and its count."""
    match = _GOAL.fullmatch(prompt.goal.strip())
    known = parse_goal("", prompt.observation) if match else None
    if match is None or known is None:
        return None
    missing = {answer.removeprefix("Could not find ") for _, answer in prompt.turns}
    avoid = frozenset(r.item for r in known.recipes if missing & set(r.ingredients))
    return _SelfChoosingGoal(known.item, known.recipes, avoid), match[2], int(match[1] or 1)


def _direct_work(goal: ParsedCraftingGoal, item: str, count: int, held: Counter[str]) -> CraftingWork:
    """The work, if one forgets that ingredients may have to be crafted."""
    recipe = goal.simplest_recipe(item)
    need = {goal.chosen_item(name): n * -(-count // recipe.count) for name, n in recipe.ingredients.items()}
    return CraftingWork({name: n for name, n in need.items() if n > held[name]}, {item: count})


def _next_action(prompt: ExecutorPrompt, goal: ParsedCraftingGoal, work: CraftingWork, held: Counter[str]) -> str:
    for name, count in work.to_get.items():
        return _get_action(prompt, name, count - held[name])
    recipe = goal.simplest_recipe(next(iter(work.to_craft)))
    using = ", ".join(f"{n} {goal.chosen_item(name)}" for name, n in recipe.ingredients.items())
    return _unless_refused(prompt, f"craft {recipe.count} {recipe.item} using {using}")


def _get_action(prompt: ExecutorPrompt, name: str, count: int) -> str:
    return _unless_refused(prompt, f"get {count} {name}")


def _unless_refused(prompt: ExecutorPrompt, action: str) -> str:
    """The action, unless it was refused before."""
    refused = any(said == action and answer.startswith("Could not") for said, answer in prompt.turns)
    return give_up_line(f"'{action}' is refused") if refused else action


def _count_inventory(prompt: ExecutorPrompt) -> Counter[str]:
    """The inventory after all turns, those in the notes first."""
    held: Counter[str] = Counter()
    for said, answer in [*prompt.earlier_turns, *prompt.turns]:
        if answer.startswith("Inventory:"):
            held = Counter({name: int(n) for name, n in _HELD.findall(answer)})
        elif got := _GOT.fullmatch(answer):
            held[got[2]] += int(got[1])
        elif crafted := _CRAFTED.fullmatch(answer):
            held[crafted[2].replace("_", " ")] += int(crafted[1])
            held -= Counter({name.strip(): int(n) for n, name in _USED.findall(said.partition(" using ")[2])})
    return held
