"""Language models: the scripted stand-in, and whatever answers Chat Completions. ``connect`` makes one by name."""

from __future__ import annotations

from typing import Any

from codeplan.errors import UsageError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.protocols import LLM

__all__ = ["SETTINGS", "OpenAIModel", "connect", "settings"]

SETTINGS: dict[str, tuple[str, ...]] = {
    "scripted": ("model_seed", "mistakes"),
    "openai": (
        "base_url",
        "api_key",
        "temperature",
        "model_seed",
        "max_tokens",
        "timeout",
        "max_retries",
        "max_tokens_field",
        "extra_body",
    ),
}
"""The settings that each kind of model takes."""


def settings(name: str) -> tuple[str, ...]:
    """The names of the settings that ``connect`` takes for the model of this name."""
    return SETTINGS["scripted" if name == "scripted" else "openai"]


def connect(name: str, **given: Any) -> LLM:
    """The model of this name: ``"scripted"`` is the stand-in without a network; any other is asked for at an endpoint.

    Settings are those in ``SETTINGS``; ``model_seed`` is the stand-in's seed, or the request's ``seed`` (best effort).
    Nothing is sent yet. Raises UsageError for an empty name, a setting that the model does not take, or a missing key.
    """
    for key in given:
        if key not in settings(name):
            raise UsageError(f"the model {name!r} takes no setting {key!r}; it takes {', '.join(settings(name))}")
    if "model_seed" in given:
        given["seed"] = given.pop("model_seed")
    return _scripted(**given) if name == "scripted" else OpenAIModel(name, **given)


def _scripted(**given: Any) -> LLM:
    from codeplan.llm.scripted import ScriptedModel

    return ScriptedModel(**given)
