"""Which settings the environment, the method and the model each accept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from codeplan import plugins
from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.runner import models
from codeplan.untrusted.values import in_quotes


def accepted_settings(participants: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """The names of the settings that ``env``, ``method`` and ``model`` each accept; an object accepts none."""
    return {part: _setting_names(part, name) if isinstance(name, str) else () for part, name in participants.items()}


def _setting_names(part: str, name: str) -> tuple[str, ...]:
    if part == "model":
        return models.setting_names(name)
    return plugins.setting_names(plugins.load_factory("codeplan.envs" if part == "env" else "codeplan.methods", name))


def split_settings(participants: Mapping[str, object], settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of each participant. Raises: UsageError: no participant accepts a setting."""
    accepted = accepted_settings(participants)
    known = {name for names in accepted.values() for name in names}
    for name in settings:
        if name not in known:
            raise UsageError(_unknown_setting(name, known, participants))
    return {part: {n: v for n, v in settings.items() if n in names} for part, names in accepted.items()}


def _unknown_setting(name: str, known: Iterable[str], participants: Mapping[str, object]) -> str:
    """The error for a setting that neither method, environment nor model accepts.

    A model behind an endpoint accepts more settings than the scripted one, and than a function or an object.
    """
    model, limit = participants.get("model", ""), name.removeprefix("max_")
    own = not isinstance(model, str)
    if (own or model == "scripted") and name in models.setting_names(models.ANY_ENDPOINT_MODEL):
        what = "a model that is a function or an object of yours" if own else "the scripted model"
        return f"{what} has no setting {in_quotes(name)}; --model NAME (model=NAME) gives one that has"
    if limit in Budget.__struct_fields__:
        flag = "" if limit == "refinements" else f"--max-{limit.replace('_', '-')} N, in Python "
        way = f"to limit the {limit.replace('_', ' ')}, give {flag}budget=codeplan.Budget({limit}=N)"
        return f"there is no setting {in_quotes(name)} here; {way}"
    return f"there is no setting {in_quotes(name)} here; {plugins.suggest_names(name, known)}"
