"""Inserts mistakes into WebShop plans, and mends plans by what the feedback says."""

from __future__ import annotations

import re
from collections.abc import Callable

from codeplan.standin.mistakes import MistakeInserter, replace_call, replace_text
from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix, first_match
from codeplan.standin.webshop.planning import ParsedShoppingGoal, write_plan

AGENT_VOCABULARY = AgentVocabulary(
    frozenset(
        {
            "search",
            "click",
            "results",
            "options",
            "chosen",
            "price",
            "buttons",
            "report",
            "instruction",
            "page",
            "product",
            "score",
        }
    ),
    {
        "search": "find look_for search_for query",
        "click": "press click_on select choose open",
        "results": "get_results products list_results offers",
        "options": "get_options variants",
    },
)

_MAX_OFFERS = 10
_LOOK = r"(?<=^        look, tolerated = )(\d+), (\d+)$"


def _read_first_offer_only(plan: str, which: float) -> str:
    """Read only the first offer."""
    return re.sub(_LOOK, "1, 0", plan, flags=re.MULTILINE)


MISTAKE_INSERTERS: dict[str, MistakeInserter] = {
    "wrong_guess": _read_first_offer_only,
    "unknown_method": replace_call(("search", "search_for"), ("click", "press"), ("results", "get_results")),
    "syntax_error": replace_text(
        ("def lacking(text):", "def lacking(text)"),
        ("for offer in offers[:look]:", "for offer in offers[:look]"),
        ("agent.click(best)\n", "agent.click(best\n"),
    ),
}


def refine_plan(source: str, feedback: str, goal: ParsedShoppingGoal) -> str:
    """The plan with its failing step mended; a new plan if the feedback shows no fix."""
    mended = first_fix(source, feedback, AGENT_VOCABULARY, (fix(source, feedback, goal) for fix in _FIXES))
    return write_plan(goal) if mended is None else mended


def _widen_search(source: str, feedback: str, goal: ParsedShoppingGoal) -> str | None:
    """Nothing was found: search for all words of the instruction, then only for the query's last two."""
    if "nothing that I can afford was found" not in feedback:
        return None
    everything, kind = " ".join(goal.words), " ".join(goal.query.split()[-2:])
    query = kind if repr(everything) in source else everything
    return re.sub(r"agent\.search\(.*\)", lambda _: f"agent.search({query!r})", source)


def _read_all_offers(source: str, feedback: str, goal: ParsedShoppingGoal) -> str | None:
    """The best offer lacks something: read all offers, and then take the one that lacks least."""
    lacking = re.findall(r"'([^']+)'", first_match(r"the best lacks (\[.*?\])", feedback))

    def further(numbers: re.Match[str]) -> str:
        return f"{_MAX_OFFERS}, 0" if int(numbers[1]) < _MAX_OFFERS else f"{_MAX_OFFERS}, {len(lacking)}"

    return edit_step(source, failed_step(feedback), _LOOK, further) if lacking else None


_FIXES: tuple[Callable[[str, str, ParsedShoppingGoal], str | None], ...] = (_widen_search, _read_all_offers)
