"""The stand-in's rules for TextCraft: it computes backwards from the goal what to get and what to craft."""

from __future__ import annotations

import re
from ast import literal_eval
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from string import Template
from typing import TypeVar

import msgspec

from codeplan.standin.mistakes import MistakeInserter, replace_call, replace_text
from codeplan.standin.plan_edits import (
    AgentVocabulary,
    edit_step,
    failed_step,
    first_fix,
    first_match,
    remove_step,
    split_steps,
)
from codeplan.standin.prompt_reading import COMPLETED_LINE, ExecutorPrompt, give_up_line
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
    while open_ := [name for name in need if goal.recipes_for(name) or goal.asks_for_variant(name)]:
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


# ------------------------------------------------------------------ acting turn by turn

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


# ------------------------------------------------------------------ mistakes

T = TypeVar("T")
_MADE = re.compile(r"^        made = make\((\d+), '([^']+)', \d+, \{(.*)\}\)$", re.MULTILINE)
_NEEDS = re.compile(r"gather\((\{'.*\})\)")


def _change_count(plan: str, which: float) -> str:
    """Take one more or one less of an ingredient."""
    calls = [range(*call.span(3)) for call in _MADE.finditer(plan)]
    counts = [m for m in re.finditer(r": (\d+)", plan) if any(m.start() in call for call in calls)]
    count, more = _choose([(m, more) for m in counts for more in (1, -1) if int(m[1]) + more > 0], which)
    return f"{plan[: count.start(1)]}{int(count[1]) + more}{plan[count.end(1) :]}"


def _remove_ingredient(plan: str, which: float) -> str:
    """Drop one item to get, or one step that crafts an ingredient, if there is one."""
    needs, steps = _parse_needs(plan), _intermediate_steps(plan)
    if not needs and not steps:
        return plan
    forgotten = _choose([*needs, *steps], which)
    if isinstance(forgotten, int):
        return remove_step(plan, forgotten)
    return _replace_needs(plan, {name: count for name, count in needs.items() if name != forgotten})


def _get_product(plan: str, which: float) -> str:
    """Get an ingredient instead of crafting it, if there is one."""
    steps = _intermediate_steps(plan)
    if not steps or not _parse_needs(plan):
        return plan
    step = _choose(list(steps), which)
    name, count = steps[step]
    return _replace_needs(remove_step(plan, step), {**_parse_needs(plan), name: count})


MISTAKE_INSERTERS: dict[str, MistakeInserter] = {
    "wrong_count": _change_count,
    "forgotten_ingredient": _remove_ingredient,
    "sought_product": _get_product,
    "unknown_method": replace_call(("get", "fetch"), ("craft", "combine"), ("inventory", "check_inventory")),
    "syntax_error": replace_text(
        ("def gather(needs):", "def gather(needs)"),
        ("agent.inventory()\n", "agent.inventory(\n"),
        ("agent.inventory().get(item, 0)\n", "agent.inventory().get(item, 0\n"),
        ("agent.craft(each, item, ingredients):", "agent.craft(each, item, ingredients)"),
    ),
}
"""In the order of insertion."""


def _choose(options: Sequence[T], which: float) -> T:
    return options[int(which * len(options))]


def _parse_needs(plan: str) -> dict[str, int]:
    """The items that the plan's first step gets."""
    found = _NEEDS.search(plan)
    return literal_eval(found[1]) if found else {}


def _replace_needs(plan: str, needs: dict[str, int]) -> str:
    return _NEEDS.sub(lambda _: f"gather({needs})", plan, count=1)


def _intermediate_steps(plan: str) -> dict[int, tuple[str, int]]:
    """The steps that craft ingredients, with item and count."""
    steps = split_steps(plan)
    made = {number: _MADE.search(steps[number]) for number in sorted(steps)[1:-1]}
    return {number: (m[2], int(m[1])) for number, m in made.items() if m}


# ------------------------------------------------------------------ mending plans

AGENT_VOCABULARY = AgentVocabulary(
    frozenset(
        {*("get", "can_get", "craft", "craft_until", "inventory", "recipes", "report"), *("goal", "craftable", "held")}
    ),
    {
        "get": "fetch gather collect find obtain grab pick_up mine take",
        "craft": "combine make build create craft_item assemble",
        "inventory": "check_inventory get_inventory list_inventory items holding",
        "recipes": "recipe get_recipes get_recipe find_recipes look_up commands",
    },
)


class TextCraftFeedback(Value, frozen=True):
    """The facts in the feedback, empty or None if not mentioned. ``lacking`` are items that the agent cannot get."""

    text: str
    step: int | None
    held: dict[str, int]
    lacking: list[str]
    last_recipe: PromptRecipe | None
    last_observation: str


