"""How the scripted stand-in plans in HotpotQA: from the form of a question, for the questions that codeplan brings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Template
from typing import Literal

from codeplan.types import Value

_NAME = r"((?:[A-Z]\w+)(?: (?:of |van )?[A-Z]\w+)*)"
_YEAR = r"(\d{4})"


class Look(Value, frozen=True):
    """One thing to find out on one page. Where ``entity`` is empty, the page is what was found out before it.

    ``wanted`` is the question, with ``{}`` for the page's name; ``word`` is looked up for it.
    """

    entity: str
    wanted: str
    word: str


class Quest(Value, frozen=True):
    """A question that was understood: what to look for, and what the answer is made of.

    ``answer`` is ``"last"`` for what was found last, ``"least"`` and ``"most"`` for the entity with that number, and
    ``"same"`` for yes or no.
    """

    looks: tuple[Look, ...]
    answer: Literal["last", "least", "most", "same"] = "last"


# ------------------------------------------------------------------ what a question means

_ENDS = {
    ("city", "born"): Look("", "in which city was {} born", "born"),
    ("year", "born"): Look("", "in what year was {} born", "born"),
    ("city", "die"): Look("", "in which city did {} die", "died"),
    ("year", "die"): Look("", "in what year did {} die", "died"),
}
_MADE = {
    **{"builder": "built", "composer": "composed", "designer": "designed"},
    **{"inventor": "invented", "discoverer": "discovered", "author": "written"},
}
_BRIDGES = {
    r"Into which sea does the river that (.+) stands on flow\?": (
        Look("", "which river does {} stand on", "stands on"),
        Look("", "into which sea does the {} flow", "flows into"),
    ),
    r"How many kilometres long is the river that (.+) stands on\?": (
        Look("", "which river does {} stand on", "stands on"),
        Look("", "how many kilometres long is the {}", "kilometres long"),
    ),
    r"In what year was the university that (.+) studied at founded\?": (
        Look("", "which university did {} study at", "studied at"),
        Look("", "in what year was the {} founded", "founded"),
    ),
    r"What is the capital of the country in which (?:the )?(.+) rises\?": (
        Look("", "in which country does the {} rise", "rises in"),
        Look("", "what is the capital of {}", "capital"),
    ),
}
_COMPARISONS: dict[str, tuple[Look, Literal["least", "most", "same"]]] = {
    r"Who was born first, (.+) or (.+)\?": (_ENDS["year", "born"], "least"),
    r"Which is longer, (?:the )?(.+) or (?:the )?(.+)\?": (
        Look("", "how many kilometres long is the {}", "kilometres long"),
        "most",
    ),
    r"Which was founded first, (?:the )?(.+) or (?:the )?(.+)\?": (
        Look("", "in what year was the {} founded", "founded"),
        "least",
    ),
    r"Which was first performed earlier, (.+) or (.+)\?": (
        Look("", "in what year was {} first performed", "first performed"),
        "least",
    ),
    r"Did (.+) and (.+) die in the same city\?": (_ENDS["city", "die"], "same"),
    r"Were (.+) and (.+) born in the same city\?": (_ENDS["city", "born"], "same"),
}
_FACTS = {
    r"who is the \w+ of": rf"\b(?:{'|'.join(_MADE.values())}) by {_NAME}",
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


def understand(goal: str) -> Quest | None:
    """What a question asks for; None where it has none of the forms that are known."""
    if of_maker := re.fullmatch(r"In (?:which|what) (city|year) (?:was|did) the (\w+) of (.+) (born|die)\?", goal):
        asked, role, work, end = of_maker.groups()
        if role in _MADE:
            first = Look(re.sub("^the ", "", work), f"who is the {role} of {{}}", _MADE[role])
            return Quest((first, _ENDS[asked, end]))
    for form, (first, second) in _BRIDGES.items():
        if found := re.fullmatch(form, goal):
            return Quest((Look(found[1], first.wanted, first.word), second))
    for form, (look, answer) in _COMPARISONS.items():
        if found := re.fullmatch(form, goal):
            return Quest(tuple(Look(entity, look.wanted, look.word) for entity in found.groups()), answer)
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


def write_plan(quest: Quest) -> str:
    """A plan that is sound where the question's names are titles of pages."""
    outline = ", then ".join(look.wanted.format(look.entity or "it") for look in quest.looks)
    steps = [*_looks(quest), _finish(quest)]
    return _HEAD.substitute(outline=f"find out {outline}, and give the answer.") + "".join(steps)


def _looks(quest: Quest) -> Iterator[str]:
    for step, look in enumerate(quest.looks, 1):
        wanted = look.wanted.format(look.entity or f"{{found_{step - 1}}}")
        yield _LOOK.substitute(
            step=step,
            said=repr(f"[Step {step}] I read on its page: {look.wanted.format(look.entity or 'it')}"),
            page=repr(look.entity) if look.entity else f"found_{step - 1}",
            found=f"found_{step}",
            wanted=repr(wanted),
            word=repr(look.word),
        )


def _finish(quest: Quest) -> str:
    names = [look.entity for look in quest.looks]
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
    }[quest.answer]
    return _FINISH.substitute(step=len(names) + 1, why=why, work=work)


# ------------------------------------------------------------------ what a plan asks


def answer(question: str) -> str | None:
    """The Python literal that a text has in answer to a question about it; None for another sort of question."""
    asked = re.match(r"Text: (.*) Question: (.+?)\? Answer from the text alone", question, re.DOTALL)
    pattern = next((where for what, where in _FACTS.items() if asked and re.match(what, asked[2])), None)
    if asked is None or pattern is None:
        return None
    found = re.search(pattern, asked[1])
    return repr(found[1]) if found else "None"
