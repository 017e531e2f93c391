"""What the scripted stand-in gets wrong in a shop, and how it mends that by the words of the check or the feedback."""

from __future__ import annotations

import re
from collections.abc import Callable

from codeplan.standin.edits import Vocabulary, edit_step, failed_step, first_match, first_mended, repair_plan
from codeplan.standin.mistakes import Spoiler
from codeplan.standin.webshop import Errand, write_plan

KNOWN = Vocabulary(
    frozenset({"search", "click", "results", "options", "chosen", "price", "buttons", "report", "instruction", "page"}),
    {
        "search": "find look_for search_for query",
        "click": "press click_on select choose open",
        "results": "get_results products list_results offers",
        "options": "get_options variants",
    },
)
"""The buyer, as its API shows it, and what its methods may wrongly be called."""

_ALL = 10
_LOOK = r"(?<=^        look, tolerated = )(\d+), (\d+)$"


def _trust_titles(plan: str, which: float) -> str:
    """Only the first offer is read about."""
    return re.sub(_LOOK, "1, 0", plan, flags=re.MULTILINE)


def _call_unknown_method(plan: str, which: float) -> str:
    pairs = [("search", "search_for"), ("click", "press"), ("results", "get_results")]
    right, wrong = pairs[int(which * len(pairs))]
    return plan.replace(f"agent.{right}(", f"agent.{wrong}(")


def _break_syntax(plan: str, which: float) -> str:
    pairs = [
        ("def lacking(text):", "def lacking(text)"),
        ("for offer in offers[:look]:", "for offer in offers[:look]"),
        ("agent.click(best)\n", "agent.click(best\n"),
    ]
    right, wrong = pairs[int(which * len(pairs))]
    return plan.replace(right, wrong, 1)


SPOILERS: dict[str, Spoiler] = {
    "wrong_guess": _trust_titles,
    "unknown_method": _call_unknown_method,
    "syntax_error": _break_syntax,
}
"""What works each mistake into a sound plan, in the order in which they are worked in."""


def repair(source: str, errors: str) -> str:
    """A plan for the shop without the errors that the check lists; see ``edits.repair_plan``."""
    return repair_plan(source, errors, KNOWN)


def refine(source: str, feedback: str, errand: Errand) -> str:
    """A better plan: the failing step mended where the feedback tells how, and otherwise a new plan."""
    mended = first_mended(source, feedback, KNOWN, (mend(source, feedback, errand) for mend in _REMEDIES))
    return write_plan(errand) if mended is None else mended


def _mend_narrow_search(source: str, feedback: str, errand: Errand) -> str | None:
    """Nothing was found: search for all of the instruction's words, then for the last of the query's alone."""
    if "nothing that I can afford was found" not in feedback:
        return None
    everything, kind = " ".join(errand.words), " ".join(errand.query.split()[-2:])
    query = kind if repr(everything) in source else everything
    return re.sub(r"agent\.search\(.*\)", lambda _: f"agent.search({query!r})", source)


def _mend_short_look(source: str, feedback: str, errand: Errand) -> str | None:
    """The best offer lacks something: read about all of them, and then take the one that lacks least."""
    lacking = re.findall(r"'([^']+)'", first_match(r"the best lacks (\[.*?\])", feedback))

    def further(numbers: re.Match[str]) -> str:
        return f"{_ALL}, 0" if int(numbers[1]) < _ALL else f"{_ALL}, {len(lacking)}"

    return edit_step(source, failed_step(feedback), _LOOK, further) if lacking else None


_REMEDIES: tuple[Callable[[str, str, Errand], str | None], ...] = (
    _mend_narrow_search,
    _mend_short_look,
)
