"""The questions: codeplan's own, and those of the user's HotpotQA files."""

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
from codeplan.types import Task, Value
from codeplan.untrusted.files import open_user_file, read_bounded
from codeplan.untrusted.values import in_quotes

NAME = "hotpotqa"
MAX_FILE_BYTES = 1 << 30
"""A larger file of questions is not read."""

_SPLITS = ("test", "dev", "train")
_REACT_SPLIT = "react-500"
"""The 500 questions of the development set in ReAct's evaluation."""

_DEV_QUESTIONS = 7405
_HINT = (
    "name a file of the distractor setting, such as hotpot_dev_distractor_v1.json from hotpotqa.github.io, or a folder "
    "of such files"
)


class Question(Value, frozen=True):
    """A question with its answer and the pages of its encyclopedia (titles to texts)."""

    task: Task
    answer: str
    pages: Mapping[str, str]


class QuestionSet(Protocol):
    """A set of questions."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits, the default first."""
        ...

    def tasks(self, split: str) -> Sequence[Task]:
        """The questions of a split as tasks, in order; empty if there is no such split."""
        ...

    def question(self, id: str) -> Question:
        """The question of an id. Raises: UsageError if there is none."""
        ...


# ------------------------------------------------------------------ codeplan's own questions


class _BundledQuestion(Value, frozen=True):
    id: str
    split: str
    question: str
    answer: str


class _BundledFile(Value, frozen=True):
    articles: dict[str, str]
    questions: list[_BundledQuestion]


class BundledQuestions:
    """codeplan's own questions; each question's encyclopedia holds all of codeplan's articles."""

    splits = _SPLITS

    def tasks(self, split: str) -> Sequence[Task]:
        return [q.task for q in _read_bundled().values() if q.task.split == split]

    def question(self, id: str) -> Question:
        if id not in _read_bundled():
            raise _unknown_question(id, next(iter(_read_bundled())))
        return _read_bundled()[id]


@cache
def _read_bundled() -> dict[str, Question]:
    text = files("codeplan.envs.hotpotqa").joinpath("questions.json").read_bytes()
    bundled = msgspec.json.decode(text, type=_BundledFile)
    seeds: Counter[str] = Counter()
    found = {}
    for q in bundled.questions:
        task = Task(q.id, NAME, q.id.split("/")[0], q.question, seeds[q.split], q.split)
        seeds[q.split] += 1
        found[q.id] = Question(task, q.answer, bundled.articles)
    return found


# ------------------------------------------------------------------ the user's files


class _FileQuestion(Value, frozen=True):
    """A question of a HotpotQA file; its context is decoded only when the question is asked."""

    id: str = msgspec.field(name="_id")
    question: str
    answer: str
    type: Literal["bridge", "comparison"]
    context: msgspec.Raw


_Context = list[tuple[str, list[str]]]


class FileQuestions:
    """The questions of a HotpotQA file, or of all files in a folder, each with its own ten paragraphs as pages.

    A file with ``train`` or ``dev`` in its name is the split of that name; any other is ``test``. The complete
    development set also has the split ``react-500``. Files are read on first use.
    """

    def __init__(self, data: str) -> None:
        self._data = data

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits. Raises: UsageError if a file is unusable."""
        whole_dev = len(self._items.get("dev", ())) == _DEV_QUESTIONS
        return (*(s for s in _SPLITS if s in self._items), *([_REACT_SPLIT] if whole_dev else []))

    def tasks(self, split: str) -> Sequence[Task]:
        if split == _REACT_SPLIT and split in self.splits:
            return [_make_task(self._items["dev"][n], n, split) for n in _react_order()]
        return [_make_task(item, n, split) for n, item in enumerate(self._items.get(split, ()))]

    def question(self, id: str) -> Question:
        if id not in self._positions:
            raise _unknown_question(id, next(iter(self._positions)))
        split, number = self._positions[id]
        item = self._items[split][number]
        try:
            context = msgspec.json.decode(item.context, type=_Context)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
            raise UsageError(f"the context of question {id} in {self._data} is not in HotpotQA's form: {e}") from None
        return Question(_make_task(item, number, split), item.answer, {title: "".join(text) for title, text in context})

    @cached_property
    def _items(self) -> dict[str, list[_FileQuestion]]:
        found: dict[str, list[_FileQuestion]] = {}
        for file in _list_files(Path(self._data).expanduser()):
            split = next((s for s in ("train", "dev") if s in file.name), "test")
            found.setdefault(split, []).extend(_read_file(file))
        if not any(found.values()):
            raise UsageError(f"there are no questions in {self._data}; {_HINT}")
        return found

    @cached_property
    def _positions(self) -> dict[str, tuple[str, int]]:
        """Each question's split and position in it."""
        positions: dict[str, tuple[str, int]] = {}
        for split, items in self._items.items():
            for number, item in enumerate(items):
                if item.id in positions:
                    raise UsageError(f"the question {item.id} is twice in {self._data}; name one of its files alone")
                positions[item.id] = split, number
        return positions


def _list_files(data: Path) -> list[Path]:
    if data.is_dir():
        return sorted(data.glob("*.json"))
    if not data.exists():
        raise UsageError(f"there is no file {data} with HotpotQA's questions; {_HINT}")
    return [data]


def _read_file(file: Path) -> list[_FileQuestion]:
    try:
        with open_user_file(file) as opened:
            return msgspec.json.decode(read_bounded(opened, MAX_FILE_BYTES, file), type=list[_FileQuestion])
    except OSError as e:
        raise UsageError(f"{file} cannot be read: {e.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        raise UsageError(f"{file} is not a file of HotpotQA questions with answers: {e}; {_HINT}") from None


def _make_task(item: _FileQuestion, seed: int, split: str) -> Task:
    return Task(item.id, NAME, item.type, item.question.strip(), seed, split)


@cache
def _react_order() -> list[int]:
    """The first 500 positions of the development set, shuffled with ReAct's seed 233."""
    order = list(range(_DEV_QUESTIONS))
    random.Random(233).shuffle(order)
    return order[:500]


def _unknown_question(id: str, example: str) -> UsageError:
    return UsageError(f"HotpotQA has no question {in_quotes(id, 80)} here; an id looks like {in_quotes(example)}")
