"""The stand-in's rules for HotpotQA: it plans by the form of the question, mends plans, and acts turn by turn.

They cover the questions that come with codeplan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from string import Template
from typing import Literal

from codeplan.standin.mistakes import MistakeInserter, replace_call, replace_text
from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix
from codeplan.standin.prompt_reading import COMPLETED_LINE, ExecutorPrompt, give_up_line
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


# ------------------------------------------------------------------ acting turn by turn

_ACTION = re.compile(r"(search|lookup)\[(.*)\]")
_MISSED = re.compile(r"Could not find .*?\. Similar: \[(?:'([^']+)'|\"([^\"]+)\")?")
_FIRST_PART = "find out for the question: "
_LESSON = "One page is not enough: I have to read the page of the second name as well."


def act(prompt: ExecutorPrompt, weakness: str) -> str | None:
    """The next line; None if the question is not understood."""
    question = parse_goal(prompt.goal.removeprefix(_FIRST_PART))
    if question is None:
        return None
    begun = _Reading(question, prompt.earlier_turns)
    now = _Reading(question, [*prompt.earlier_turns, *prompt.turns])
    if prompt.goal.startswith(_FIRST_PART) and now.facts:
        return COMPLETED_LINE
    if weakness == "span" and len(begun.facts) < len(now.facts) and not now.is_complete:
        return give_up_line("the other page is more than I can keep in mind")
    if weakness == "forgetful" and now.facts and _LESSON not in prompt.notes:
        return f"finish[{question.page_questions[0].entity if question.answer_rule != 'last' else now.facts[0]}]"
    return f"finish[{work_out_answer(question, now.facts)}]" if now.is_complete else now.next_action()


def decompose(prompt: ExecutorPrompt) -> list[str] | None:
    """The first page and then the whole question, as two sub-goals; None if the question is not understood."""
    if parse_goal(prompt.goal.removeprefix(_FIRST_PART)) is None:
        return None
    return [prompt.goal] if prompt.goal.startswith(_FIRST_PART) else [_FIRST_PART + prompt.goal, prompt.goal]


def reflect(prompt: ExecutorPrompt) -> str:
    """The lesson of a failed trial."""
    searches = [said for said, _ in prompt.turns if said.startswith("search[")]
    return _LESSON if len(searches) < 2 else "I have to search for titles as the pages have them."


def write_general_plan(reflections: str) -> str:
    """A plan in words for all questions, from the lessons of some."""
    steps = ["Search for the first name in the question, and look up the word that the question is about."]
    if "One page is not enough" in reflections:
        steps.append(f"{_LESSON} It is named by the question, or by the first page.")
    steps.append("Finish with the name, the number, yes or no that the question asks for.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


class _Reading:
    """The state after the turns so far. ``facts`` are the facts found, in the order of the question's pages."""

    def __init__(self, question: ParsedQuestion, turns: Iterable[tuple[str, str]]) -> None:
        self._question = question
        self._texts: dict[str, str] = {}
        self._similar: dict[str, str] = {}
        self._exhausted: set[tuple[str, str]] = set()
        self._page = question.page_questions[0].entity  # open if notes begin with a look-up
        for said, answer in turns:
            if action := _ACTION.fullmatch(said):
                self._read(action[1], action[2], answer)
        self.facts: list[str] = []
        while not self.is_complete and (fact := self._find_next_fact()):
            self.facts.append(fact)

    @property
    def is_complete(self) -> bool:
        return len(self.facts) == len(self._question.page_questions)

    def next_action(self) -> str:
        """The action that may find the next fact, or the line that gives up."""
        wanted, entity = self._next_question()
        title = self._similar.get(entity, entity)
        if title in self._similar or (title, wanted.lookup_word) in self._exhausted:
            return give_up_line(f"no page says {wanted.question.format(entity)}")
        if title not in self._texts or self._page != title:
            return f"search[{title}]"
        return f"lookup[{wanted.lookup_word}]"

    def _read(self, verb: str, argument: str, answer: str) -> None:
        if verb == "lookup":
            if answer.startswith("No more results"):
                self._exhausted.add((self._page, argument))
            else:
                self._add(self._page, answer.partition(") ")[2])
        elif missed := _MISSED.match(answer):
            self._similar[argument] = missed[1] or missed[2] or argument
        else:
            self._page = argument
            self._add(argument, answer)

    def _add(self, title: str, text: str) -> None:
        self._texts[title] = f"{self._texts.get(title, '')} {text}"

    def _next_question(self) -> tuple[PageQuestion, str]:
        wanted = self._question.page_questions[len(self.facts)]
        return wanted, wanted.entity or self.facts[-1]

    def _find_next_fact(self) -> str | None:
        wanted, entity = self._next_question()
        text = self._texts.get(self._similar.get(entity, entity), "")
        if not text and not self.facts and self._question.answer_rule == "last":
            text = next(iter(self._texts.values()), "")  # notes may begin with the page of a similar title
        return find_fact(wanted.question.format(entity), text)


# ------------------------------------------------------------------ mistakes, and mending plans

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
