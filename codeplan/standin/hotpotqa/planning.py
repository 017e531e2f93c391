"""How the scripted stand-in plans in HotpotQA: from the form of a question, for the questions that codeplan brings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Template
from typing import Literal

from codeplan.types.value import Value

_NAME = r"((?:[A-Z]\w+)(?: (?:of |van )?[A-Z]\w+)*)"
_YEAR = r"(\d{4})"


class PageQuestion(Value, frozen=True):
    """One thing to find out on one page. Where ``entity`` is empty, the page is what was found out before it.

    ``wanted`` is the question, with ``{}`` for the page's name; ``word`` is looked up for it.
    """

    entity: str
    question: str
    lookup_word: str


class ParsedQuestion(Value, frozen=True):
    """A question that was understood: what to look for, and what the answer is made of.

    ``answer`` is ``"last"`` for what was found last, ``"least"`` and ``"most"`` for the entity with that number, and
    ``"same"`` for yes or no.
    """

    page_questions: tuple[PageQuestion, ...]
    answer_rule: Literal["last", "least", "most", "same"] = "last"


# ------------------------------------------------------------------ what a question means

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
_BRIDGES = {
    r"Into which sea does the river that (.+) stands on flow\?": (
        PageQuestion("", "which river does {} stand on", "stands on"),
        PageQuestion("", "into which sea does the {} flow", "flows into"),
    ),
    r"How many kilometres long is the river that (.+) stands on\?": (
        PageQuestion("", "which river does {} stand on", "stands on"),
        PageQuestion("", "how many kilometres long is the {}", "kilometres long"),
    ),
    r"In what year was the university that (.+) studied at founded\?": (
        PageQuestion("", "which university did {} study at", "studied at"),
        PageQuestion("", "in what year was the {} founded", "founded"),
    ),
    r"What is the capital of the country in which (?:the )?(.+) rises\?": (
        PageQuestion("", "in which country does the {} rise", "rises in"),
        PageQuestion("", "what is the capital of {}", "capital"),
    ),
}
_COMPARISONS: dict[str, tuple[PageQuestion, Literal["least", "most", "same"]]] = {
    r"Who was born first, (.+) or (.+)\?": (_LIFE_EVENTS["year", "born"], "least"),
    r"Which is longer, (?:the )?(.+) or (?:the )?(.+)\?": (
        PageQuestion("", "how many kilometres long is the {}", "kilometres long"),
        "most",
    ),
    r"Which was founded first, (?:the )?(.+) or (?:the )?(.+)\?": (
        PageQuestion("", "in what year was the {} founded", "founded"),
        "least",
    ),
    r"Which was first performed earlier, (.+) or (.+)\?": (
        PageQuestion("", "in what year was {} first performed", "first performed"),
        "least",
    ),
    r"Did (.+) and (.+) die in the same city\?": (_LIFE_EVENTS["city", "die"], "same"),
    r"Were (.+) and (.+) born in the same city\?": (_LIFE_EVENTS["city", "born"], "same"),
}
_FACT_PATTERNS = {
    r"who is the \w+ of": rf"\b(?:{'|'.join(_MAKER_VERBS.values())}) by {_NAME}",
    r"which river does .* stand on": rf"stands on the {_NAME}",
    r"which university did .* study at": rf"studied at the {_NAME}",
    r"in which country does .* rise": rf"rises in (?:the )?{_NAME}",
    r"in which city was .* born": rf"born in {_NAME}",
    r"in what year was .* born": rf"born in [^.]*?\b{_YEAR}",
    r"in which city did .* die": rf"died in {_NAME}",
    r"in what year did .* die": rf"died in [^.]*?\b{_YEAR}",
    r"into which sea does .* flow": rf"flows into the {_NAME}",
    r"how many kilometres long is": r"([\d,]+) kilometres long",
    r"in what year was .* founded": rf"founded in {_YEAR}",
    r"in what year was .* first performed": rf"first performed [^.]*?\b{_YEAR}",
    r"what is the capital of": rf"capital is {_NAME}",
}
"""Where the answer to a question about a text stands in it."""


def parse_goal(goal: str) -> ParsedQuestion | None:
    """What a question asks for; None where it has none of the forms that are known."""
    if of_maker := re.fullmatch(r"In (?:which|what) (city|year) (?:was|did) the (\w+) of (.+) (born|die)\?", goal):
        asked, role, work, end = of_maker.groups()
        if role in _MAKER_VERBS:
            first = PageQuestion(re.sub("^the ", "", work), f"who is the {role} of {{}}", _MAKER_VERBS[role])
            return ParsedQuestion((first, _LIFE_EVENTS[asked, end]))
    for form, (first, second) in _BRIDGES.items():
        if found := re.fullmatch(form, goal):
            return ParsedQuestion((PageQuestion(found[1], first.question, first.lookup_word), second))
    for form, (look, answer) in _COMPARISONS.items():
        if found := re.fullmatch(form, goal):
            return ParsedQuestion(
                tuple(PageQuestion(entity, look.question, look.lookup_word) for entity in found.groups()), answer
            )
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
$work        agent.finish(answer)
        assert agent.answer == answer, f'Error in [Step $step]: the answer was not given. {agent.report()}'
""")

_NUMBERS = "        first, second = (int(text.replace(',', '')) for text in (found_1, found_2))\n"


def write_plan(question: ParsedQuestion) -> str:
    """A plan that is sound where the question's names are titles of pages."""
    outline = ", then ".join(look.question.format(look.entity or "it") for look in question.page_questions)
    steps = [*_write_lookup_steps(question), _write_finish_step(question)]
    return _HEAD.substitute(outline=f"find out {outline}, and give the answer.") + "".join(steps)


def _write_lookup_steps(quest: ParsedQuestion) -> Iterator[str]:
    for step, look in enumerate(quest.page_questions, 1):
        wanted = look.question.format(look.entity or f"{{found_{step - 1}}}")
        yield _LOOK.substitute(
            step=step,
            said=repr(f"[Step {step}] I read on its page: {look.question.format(look.entity or 'it')}"),
            page=repr(look.entity) if look.entity else f"found_{step - 1}",
            found=f"found_{step}",
            wanted=repr(wanted),
            word=repr(look.lookup_word),
        )


def _write_finish_step(quest: ParsedQuestion) -> str:
    names = [look.entity for look in quest.page_questions]
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
    }[quest.answer_rule]
    return _FINISH.substitute(step=len(names) + 1, why=why, work=work)


# ------------------------------------------------------------------ what a plan asks


def answer_question(question: str) -> str | None:
    """The Python literal that a text has in answer to a question about it; None for another sort of question."""
    asked = re.match(r"Text: (.*) Question: (.+?)\? Answer from the text alone", question, re.DOTALL)
    pattern = next((where for what, where in _FACT_PATTERNS.items() if asked and re.match(what, asked[2])), None)
    if asked is None or pattern is None:
        return None
    found = re.search(pattern, asked[1])
    return repr(found[1]) if found else "None"
