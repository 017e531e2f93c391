"""Inserts mistakes into HotpotQA plans, and mends plans according to the feedback."""

from __future__ import annotations

import re

from codeplan.standin.hotpotqa.planning import ParsedQuestion, write_plan
from codeplan.standin.mistakes import MistakeInserter, replace_call, replace_text
from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix

AGENT_VOCABULARY = AgentVocabulary(
    frozenset({"search", "lookup", "lookup_all", "finish", "report", "question", "answer", "page", "similar"}),
    {
        "search": "open find find_page open_page read get_page wiki",
        "lookup": "look_up find_in_page grep next_sentence",
        "finish": "give_answer submit respond conclude done",
    },
)


MISTAKE_INSERTERS: dict[str, MistakeInserter] = {
    "unknown_method": replace_call(("search", "open_page"), ("lookup", "look_up"), ("finish", "submit")),
    "syntax_error": replace_text(
        ("def lines(word):", "def lines(word)"),
        ("agent.finish(answer)\n", "agent.finish(answer\n"),
        ("while line.startswith('(Result'):", "while line.startswith('(Result')"),
    ),
}


def refine_plan(source: str, feedback: str, question: ParsedQuestion) -> str:
    """The plan, mended; a new plan if the feedback shows no fix."""
    mended = first_fix(source, feedback, AGENT_VOCABULARY, [_use_similar_title(source, feedback)])
    return write_plan(question) if mended is None else mended


def _use_similar_title(source: str, feedback: str) -> str | None:
    """No page has this title: take the first of the similar ones."""
    missed = re.search(r"Could not find (.+?)\. Similar: \[(?:'([^']+)'|\"([^\"]+)\")", feedback)
    if missed is None:
        return None
    title = missed[2] or missed[3]
    return edit_step(source, failed_step(feedback), r"agent\.search\(.+\)$", lambda _: f"agent.search({title!r})")
