"""Skills in an episode: selects them, and records the outcome as evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from codeplan.episode.episode import Episode
from codeplan.episode.replayable import find_embedding_model
from codeplan.errors import UsageError
from codeplan.plain_data import NotPlainData, pack, unpack
from codeplan.protocols import OffersTools
from codeplan.recording.events import ChosenSkill, SkillsChosen
from codeplan.skills.answer_shapes import ToolAnswersByName, find_drift
from codeplan.skills.embeddings import Embedder, EmbeddingSkillStore
from codeplan.skills.library import FixedStore, MissingStore, ReadOnlyStore, SkillLibrary
from codeplan.skills.parameter_binding import SkillParameterValue, bind_parameters
from codeplan.skills.phrases import MAX_PHRASES, bind_by_rule, find_phrase, shares_words
from codeplan.skills.skill import EvidenceRecord, Skill, SkillStore, find_tool_difference, shares_tools
from codeplan.skills.skill_folder import TOOLS
from codeplan.skills.tool_names import ListedNames, NameLookup, NameSource, names_at
from codeplan.tools.agent import ToolAgent
from codeplan.types import Call, Task
from codeplan.untrusted.texts import excerpt, with_article
from codeplan.untrusted.values import in_quotes


def open_store(library: SkillStore | str | Path | None, skill: str | None = None) -> SkillStore | None:
    """Return the store that a setting names: the library in a folder, or the one ``skill`` of it; None for none.

    A library that is not writable records no evidence. Raises: UsageError if there is no such folder or skill.
    """
    if isinstance(library, str | Path):
        if not Path(library).is_dir():
            raise UsageError(
                f"there is no skill library at {library}; codeplan do GOAL --acquire makes one of your own tools, and "
                "codeplan skills discover ENV one of an environment"
            )
        library = SkillLibrary(library)
    if library is not None and not isinstance(library, SkillStore):
        raise UsageError(
            f"the setting library is {with_article(type(library).__name__)}; give a folder, or a SkillStore"
        )
    if skill is None or isinstance(library, MissingStore):
        return library if not isinstance(library, SkillLibrary) or library.writable else ReadOnlyStore(library)
    if not isinstance(library, SkillLibrary):
        raise UsageError(f"the skill {skill} is to be taken from a library; name its folder with library=FOLDER")
    return FixedStore(library.get_by_name(skill))


_MAX_REASON = 500
"""Length of a failure's reason in the evidence, in characters."""

_SPARE_SKILLS = 8
"""Skills that are looked at beyond the limit, where some may need other tools."""


_Use: TypeAlias = Literal["plan", "reuse"]


class SkillSelection(NamedTuple):
    """The skills for a task, best first. ``reuses`` is whether the plan of the first is to run; ``bound`` is that plan
    with the task's values, if a rule is sure of these, otherwise empty. ``changes`` says how the tools have changed
    since that plan was proven: it must not run before a model has adapted it.
    """

    skills: tuple[Skill, ...] = ()
    reuses: bool = False
    bound: str = ""
    changes: str = ""


def match_goal(store: SkillStore, goal: str) -> list[SureSkill]:
    """The active skills over the user's tools that are sure of a goal. Only one alone runs without a model."""
    return _find_sure(store.find(Task(id=TOOLS, env=TOOLS, goal=goal), _SPARE_SKILLS), goal)


class SureSkill(NamedTuple):
    """A skill that is sure of a goal by rule, and the values of its parameters."""

    skill: Skill
    values: dict[str, SkillParameterValue]


def _find_sure(skills: Iterable[Skill], goal: str, lookup: NameLookup | None = None) -> list[SureSkill]:
    return [SureSkill(s, values) for s in skills if (values := bind_by_rule(s, goal, lookup=lookup))]


