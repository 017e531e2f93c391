"""Plans for HotpotQA, by the form of the question; it covers the questions that come with codeplan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from string import Template
from typing import Literal

from codeplan.types import Value

_NAME = r"((?:[A-Z]\w+)(?: (?:of |van )?[A-Z]\w+)*)"
_YEAR = r"(\d{4})"


class PageQuestion(Value, frozen=True):
    """One fact to find on one page. If ``entity`` is empty, the page is the one named by the fact before it.

    ``question`` has ``{}`` in place of the page's name; ``lookup_word`` finds the sentence that answers it.
    """

    entity: str
    question: str
    lookup_word: str


class ParsedQuestion(Value, frozen=True):
    """The facts to look for, and the rule that gives the answer.

    ``answer_rule`` is ``"last"`` for the last fact, ``"least"`` or ``"most"`` for the entity with the smaller or larger
    number, ``"same"`` for yes or no.
    """

    page_questions: tuple[PageQuestion, ...]
    answer_rule: Literal["last", "least", "most", "same"] = "last"


# ------------------------------------------------------------------ parsing questions

_LIFE_EVENTS = {
    ("city", "born"): PageQuestion("", "in which city was {} born", "born"),
    ("year", "born"): PageQuestion("", "in what year was {} born", "born"),
    ("city", "die"): PageQuestion("", "in which city did {} die", "died"),
    ("year", "die"): PageQuestion("", "in what year did {} die", "died"),
}
_MAKER_VERBS = {
    **{"builder": "built", "composer": "composed", "designer": "designed"},
    **{"inventor": "invented", "discoverer": "discovered", "author": "written"},
}
_RIVER = PageQuestion("", "which river does {} stand on", "stands on")
_SEA = PageQuestion("", "into which sea does the {} flow", "flows into")
_LENGTH = PageQuestion("", "how many kilometres long is the {}", "kilometres long")
_UNIVERSITY = PageQuestion("", "which university did {} study at", "studied at")
_FOUNDING = PageQuestion("", "in what year was the {} founded", "founded")
_COUNTRY = PageQuestion("", "in which country does the {} rise", "rises in")
_CAPITAL = PageQuestion("", "what is the capital of {}", "capital")
_PERFORMANCE = PageQuestion("", "in what year was {} first performed", "first performed")
_BRIDGES = {
    r"Into which sea does the river that (.+) stands on flow\?": (_RIVER, _SEA),
    r"How many kilometres long is the river that (.+) stands on\?": (_RIVER, _LENGTH),
    r"In what year was the university that (.+) studied at founded\?": (_UNIVERSITY, _FOUNDING),
    r"What is the capital of the country in which (?:the )?(.+) rises\?": (_COUNTRY, _CAPITAL),
}
_COMPARISONS: dict[str, tuple[PageQuestion, Literal["least", "most", "same"]]] = {
    r"Who was born first, (.+) or (.+)\?": (_LIFE_EVENTS["year", "born"], "least"),
    r"Which is longer, (?:the )?(.+) or (?:the )?(.+)\?": (_LENGTH, "most"),
    r"Which was founded first, (?:the )?(.+) or (?:the )?(.+)\?": (_FOUNDING, "least"),
    r"Which was first performed earlier, (.+) or (.+)\?": (_PERFORMANCE, "least"),
    r"Did (.+) and (.+) die in the same city\?": (_LIFE_EVENTS["city", "die"], "same"),
    r"Were (.+) and (.+) born in the same city\?": (_LIFE_EVENTS["city", "born"], "same"),
}
_FACT_PATTERNS = {
    r"who is the \w+ of": rf"\b(?:{'|'.join(_MAKER_VERBS.values())}) by {_NAME}",
    r"which river does .* stand on": rf"stands on the {_NAME}",
    r"which university did .* study at": rf"studied at the {_NAME}",
    r"in which country does .* rise": rf"rises in (?:the )?{_NAME}",
    r"in which city was .* born": rf"born in {_NAME}",
    r"in what year was .* born": rf"born in [^.]{{0,300}}?\b{_YEAR}",
    r"in which city did .* die": rf"died in {_NAME}",
    r"in what year did .* die": rf"died in [^.]{{0,300}}?\b{_YEAR}",
    r"into which sea does .* flow": rf"flows into the {_NAME}",
    r"how many kilometres long is": r"(?<![\d,])([\d,]+) kilometres long",
    r"in what year was .* founded": rf"founded in {_YEAR}",
    r"in what year was .* first performed": rf"first performed [^.]{{0,300}}?\b{_YEAR}",
    r"what is the capital of": rf"capital is {_NAME}",
}
"""Patterns for the answer in a text, by question."""


def parse_goal(goal: str) -> ParsedQuestion | None:
    """The parsed question; None if its form is unknown."""
    if of_maker := re.fullmatch(r"In (?:which|what) (city|year) (?:was|did) the (\w+) of (.+) (born|die)\?", goal):
        asked, role, work, end = of_maker.groups()
        if role in _MAKER_VERBS:
            first = PageQuestion(re.sub("^the ", "", work), f"who is the {role} of {{}}", _MAKER_VERBS[role])
            return ParsedQuestion((first, _LIFE_EVENTS[asked, end]))
    for form, (first, second) in _BRIDGES.items():
        if found := re.fullmatch(form, goal):
            return ParsedQuestion((PageQuestion(found[1], first.question, first.lookup_word), second))
    for form, (page, answer) in _COMPARISONS.items():
        if found := re.fullmatch(form, goal):
            pages = (PageQuestion(entity, page.question, page.lookup_word) for entity in found.groups())
            return ParsedQuestion(tuple(pages), answer)
    return None


# ------------------------------------------------------------------ the plan, step by step

_HEAD = Template("""\
def solution(agent, start_from=1):
    # General plan: $outline
    def lines(word):
        # All sentences of the open page that have a word in them.
        found = []
        line = agent.lookup(word)
        while line.startswith('(Result'):
            found.append(line.split(') ', 1)[1])
            line = agent.lookup(word)
        return ' '.join(found)

    def fact(question, text):
        # What a text says in answer to a question, or None where it does not say.
        form = 'Answer from the text alone, with a Python string, or with None where it does not say.'
        return literal_eval(ask_llm(f'Text: {text} Question: {question}? {form}'))

