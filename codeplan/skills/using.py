"""Skills in an episode: which are chosen, and what is recorded of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.llm.routing import embeds
from codeplan.recording.events import Choice, SkillsChosen
from codeplan.skills.library import Library
from codeplan.skills.nearest import Embedder, FindsNearest
from codeplan.skills.only import Elsewhere, OnlyThese, Unrecorded
from codeplan.skills.skill_store import SkillStore
from codeplan.skills.values import Skill, Trial
from codeplan.types import Task


def store(library: SkillStore | str | Path | None, skill: str | None = None) -> SkillStore | None:
    """The store that is meant by a setting: a folder's, or of the one ``skill`` in it. None for none.

    Of a library that cannot be written to, no evidence is kept. Raises UsageError where there is no such folder or
    skill.
    """
    if isinstance(library, str | Path):
        if not Path(library).is_dir():
            raise UsageError(f"there is no skill library at {library}; codeplan skills discover makes one")
        library = Library(library)
    if library is not None and not isinstance(library, SkillStore):
        raise UsageError(f"the setting library is a {type(library).__name__}; give a folder, or a SkillStore")
    if skill is None or isinstance(library, Elsewhere):
        return library if not isinstance(library, Library) or library.writable else Unrecorded(library)
    if not isinstance(library, Library):
        raise UsageError(f"the skill {skill} is to be taken from a library; name its folder with library=FOLDER")
    return OnlyThese(library.named(skill))


class Shelf:
    """What an episode may take from a store: at most ``limit`` skills, of ``characters`` of plan text in all.

    With ``embeddings``, the name of an embedding model, those are the best that are nearest to the goal. Raises
    UsageError for a limit that makes no sense, and for a store that knows nothing of embeddings.
    """

    def __init__(self, store: SkillStore | None, limit: int, characters: int, embeddings: str | None = None) -> None:
        if limit < 1 or characters < 1:
            raise UsageError(f"skills and skill_chars count from 1, not {limit} and {characters}; leave library out")
        self.store, self._limit, self._characters, self._embeddings = store, limit, characters, embeddings
        if embeddings is not None:
            _check(embeddings, store)

    def choose(self, task: Task, episode: Episode, purpose: Literal["plan", "reuse"]) -> list[Skill]:
        """The skills for the task, best first; the choice is on the trace, or is the one recorded there."""
        if self.store is None:
            return []
        env = episode.env.name
        episode.follow_embeddings()
        if recorded := episode.trace.recorded(SkillsChosen):
            found = [Skill(c.name, env, c.plan, version=c.version, score=c.score) for c in recorded.chosen]
        else:
            found = self._with_room(self._best(self.store, msgspec.structs.replace(task, env=env), episode))
        choices = tuple(Choice(s.name, s.version, s.score, s.plan) for s in found)
        episode.record(SkillsChosen(purpose=purpose, chosen=choices))
        return found

    def record(self, skills: Sequence[Skill], episode: Episode, success: bool) -> None:
        """Record what came of the episode as a trial of each skill, once: not when a recording is followed."""
        if self.store is None or not skills or episode.trace.following:
            return
        run = str(episode.trace.path.parent) if episode.trace.path else ""
        task = episode.task
        for skill in skills:
            trial = Trial(task.id, task.seed, episode.llm.name, True, success, skill.version, "use", run)
            self.store.record(skill, trial)

    def _best(self, store: SkillStore, task: Task, episode: Episode) -> Sequence[Skill]:
        """The skills that fit the task best: by its goal's words, or by what it means."""
        model = self._embeddings
        if model is None or not isinstance(store, FindsNearest):
            return store.find(task, self._limit)
        embeds(episode.llm)  # before anything is asked
        told = msgspec.structs.replace(task, goal=task.goal or episode.first.text)
        return store.nearest(told, self._limit, Embedder(model, lambda texts: episode.embed(texts, model).vectors))

    def _with_room(self, skills: Sequence[Skill]) -> list[Skill]:
        """Those, best first, that the prompt has room for."""
        room = self._characters
        found: list[Skill] = []
        for skill in skills:
            if len(skill.plan) <= room:
                room -= len(skill.plan)
                found.append(skill)
        return found


def _check(embeddings: str, store: SkillStore | None) -> None:
    """Raises UsageError where the setting cannot be followed."""
    if not embeddings.strip():
        raise UsageError(f"the setting embeddings is {embeddings!r}; give the name of an embedding model")
    if store is None:
        raise UsageError("embeddings are for choosing skills; name a skill library too, with library=FOLDER")
    if not isinstance(store, FindsNearest):
        raise UsageError(f"the store {store!r:.120} does not choose by embeddings; leave embeddings out")
