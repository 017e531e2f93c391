"""HotpotQA: questions that are answered by reading in an encyclopedia, mostly on two of its pages.

    search[Ada Lovelace]        lookup[born]        finish[London]

The questions are those of HotpotQA (Yang et al., 2018), the actions and sentences those of ReAct (Yao et al., 2023). It
needs nothing but Python; live Wikipedia needs the network.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from codeplan.envs.hotpotqa import reader as reading
from codeplan.envs.hotpotqa.agent import HotpotQAAgent
from codeplan.envs.hotpotqa.questions import NAME, BundledQuestions, FileQuestions, Question, QuestionSet
from codeplan.envs.hotpotqa.reader import ReaderState
from codeplan.envs.hotpotqa.scoring import AnswerScore, score_answer
from codeplan.envs.hotpotqa.wiki import OfflineWiki, Wiki
from codeplan.envs.hotpotqa.wikipedia import WIKIPEDIA_API_URL, Wikipedia
from codeplan.errors import UsageError
from codeplan.types.task import ActionSpace, Observation, Task
from codeplan.types.value import Value

_ACTION = re.compile(r"(search|lookup|finish|think)\[(.*)\]", re.DOTALL)


def make(
    *,
    data: str | None = None,
    live: bool = False,
    contact: str | None = None,
    before: str | None = None,
    cache: str | None = None,
    url: str = WIKIPEDIA_API_URL,
    interval: float = 0.5,
    actions: int = 40,
    reward: Literal["em", "f1"] = "em",
) -> HotpotQA:
    """Build HotpotQA.

    ``data`` is a HotpotQA file of the distractor setting, or a folder of them; without it the questions are the 25 that
    come with codeplan. Each question's encyclopedia is the pages that come with it or, with ``live``, Wikipedia; then
    ``contact`` is your e-mail address or page, which Wikipedia wants to know; ``before`` a date as in 2017-10-01: pages
    are read as they were at its end; ``cache`` a file that keeps what was read; ``url`` the MediaWiki API that is
    asked, and ``interval`` the seconds between two requests. ``actions`` is how many an episode has. ``reward`` is what
    an answer is rewarded with, 0 or 1 for an exact match or its F1; success is an exact match in either case.
    Raises UsageError for a value that does not fit.
    """
    if not live and (contact, before, cache, url) != (None, None, None, WIKIPEDIA_API_URL):
        raise UsageError("HotpotQA's settings contact, before, cache and url are for Wikipedia; add live=true")
    wiki = Wikipedia(contact=contact, before=before, cache=cache, url=url, interval=interval) if live else None
    questions = BundledQuestions() if data is None else FileQuestions(data)
    return HotpotQA(questions, wiki, actions=actions, reward=reward)


class HotpotQASnapshot(Value, frozen=True):
    """Where an episode stands. ``answer`` is the one that was given, None before that."""

    reader: ReaderState = ReaderState()
    actions: int = 0
    done: bool = False
    success: bool = False
    answer: str | None = None


class HotpotQA:
    """HotpotQA as an Environment. ``wiki`` is searched for every question; None for the pages that come with each."""

    name: str = NAME
    agent: type = HotpotQAAgent
    space: ActionSpace = ActionSpace(
        forms=("search[TITLE]", "lookup[WORDS]", "finish[ANSWER]"),
        no_effect_prefixes=("Could not find", "No more results", "Invalid action"),
        calls=16,  # seven thoughts, seven actions and the answer, as ReAct has them, and one to spare
        max_idle_turns=6,
    )

    def __init__(
        self,
        questions: QuestionSet | None = None,
        wiki: Wiki | None = None,
        *,
        actions: int = 40,
        reward: Literal["em", "f1"] = "em",
    ) -> None:
        """Raises UsageError for a number of actions below 1, or a reward that there is not."""
        if isinstance(actions, bool) or not isinstance(actions, int) or actions < 1:
            raise UsageError(f"HotpotQA's setting actions is {actions!r}; give a whole number from 1 up")
        if reward not in ("em", "f1"):
            raise UsageError(f"HotpotQA's setting reward is {reward!r}; give 'em' or 'f1'")
        self._questions = questions or BundledQuestions()
        self._everywhere, self._actions, self._reward = wiki, actions, reward
        self._question: Question | None = None
        self._wiki: Wiki = OfflineWiki({})
        self._now = HotpotQASnapshot()

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits, ``test`` first where there is one. Raises UsageError where a file cannot be used."""
        return self._questions.splits

    def tasks(self, split: str) -> Sequence[Task]:
        """The questions of a split, in the file's order; a task's kind is ``bridge`` or ``comparison``."""
        return self._questions.tasks(split)

    def score(self, task: Task, answer: str) -> AnswerScore:
        """What an answer to a task's question would be worth. Raises UsageError for an unknown task."""
        return score_answer(answer, self._questions.question(task.id).answer)

    def reset(self, task: Task) -> Observation:
        """Begin with a question, which is found by the task's id. Raises UsageError for an unknown task."""
        question = self._questions.question(task.id)
        self._question, self._now = question, HotpotQASnapshot()
        self._wiki = self._everywhere or OfflineWiki(question.pages)
        return Observation(f"Question: {question.task.goal}")

    def step(self, action: str) -> Observation:
        """Do one action: ``search[title]``, ``lookup[words]``, ``finish[answer]``, or ``think[anything]``.

        Anything else is answered ``Invalid action``, and counts. An answer ends the episode, with success where it
        matches the right one exactly; so does, without, the last action allowed. After the end every action is
        answered ``The episode is over.`` Raises UsageError before the first ``reset``, and EnvironmentFailure where
        Wikipedia cannot be asked.
        """
        now = self.snapshot()
        if now.done:
            return Observation("The episode is over.", done=True, success=now.success)
        name, argument = _parsed(action)
        if name == "finish":
            return self._finish(argument)
        opened, text = self._read(now.reader, name, argument, action)
        self._now = HotpotQASnapshot(opened, now.actions + 1, now.actions + 1 >= self._actions)
        return Observation(text, done=self._now.done)

    def snapshot(self) -> HotpotQASnapshot:
        """Where the episode stands, for ``restore``. Costs nothing. Raises UsageError before the first ``reset``."""
        if self._question is None:
            raise UsageError("HotpotQA has no task yet; call reset(task) first")
        return self._now

    def restore(self, snapshot: HotpotQASnapshot) -> None:
        """Go on from a snapshot of the same task. Raises UsageError before the first ``reset``."""
        self.snapshot()
        self._now = snapshot

    def close(self) -> None:
        """End the episode, and the connection to Wikipedia."""
        self._question = None
        if self._everywhere is not None:
            self._everywhere.close()

    def _read(self, now: ReaderState, name: str, argument: str, action: str) -> tuple[ReaderState, str]:
        if name == "search":
            return reading.search(self._wiki, now, argument)
        if name == "lookup":
            return reading.lookup(now, argument)
        return now, "Nice thought." if name == "think" else f"Invalid action: {action.strip()}"

    def _finish(self, answer: str) -> Observation:
        assert self._question is not None, "snapshot() has seen to it"
        worth = score_answer(answer, self._question.answer)
        reward = worth.f1 if self._reward == "f1" else float(worth.em)
        self._now = HotpotQASnapshot(self._now.reader, self._now.actions + 1, True, worth.em, answer)
        return Observation(f"Episode finished, reward = {reward:g}\n", reward, done=True, success=worth.em)


def _parsed(action: str) -> tuple[str, str]:
    """An action's name and what stands in its brackets; two empty texts where it is none."""
    found = _ACTION.fullmatch(action.strip())
    return (found[1], found[2]) if found else ("", "")
