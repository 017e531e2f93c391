"""Names the answers that the log shows, so that a prompt has each long text once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from codeplan.untrusted.values import value_text

MIN_NAMED: Final = 30
"""Minimum length of an answer with a name, in characters; prompts repeat shorter answers in full."""


class ShownAnswers:
    """Answers of actions by the actions' numbers, and the names that replace their text in prompts: ``<answer 3>``.

    An agent may give a plan the answer without its first line or sentence, such as "You arrive at loc 3."; the rest of
    the answer then has the answer's name as well, unless another answer has the same rest.
    """

    def __init__(self, answers: Iterable[tuple[int, str]] = ()) -> None:
        known = [(answer_name(number), _parts(text)) for number, text in answers]
        count = Counter(part for _, parts in known for part in parts)
        self._names = {part: name for name, parts in known for part in parts if count[part] == 1}

    @property
    def names(self) -> Mapping[str, str]:
        """The name of each text."""
        return self._names

    def found_in(self, text: str) -> set[str]:
        """The names of the answers that stand in the text."""
        names = {known: name for known, name in self._names.items() if len(known) <= len(text)}
        return {name for known, name in names.items() if any(form in text for form in _forms(known))}

    def name_in(self, text: str, min_characters: int = 0) -> str:
        """The text with each answer in it, plain or in Python's notation, replaced by the answer's name.

        Answers of less than ``min_characters`` stay.
        """
        for known in sorted((n for n in self._names if len(n) >= min_characters), key=len, reverse=True):
            for form in _forms(known):
                text = text.replace(form, self._names[known])
        return text


def answer_name(number: int) -> str:
    """The name of the answer to the action with this number."""
    return f"<answer {number}>"


def _parts(answer: str) -> list[str]:
    first_sentence, _, rest = answer.partition(". ")
    parts = [answer, answer.strip(), answer.partition("\n")[2], "" if "\n" in first_sentence else rest]
    return [part for part in dict.fromkeys(parts) if len(part) >= MIN_NAMED]


def _forms(text: str) -> tuple[str, str]:
    return value_text(text, 12 * len(text)), text