class _ToolLookup:
    """Gets names by the calls that skills' plans make, of tools that only read, each once in an episode."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._answers: dict[tuple[str, object], Any] = {}
        self._names: dict[NameSource, ListedNames] = {}

    def __call__(self, source: NameSource) -> Callable[[], ListedNames] | None:
        env = self._episode.env
        allowed = isinstance(env, OffersTools) and source.tool in env.readonly_tools
        return partial(self._listed, source) if allowed else None

    def _listed(self, source: NameSource) -> ListedNames:
        key = source.tool, source.arguments
        if key not in self._answers:
            self._answers[key] = self._ask(source)
        if source not in self._names:
            self._names[source] = ListedNames(names_at(self._answers[key], source.path))
        return self._names[source]

    def _ask(self, source: NameSource) -> Any:
        """What the tool answers; None if it fails."""
        try:
            answer = self._episode.call(Call(source.tool, {n: pack(v) for n, v in source.arguments}))
            return None if answer.error else unpack(answer.value)
        except NotPlainData:
            return None


class _ChangedSkill(NamedTuple):
    """A skill whose tools have changed, how, and whether one of them is still there."""

    skill: Skill
    difference: str
    is_near: bool


class _OfferedSkills:
    """The skills that fit a task, best first: those for the tools at hand, and ``others`` for other tools."""

    def __init__(self, fitting: list[Skill]) -> None:
        self.fitting = fitting
        self.others: list[_ChangedSkill] = []

    @property
    def left_out(self) -> tuple[str, ...]:
        """Why others are not offered."""
        return tuple(f"{c.skill.env}/{c.skill.name}: {c.difference}" for c in self.others)

    def find_sure(self, goal: str, lookup: NameLookup) -> tuple[SureSkill | None, str]:
        """The only skill that is sure of the goal, and how its tools have changed. Those for today's come first."""
        sure = _find_sure(self.fitting, goal, lookup)
        if sure:
            return (sure[0] if len(sure) == 1 else None), ""
        near = {c.skill.name: c.difference for c in self.others if c.is_near}
        changed = _find_sure((c.skill for c in self.others if c.is_near), goal)
        return (changed[0], near[changed[0].skill.name]) if len(changed) == 1 else (None, "")


def recorded_answers(skill: Skill) -> dict[str, Any]:
    """The shapes of answers that the skill's plan knows, as data for a trace."""
    answers: dict[str, Any] = msgspec.to_builtins(skill.answers)
    return answers


def expect_answers(episode: Episode, answers: Mapping[str, Any]) -> None:
    """End the plan that runs next where a tool answers otherwise than these shapes say, which a trace may hold."""
    try:
        known = msgspec.convert(answers, ToolAnswersByName)
    except (msgspec.ValidationError, RecursionError):
        raise UsageError("the trace is damaged: the answers that a skill's plan knows have no shapes") from None
    if isinstance(agent := episode.agent(), ToolAgent):
        agent._find_drift_ = find_drift(known) if known else None