""")

_LOOK = Template("""\
    if start_from <= $step:
        print($said)
        text = agent.search($page)
        assert not text.startswith('Could not find'), f'Error in [Step $step]: this is no title. {agent.report()}'
        $found = fact(f$wanted, lines($word))
        assert $found, f'Error in [Step $step]: the page does not say it. {agent.report()}'
""")

_FINISH = Template("""\
    if start_from <= $step:
        print('[Step $step] $why')
$work        ended = agent.finish(answer)
        assert ended.startswith('Episode finished'), f'Error in [Step $step]: no answer was given. {agent.report()}'
""")

_NUMBERS = "        first, second = (int(text.replace(',', '')) for text in (found_1, found_2))\n"


def write_plan(question: ParsedQuestion) -> str:
    """A plan that is correct if the question's names are page titles."""
    outline = ", then ".join(page.question.format(page.entity or "it") for page in question.page_questions)
    steps = [*_write_lookup_steps(question), _write_finish_step(question)]
    return _HEAD.substitute(outline=f"find out {outline}, and give the answer.") + "".join(steps)


def _write_lookup_steps(question: ParsedQuestion) -> Iterator[str]:
    for step, page in enumerate(question.page_questions, 1):
        wanted = page.question.format(page.entity or f"{{found_{step - 1}}}")
        yield _LOOK.substitute(
            step=step,
            said=repr(f"[Step {step}] I read on its page: {page.question.format(page.entity or 'it')}"),
            page=repr(page.entity) if page.entity else f"found_{step - 1}",
            found=f"found_{step}",
            wanted=repr(wanted),
            word=repr(page.lookup_word),
        )


def _write_finish_step(question: ParsedQuestion) -> str:
    names = [page.entity for page in question.page_questions]
    work, why = {
        "last": (f"        answer = found_{len(names)}\n", "What I found last is the answer"),
        "least": (
            f"{_NUMBERS}        answer = {names[0]!r} if first < second else {names[-1]!r}\n",
            "The smaller number",
        ),
        "most": (
            f"{_NUMBERS}        answer = {names[0]!r} if first > second else {names[-1]!r}\n",
            "The larger number",
        ),
        "same": ("        answer = 'yes' if found_1 == found_2 else 'no'\n", "I compare the two"),
    }[question.answer_rule]
    return _FINISH.substitute(step=len(names) + 1, why=why, work=work)


# ------------------------------------------------------------------ answering plans


def answer_question(question: str) -> str | None:
    """The Python literal that answers a question about a text; None for any other question."""
    before, asks, _ = question.rpartition("? Answer from the text alone")
    text, _, asked = before.rpartition(" Question: ")
    if not asks or not text.startswith("Text: ") or _fact_pattern(asked) is None:
        return None
    return repr(find_fact(asked, text.removeprefix("Text: ")))


def find_fact(question: str, text: str) -> str | None:
    """The answer to a question in a text; None if the text has no answer, or if the question's form is unknown."""
    pattern = _fact_pattern(question)
    found = re.search(pattern, text) if pattern else None
    return found[1] if found else None


def work_out_answer(question: ParsedQuestion, facts: Sequence[str]) -> str:
    """The answer that follows from the facts on all pages of a question."""
    if question.answer_rule == "last":
        return facts[-1]
    if question.answer_rule == "same":
        return "yes" if facts[0] == facts[1] else "no"
    first, second = (int(fact.replace(",", "")) for fact in facts)
    is_first = first < second if question.answer_rule == "least" else first > second
    return question.page_questions[0 if is_first else 1].entity


def _fact_pattern(question: str) -> str | None:
    return next((where for what, where in _FACT_PATTERNS.items() if re.match(what, question)), None)
