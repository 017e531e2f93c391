"""How the scripted stand-in acts in TextCraft itself, turn by turn: it keeps count, and reckons what is missing."""

from __future__ import annotations

import re
from collections import Counter

from codeplan.standin.scenes import COMPLETED, Scene, failed
from codeplan.standin.textcraft import Order, Work, reckon, understand

_GOAL = re.compile(r"(?:craft|fetch|get) (?:(\d+) |an? |the )?(.+?)(?: using .*)?\.?")
_HELD = re.compile(r"\[([^\]]+)\] \((\d+)\)")
_GOT = re.compile(r"Got (\d+) (.+)")
_CRAFTED = re.compile(r"Crafted (\d+) minecraft:(\w+)")
_USED = re.compile(r"(\d+) ([^,]+)")


class _Own(Order, frozen=True):
    """An order of one who chooses the sort of an ingredient without asking."""

    def asked_for(self, name: str) -> bool:
        return False


def act(scene: Scene, weakness: str) -> str | None:
    """The next line; None where it does not understand the goal."""
    found = _wanted(scene)
    if found is None:
        return None
    order, item, count = found
    held = _held(scene)
    if held[item] >= count:
        return COMPLETED
    if not order.ways(item):
        return _get(scene, item, count - held[item])
    work = reckon(order, {item: count}, held)
    if weakness == "span" and len(work.made) > 1:
        return failed(f"{item} takes more than one recipe, and that is more than I can keep in mind")
    if weakness == "forgetful" and "crafted" not in scene.notes:
        work = _shallow(order, item, count, held)
    return _next(scene, order, work, held)


def decompose(scene: Scene) -> list[str] | None:
    """Sub-goals for a goal: each ingredient, then the item itself. None where it does not understand the goal."""
    found = _wanted(scene)
    if found is None or not found[0].ways(found[1]):
        return None
    order, item, count = found
    recipe = order.recipe(item)
    times = -(-count // recipe.count)
    parts = {order.taken(name): n * times for name, n in recipe.ingredients.items()}
    using = ", ".join(f"{n} {name}" for name, n in parts.items())
    return [*(f"fetch {n} {name}" for name, n in parts.items()), f"craft {count} {item} using {using}"]


def lesson(scene: Scene) -> str:
    """What a trial that failed teaches."""
    missing = [a.removeprefix("Could not find ") for _, a in scene.transcript if a.startswith("Could not find ")]
    if missing:
        return f"{missing[-1]} cannot be got: it has to be crafted from its own ingredients first."
    return "I have to keep count of what I hold."


def general_plan(lessons: str) -> str:
    """A plan for all tasks, out of what some of them taught."""
    steps = ["Find the command that makes the item, and get its ingredients in the counts that it names."]
    if "crafted" in lessons:
        steps.insert(1, "An ingredient that a command makes has to be crafted before, from its own ingredients.")
    steps.append("Follow the command as often as it takes.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _wanted(scene: Scene) -> tuple[Order, str, int] | None:
    """The commands, with the item that the goal asks for and how many."""
    goal = _GOAL.fullmatch(scene.goal.strip())
    known = understand("", scene.observation) if goal else None
    if goal is None or known is None:
        return None
    missing = {answer.removeprefix("Could not find ") for _, answer in scene.transcript}
    avoid = frozenset(r.item for r in known.recipes if missing & set(r.ingredients))
    return _Own(known.goal, known.recipes, avoid), goal[2], int(goal[1] or 1)


def _shallow(order: Order, item: str, count: int, held: Counter[str]) -> Work:
    """The work as one reckons it who forgets that ingredients may have to be made."""
    recipe = order.recipe(item)
    need = {order.taken(name): n * -(-count // recipe.count) for name, n in recipe.ingredients.items()}
    return Work({name: n for name, n in need.items() if n > held[name]}, {item: count})


def _next(scene: Scene, order: Order, work: Work, held: Counter[str]) -> str:
    for name, count in work.got.items():
        return _get(scene, name, count - held[name])
    recipe = order.recipe(next(iter(work.made)))
    using = ", ".join(f"{n} {order.taken(name)}" for name, n in recipe.ingredients.items())
    return _once(scene, f"craft {recipe.count} {recipe.item} using {using}")


def _get(scene: Scene, name: str, count: int) -> str:
    return _once(scene, f"get {count} {name}")


def _once(scene: Scene, action: str) -> str:
    """The action, where it was not refused before."""
    refused = any(said == action and answer.startswith("Could not") for said, answer in scene.transcript)
    return failed(f"'{action}' is refused") if refused else action


def _held(scene: Scene) -> Counter[str]:
    """What the inventory holds after all turns, those told in the notes first."""
    held: Counter[str] = Counter()
    for said, answer in [*scene.before, *scene.transcript]:
        if answer.startswith("Inventory:"):
            held = Counter({name: int(n) for name, n in _HELD.findall(answer)})
        elif got := _GOT.fullmatch(answer):
            held[got[2]] += int(got[1])
        elif crafted := _CRAFTED.fullmatch(answer):
            held[crafted[2].replace("_", " ")] += int(crafted[1])
            held -= Counter({name.strip(): int(n) for n, name in _USED.findall(said.partition(" using ")[2])})
    return held
