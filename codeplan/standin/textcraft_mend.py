"""How the scripted stand-in mends a TextCraft plan: by the words of the check, or of the feedback, and nothing else."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable

import msgspec

from codeplan.standin.edits import Vocabulary, edit_step, failed_step, first_match, first_mended, repair_plan
from codeplan.standin.textcraft import Order, Recipe, Work, choose_lines, make_call, reckon, write_plan
from codeplan.types import Value

KNOWN = Vocabulary(
    frozenset({"get", "craft", "inventory", "recipes", "report", "goal", "craftable"}),
    {
        "get": "fetch gather collect find obtain grab pick_up mine take",
        "craft": "combine make build create craft_item assemble",
        "inventory": "check_inventory get_inventory list_inventory items holding",
        "recipes": "recipe get_recipes get_recipe find_recipes look_up commands",
    },
)
"""TextCraft's agent, as its API shows it, and what its methods may wrongly be called."""


class Report(Value, frozen=True):
    """What the feedback says; empty, or None for ``step``, where it is silent. ``lacking`` is what could not be got."""

    text: str
    step: int | None
    held: dict[str, int]
    lacking: list[str]
    tried: Recipe | None
    answer: str


def read_feedback(feedback: str) -> Report:
    """The feedback's facts."""
    held = re.findall(r"(\d+) ([a-z][a-z ]*)", first_match(r"I hold (.*?)\.", feedback))
    tried = re.search(r"[Ll]ast action: 'craft (\d+) (.+?) using (.+?)';", feedback)
    return Report(
        feedback,
        failed_step(feedback),
        {name: int(count) for count, name in held},
        re.findall(r"'([^']+)'", first_match(r"I cannot get \[(.*?)\]", feedback)),
        Recipe(tried[2], int(tried[1]), _counts(tried[3])) if tried else None,
        first_match(r"answered: '(.+)'", feedback),
    )


def _counts(ingredients: str) -> dict[str, int]:
    return {name: int(count) for count, name in re.findall(r"(\d+) ([a-z][a-z ]*)", ingredients)}


def repair(source: str, errors: str) -> str:
    """A TextCraft plan without the errors that the check lists; see ``edits.repair_plan``."""
    return repair_plan(source, errors, KNOWN)


def refine(source: str, feedback: str, order: Order) -> str:
    """A better plan: the failing step mended where the feedback tells how, and otherwise a new plan."""
    report = read_feedback(feedback)
    mended = first_mended(source, feedback, KNOWN, (mend(source, report, order) for mend in _REMEDIES))
    return write_plan(order) if mended is None else mended


def _mend_sought_product(source: str, report: Report, order: Order) -> str | None:
    """What was to be got has to be made: get what it is made of instead, and make it."""
    products = [name for name in report.lacking if order.ways(name)]
    if not products:
        return None

    def make_them(call: re.Match[str]) -> str:
        needs: dict[str, int] = literal_eval(call[2])
        work = reckon(order, {name: needs.pop(name) for name in products if name in needs}, {})
        for name, count in work.got.items():
            needs[name] = needs.get(name, 0) + count
        return f"{call[1]}gather({needs})\n{_lines(order, Work({}, work.made))}"

    return edit_step(source, report.step, r"^( *missing = )gather\((\{.*\})\)\n", make_them)


def _mend_wrong_ingredients(source: str, report: Report, order: Order) -> str | None:
    """The command was not followed to the letter: take its own counts."""
    tried = report.tried
    if tried is None or not order.ways(tried.item) or _follows(order, tried):
        return None
    item = tried.item
    call = rf"make\((\d+), {item!r}, \d+, \{{.*\}}\)"
    return edit_step(source, report.step, call, lambda found: make_call(order, item, int(found[1])))


def _mend_wrong_sort(source: str, report: Report, order: Order) -> str | None:
    """The command was followed, but what was taken for a sort of an ingredient is none: take another sort."""
    if report.tried is None or not report.answer.startswith("Could not find a valid recipe"):
        return None
    wrong = [name for name in report.tried.ingredients if any(name in order.sorts(sort) for sort in _sorts(order))]
    return write_plan(msgspec.structs.replace(order, avoid=order.avoid | set(wrong))) if wrong else None


def _mend_shortage(source: str, report: Report, order: Order) -> str | None:
    """Too little of the ingredients: get or make what lacks for the rest of the step, before it crafts."""
    need = re.search(r"I have (\d+) .+? and need (\d+)", report.text)
    if report.tried is None or need is None or not report.answer.startswith("Could not find enough"):
        return None
    times = -(-(int(need[2]) - int(need[1])) // report.tried.count)
    wanted = {name: n * times for name, n in report.tried.ingredients.items()}
    lines = _lines(order, reckon(order, wanted, report.held))
    return edit_step(source, report.step, r"^        made = make\(", lambda found: lines + found[0])


_REMEDIES: tuple[Callable[[str, Report, Order], str | None], ...] = (
    _mend_sought_product,
    _mend_wrong_ingredients,
    _mend_wrong_sort,
    _mend_shortage,
)


# ------------------------------------------------------------------ reading and writing


def _follows(order: Order, tried: Recipe) -> bool:
    """Whether what was tried is one of the commands to the letter, or with a sort for an ingredient that has sorts."""
    return any(_same(order, tried.ingredients, recipe.ingredients) for recipe in order.ways(tried.item))


def _same(order: Order, tried: dict[str, int], wanted: dict[str, int]) -> bool:
    meant = {next((s for s in wanted if name in order.sorts(s)), name): count for name, count in tried.items()}
    return meant == wanted


def _sorts(order: Order) -> set[str]:
    """The ingredients of which there are sorts."""
    return {name for recipe in order.recipes for name in recipe.ingredients if order.sorts(name)}


def _lines(order: Order, work: Work) -> str:
    """The lines that do this work within a step."""
    got = f"        gather({work.got})\n" if work.got else ""
    made = (
        choose_lines(item, count) if order.asked_for(item) else f"        {make_call(order, item, count)}\n"
        for item, count in work.made.items()
    )
    return got + "".join(made)
