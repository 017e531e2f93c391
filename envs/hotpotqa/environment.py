"""HotpotQA: answer questions with a search in Wikipedia; each needs two articles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from codeplan.envs.base import (
    ActionLimit,
    AgentName,
    AgentSetting,
    EpisodeSnapshot,
    RestorableEnvironment,
    check_choice,
)
from codeplan.envs.hotpotqa import reader
from codeplan.envs.hotpotqa.agent import HotpotQAAgent, PaperHotpotQAAgent
from codeplan.envs.hotpotqa.questions import NAME, BundledQuestions, FileQuestions, Question, QuestionSet
from codeplan.envs.hotpotqa.reader import ReaderState
from codeplan.envs.hotpotqa.scoring import AnswerScore, score_answer
from codeplan.envs.hotpotqa.wiki import OfflineWiki, Wiki
from codeplan.envs.hotpotqa.wikipedia import WIKIPEDIA_API_URL, Wikipedia
from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.types import ActionSpace, Observation, Task

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
            state, text = reader.search(self._wiki, state, argument)
        elif name == "lookup":
            state, text = reader.lookup(state, argument)
        elif name == "think":
            text = "Nice thought."
        return HotpotQASnapshot(state), Observation(text)

    def _finish(self, state: ReaderState, answer: str) -> tuple[HotpotQASnapshot, Observation]:
        assert self._question is not None, "reset sets the question"
        score = score_answer(answer, self._question.answer)
        reward = score.f1 if self._reward == "f1" else float(score.em)
        text = f"Episode finished, reward = {reward:g}\n"
        return HotpotQASnapshot(state, answer), Observation(text, reward, done=True, success=score.em)
