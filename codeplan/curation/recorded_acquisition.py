"""Acquires a skill from an episode's folder, whose trace may come from a stranger.

The trace says which plans ran and what was observed. Nothing else in it is trusted: the task must be the environment's
own, and the generalised plan must solve it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from codeplan import plugins
from codeplan.budget import Budget
from codeplan.curation.acquisition import AcquiredSkill, NothingAcquired, find_refusal, try_to_acquire
from codeplan.curation.curation_runner import PLAN_SETTINGS, CurationRunner, EpisodeRecord
from codeplan.errors import UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.protocols import LLM
from codeplan.recording.events import EpisodeStarted
from codeplan.recording.interruption import find_end
from codeplan.recording.trace import Trace
from codeplan.runner.recorded_settings import choose_settings, main_model_name
from codeplan.runner.run_folders import find_trace
from codeplan.runner.setting_shares import accepted_settings
from codeplan.skills.library import SkillLibrary
from codeplan.untrusted.values import in_quotes


def acquire_from_run(
    folder: Path | str,
    library: SkillLibrary,
    *,
    model: str | LLM | ModelFunction | None = None,
    out: Path | None = None,
    budget: Budget | None = None,
    model_overrides: Mapping[str, Any] | None = None,
    **settings: Any,
) -> AcquiredSkill | NothingAcquired:
    """Like ``try_to_acquire``, for the finished episode whose trace is in ``folder``.

    ``model`` answers the plan's questions when it runs again; the default is the episode's main model. ``out`` is the
    folder for the traces of these runs (None: no traces), ``budget`` bounds each of them. ``settings`` and
    ``model_overrides`` are those of ``codeplan.resume``: only harmless settings are taken from the trace.

    Raises: UsageError: the trace cannot be read, has no end, has a task that the environment does not have, or needs a
        setting that is not taken from a trace.
    """
    header, episode = read_episode(folder)
    if refusal := find_refusal(episode):
        return refusal
    runner = _build_runner(header, model or main_model_name(header), settings, model_overrides or {}, out, budget)
    if runner.find_task(header.task.id) != header.task:
        named = in_quotes(header.task.id)
        raise UsageError(f"the trace's task {named} is not the task that {runner.env} has under this id")
    return try_to_acquire(runner, library, episode)


def read_episode(folder: Path | str) -> tuple[EpisodeStarted, EpisodeRecord]:
    """The header and the record of the finished episode in a folder.

    Raises: UsageError: there is no such trace, it is damaged, or its episode has not ended.
    """
    path = find_trace(folder)
    events = Trace.read(path)
    header, end = events[0] if events else None, find_end(events)
    if not isinstance(header, EpisodeStarted):
        raise UsageError(f"the trace in {folder} has no header")
    if end is None:
        raise UsageError(f"the episode in {folder} has not ended; codeplan resume finishes it")
    result = msgspec.structs.replace(end.result, task=header.task)
    return header, EpisodeRecord(result, tuple(events), str(path.parent))


def _build_runner(
    header: EpisodeStarted,
    model: str | LLM | ModelFunction,
    given: Mapping[str, Any],
    configured: Mapping[str, Any],
    out: Path | None,
    budget: Budget | None,
) -> CurationRunner:
    """The runner for the episode's environment. Settings of its method do not apply: nothing is planned."""
    participants = {"env": header.env, "method": None, "model": model}
    accepted = accepted_settings({"env": header.env, "model": model})
    known = {*accepted["env"], *accepted["model"], *PLAN_SETTINGS}
    for name in given:
        if name not in known:
            raise UsageError(f"there is no setting {in_quotes(name)} here; {plugins.suggest_names(name, known)}")
    chosen = choose_settings(header, participants, given, configured, live=True)
    return CurationRunner(header.env, model, folder=out, budget=budget, **chosen)
