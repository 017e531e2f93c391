"""How the scripted stand-in errs and mends in HotpotQA: by the words of the check, or of the feedback, alone."""

from __future__ import annotations

import re

from codeplan.standin.hotpotqa.planning import ParsedQuestion, write_plan
from codeplan.standin.mistakes import MistakeInserter
from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix, repair_plan

AGENT_VOCABULARY = AgentVocabulary(
    frozenset({"search", "lookup", "finish", "report", "question", "answer"}),
    {
        "search": "open find find_page open_page read get_page wiki",
        "lookup": "look_up find_in_page grep next_sentence",
        "finish": "give_answer submit respond conclude done",
    },
)
"""HotpotQA's agent, as its API shows it, and what its methods may wrongly be called."""


def _insert_unknown_method(plan: str, which: float) -> str:
    right, wrong = (("search", "open_page"), ("lookup", "look_up"), ("finish", "submit"))[int(which * 3)]
    return plan.replace(f"agent.{right}(", f"agent.{wrong}(")


def _insert_syntax_error(plan: str, which: float) -> str:
    right, wrong = (
        ("def lines(word):", "def lines(word)"),
        ("agent.finish(answer)\n", "agent.finish(answer\n"),
        ("while line.startswith('(Result'):", "while line.startswith('(Result')"),
    )[int(which * 3)]
    return plan.replace(right, wrong, 1)


MISTAKE_INSERTERS: dict[str, MistakeInserter] = {
    "unknown_method": _insert_unknown_method,
    "syntax_error": _insert_syntax_error,
}
"""What works each mistake into a sound plan."""


def repair_hotpotqa_plan(source: str, errors: str) -> str:
    """A HotpotQA plan without the errors that the check lists; see ``edits.repair_plan``."""
    return repair_plan(source, errors, AGENT_VOCABULARY)


def refine_plan(source: str, feedback: str, question: ParsedQuestion) -> str:
    """A better plan: mended where the feedback tells how, and otherwise the plan that it would write."""
    mended = first_fix(source, feedback, AGENT_VOCABULARY, [_use_similar_title(source, feedback)])
    return write_plan(question) if mended is None else mended


def _use_similar_title(source: str, feedback: str) -> str | None:
    """There is no page of that title: take the first of those that were offered."""
    missed = re.search(r"Could not find (.+?)\. Similar: \[(?:'([^']+)'|\"([^\"]+)\")", feedback)
    if missed is None:
        return None
    title = missed[2] or missed[3]
    return edit_step(source, failed_step(feedback), r"agent\.search\(.+\)$", lambda _: f"agent.search({title!r})")
