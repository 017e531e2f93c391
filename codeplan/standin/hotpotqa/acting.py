"""Acts in HotpotQA turn by turn, and splits questions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codeplan.standin.executor_prompt import COMPLETED_LINE, ExecutorPrompt, give_up_line
from codeplan.standin.hotpotqa.planning import PageQuestion, ParsedQuestion, find_fact, parse_goal, work_out_answer

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