class SkillSelector:
    """Selects what an episode shows from a store: at most ``max_skills`` with ``max_characters`` of plan text in all.

    With ``embeddings``, an embedding model's name, it selects by similarity to the goal. Raises: UsageError for a limit
    below 1, and for a store without embeddings.
    """

    def __init__(
        self, store: SkillStore | None, max_skills: int, max_characters: int, embeddings: str | None = None
    ) -> None:
        if max_skills < 1 or max_characters < 1:
            raise UsageError(
                f"skills and skill_chars count from 1, not {max_skills} and {max_characters}; leave library out"
            )
        self.store, self._limit, self._characters, self._embeddings = store, max_skills, max_characters, embeddings
        if embeddings is not None:
            _check_embeddings(embeddings, store)

    def select(self, task: Task, episode: Episode, purpose: _Use) -> SkillSelection:
        """Return the skills for the task. Records the choice, or follows the recorded one.

        Over tools, a skill that has no word in common with the goal is not reused: that would cost a call for nothing.
        """
        if self.store is None:
            return SkillSelection()
        episode.replay_embeddings()
        episode.repeat_calls()
        recorded = episode.trace.next_recorded(SkillsChosen)
        chosen = recorded or self._choose(self.store, task, episode, purpose)
        episode.record(chosen)
        reuses = chosen.purpose == "reuse" and bool(chosen.chosen)
        if reuses and episode.has_tools:
            expect_answers(episode, chosen.answers)
        skills = tuple(Skill(c.name, episode.env.name, c.plan, version=c.version, score=c.score) for c in chosen.chosen)
        return SkillSelection(skills, reuses, chosen.bound, chosen.changes)

    def _choose(self, store: SkillStore, task: Task, episode: Episode, purpose: _Use) -> SkillsChosen:
        """The skills to show, and whether the plan of the first is to run."""
        offered = self._find_fitting(store, msgspec.structs.replace(task, env=episode.env.name), episode)
        goal = episode.goal_of(task)
        reuses = purpose == "reuse" and episode.has_tools
        sure, changes = offered.find_sure(goal, _ToolLookup(episode)) if reuses else (None, "")
        fitting = offered.fitting if sure is None else [sure.skill, *(s for s in offered.fitting if s != sure.skill)]
        shown = self._fit_prompt(fitting[: self._limit])
        bound = bind_parameters(sure.skill.plan, goal, sure.values) if sure and shown[:1] == [sure.skill] else ""
        if episode.has_tools and not (shown and (bound or shares_words(shown[0], goal))):
            purpose = "plan"
        return SkillsChosen(
            purpose=purpose,
            chosen=tuple(ChosenSkill(s.name, s.version, s.score, s.plan) for s in shown),
            left_out=offered.left_out,
            bound=bound,
            answers=recorded_answers(shown[0]) if purpose == "reuse" and shown and not changes else {},
            changes=changes if bound else "",
        )

    def learn(self, skill: Skill, goal: str, values: Mapping[str, SkillParameterValue], episode: Episode) -> None:
        """Keep a goal that the skill has reached with these values as a further phrase; a replay keeps nothing."""
        if isinstance(self.store, SkillLibrary) and not episode.trace.is_replaying:
            current = self.store.get(skill.env, skill.name)
            phrase = find_phrase(current, goal, values) if current.version == skill.version else None
            if phrase and phrase not in current.said and len(current.said) < MAX_PHRASES:
                self.store.change(current, said=(*current.said, phrase))

    def record(self, skills: Sequence[Skill], episode: Episode, success: bool, reason: str = "") -> None:
        """Record the episode's outcome as evidence for each skill; a replay records nothing.

        ``reason`` says why the plan of the only one failed.
        """
        if self.store is None or not skills or episode.trace.is_replaying:
            return
        run = str(episode.trace.path.parent) if episode.trace.path else ""
        task = episode.task
        for skill in skills:
            record = EvidenceRecord(task.id, task.seed, episode.llm.name, True, success, skill.version, "use", run)
            self.store.record(skill, msgspec.structs.replace(record, reason=excerpt(reason, _MAX_REASON)))

    def _find_fitting(self, store: SkillStore, task: Task, episode: Episode) -> _OfferedSkills:
        """The skills that fit the task best, by whether they need no other tools than those at hand."""
        if not isinstance(episode.env, OffersTools):
            return _OfferedSkills(list(self._find(store, task, episode, self._limit)))
        offered = _OfferedSkills([])
        for skill in self._find(store, task, episode, self._limit + _SPARE_SKILLS):
            if difference := find_tool_difference(skill.tools, episode.env.described_tools):
                is_near = shares_tools(skill.tools, episode.env.described_tools)
                offered.others.append(_ChangedSkill(skill, difference, is_near))
            else:
                offered.fitting.append(skill)
        return offered

    def _find(self, store: SkillStore, task: Task, episode: Episode, limit: int) -> Sequence[Skill]:
        """The skills that fit the task best, by words or by embeddings."""
        model = self._embeddings
        if model is None or not isinstance(store, EmbeddingSkillStore):
            return store.find(task, limit)
        find_embedding_model(episode.llm)  # before anything is asked
        stated = msgspec.structs.replace(task, goal=task.goal or episode.first_observation.text)
        return store.nearest(stated, limit, Embedder(model, lambda texts: episode.embed(texts, model).vectors))

    def _fit_prompt(self, skills: Sequence[Skill]) -> list[Skill]:
        """The skills, best first, that fit into the prompt."""
        room = self._characters
        found: list[Skill] = []
        for skill in skills:
            if len(skill.plan) <= room:
                room -= len(skill.plan)
                found.append(skill)
        return found


def _check_embeddings(embeddings: str, store: SkillStore | None) -> None:
    """Raise UsageError if the setting cannot be used."""
    if not embeddings.strip():
        raise UsageError(f"the setting embeddings is {in_quotes(embeddings)}; give the name of an embedding model")
    if store is None:
        raise UsageError("embeddings are for choosing skills; name a skill library too, with library=FOLDER")
    if not isinstance(store, EmbeddingSkillStore):
        raise UsageError(f"the store {in_quotes(store, 120)} does not choose by embeddings; leave embeddings out")
