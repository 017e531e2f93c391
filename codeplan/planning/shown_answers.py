"""Names the answers that the log shows, so that a prompt has each long text once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from codeplan.untrusted.values import value_text

MIN_NAMED: Final = 30
"""Length of the shortest answer with a name, in characters: a shorter one is repeated instead."""


class ShownAnswers:
    """Answers of actions, by the actions' numbers, with the names that stand for them: ``<answer 3>``.

    An agent may give a plan the answer without its first line or sentence, such as "You arrive at loc 3."; what is left
    of the answer has its name as well, unless another answer goes on in the same way.
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
        """The text with names for the answers in it, which stand there as they are or in Python's notation.

        Answers of less than ``min_characters`` stay.
        """
        for known in sorted((n for n in self._names if len(n) >= min_characters), key=len, reverse=True):
            for form in _forms(known):
                text = text.replace(form, self._names[known])
        return text


def answer_name(number: int) -> str:
    """What stands for the answer to the action of this number."""
    return f"<answer {number}>"


def _parts(answer: str) -> list[str]:
    first_sentence, _, rest = answer.partition(". ")
    parts = [answer, answer.strip(), answer.partition("\n")[2], "" if "\n" in first_sentence else rest]
    return [part for part in dict.fromkeys(parts) if len(part) >= MIN_NAMED]


def _forms(text: str) -> tuple[str, str]:
    return value_text(text, 12 * len(text)), text