def parse_feedback(feedback: str) -> TextCraftFeedback:
    """Read the facts in the feedback."""
    tried = re.search(r"[Ll]ast action: 'craft (\d+) (.+?) using (.+?)';", feedback)
    return TextCraftFeedback(
        feedback,
        failed_step(feedback),
        _parse_held(first_match(r"I hold (.*?)\.", feedback)),
        re.findall(r"'([^']+)'", first_match(r"I cannot get \[(.*?)\]", feedback)),
        PromptRecipe(tried[2], int(tried[1]), _parse_held(tried[3])) if tried else None,
        first_match(r"answered: '(.+)'", feedback),
    )


def _parse_held(ingredients: str) -> dict[str, int]:
    return {name: int(count) for count, name in re.findall(r"(\d+) ([a-z][a-z ]*)", ingredients)}


def refine_plan(source: str, feedback: str, goal: ParsedCraftingGoal) -> str:
    """The plan with its failing step mended; a new plan if the feedback shows no fix."""
    report = parse_feedback(feedback)
    mended = first_fix(source, feedback, AGENT_VOCABULARY, (fix(source, report, goal) for fix in _FIXES))
    return write_plan(goal) if mended is None else mended


def _craft_product(source: str, report: TextCraftFeedback, goal: ParsedCraftingGoal) -> str | None:
    """The plan tried to get an item that must be crafted: get its ingredients and craft it."""
    products = [name for name in report.lacking if goal.recipes_for(name)]
    if not products:
        return None

    def make_them(call: re.Match[str]) -> str:
        needs: dict[str, int] = literal_eval(call[2])
        work = compute_work(goal, {name: needs.pop(name) for name in products if name in needs}, {})
        for name, count in work.to_get.items():
            needs[name] = needs.get(name, 0) + count
        return f"{call[1]}gather({needs})\n{_work_lines(goal, CraftingWork({}, work.to_craft))}"

    return edit_step(source, report.step, r"^( *missing = )gather\((\{.*\})\)\n", make_them)


def _correct_ingredients(source: str, report: TextCraftFeedback, goal: ParsedCraftingGoal) -> str | None:
    """The plan did not follow the command exactly: take the command's counts."""
    tried = report.last_recipe
    if tried is None or not goal.recipes_for(tried.item) or _follows_recipe(goal, tried):
        return None
    item = tried.item
    call = rf"make\((\d+), {item!r}, \d+, \{{.*\}}\)"
    return edit_step(source, report.step, call, lambda found: make_call_source(goal, item, int(found[1])))


def _use_other_variant(source: str, report: TextCraftFeedback, goal: ParsedCraftingGoal) -> str | None:
    """The plan followed the command, but with a wrong variant of an ingredient: take another variant."""
    if report.last_recipe is None or not report.last_observation.startswith("Could not find a valid recipe"):
        return None
    variants = {variant for recipe in goal.recipes for name in recipe.ingredients for variant in goal.variants(name)}
    wrong = variants & set(report.last_recipe.ingredients)
    return write_plan(msgspec.structs.replace(goal, avoid=goal.avoid | wrong)) if wrong else None


def _get_missing_items(source: str, report: TextCraftFeedback, goal: ParsedCraftingGoal) -> str | None:
    """Ingredients are missing: get or craft them before the step continues."""
    need = re.search(r"I have (\d+) .+? and need (\d+)", report.text)
    if report.last_recipe is None or need is None or not report.last_observation.startswith("Could not find enough"):
        return None
    times = -(-(int(need[2]) - int(need[1])) // report.last_recipe.count)
    wanted = {name: n * times for name, n in report.last_recipe.ingredients.items()}
    lines = _work_lines(goal, compute_work(goal, wanted, report.held))
    return edit_step(source, report.step, r"^        made = make\(", lambda found: lines + found[0])


_FIXES: tuple[Callable[[str, TextCraftFeedback, ParsedCraftingGoal], str | None], ...] = (
    _craft_product,
    _correct_ingredients,
    _use_other_variant,
    _get_missing_items,
)


# ------------------------------------------------------------------ recipes and lines


def _follows_recipe(goal: ParsedCraftingGoal, tried: PromptRecipe) -> bool:
    """Whether a command has exactly the tried ingredients, apart from variants."""
    wanted = (recipe.ingredients for recipe in goal.recipes_for(tried.item))
    return any(_same_ingredients(goal, tried.ingredients, each) for each in wanted)


def _same_ingredients(goal: ParsedCraftingGoal, tried: dict[str, int], wanted: dict[str, int]) -> bool:
    meant = {next((s for s in wanted if name in goal.variants(s)), name): count for name, count in tried.items()}
    return meant == wanted


def _work_lines(goal: ParsedCraftingGoal, work: CraftingWork) -> str:
    """The lines of a step that do this work."""
    got = f"        gather({work.to_get})\n" if work.to_get else ""
    made = (
        variant_choice_lines(item, count)
        if goal.asks_for_variant(item)
        else f"        {make_call_source(goal, item, count)}\n"
        for item, count in work.to_craft.items()
    )
    return got + "".join(made)
