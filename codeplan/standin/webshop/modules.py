"""Answers ADaPT's sub-tasks in WebShop: plans in modules, matches products, and buys an open product."""

from __future__ import annotations

import re

from codeplan.standin.executor_prompt import ExecutorPrompt, give_up_line
from codeplan.standin.prompt_sections import find_section
from codeplan.standin.webshop.planning import parse_goal

_PRODUCT = re.compile(r"\[(B[0-9A-Z]{9})\](?: \[button_\])? *\n(.*)\n\$([\d.]+)")
_OPTION = re.compile(r"\[([^\[\]\n]+)\]")
_BUY = re.compile(r"Buy (\w+): (.*)")
_NARROW = "Narrow down the search: "


def plan_modules(prompt: str) -> str | None:
    """A plan in modules; None if the prompt asks for none or the goal is not understood."""
    page, goal = find_section(prompt, "page"), find_section(prompt, "goal") or ""
    parsed = parse_goal(goal.removeprefix(_NARROW))
    if page is None or parsed is None:
        return None
    if goal.startswith(_NARROW):
        shown = [found[0] for found in _PRODUCT.findall(page)]
        steps = [f"DetailMatch[{id}, {parsed.text}]" for id in shown[:3]] or [f"Search[{parsed.query}]"]
        operator = "OR"
    else:
        criteria = parsed.text if parsed.max_price is None else f"{parsed.text}, below {parsed.max_price} dollars"
        steps = [f"Search[{parsed.query}]", f"SimpleMatch[{criteria}]", f"Buy[prod_id, {parsed.text}]"]
        operator = "AND"
    lines = [f"Step {number}: {step}" for number, step in enumerate(steps, 1)]
    order = f" {operator} ".join(f"Step {number}" for number in range(1, len(steps) + 1))
    return "\n".join([*lines, f"Execution order: ({order})"])


def match_products(prompt: str) -> str | None:
    """The verdict on a page and criteria; None if the prompt has none."""
    page, criteria = find_section(prompt, "page"), find_section(prompt, "criteria")
    if page is None or criteria is None:
        return None
    found = parse_goal(criteria)
    words = set(found.words) if found else set()
    if offers := _PRODUCT.findall(page):
        limit = re.search(r"(?:below|lower than) ([\d.]+) dollars", criteria)
        cheap = [(id, title) for id, title, price in offers if not limit or float(price) < float(limit[1].rstrip("."))]
        best = [id for id, title in cheap if _share(words, title) >= 0.5]
        return f"# By title and price.\nProducts: {', '.join(best) or 'none'}"
    share = _share(words, page)
    return f"# {share:.0%} of the words are on the page.\nMatch: {'true' if share >= 0.6 else 'false'}"


def buy_product(prompt: ExecutorPrompt) -> str | None:
    """The next line for a goal of the module Buy; None for other goals."""
    goal = _BUY.fullmatch(prompt.goal.strip())
    if goal is None:
        return None
    said = {line for line, _ in prompt.turns}
    wanted = [
        button
        for button in _OPTION.findall(prompt.notes.replace("][", "]\n["))
        if re.search(rf"(?<![\w-]){re.escape(button)}(?![\w-])", goal[2])
    ]
    for action in (*(f"click[{value}]" for value in dict.fromkeys(wanted)), "click[Buy Now]"):
        if action not in said:
            return action
    return give_up_line("the shop does not sell it")


def _share(words: set[str], text: str) -> float:
    lower = text.lower()
    return sum(word in lower for word in words) / len(words) if words else 0.0
