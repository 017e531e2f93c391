"""HotpotQA: answer questions with a search in Wikipedia; each needs two articles."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, Protocol

import msgspec

from codeplan.envs.base import (
    ActionLimit,
    AgentName,
    AgentSetting,
    EpisodeSnapshot,
    RestorableEnvironment,
    check_choice,
)
from codeplan.envs.hotpotqa import wiki
from codeplan.envs.hotpotqa.agent import HotpotQAAgent, PaperHotpotQAAgent
from codeplan.envs.hotpotqa.scoring import AnswerScore, score_answer
from codeplan.envs.hotpotqa.wiki import OfflineWiki, ReaderState, Wiki
from codeplan.envs.hotpotqa.wikipedia import WIKIPEDIA_API_URL, Wikipedia
from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.types import ActionSpace, Observation, Task, Value
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


Metric = Literal["em", "f1"]

_ACTION = re.compile(r"(search|lookup|finish|think)\[(.*)\]", re.DOTALL)


def make(
    *,
    data: Annotated[
        str | None, Setting("HotpotQA file of the distractor setting, or a folder of them.", "trusted", repeat="live")
    ] = None,
    live: Annotated[
        bool, Setting("Read Wikipedia instead of each question's own pages.", "trusted", repeat="live")
    ] = False,
    contact: Annotated[
        str | None,
        Setting("With live: your e-mail address or page, which Wikipedia requires.", "trusted", repeat="live"),
    ] = None,
    before: Annotated[
        str | None, Setting("With live: pages as of the end of a day such as 2017-10-01.", "trusted", repeat="live")
    ] = None,
    cache: Annotated[
        str | None, Setting("With live: the file that keeps what was read.", "trusted", repeat="live")
    ] = None,
    url: Annotated[
        str, Setting("With live: the address of the MediaWiki API.", "trusted", repeat="live")
    ] = WIKIPEDIA_API_URL,
    interval: Annotated[float, Setting("With live: seconds between two requests.", "trusted", repeat="live")] = 0.5,
    actions: ActionLimit = 40,
    reward: Annotated[
        Metric, Setting("Exact match (0 or 1) or F1; success is an exact match in either case.", "safe")
    ] = "em",
    agent: AgentSetting = "full",
) -> HotpotQA:
    """Build HotpotQA. Raises: UsageError if a setting is invalid."""
    if not live and (contact, before, cache, url) != (None, None, None, WIKIPEDIA_API_URL):
        raise UsageError("HotpotQA's settings contact, before, cache and url are for Wikipedia; add live=true")
    wiki = Wikipedia(contact=contact, before=before, cache=cache, url=url, interval=interval) if live else None
    questions = BundledQuestions() if data is None else FileQuestions(data)
    return HotpotQA(questions, wiki, actions=actions, reward=reward, agent=agent)


class HotpotQASnapshot(EpisodeSnapshot, frozen=True):
    """The complete state of an episode. ``answer`` is None until one is given."""

    reader: ReaderState = ReaderState()
    answer: str | None = None


class HotpotQA(RestorableEnvironment[HotpotQASnapshot]):
    """HotpotQA. ``wiki`` serves every question; if it is None, each question has its own pages."""

    name: str = NAME
    agent: type = HotpotQAAgent
    agents: Mapping[str, type] = {"full": HotpotQAAgent, "paper": PaperHotpotQAAgent}
    space: ActionSpace = ActionSpace(
        forms=("search[TITLE]", "lookup[WORDS]", "finish[ANSWER]"),
        no_effect_prefixes=("Could not find", "No more results", "Invalid action"),
        calls=16,  # as in ReAct: seven thoughts, seven actions and the answer, plus one in reserve
        max_idle_turns=6,
    )

    def __init__(
        self,
        questions: QuestionSet | None = None,
        wiki: Wiki | None = None,
        *,
        actions: int = 40,
        reward: Metric = "em",
        agent: AgentName = "full",
    ) -> None:
        """Raises: UsageError if ``actions``, ``reward`` or ``agent`` is invalid."""
        super().__init__(actions)
        self._choose_agent(agent)
        self._reward = check_choice(self.name, "reward", reward, ("em", "f1"))
        self._questions = questions or BundledQuestions()
        self._shared_wiki = wiki
        self._question: Question | None = None
        self._wiki: Wiki = OfflineWiki({})

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits, ``test`` first if it exists. Raises: UsageError if a file is unusable."""
        return self._questions.splits

    def tasks(self, split: str) -> Sequence[Task]:
        """The questions of a split, in the file's order; a task's kind is ``bridge`` or ``comparison``."""
        return self._questions.tasks(split)

    def score(self, task: Task, answer: str) -> AnswerScore:
        """Score an answer to a task's question. Raises: UsageError if the task is unknown."""
        return score_answer(answer, self._questions.question(task.id).answer)

    def reset(self, task: Task) -> Observation:
        """Begin with the question of the task's id. Raises: UsageError if there is none."""
        self._question = self._questions.question(task.id)
        self._wiki = self._shared_wiki or OfflineWiki(self._question.pages)
        self._begin(HotpotQASnapshot())
        return Observation(f"Question: {self._question.task.goal}")

    def close(self) -> None:
        """End the episode and close the connection to Wikipedia."""
        super().close()
        if self._shared_wiki is not None:
            self._shared_wiki.close()

    def _apply(self, before: HotpotQASnapshot, action: str) -> tuple[HotpotQASnapshot, Observation]:
        match = _ACTION.fullmatch(action.strip())
        name, argument = match.groups() if match else ("", "")
        if name == "finish":
            return self._finish(before.reader, argument)
        state, text = before.reader, f"Invalid action: {action.strip()}"
        if name == "search":
            state, text = wiki.search(self._wiki, state, argument)
        elif name == "lookup":
            state, text = wiki.lookup(state, argument)
        elif name == "think":
            text = "Nice thought."
        return HotpotQASnapshot(state), Observation(text)

    def _finish(self, state: ReaderState, answer: str) -> tuple[HotpotQASnapshot, Observation]:
        assert self._question is not None, "reset sets the question"
        score = score_answer(answer, self._question.answer)
        reward = score.f1 if self._reward == "f1" else float(score.em)
        text = f"Episode finished, reward = {reward:g}\n"
        return HotpotQASnapshot(state, answer), Observation(text, reward, done=True, success=score.em)
