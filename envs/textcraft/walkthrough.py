"""Solving a task with sight of every recipe: a short way to show that it can be won, and in how many actions."""

from __future__ import annotations

from collections import Counter
from functools import cache

from codeplan.envs.textcraft.recipes import Input, Recipe, book, spoken


@cache
def walkthrough(goal: str) -> tuple[str, ...]:
    """Actions that craft an item from nothing; every recipe that is followed is one of the least deep."""
    wanted = Counter({goal: 1})
    crafts: list[str] = []
    while deep := [name for name in wanted if book().depth(name)]:
        item = max(deep, key=lambda name: (book().depth(name), name))
        recipe, count = _least_deep(item), wanted.pop(item)
        times = -(-count // recipe.count)
        taken = [(_item(i), i.count) for i in recipe.inputs]
        inputs = ", ".join(f"{n} {spoken(name)}" for name, n in taken)
        crafts[:0] = [f"craft {recipe.count} {spoken(item)} using {inputs}"] * times
        wanted.update({name: n * times for name, n in taken})
    return (*(f"get {count} {spoken(name)}" for name, count in wanted.items()), *crafts)


def _least_deep(item: str) -> Recipe:
    def depth(recipe: Recipe) -> int:
        return max(book().depth(i.name) for i in recipe.inputs)

    return min(book().makes[item], key=lambda r: (depth(r), len(r.inputs), r.command))


def _item(wanted: Input) -> str:
    """The item that is taken for an input: one of its category where it may be any."""
    if not wanted.any_of:
        return wanted.name
    items = {r.output for r in book().members[wanted.name] if book().category[r.output] == wanted.name}
    return min(items, key=lambda name: (book().depth(name), name))
