"""The questions: those that come with codeplan, and those of the user's own HotpotQA files."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from codeplan.errors import UsageError
from codeplan.types.task import Task
from codeplan.types.value import Value

NAME = "hotpotqa"
_SPLITS = ("test", "dev", "train")
_REACT = "react-500"
"""The split of the 500 questions of the development set that ReAct was measured on."""

_DEV_QUESTIONS = 7405
_HOW = (
    "name a file of the distractor setting, such as hotpot_dev_distractor_v1.json from hotpotqa.github.io, or a folder "
    "of such files"
)


class Question(Value, frozen=True):
    """A question with its answer, and the pages, texts by titles, that its encyclopedia has."""

    task: Task
    answer: str
    pages: Mapping[str, str]


class QuestionSet(Protocol):
    """A set of questions."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits that there are, the one that is taken when none is asked for first."""
        ...

    def tasks(self, split: str) -> Sequence[Task]:
        """The questions of a split as tasks, in their order; none where there is no such split."""
        ...

    def question(self, id: str) -> Question:
        """The question of this id. Raises UsageError where there is none."""
        ...


# ------------------------------------------------------------------ the set that comes with codeplan


class _Own(Value, frozen=True):
    id: str
    split: str
    question: str
    answer: str


class _OwnSet(Value, frozen=True):
    articles: dict[str, str]
    questions: list[_Own]


class BundledQuestions:
    """The questions that come with codeplan, over articles that do; each question's encyclopedia has all of these."""

    splits = _SPLITS

    def tasks(self, split: str) -> Sequence[Task]:
        return [q.task for q in _own().values() if q.task.split == split]

    def question(self, id: str) -> Question:
        if id not in _own():
            raise _unknown(id, next(iter(_own())))
        return _own()[id]


@cache
def _own() -> dict[str, Question]:
    text = files("codeplan.envs.hotpotqa").joinpath("own.json").read_bytes()
    own = msgspec.json.decode(text, type=_OwnSet)
    seeds: Counter[str] = Counter()
    found = {}
    for q in own.questions:
        task = Task(q.id, NAME, q.id.split("/")[0], q.question, seeds[q.split], q.split)
        seeds[q.split] += 1
        found[q.id] = Question(task, q.answer, own.articles)
    return found


# ------------------------------------------------------------------ the user's files


class _Item(Value, frozen=True):
    """A question as HotpotQA's files have it; its context stays as it was read until the question is asked."""

    id: str = msgspec.field(name="_id")
    question: str
    answer: str
    type: Literal["bridge", "comparison"]
    context: msgspec.Raw


_Context = list[tuple[str, list[str]]]


class FileQuestions:
    """The questions of a HotpotQA file, or of all such files in a folder, each with its own ten paragraphs as pages.

    A file with ``train`` or ``dev`` in its name is the split of that name, any other is ``test``. The whole development
    set has the split ``react-500`` besides. Files are read when they are asked for.
    """

    def __init__(self, data: str) -> None:
        self._data = data

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that there are. Raises UsageError where the files cannot be used."""
        whole_dev = len(self._items.get("dev", ())) == _DEV_QUESTIONS
        return (*(s for s in _SPLITS if s in self._items), *([_REACT] if whole_dev else []))

    def tasks(self, split: str) -> Sequence[Task]:
        if split == _REACT and split in self.splits:
            return [_task(self._items["dev"][n], n, split) for n in _react_order()]
        return [_task(item, n, split) for n, item in enumerate(self._items.get(split, ()))]

    def question(self, id: str) -> Question:
        if id not in self._places:
            raise _unknown(id, next(iter(self._places)))
        split, number = self._places[id]
        item = self._items[split][number]
        try:
            context = msgspec.json.decode(item.context, type=_Context)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
            raise UsageError(f"the question {id} in {self._data} has no context as HotpotQA writes it: {e}") from None
        return Question(_task(item, number, split), item.answer, {title: "".join(text) for title, text in context})

    @cached_property
    def _items(self) -> dict[str, list[_Item]]:
        found: dict[str, list[_Item]] = {}
        for file in _files(Path(self._data).expanduser()):
            split = next((s for s in ("train", "dev") if s in file.name), "test")
            found.setdefault(split, []).extend(_read(file))
        if not any(found.values()):
            raise UsageError(f"there are no questions in {self._data}; {_HOW}")
        return found

    @cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        """Where each question stands: its split, and its number there."""
        places: dict[str, tuple[str, int]] = {}
        for split, items in self._items.items():
            for number, item in enumerate(items):
                if item.id in places:
                    raise UsageError(f"the question {item.id} is twice in {self._data}; name one of its files alone")
                places[item.id] = split, number
        return places


def _files(data: Path) -> list[Path]:
    if data.is_dir():
        return sorted(data.glob("*.json"))
    if not data.exists():
        raise UsageError(f"there is no file {data} with HotpotQA's questions; {_HOW}")
    return [data]


def _read(file: Path) -> list[_Item]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[_Item])
    except OSError as e:
        raise UsageError(f"{file} cannot be read: {e.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        raise UsageError(f"{file} is no file of HotpotQA's questions with their answers: {e}; {_HOW}") from None


def _task(item: _Item, seed: int, split: str) -> Task:
    return Task(item.id, NAME, item.type, item.question.strip(), seed, split)


@cache
def _react_order() -> list[int]:
    """ReAct's choice: the development set's numbers, shuffled with the seed 233, the first 500 of them."""
    order = list(range(_DEV_QUESTIONS))
    random.Random(233).shuffle(order)
    return order[:500]


def _unknown(id: str, example: str) -> UsageError:
    return UsageError(f"HotpotQA has no question {id[:80]!r} here; an id looks like {example!r}")
